"""The tables. Facts are append-only and guarded by triggers; derived rows name their maker and can be rebuilt."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB


class Moment(TypeDecorator[datetime]):
    """An aware UTC datetime on every database. SQLite forgets the zone; a naive value is a defect (ValueError)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_json = JSON().with_variant(JSONB(), "postgresql")
_key = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts only INTEGER primary keys by itself

sources = Table(
    "sources",
    metadata,
    Column("id", String(120), primary_key=True),
    Column("kind", String(10), nullable=False),
    Column("parent", String(120)),
    Column("url", Text),
    Column("title", Text, nullable=False),
    Column("tier", String(60), nullable=False),
    Column("declared", Boolean, nullable=False),
    Column("first_seen_at", Moment, nullable=False),
    Column("retired_at", Moment),
    Column("alt", Text, nullable=False),
    Column("mirror_of", String(120)),
    Index("ix_sources_parent", "parent"),
    Index("ix_sources_mirror_of", "mirror_of"),
)

schedule = Table(  # what is asked when; *rhythm* and *paused_until* mirror sources.toml
    "schedule",
    metadata,
    Column("source", String(120), ForeignKey("sources.id"), primary_key=True),
    Column("next_check_at", Moment, nullable=False),
    Column("host", String(300), nullable=False, server_default=""),
    Column("rhythm", String(200), nullable=False, server_default=""),
    Column("leased_until", Moment),
    Column("paused_until", Moment),
    Index("ix_schedule_next_check_at", "next_check_at"),
    Index("ix_schedule_host_next_check_at", "host", "next_check_at"),
)

runs = Table(  # a fact, but for its end, which is written once
    "runs",
    metadata,
    Column("id", _key, primary_key=True),
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("trigger", String(20), nullable=False),
    Column("code_version", String(40), nullable=False),
    Column("void_reason", Text),
)

checks = Table(  # a fact; an unchanged access extends the span of the row before it
    "checks",
    metadata,
    Column("id", _key, primary_key=True),
    Column("run", _key, ForeignKey("runs.id"), nullable=False),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("first_at", Moment, nullable=False),
    Column("last_at", Moment, nullable=False),
    Column("n", Integer, nullable=False),
    Column("word", String(40), nullable=False),
    Column("accessed", Boolean, nullable=False),
    Column("rule", String(80), nullable=False),
    Column("evidence", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("url", Text, nullable=False),
    Column("final_url", Text, nullable=False),
    Column("version", _key, ForeignKey("versions.id")),
    Column("new_version", Boolean, nullable=False),
    Column("by_hand", Boolean, nullable=False),
    Column("body_sha256", String(80), nullable=False),
    Column("facts", _json, nullable=False),
    Column("ms", Integer, nullable=False),
    Index("ix_checks_source_first_at", "source", "first_at"),
    Index("ix_checks_source_accessed_last_at", "source", "accessed", "last_at"),
    Index("ix_checks_url", "url", postgresql_using="hash"),  # replay asks by address; a B-tree refuses long ones
    Index("ix_checks_run", "run"),
)

versions = Table(  # a fact: a capture that was kept, and where it lies
    "versions",
    metadata,
    Column("id", _key, primary_key=True),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("captured_at", Moment, nullable=False),
    Column("url", Text, nullable=False),
    Column("final_url", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("body_sha256", String(80), nullable=False),
    Column("payload_sha256", String(80), nullable=False),
    Column("text_sha256", String(80), nullable=False),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("record_id", String(60), nullable=False),
    Column("offset", BigInteger, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    UniqueConstraint("source", "captured_at"),
    Index("ix_versions_url", "url", postgresql_using="hash"),
    Index("ix_versions_final_url", "final_url", postgresql_using="hash"),
)

documents = Table(
    "documents",
    metadata,
    Column("version", _key, ForeignKey("versions.id"), primary_key=True),
    Column("title", Text, nullable=False),
    Column("language", String(40), nullable=False),
    Column("packed", LargeBinary, nullable=False),
    Column("maker", String(200), nullable=False),
)

changes = Table(
    "changes",
    metadata,
    Column("id", _key, primary_key=True),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("from_version", _key, ForeignKey("versions.id"), nullable=False),
    Column("to_version", _key, ForeignKey("versions.id"), nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("confirmed_at", Moment),
    Column("significance", String(20), nullable=False),
    Column("told", Integer, nullable=False),
    Column("suppressed", Integer, nullable=False),
    Column("kept", Float, nullable=False),
    Column("novelty", Float, nullable=False),
    Column("extent", String(20), nullable=False),
    Column("edits", LargeBinary, nullable=False),
    Column("maker", String(200), nullable=False),
    UniqueConstraint("to_version"),
    Index("ix_changes_seen_at", "seen_at"),
    Index("ix_changes_source", "source"),
    Index("ix_changes_desk", "source", "to_version", "told", "significance", "seen_at"),  # counted without the edits
)

sightings = Table(
    "sightings",
    metadata,
    Column("version", _key, ForeignKey("versions.id"), primary_key=True),
    Column("quote", String(20), primary_key=True),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("score", Float, nullable=False),
    Column("facts", _json, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("maker", String(200), nullable=False),
    Index("ix_sightings_source", "source"),
)

histories = Table(  # derived: what the noise rules remember of a source
    "histories",
    metadata,
    Column("source", String(120), ForeignKey("sources.id"), primary_key=True),
    Column("state", Text, nullable=False),
    Column("version", _key, ForeignKey("versions.id"), nullable=False),
)

probes = Table(  # a cache: what a host answers for an invented address, and when help was looked for outside
    "probes",
    metadata,
    Column("host", String(300), primary_key=True),
    Column("asked_at", Moment, nullable=False),
    Column("facts", _json, nullable=False),
)

incidents = Table(  # derived from the checks when a run ends: what was told of a run of failures
    "incidents",
    metadata,
    Column("id", _key, primary_key=True),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("word", String(40), nullable=False),
    Column("opened_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("recovered_at", Moment),
    Column("closed_at", Moment),
    Column("dead", Boolean, nullable=False),
    Column("failures", Integer, nullable=False),
    Index("ix_incidents_source", "source"),
    Index("ix_incidents_closed_at", "closed_at"),
)

messages = Table(  # a fact: the outbox, written in the transaction of what it tells
    "messages",
    metadata,
    Column("id", _key, primary_key=True),
    Column("key", String(200), nullable=False),
    Column("at", Moment, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("facts", _json, nullable=False),
    UniqueConstraint("key"),
    Index("ix_messages_at", "at"),
)

deliveries = Table(  # one message on its way to one address of an editor (its variable's name), or why it does not go
    "deliveries",
    metadata,
    Column("message", _key, ForeignKey("messages.id"), primary_key=True),
    Column("editor", String(120), primary_key=True),
    Column("variable", String(120), primary_key=True),
    Column("digest", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_try_at", Moment, nullable=False),
    Column("sent_at", Moment),
    Column("given_up", Boolean, nullable=False),
    Column("why_not", Text, nullable=False),
    Index("ix_deliveries_sent_at_next_try_at", "sent_at", "next_try_at"),
)

editors = Table(  # since when each address of an editor is told, and the last weekly digest's time
    "editors",
    metadata,
    Column("name", String(120), primary_key=True),
    Column("variable", String(120), primary_key=True),
    Column("since_at", Moment, nullable=False),
    Column("digest_at", Moment),
)

audits = Table(  # a fact: what `verify` looked at, and what it found
    "audits",
    metadata,
    Column("id", _key, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("sample", Boolean, nullable=False),
    Column("files", BigInteger, nullable=False),
    Column("records", BigInteger, nullable=False),
    Column("faults", Integer, nullable=False),
    Column("facts", _json, nullable=False),
)

dropped = Table(  # a fact: a version whose files retention removed, and by which rule
    "dropped",
    metadata,
    Column("version", _key, ForeignKey("versions.id"), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("rule", String(200), nullable=False),
)

prunings = Table(  # a fact: rows of checks that ended before *until_at* may be deleted; nothing else ever may
    "prunings",
    metadata,
    Column("id", _key, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("until_at", Moment, nullable=False),
    Column("rule", String(200), nullable=False),
)

reviews = Table(  # a fact: what editors decide about a version; undoing is a decision, too
    "reviews",
    metadata,
    Column("id", _key, primary_key=True),
    Column("key", String(40), nullable=False),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("record", String(60), nullable=False),
    Column("version", _key, ForeignKey("versions.id")),
    Column("at", Moment, nullable=False),
    Column("by", String(120), nullable=False),
    Column("decision", String(20), nullable=False),
    Column("holds", String(20)),
    Column("after", String(40), nullable=False),
    Column("note", Text, nullable=False),
    UniqueConstraint("key"),
    UniqueConstraint("source", "record", "after"),  # one decision follows another: two editors cannot overwrite
    Index("ix_reviews_version", "version"),
)

copies = Table(  # a fact: a copy in an outside archive, and what it was found to hold
    "copies",
    metadata,
    Column("id", _key, primary_key=True),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("archive", String(120), nullable=False),
    Column("original", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("memento_at", Moment, nullable=False),
    Column("asked_at", Moment, nullable=False),
    Column("word", String(40), nullable=False),
    Column("held", Integer, nullable=False),
    Column("sought", Integer, nullable=False),
    Column("facts", _json, nullable=False),
    Index("ix_copies_source", "source"),
)

saves = Table(  # new versions that an outside archive is asked to save; a queue of its own, no run waits for it
    "saves",
    metadata,
    Column("version", _key, ForeignKey("versions.id"), primary_key=True),
    Column("url", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_try_at", Moment, nullable=False),
    Column("facts", _json, nullable=False),
    Index("ix_saves_state_next_try_at", "state", "next_try_at"),
)

moves = Table(  # where a source seems to have moved; an editor decides
    "moves",
    metadata,
    Column("id", _key, primary_key=True),
    Column("source", String(120), ForeignKey("sources.id"), nullable=False),
    Column("url", Text, nullable=False),
    Column("to_url", Text, nullable=False),
    Column("proposed_at", Moment, nullable=False),
    Column("facts", _json, nullable=False),
    Column("decision", String(20)),
    Column("decided_at", Moment),
    Column("decided_by", String(120)),
    Index("ix_moves_source", "source"),
)

turns = Table(  # a host that a worker has in hand, or that rests; times by the database's clock
    "turns",
    metadata,
    Column("host", String(300), primary_key=True),
    Column("owner", String(80)),
    Column("beat_at", Moment, nullable=False),
    Column("rests_until", Moment),
)

workers = Table(  # who checks on which machine, and what it waits for
    "workers",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("started_at", Moment, nullable=False),
    Column("beat_at", Moment, nullable=False),
    Column("hosts", Integer, nullable=False),
    Column("checks", BigInteger, nullable=False),
    Column("leads", Boolean, nullable=False),
    Column("fault", Text, nullable=False),
    Column("fault_at", Moment),
)

FACTS = ("runs", "checks", "versions", "messages", "audits", "dropped", "prunings", "reviews", "copies")

"""The first tables: facts, what is derived from them, and two caches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from sourcewatch.adapters.tables import Moment

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "probes",
        sa.Column("host", sa.String(length=300), nullable=False),
        sa.Column("asked_at", Moment(), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_probes")),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("started_at", Moment(), nullable=False),
        sa.Column("ended_at", Moment(), nullable=True),
        sa.Column("trigger", sa.String(length=20), nullable=False),
        sa.Column("code_version", sa.String(length=40), nullable=False),
        sa.Column("void_reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_table(
        "sources",
        sa.Column("id", sa.String(length=120), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("parent", sa.String(length=120), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("tier", sa.String(length=60), nullable=False),
        sa.Column("declared", sa.Boolean(), nullable=False),
        sa.Column("first_seen_at", Moment(), nullable=False),
        sa.Column("retired_at", Moment(), nullable=True),
        sa.Column("alt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
    )
    with op.batch_alter_table("sources", schema=None) as batch_op:
        batch_op.create_index("ix_sources_parent", ["parent"], unique=False)

    op.create_table(
        "schedule",
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("next_check_at", Moment(), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_schedule_source_sources")),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_schedule")),
    )
    with op.batch_alter_table("schedule", schema=None) as batch_op:
        batch_op.create_index("ix_schedule_next_check_at", ["next_check_at"], unique=False)

    op.create_table(
        "versions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("captured_at", Moment(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("final_url", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("body_sha256", sa.String(length=80), nullable=False),
        sa.Column("payload_sha256", sa.String(length=80), nullable=False),
        sa.Column("text_sha256", sa.String(length=80), nullable=False),
        sa.Column("etag", sa.Text(), nullable=False),
        sa.Column("last_modified", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("record_id", sa.String(length=60), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_versions_source_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("source", "captured_at", name=op.f("uq_versions_source_captured_at")),
    )
    op.create_table(
        "changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("from_version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("to_version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seen_at", Moment(), nullable=False),
        sa.Column("confirmed_at", Moment(), nullable=True),
        sa.Column("significance", sa.String(length=20), nullable=False),
        sa.Column("told", sa.Integer(), nullable=False),
        sa.Column("suppressed", sa.Integer(), nullable=False),
        sa.Column("kept", sa.Float(), nullable=False),
        sa.Column("novelty", sa.Float(), nullable=False),
        sa.Column("extent", sa.String(length=20), nullable=False),
        sa.Column("edits", sa.LargeBinary(), nullable=False),
        sa.Column("maker", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["from_version"], ["versions.id"], name=op.f("fk_changes_from_version_versions")),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_changes_source_sources")),
        sa.ForeignKeyConstraint(["to_version"], ["versions.id"], name=op.f("fk_changes_to_version_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_changes")),
        sa.UniqueConstraint("to_version", name=op.f("uq_changes_to_version")),
    )
    with op.batch_alter_table("changes", schema=None) as batch_op:
        batch_op.create_index("ix_changes_seen_at", ["seen_at"], unique=False)
        batch_op.create_index("ix_changes_source", ["source"], unique=False)

    op.create_table(
        "checks",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("first_at", Moment(), nullable=False),
        sa.Column("last_at", Moment(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=40), nullable=False),
        sa.Column("accessed", sa.Boolean(), nullable=False),
        sa.Column("rule", sa.String(length=80), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("final_url", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("new_version", sa.Boolean(), nullable=False),
        sa.Column("by_hand", sa.Boolean(), nullable=False),
        sa.Column("body_sha256", sa.String(length=80), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("ms", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_checks_run_runs")),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_checks_source_sources")),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_checks_version_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checks")),
    )
    with op.batch_alter_table("checks", schema=None) as batch_op:
        batch_op.create_index("ix_checks_source_accessed_last_at", ["source", "accessed", "last_at"], unique=False)
        batch_op.create_index("ix_checks_source_first_at", ["source", "first_at"], unique=False)

    op.create_table(
        "documents",
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=40), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
        sa.Column("maker", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_documents_version_versions")),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_documents")),
    )
    op.create_table(
        "histories",
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_histories_source_sources")),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_histories_version_versions")),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_histories")),
    )
    op.create_table(
        "sightings",
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("quote", sa.String(length=20), nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("seen_at", Moment(), nullable=False),
        sa.Column("maker", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_sightings_source_sources")),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_sightings_version_versions")),
        sa.PrimaryKeyConstraint("version", "quote", name=op.f("pk_sightings")),
    )
    with op.batch_alter_table("sightings", schema=None) as batch_op:
        batch_op.create_index("ix_sightings_source", ["source"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("sightings", schema=None) as batch_op:
        batch_op.drop_index("ix_sightings_source")

    op.drop_table("sightings")
    op.drop_table("histories")
    op.drop_table("documents")
    with op.batch_alter_table("checks", schema=None) as batch_op:
        batch_op.drop_index("ix_checks_source_first_at")
        batch_op.drop_index("ix_checks_source_accessed_last_at")

    op.drop_table("checks")
    with op.batch_alter_table("changes", schema=None) as batch_op:
        batch_op.drop_index("ix_changes_source")
        batch_op.drop_index("ix_changes_seen_at")

    op.drop_table("changes")
    op.drop_table("versions")
    with op.batch_alter_table("schedule", schema=None) as batch_op:
        batch_op.drop_index("ix_schedule_next_check_at")

    op.drop_table("schedule")
    with op.batch_alter_table("sources", schema=None) as batch_op:
        batch_op.drop_index("ix_sources_parent")

    op.drop_table("sources")
    op.drop_table("runs")
    op.drop_table("probes")

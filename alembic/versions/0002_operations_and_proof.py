"""Incidents, messages and their deliveries; audits; what retention dropped; leases of due sources."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from sourcewatch.adapters.tables import Moment

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audits",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("sample", sa.Boolean(), nullable=False),
        sa.Column("files", sa.BigInteger(), nullable=False),
        sa.Column("records", sa.BigInteger(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audits")),
    )
    op.create_table(
        "editors",
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("variable", sa.String(length=120), nullable=False),
        sa.Column("since_at", Moment(), nullable=False),
        sa.Column("digest_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("name", "variable", name=op.f("pk_editors")),
    )
    op.create_table(
        "prunings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("until_at", Moment(), nullable=False),
        sa.Column("rule", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_prunings")),
    )
    op.create_table(
        "incidents",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("word", sa.String(length=40), nullable=False),
        sa.Column("opened_at", Moment(), nullable=False),
        sa.Column("updated_at", Moment(), nullable=False),
        sa.Column("recovered_at", Moment(), nullable=True),
        sa.Column("closed_at", Moment(), nullable=True),
        sa.Column("dead", sa.Boolean(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_incidents_source_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incidents")),
    )
    with op.batch_alter_table("incidents", schema=None) as batch_op:
        batch_op.create_index("ix_incidents_closed_at", ["closed_at"], unique=False)
        batch_op.create_index("ix_incidents_source", ["source"], unique=False)

    op.create_table(
        "messages",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_messages_source_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sa.UniqueConstraint("key", name=op.f("uq_messages_key")),
    )
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.create_index("ix_messages_at", ["at"], unique=False)

    op.create_table(
        "deliveries",
        sa.Column("message", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("editor", sa.String(length=120), nullable=False),
        sa.Column("variable", sa.String(length=120), nullable=False),
        sa.Column("digest", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_try_at", Moment(), nullable=False),
        sa.Column("sent_at", Moment(), nullable=True),
        sa.Column("given_up", sa.Boolean(), nullable=False),
        sa.Column("why_not", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["message"], ["messages.id"], name=op.f("fk_deliveries_message_messages")),
        sa.PrimaryKeyConstraint("message", "editor", "variable", name=op.f("pk_deliveries")),
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index("ix_deliveries_sent_at_next_try_at", ["sent_at", "next_try_at"], unique=False)

    op.create_table(
        "dropped",
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("rule", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_dropped_version_versions")),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_dropped")),
    )
    op.create_index("ix_checks_run", "checks", ["run"])
    for table, column in (("checks", "url"), ("versions", "url"), ("versions", "final_url")):
        op.create_index(f"ix_{table}_{column}", table, [column], postgresql_using="hash")
    with op.batch_alter_table("schedule", schema=None) as batch_op:
        batch_op.add_column(sa.Column("host", sa.String(length=300), server_default="", nullable=False))
        batch_op.add_column(sa.Column("rhythm", sa.String(length=200), server_default="", nullable=False))
        batch_op.add_column(sa.Column("leased_until", Moment(), nullable=True))
        batch_op.add_column(sa.Column("paused_until", Moment(), nullable=True))


def downgrade() -> None:
    for table, column in (("checks", "url"), ("versions", "url"), ("versions", "final_url")):
        op.drop_index(f"ix_{table}_{column}", table_name=table)
    op.drop_index("ix_checks_run", table_name="checks")
    with op.batch_alter_table("schedule", schema=None) as batch_op:
        batch_op.drop_column("paused_until")
        batch_op.drop_column("leased_until")
        batch_op.drop_column("rhythm")
        batch_op.drop_column("host")

    op.drop_table("dropped")
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.drop_index("ix_deliveries_sent_at_next_try_at")

    op.drop_table("deliveries")
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.drop_index("ix_messages_at")

    op.drop_table("messages")
    with op.batch_alter_table("incidents", schema=None) as batch_op:
        batch_op.drop_index("ix_incidents_source")
        batch_op.drop_index("ix_incidents_closed_at")

    op.drop_table("incidents")
    op.drop_table("prunings")
    op.drop_table("editors")
    op.drop_table("audits")

"""What editors decide about versions, and who decided it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sourcewatch.adapters.tables import Moment

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "reviews",
        sa.Column("id", key, nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("record", sa.String(length=60), nullable=False),
        sa.Column("version", key, nullable=True),
        sa.Column("at", Moment(), nullable=False),
        sa.Column("by", sa.String(length=120), nullable=False),
        sa.Column("decision", sa.String(length=20), nullable=False),
        sa.Column("holds", sa.String(length=20), nullable=True),
        sa.Column("after", sa.String(length=40), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_reviews_source_sources")),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_reviews_version_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviews")),
        sa.UniqueConstraint("key", name=op.f("uq_reviews_key")),
        sa.UniqueConstraint("source", "record", "after", name=op.f("uq_reviews_source_record_after")),
    )
    op.create_index("ix_reviews_version", "reviews", ["version"])
    op.create_index("ix_changes_desk", "changes", ["source", "to_version", "told", "significance", "seen_at"])


def downgrade() -> None:
    op.drop_index("ix_changes_desk", "changes")
    op.drop_table("reviews")

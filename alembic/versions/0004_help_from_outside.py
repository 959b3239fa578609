"""Mirrors as sources of their own; copies in outside archives, wishes to save there, and where sources have moved."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from sourcewatch.adapters.tables import Moment

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = ("copies", "saves", "moves")


def upgrade() -> None:
    op.add_column("sources", sa.Column("mirror_of", sa.String(length=120), nullable=True))
    op.create_index("ix_sources_mirror_of", "sources", ["mirror_of"])
    key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    _copies(key)
    _saves(key)
    _moves(key)


def _copies(key: sa.types.TypeEngine[int]) -> None:
    op.create_table(
        "copies",
        sa.Column("id", key, nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("archive", sa.String(length=120), nullable=False),
        sa.Column("original", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("memento_at", Moment(), nullable=False),
        sa.Column("asked_at", Moment(), nullable=False),
        sa.Column("word", sa.String(length=40), nullable=False),
        sa.Column("held", sa.Integer(), nullable=False),
        sa.Column("sought", sa.Integer(), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_copies_source_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_copies")),
    )
    op.create_index("ix_copies_source", "copies", ["source"])


def _saves(key: sa.types.TypeEngine[int]) -> None:
    op.create_table(
        "saves",
        sa.Column("version", key, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_try_at", Moment(), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["version"], ["versions.id"], name=op.f("fk_saves_version_versions")),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_saves")),
    )
    op.create_index("ix_saves_state_next_try_at", "saves", ["state", "next_try_at"])


def _moves(key: sa.types.TypeEngine[int]) -> None:
    op.create_table(
        "moves",
        sa.Column("id", key, nullable=False),
        sa.Column("source", sa.String(length=120), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("to_url", sa.Text(), nullable=False),
        sa.Column("proposed_at", Moment(), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("decision", sa.String(length=20), nullable=True),
        sa.Column("decided_at", Moment(), nullable=True),
        sa.Column("decided_by", sa.String(length=120), nullable=True),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name=op.f("fk_moves_source_sources")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_moves")),
    )
    op.create_index("ix_moves_source", "moves", ["source"])


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
    op.drop_index("ix_sources_mirror_of", "sources")
    op.drop_column("sources", "mirror_of")

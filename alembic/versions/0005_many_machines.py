"""Workers on many machines, and whose turn each host is; on PostgreSQL the checks lie in a partition for each month."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sourcewatch.adapters.tables import Moment

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INDEXES = (
    ("ix_checks_source_first_at", "(source, first_at)"),
    ("ix_checks_source_accessed_last_at", "(source, accessed, last_at)"),
    ("ix_checks_url", "USING hash (url)"),
    ("ix_checks_run", "(run)"),
)
KEYS = (("run", "runs"), ("source", "sources"), ("version", "versions"))


def upgrade() -> None:
    op.create_table(
        "turns",
        sa.Column("host", sa.String(length=300), nullable=False),
        sa.Column("owner", sa.String(length=80), nullable=True),
        sa.Column("beat_at", Moment(), nullable=False),
        sa.Column("rests_until", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_turns")),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("started_at", Moment(), nullable=False),
        sa.Column("beat_at", Moment(), nullable=False),
        sa.Column("hosts", sa.Integer(), nullable=False),
        sa.Column("checks", sa.BigInteger(), nullable=False),
        sa.Column("leads", sa.Boolean(), nullable=False),
        sa.Column("fault", sa.Text(), nullable=False),
        sa.Column("fault_at", Moment(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
    )
    op.create_index("ix_schedule_host_next_check_at", "schedule", ["host", "next_check_at"])
    if op.get_context().dialect.name == "postgresql":
        _part("PARTITION BY RANGE (first_at)", "(id, first_at)")
        op.execute("CREATE TABLE checks_rest PARTITION OF checks DEFAULT")
        _months()
        _move()


def _part(by: str, key: str) -> None:
    """Put the checks aside and make their table anew, without rows, indexes that read them, or guards."""
    op.execute("ALTER TABLE checks RENAME TO checks_before")
    for name in ("pk_checks", *(name for name, _ in INDEXES)):
        op.execute(f"ALTER INDEX {name} RENAME TO {name}_before")
    op.execute(f"CREATE TABLE checks (LIKE checks_before INCLUDING DEFAULTS) {by}")
    op.execute(f"ALTER TABLE checks ADD CONSTRAINT pk_checks PRIMARY KEY {key}")
    for column, table in KEYS:
        name = f"fk_checks_{column}_{table}"
        op.execute(f"ALTER TABLE checks_before DROP CONSTRAINT {name}")
        op.execute(f"ALTER TABLE checks ADD CONSTRAINT {name} FOREIGN KEY ({column}) REFERENCES {table} (id)")
    for name, what in INDEXES:
        op.execute(f"CREATE INDEX {name} ON checks {what}")
    op.execute("ALTER SEQUENCE checks_id_seq OWNED BY checks.id")


def _months() -> None:
    """A partition for each month in which a check began, for this one and for two ahead."""
    op.execute(
        """
        DO $$ DECLARE month timestamp; BEGIN
          FOR month IN
            SELECT date_trunc('month', first_at AT TIME ZONE 'UTC') FROM checks_before UNION
            SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => n)
              FROM generate_series(0, 2) n
          LOOP
            EXECUTE format('CREATE TABLE checks_%s PARTITION OF checks FOR VALUES FROM (%L) TO (%L)',
              to_char(month, 'YYYYMM'), month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC');
          END LOOP;
        END $$
        """
    )


def _move() -> None:
    op.execute("INSERT INTO checks SELECT * FROM checks_before ORDER BY id")
    op.execute("DROP TABLE checks_before")


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        _part("", "(id)")
        _move()
    op.drop_index("ix_schedule_host_next_check_at", "schedule")
    op.drop_table("workers")
    op.drop_table("turns")

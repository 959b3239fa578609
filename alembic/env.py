"""Runs migrations on the connection that sourcewatch hands over, or on SOURCEWATCH_DATABASE_URL when called by hand."""

from __future__ import annotations

import os
from typing import Any

import sqlalchemy as sa
from alembic import context
from sqlalchemy import Connection

from sourcewatch.adapters import database, tables


def render_item(kind: str, item: Any, autogen_context: Any) -> str | bool:
    """Autogenerate writes our own types without their import; say how to import them."""
    if kind == "type" and isinstance(item, tables.Moment):
        autogen_context.imports.add("from sourcewatch.adapters.tables import Moment")
        return "Moment()"
    if kind == "type" and isinstance(item, sa.JSON):
        autogen_context.imports.add("from sqlalchemy.dialects import postgresql")
        return "sa.JSON().with_variant(postgresql.JSONB(), 'postgresql')"
    return False


def include_name(name: str | None, kind: str, parents: Any) -> bool:
    """The parts of a partitioned table come and go by themselves."""
    return kind != "table" or not database.PART.fullmatch(name or "")


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=tables.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        render_item=render_item,
        include_name=include_name,
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


if (given := context.config.attributes.get("connection")) is not None:
    migrate(given)
else:
    engine = database.open_engine(os.environ["SOURCEWATCH_DATABASE_URL"])
    with engine.begin() as connection:
        migrate(connection)
        database.install_guards(connection)

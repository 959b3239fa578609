"""Rows of versions, each with the title that was read out of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, select

from ..domain.kept import VersionRow
from . import tables as t

VERSIONS = select(t.versions, t.documents.c.title).join(t.documents, t.documents.c.version == t.versions.c.id)


def version_of(row: Row[Any]) -> VersionRow:
    return VersionRow(
        id=row.id,
        source=row.source,
        captured_at=row.captured_at,
        url=row.url,
        final_url=row.final_url,
        media_type=row.media_type,
        payload_sha256=row.payload_sha256,
        text_sha256=row.text_sha256,
        path=row.path,
        record_id=row.record_id,
        offset=row.offset,
        size_bytes=row.size_bytes,
        title=row.title,
    )

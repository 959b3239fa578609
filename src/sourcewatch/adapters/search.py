"""Search in the texts of all versions: an index beside the database, made of it, and made again when it is deleted.

SQLite's FTS5 with trigrams, whatever database holds the facts: it finds Chinese without knowing its words. A paragraph
that a hundred versions share is one row with the first and the last of them, so the index grows with what was written,
not with how often it was read.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine, select
from sqlalchemy import text as sql

from ..domain.document import unpack
from ..domain.errors import StorageError
from ..domain.search import Hit
from . import tables as t
from .database import storage

FILE = "search.db"
TRIGRAM = 3  # shorter words are looked for in every paragraph
MOST_CHARS = 4_000  # of one paragraph; a page without structure is cut into pieces of this length
_SCHEMA = """
CREATE TABLE IF NOT EXISTS paragraphs (
  id INTEGER PRIMARY KEY, source TEXT NOT NULL, digest BLOB NOT NULL, text TEXT NOT NULL,
  first INTEGER NOT NULL, last INTEGER NOT NULL, UNIQUE (source, digest));
CREATE VIRTUAL TABLE IF NOT EXISTS found USING fts5(
  text, content='paragraphs', content_rowid='id', tokenize='trigram');
CREATE TABLE IF NOT EXISTS done (version INTEGER NOT NULL);
"""

_WRITING = sql(
    "SELECT clock_timestamp(), (SELECT coalesce(max(id), 0) FROM versions), (SELECT min(xact_start) FROM"
    " pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid())"
)


class Search:
    """The index under *data*. Raises StorageError."""

    def __init__(self, engine: Engine, data: Path) -> None:
        self._engine, self._path, self._lock = engine, data / FILE, Lock()
        self._tops: deque[tuple[datetime, int]] = deque(maxlen=30)

    def fill(self, most: int) -> int:
        """Take in up to *most* versions that the index does not know, oldest first; how many there were."""
        with self._lock, self._opened() as index:
            index.execute("BEGIN IMMEDIATE")  # a command and a daemon may fill it at once
            last = index.execute("SELECT coalesce(max(version), 0) FROM done").fetchone()[0]
            taken = 0
            for version, source, packed in self._documents(int(last), most):
                self._take_in(index, version, source, packed)
                taken += 1
            index.commit()
            return taken

    def _documents(self, after: int, most: int) -> list[tuple[int, str, bytes]]:
        v, d = t.versions.c, t.documents.c
        query = select(v.id, v.source, d.packed).join(t.documents, d.version == v.id).where(v.id > after)
        with storage("reading documents"), self._engine.connect() as c:
            if c.dialect.name == "postgresql":
                query = query.where(v.id <= self._settled(c))
            return [(r.id, r.source, bytes(r.packed)) for r in c.execute(query.order_by(v.id).limit(most))]

    def _settled(self, c: Connection) -> int:
        """The newest version below which none can appear any more: many write at once, and numbers that were given
        earlier may be committed later. So it was the newest before the oldest transaction that still writes began.
        """
        now, top, oldest = c.execute(_WRITING).one()
        self._tops.append((now, top))
        return max((known for at, known in self._tops if oldest is None or at < oldest), default=0)

    def _take_in(self, index: sqlite3.Connection, version: int, source: str, packed: bytes) -> None:
        document = unpack(packed)
        texts = [document.title, *(b.text for b in document.visible)]
        pieces = {p for text in texts for p in _pieces(text) if p.strip()}
        for text in sorted(pieces):
            digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
            grown = index.execute(
                "UPDATE paragraphs SET last = ? WHERE source = ? AND digest = ?", (version, source, digest)
            )
            if not grown.rowcount:
                clean = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
                row = index.execute(
                    "INSERT INTO paragraphs (source, digest, text, first, last) VALUES (?, ?, ?, ?, ?)",
                    (source, digest, clean, version, version),
                )
                index.execute("INSERT INTO found (rowid, text) VALUES (?, ?)", (row.lastrowid, clean))
        index.execute("DELETE FROM done")
        index.execute("INSERT INTO done (version) VALUES (?)", (version,))

    def find(self, words: Sequence[str], most: int) -> list[Hit]:
        """Paragraphs that hold all *words*, whatever their case; those first that came last."""
        words = [w.replace("\0", "\ufffd") for w in words]
        long = [w for w in words if len(w) >= TRIGRAM]
        conditions = ["p.text LIKE ? ESCAPE '\\'" for w in words if len(w) < TRIGRAM]
        values = [f"%{_escaped(w)}%" for w in words if len(w) < TRIGRAM]
        if not words:
            return []
        if long:
            conditions.append("found MATCH ?")
            values.append(" AND ".join('"' + w.replace('"', '""') + '"' for w in long))
        joined = "found JOIN paragraphs p ON p.id = found.rowid", "found.rowid"
        table, order = joined if long else ("paragraphs p", "p.id")
        query = f"SELECT p.source, p.text, p.first, p.last FROM {table} WHERE {' AND '.join(conditions)}"
        with self._opened() as index:  # in the order of rows, so that it stops as soon as there are enough
            rows = index.execute(f"{query} ORDER BY {order} DESC LIMIT ?", (*values, most)).fetchall()
        return [Hit(*row) for row in rows]

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The index, made where it is missing."""
        try:
            with closing(sqlite3.connect(self._path, timeout=30)) as index:
                index.execute("PRAGMA journal_mode=WAL")
                index.execute("PRAGMA synchronous=NORMAL")
                index.executescript(_SCHEMA)
                yield index
        except sqlite3.Error as error:
            raise StorageError(f"the search index {self._path} failed: {error}; it may be deleted") from error


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), MOST_CHARS):
        yield text[start : start + MOST_CHARS]


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

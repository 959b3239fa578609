"""How long the whole command `report` takes over 50,000 sources, and how much memory: `python benchmarks/report.py`.

The ledger is filled by SQL: each source was read, one in twenty fails, one in a hundred changed, one in ten has a
quote. Each command runs in a process of its own; the machine is shared.
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, insert

from sourcewatch.adapters import database
from sourcewatch.adapters import tables as t
from sourcewatch.domain.change import Change, Drift, Edit, EditKind, Extent, Op, Part, Significance, pack_change
from sourcewatch.domain.source import Quote

HEAD = '[site]\nname = "Bench"\nurl = "https://site.example/"\ntimezone = "Asia/Shanghai"\nlanguage = "zh-CN"\n'
TIERS = ("A", "C", "D")
NOW = datetime.now(UTC).replace(microsecond=0)


def configuration(n: int) -> str:
    rows = [HEAD, *(f'[tiers.{name}]\ntitle = "层级 {name}"\n' for name in TIERS)]
    for i in range(n):
        rows.append(
            f'[[source]]\nid = "source-{i}"\ntier = "{TIERS[i % 3]}"\ntitle = "来源 {i}: a title"\n'
            f'url = "https://host{i % 5000}.example/page/{i}"\ncited_on = ["/page-{i % 200}/"]\n'
        )
        if i % 10 == 0:
            rows.append(f'[[source.quote]]\nexact = "a sentence number {i}"\n')
    return "".join(rows)


def fill(engine: Engine, n: int) -> None:
    """Runs, sources, versions, checks, changes and sightings, in bulk."""
    parts = (Part(Op.EQUAL, "It gains "), Part(Op.DELETE, "4%"), Part(Op.INSERT, "5%"))
    edits = (Edit(EditKind.REPLACED, 0, 0, parts),)
    change = Change(edits, Significance.TEXT, Drift(0.9, 0.1, Extent.EDITED))
    packed = pack_change(change)
    with engine.begin() as c:
        c.execute(
            insert(t.runs), [{"id": 1, "started_at": NOW, "ended_at": NOW, "trigger": "run", "code_version": "x"}]
        )
        c.execute(insert(t.sources), [_source(i) for i in range(n)])
        c.execute(insert(t.versions), [_version(i, k) for i in range(n) for k in range(2 if i % 100 == 0 else 1)])
        c.execute(insert(t.documents), [_document(i, k) for i in range(n) for k in range(2 if i % 100 == 0 else 1)])
        c.execute(insert(t.checks), [row for i in range(n) for row in _checks(i)])
        c.execute(insert(t.changes), [_change(i, packed) for i in range(0, n, 100)])
        c.execute(insert(t.sightings), [_sighting(i) for i in range(0, n, 10)])


def _id(i: int, k: int = 0) -> int:
    return 2 * i + k + 1


def _source(i: int) -> dict[str, Any]:
    return {
        "id": f"source-{i}", "kind": "page", "url": f"https://host{i % 5000}.example/page/{i}",
        "title": f"来源 {i}: a title",
        "tier": TIERS[i % 3], "declared": True, "first_seen_at": NOW - timedelta(days=90), "alt": "",
    }  # fmt: skip


def _version(i: int, k: int) -> dict[str, Any]:
    url = f"https://host{i % 5000}.example/page/{i}"
    return {
        "id": _id(i, k), "source": f"source-{i}", "captured_at": NOW - timedelta(days=80 - 75 * k), "url": url,
        "final_url": url, "status": 200, "media_type": "text/html", "body_sha256": "x", "payload_sha256": "x",
        "text_sha256": "x", "etag": "", "last_modified": "", "path": "x", "record_id": "", "offset": 0,
        "size_bytes": 1000,
    }  # fmt: skip


def _document(i: int, k: int) -> dict[str, Any]:
    return {"version": _id(i, k), "title": f"{i}", "language": "en", "packed": b"", "maker": "bench"}


def _checks(i: int) -> list[dict[str, Any]]:
    url = f"https://host{i % 5000}.example/page/{i}"
    row = {
        "run": 1, "source": f"source-{i}", "first_at": NOW - timedelta(days=80), "last_at": NOW - timedelta(days=3),
        "n": 300, "word": "ok", "accessed": True, "rule": "read", "evidence": "", "status": 200, "url": url,
        "final_url": url, "version": _id(i, int(i % 100 == 0)), "new_version": True, "by_hand": False,
        "body_sha256": "x", "facts": {}, "ms": 100,
    }  # fmt: skip
    failed = {
        "word": ("not_found", "connect_timeout", "challenge")[i % 3], "accessed": False, "rule": "status-404",
        "evidence": "HTTP 404 Not Found", "version": None, "new_version": False, "n": 1,
    }  # fmt: skip
    if i % 20:
        return [row]
    days = (NOW - timedelta(days=2), NOW - timedelta(days=1))
    return [row, *({**row, **failed, "first_at": at, "last_at": at} for at in days)]


def _change(i: int, packed: bytes) -> dict[str, Any]:
    return {
        "source": f"source-{i}", "from_version": _id(i), "to_version": _id(i, 1), "seen_at": NOW - timedelta(days=5),
        "confirmed_at": NOW, "significance": "text", "told": 1, "suppressed": 0, "kept": 0.9, "novelty": 0.1,
        "extent": "edited", "edits": packed, "maker": "bench",
    }  # fmt: skip


def _sighting(i: int) -> dict[str, Any]:
    kind = "not_found" if i % 100 == 0 else "verbatim"
    return {
        "version": _id(i, int(i % 100 == 0)), "quote": Quote(f"a sentence number {i}").key, "source": f"source-{i}",
        "kind": kind, "score": 1.0, "facts": {}, "seen_at": NOW - timedelta(days=5), "maker": "bench",
    }  # fmt: skip


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(n: int = 50_000) -> None:
    print(f"{platform.python_version()}, {os.cpu_count()} cores (shared), {n:,} sources")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sources.toml").write_text(configuration(n), encoding="utf-8")
        engine = database.open_engine(database.sqlite_url(folder / "sourcewatch.db"))
        database.upgrade(engine)
        fill(engine, n)
        engine.dispose()
        command = [sys.executable, "-m", "sourcewatch.faces.cli", "--config", str(folder / "sources.toml")]
        for what in (["sources", "lint"], ["report", "--format", "html"], ["report", "--format", "html,md,json,atom"]):
            before, cpu_s = time.perf_counter(), _cpu_s()
            subprocess.run([*command, *what], check=True, stdout=subprocess.DEVNULL)
            wall_s = time.perf_counter() - before
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(f"{' '.join(what):36} {wall_s:6.1f} s, {_cpu_s() - cpu_s:5.1f} s CPU   largest so far {peak:5.0f} MB")
        size = max(p.stat().st_size for p in (folder / "reports").glob("*.html"))
        print(f"the page: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)

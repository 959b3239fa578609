"""How long a page of the desk takes over many sources and changes, and search over their texts.

    python benchmarks/desk.py [SOURCES] [CHANGES]

The rows are written into a database of its own; every tenth change has been decided about. Times are of whole answers
through the application (its middleware, templates and all), in one process, the first one apart: it reads where
everything stands, which later ones do only after the ledger was written to.
"""

from __future__ import annotations

import asyncio
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from sourcewatch.adapters import database
from sourcewatch.adapters import tables as t
from sourcewatch.domain.change import Change, Drift, Edit, EditKind, Extent, Op, Part, Significance, pack_change
from sourcewatch.domain.document import Block, Document, Form, pack
from sourcewatch.domain.source import Quote
from sourcewatch.faces import wiring
from sourcewatch.faces.web.app import build

NOW = datetime.now(UTC).replace(microsecond=0)
WORDS = (
    "调度器",
    "缓存",
    "命中率",
    "专家",
    "词元",
    "延迟",
    "吞吐",
    "集群",
    "验证",
    "scheduler",
    "cache",
    "tokens",
    "latency",
)
ROUNDS = 15


def address(n: int) -> str:
    return f"https://h{n % 400}.example/{n}"


def sentence(dice: random.Random) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(12)) + f" {dice.randrange(10_000)}。"


def sources_toml(count: int) -> str:
    head = '[site]\nname = "Bench"\nurl = "https://notes.example/"\nlanguage = "zh-CN"\n'
    head += "".join(f'[tiers.{tier}]\ntitle = "{tier}"\n' for tier in "ABCD")
    rows = [
        f'[[source]]\nid = "s{n}"\ntier = "{"ABCD"[n % 4]}"\ntitle = "来源 {n}"\nurl = "{address(n)}"\n'
        f'language = "{"zh" if n % 3 else "en"}"\ncited_on = ["/p/{n % 97}/"]\n[[source.quote]]\nexact = "q{n}"\n'
        for n in range(count)
    ]
    return head + "".join(rows)


def fill(url: str, sources: int, changes: int) -> None:
    """*sources* with as many versions as make *changes*, each with a document, a check and a sighting of its quote."""
    dice = random.Random(1)
    engine = database.open_engine(url)
    versions: list[dict[str, Any]] = []
    rows: dict[str, list[dict[str, Any]]] = {k: [] for k in ("documents", "changes", "checks", "sightings", "reviews")}
    per = changes // sources + 1
    texts = [[sentence(dice) for _ in range(30)] for _ in range(200)]
    for n in range(sources):
        for edition in range(per):
            number = n * per + edition + 1
            at = NOW - timedelta(hours=per - edition, minutes=n % 60)
            record = f"<urn:uuid:{number:032x}>"
            versions.append(version(number, n, at, record))
            one(rows, number, n, edition, at, texts[number % 200], dice)
            if edition and number % 10 == 0:
                rows["reviews"].append(review(len(rows["reviews"]) + 1, n, number, record, at))
    with engine.begin() as c:
        c.execute(insert(t.runs).values(id=1, started_at=NOW, ended_at=NOW, trigger="run", code_version="0"))
        for table, found in (("versions", versions), *rows.items()):
            for start in range(0, len(found), 2_000):
                c.execute(insert(t.metadata.tables[table]), found[start : start + 2_000])
    engine.dispose()


def version(number: int, n: int, at: datetime, record: str) -> dict[str, Any]:
    url = address(n)
    return {
        "id": number, "source": f"s{n}", "captured_at": at, "url": url, "final_url": url, "status": 200,
        "media_type": "text/html", "body_sha256": "sha256:b", "payload_sha256": "sha256:p", "text_sha256": "sha256:t",
        "etag": "", "last_modified": "", "path": f"snapshots/s{n}/{number}.warc.gz", "record_id": record, "offset": 0,
        "size_bytes": 40_000,
    }  # fmt: skip


def one(
    rows: dict[str, list[dict[str, Any]]], number: int, n: int, edition: int, at: datetime, text: list[str],
    dice: random.Random,
) -> None:  # fmt: skip
    document = Document(Form.HTML, title=f"来源 {n}", blocks=tuple(Block(x) for x in [f"{n} {edition}", *text]))
    rows["documents"].append(
        {"version": number, "title": document.title, "language": "zh", "packed": pack(document), "maker": "bench"}
    )
    failing = edition and n % 20 == 0
    word, accessed = ("not_found", False) if failing else ("ok", True)
    rows["checks"].append(
        {
            "run": 1, "source": f"s{n}", "first_at": at, "last_at": at, "n": 1, "word": word, "accessed": accessed,
            "rule": "bench", "evidence": "", "status": 404 if failing else 200, "url": address(n),
            "final_url": address(n), "version": None if failing else number,
            "new_version": not failing, "by_hand": False, "body_sha256": "sha256:b", "facts": {}, "ms": 5,
        }
    )  # fmt: skip
    kind = "numbers_changed" if n % 25 == 1 and edition == 1 else "verbatim"
    rows["sightings"].append(
        {
            "version": number, "quote": Quote(f"q{n}").key, "source": f"s{n}", "kind": kind, "score": 1.0, "facts": {},
            "seen_at": at, "maker": "bench",
        }
    )  # fmt: skip
    if edition:
        parts = (Part(Op.EQUAL, text[0]), Part(Op.DELETE, text[1]), Part(Op.INSERT, text[2]))
        edits = tuple(Edit(EditKind.REPLACED, k, k, parts) for k in range(4))
        change = Change(edits, Significance.TEXT, Drift(0.9, 0.1, Extent.EDITED))
        rows["changes"].append(
            {
                "source": f"s{n}", "from_version": number - 1, "to_version": number, "seen_at": at,
                "significance": dice.choice(list(Significance)), "told": 4, "suppressed": 0, "kept": 0.9,
                "novelty": 0.1, "extent": "edited", "edits": pack_change(change), "maker": "bench",
            }
        )  # fmt: skip


def review(number: int, n: int, version: int, record: str, at: datetime) -> dict[str, Any]:
    return {
        "key": f"k{number}", "source": f"s{n}", "record": record, "version": version, "at": at, "by": "Lin",
        "decision": "reviewed", "holds": "reviewed", "after": "", "note": "",
    }  # fmt: skip


async def get(app: Any, path: str) -> int:
    """One request through the application without a socket; the size of the answer in bytes."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    head, _, query = path.partition("?")
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "path": head, "raw_path": head.encode(),
        "query_string": query.encode(), "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
        "headers": [(b"host", b"127.0.0.1"), (b"accept", b"text/html")], "root_path": "",
    }  # fmt: skip
    await app(scope, receive, send)
    assert sent[0]["status"] == 200, (path, sent[0]["status"])
    return sum(len(m.get("body", b"")) for m in sent)


async def measure(app: Any, path: str) -> None:
    began = time.perf_counter()
    size = await get(app, path)
    first = time.perf_counter() - began
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await get(app, path)
        took.append(time.perf_counter() - began)
    print(f"  {path:44} first {first * 1e3:6.0f} ms, then median {statistics.median(took) * 1e3:5.0f} ms, "
          f"worst {max(took) * 1e3:5.0f} ms, {size / 1e3:6.0f} kB")  # fmt: skip


def main(sources: int = 5_000, changes: int = 50_000) -> None:
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, shared with others")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sources.toml")
        path.write_text(sources_toml(sources), encoding="utf-8")
        with wiring.open_house(path, None, {}) as house:
            pass
        fill(house.database_url, sources, changes)
        with wiring.open_house(path, None, {}) as house:
            app = build(house)
            print(f"{sources} sources, {changes} changes:")
            for page in ("/", "/?lang=en&tier=A&language=zh", "/?since=7d&significance=quote", "/?host=h7.example",
                         "/?section=changes&page=40", "/?section=quiet&page=3", f"/changes/{changes // 2}",
                         "/sources/s77", "/sources/s77/diff?view=side"):  # fmt: skip
                asyncio.run(measure(app, page))
            began, done = time.perf_counter(), 0
            while (taken := house.search.fill(500)) == 500:
                done += taken
            took = time.perf_counter() - began
            size = (house.data / "search.db").stat().st_size
            print(f"  index of {done + taken} versions: {took:.1f} s, {size / 1e6:.1f} MB")
            for page in ("/search?q=tokens", "/search?q=%E5%91%BD%E4%B8%AD%E7%8E%87", "/search?q=%E7%BC%93%E5%AD%98"):
                asyncio.run(measure(app, page))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))

"""Does a rule make of its recorded answers what it says? How a stranger's rule is tested, and each of the package's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ..analysis.judge import Task, judge
from ..domain.capture import Capture, Exchange
from ..domain.document import VISIBLE
from ..domain.reader import Example
from ..domain.source import Source

MOST_BYTES = 20_000_000
AT = datetime(2026, 1, 1, tzinfo=UTC)


def faults(example: Example, source: Source | None) -> Iterator[str]:
    """What is not as the example says, in sentences; *source* is None where the rule is not for the cited address."""
    if source is None:
        yield f"the rule is not for {example.cited}"
        return
    asked = source.address or ""
    if example.asks and asked != example.asks:
        yield f"asks {asked}, not {example.asks}"
    body = example.body.encode()
    headers = (("Content-Type", example.content_type), ("Content-Length", str(len(body))))
    found = judge(Task(source, Capture(AT, (Exchange(asked, example.status, headers, body),)), MOST_BYTES))
    if found.verdict.word != example.verdict:
        yield f"is {found.verdict.word} ({found.verdict.rule}: {found.verdict.evidence}), not {example.verdict}"
    if (document := found.document) is None:
        return
    if example.title is not None and document.title != example.title:
        yield f"has the title {document.title!r}, not {example.title!r}"
    shown = "\n".join(b.text for b in document.blocks if b.label in VISIBLE)
    hidden = "\n".join(b.text for b in document.blocks if b.label not in VISIBLE)
    yield from (f"does not show {words!r}" for words in example.shows if words not in shown)
    yield from (f"does not hold {words!r} for quotes alone" for words in example.finds if words not in hidden)

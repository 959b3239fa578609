"""What may go after a while, and what never may: by rule, by tier, dry unless it is asked to do it.

What a published date, a quote, a revisit or a person relies on stays, and so do the first version and the newest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from ..domain.retention import CheckRule, KeptVersion, Removal
from ..domain.source import Retention, Settings


class Archive(Protocol):
    """Versions, evidence and rows, and their removal. Raises StorageError."""

    def versions(self) -> Sequence[KeptVersion]: ...
    def refused(self) -> Sequence[tuple[str, datetime, str]]: ...
    def old_checks(self, rules: Sequence[CheckRule]) -> int: ...
    def prune_checks(self, rules: Sequence[CheckRule], now: datetime) -> int: ...
    def note_dropped(self, versions: Iterable[int], rule: str, now: datetime) -> None: ...
    def dropped_paths(self) -> Sequence[str]: ...
    def remove(self, warcs: Iterable[str], now: datetime, words: str) -> tuple[int, int]: ...
    def size_bytes(self, warc: str) -> int: ...


def retain(archive: Archive, settings: Settings, now: datetime, *, apply: bool = False) -> Removal:
    """What the rules of sources.toml let go; removed when *apply*. The caller then holds the run lock.

    The rows are noted before the files go: a crash in between leaves files that the next time removes.
    """
    going, back = _versions(archive.versions(), settings.retention, now)
    refused = [
        path
        for tier, at, path in archive.refused()
        if (lasts := _rule(settings.retention, tier).refused_s) is not None and at < now - timedelta(seconds=lasts)
    ]
    rules = list(_check_rules(settings, now))
    paths = sorted({v.path for v in going})
    size = sum(archive.size_bytes(path) for path in [*paths, *refused])
    if not apply:
        return Removal(tuple(going), tuple(refused), archive.old_checks(rules), size, tuple(back))
    archive.note_dropped([v.id for v in going], "older than [retain] allows", now)
    archive.remove(archive.dropped_paths(), now, "versions older than [retain] allows")
    archive.remove(refused, now, "evidence of refusals older than [retain] allows")
    return Removal(tuple(going), tuple(refused), archive.prune_checks(rules, now), size, tuple(back))


def _rule(rules: Mapping[str, Retention], tier: str) -> Retention:
    return rules.get(tier) or rules.get("default") or Retention()


def _versions(
    versions: Sequence[KeptVersion], rules: Mapping[str, Retention], now: datetime
) -> tuple[list[KeptVersion], list[KeptVersion]]:
    """Those that go, and those that are old enough but stay: a file goes only when all versions in it may."""
    old = []
    for version in versions:
        lasts = _rule(rules, version.tier).versions_s
        if lasts is not None and version.captured_at < now - timedelta(seconds=lasts):
            old.append(version)
    ids = {v.id for v in old}
    held = {v.path for v in versions if v.relies or v.id not in ids}
    return [v for v in old if v.path not in held], [v for v in old if v.path in held]


def _check_rules(settings: Settings, now: datetime) -> Iterable[CheckRule]:
    for tier in settings.tiers:
        lasts = _rule(settings.retention, tier).checks_s
        if lasts is not None:
            yield CheckRule(tier, now - timedelta(seconds=lasts), f"[retain] checks of tier {tier}")

"""Re-hash everything: bytes against manifests, records against their digests, revisits against what they name, the
chain, and rows against files. What is wrong is said with where and since when; nothing is mended silently."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from ..domain.audit import Audit, Chain, Flaw, FlawKind, Gap, Inspected, Noted, Place, TextRow, Told, Vouched
from . import accord

_T = TypeVar("_T")
DATABASE = "the database"
MANIFESTS = "snapshots/_manifest/"
REFUSED = "snapshots/_refused/"
STRAY_AFTER = timedelta(hours=1)  # no check waits longer for its row
UNNAMED_AFTER = timedelta(days=2)  # today's files are named tomorrow; a day of rest is no flaw


class Evidence(Protocol):
    """The archive's files. Raises StorageError."""

    at_once: int  # files that are read side by side

    def files(self) -> Iterator[str]: ...
    def day_of(self, path: str) -> date | None: ...
    def exists(self, path: str) -> bool: ...
    def sha256(self, path: str) -> str: ...
    def changed_at(self, path: str) -> datetime | None: ...
    def meta(self, path: str) -> Mapping[str, Any] | None: ...
    def removed(self) -> Mapping[str, str]: ...
    def vouched(self) -> Chain: ...
    def noted(self) -> Iterable[tuple[date, Sequence[Told]]]: ...
    def inspect(self, path: str) -> Inspected: ...


class Audits(accord.Rows, Protocol):
    """The ledger's side: where versions should lie, and what was verified before. Raises StorageError."""

    def places(self) -> Iterable[Place]: ...
    def note(self, audit: Audit) -> None: ...
    def noted(self) -> Sequence[Noted]: ...
    def gaps(self) -> Sequence[Gap]: ...
    def evidence(self) -> Collection[str]: ...
    def seen(self) -> accord.Seen: ...
    def texts(self) -> Iterable[TextRow]: ...
    def whole(self) -> Sequence[tuple[datetime, frozenset[str]]]: ...


Timestamps = Mapping[str, str]
"""Manifest paths and what is wrong with their timestamp tokens."""


@dataclass(slots=True)
class _Walk:
    """What a verification has seen so far."""

    evidence: Evidence
    now: datetime
    vouched: Mapping[str, Vouched]
    good: Sequence[tuple[datetime, frozenset[str]]]
    flaws: list[Flaw] = field(default_factory=list)
    inspected: dict[str, Inspected] = field(default_factory=dict)
    records: int = 0
    there: Collection[str] = ()
    facts: accord.Facts | None = None
    forged: Mapping[str, str] = field(default_factory=dict)

    def missing(self, path: str, words: str) -> None:
        """Tell it once, and of a note that only claims that it was removed."""
        if (note := self.forged.get(path)) is not None:
            words += f"; {note} says that it was removed, and no row of the database knows that note"
        if not any(flaw.path == path and flaw.kind is FlawKind.MISSING for flaw in self.flaws):
            self.tell(FlawKind.MISSING, path, words)

    def tell(self, kind: FlawKind, path: str, words: str) -> None:
        at = self.evidence.changed_at(path)
        self.flaws.append(Flaw(kind, path, words, self._good_at(path), at))

    def _good_at(self, path: str) -> datetime | None:
        """When this path was last known to be right: by a whole verification, or by the manifest that named it."""
        named = self.vouched.get(path)
        moments = [datetime.combine(named.day, time(), UTC)] if named else []
        moments += [at for at, bad in self.good if path not in bad and (not named or at.date() > named.day)]
        return max((at for at in moments if at <= self.now), default=None)


def verify(
    evidence: Evidence,
    audits: Audits,
    now: datetime,
    *,
    sample: float | None = None,
    timestamps: Timestamps | None = None,
    notes: tuple[str, ...] = (),
) -> Audit:
    """Verify everything, or the share *sample* (0–1) of the files: another share each day, the same on the same day.

    *timestamps*: what is wrong with the manifests' tokens, as the caller found it. The audit is noted in the ledger.
    """
    gaps, noted = audits.gaps(), audits.noted()  # before the files: what is written meanwhile is no flaw
    chain = evidence.vouched()
    vouched = chain.files
    walk = _Walk(evidence, now, vouched, audits.whole())
    for gap in gaps:
        walk.tell(FlawKind.ROW, DATABASE, f"{gap.words}: rows may be others than were written")
    for path, words in [*chain.breaks, *_ends(chain, noted)]:
        walk.tell(FlawKind.CHAIN, path, words)
    for path, words in (timestamps or {}).items():
        walk.tell(FlawKind.TIMESTAMP, path, words)
    places, refusals = list(audits.places()), audits.evidence() if sample is None else ()
    removed = _removed(walk, noted)
    there = walk.there = set(evidence.files())
    if sample is None:
        walk.facts = accord.Facts({(p.path, p.source): p for p in places if not p.dropped}, audits.seen())
    chosen = [p for p in sorted(there | vouched.keys()) if _chosen(p, now, sample)]
    for path, read in _ahead(lambda path: _read(walk, path) if path in there else None, chosen, evidence.at_once):
        if read is not None:
            _file(walk, path, read)
        elif path not in removed:
            walk.missing(path, "the manifest names it, and it is not there")
    _rows(walk, places, there, removed)
    for path in sorted(set(refusals) - there - removed):
        walk.missing(path, "a check's row names it as evidence, and it is not there")
    if sample is None:
        _orphans(walk, places, there, audits)
        _accord(walk, audits, places, removed)
    _revisits(walk)
    audit = Audit(now, sample is not None, len(chosen), walk.records, tuple(walk.flaws), notes)
    audits.note(audit)
    return audit


def _accord(walk: _Walk, audits: Audits, places: Iterable[Place], removed: Collection[str]) -> None:
    """What rows say against what files say, of all that is older than this verification."""
    assert walk.facts is not None
    faults = list(accord.texts(audits.texts(), walk.facts.makers))
    harmed = {flaw.path for flaw in walk.flaws if flaw.kind in (FlawKind.MISSING, FlawKind.DAMAGED)}
    lost = {(p.source, p.captured_at.date()) for p in places if p.captured_at and _facts_of(p) in harmed}
    faults += accord.checks(audits, walk.facts.told, walk.evidence.noted(), removed, lost, walk.now)
    for path, words in faults:
        walk.tell(FlawKind.ROW, path, words)


def _removed(walk: _Walk, noted: Sequence[Noted]) -> set[str]:
    """Paths that retention removed. A note of a removal that the database does not know as it stands removed nothing;
    where the database has noted nothing yet, as after a rebuild, all of them are believed."""
    known = {one.path: one.sha256 for one in reversed(noted)}
    found = walk.evidence.removed()
    forged = {note for note in set(found.values()) if known and known.get(note) != walk.evidence.sha256(note)}
    for path in sorted(note for note in forged if note in known):
        walk.tell(FlawKind.ALTERED, path, "it is not the note of a removal that the database noted")
    for path in sorted(known):
        if not path.startswith(MANIFESTS) and not walk.evidence.exists(path):
            walk.missing(path, "the database noted this removal, and its note is not there")
    walk.forged = {path: note for path, note in found.items() if note in forged}
    return set(found) - set(walk.forged)


def _ends(chain: Chain, noted: Iterable[Noted]) -> Iterator[tuple[str, str]]:
    """Manifests that are gone, or are others than the database noted: the chain tells all of them but its last."""
    for one in noted:
        if not one.path.startswith(MANIFESTS):
            continue
        held = chain.digests.get(one.path)
        if held is None:
            yield one.path, f"the database noted this manifest on {one.at:%Y-%m-%d}, and it is not there"
        elif held and held != one.sha256:  # one that cannot be read was told
            yield one.path, f"it is not the manifest that the database noted on {one.at:%Y-%m-%d}"


def _chosen(path: str, now: datetime, sample: float | None) -> bool:
    if sample is None:
        return True
    drawn = sha256(f"{now.date()} {path}".encode()).digest()
    return int.from_bytes(drawn[:4]) < sample * 2**32


def _ahead(call: Callable[[str], _T], paths: Sequence[str], at_once: int) -> Iterator[tuple[str, _T]]:
    """What *call* gives for each path, in their order; *at_once* of them are under way at a time."""
    if at_once == 1:
        yield from ((path, call(path)) for path in paths)
        return
    with ThreadPoolExecutor(at_once) as threads:
        waiting: deque[tuple[str, Future[_T]]] = deque()
        for path in paths:
            waiting.append((path, threads.submit(call, path)))
            if len(waiting) > 2 * at_once:
                path, done = waiting.popleft()
                yield path, done.result()
        while waiting:
            path, done = waiting.popleft()
            yield path, done.result()


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of one file: its digest where a manifest names one, what is in it, and the text beside it."""

    sha256: str = ""
    found: Inspected | None = None
    meta: Mapping[str, Any] | None = None
    text_sha256: str = ""


def _read(walk: _Walk, path: str) -> _Read:
    """Called in threads: it only looks things up."""
    evidence = walk.evidence
    sha256 = evidence.sha256(path) if path in walk.vouched else ""
    if path.endswith(".warc.gz"):
        return _Read(sha256, evidence.inspect(path))
    meta = evidence.meta(path) if path.endswith(".json") else None
    text = path.removesuffix(".json") + ".md"
    beside = meta is not None and "text_sha256" in meta and text in walk.there and text not in walk.vouched
    return _Read(sha256, None, meta, evidence.sha256(text) if beside else "")


def _file(walk: _Walk, path: str, read: _Read) -> None:
    named = walk.vouched.get(path)
    if named is None:
        day = walk.evidence.day_of(path)
        if day is None or datetime.combine(day, time(), UTC) + UNNAMED_AFTER < walk.now - timedelta(days=1):
            walk.tell(FlawKind.UNNAMED, path, "no manifest vouches for it")
    elif read.sha256 != named.sha256:
        walk.tell(FlawKind.ALTERED, path, f"its bytes are not those that the manifest of {named.day} vouches for")
    if read.found is not None:
        walk.inspected[path] = read.found
        walk.records += read.found.records
        for words in read.found.faults:
            walk.tell(FlawKind.DAMAGED, path, words)
    elif path.endswith(".json"):
        _sidecar(walk, path, read)


def _sidecar(walk: _Walk, path: str, read: _Read) -> None:
    meta = read.meta
    if meta is None:
        walk.tell(FlawKind.DAMAGED, path, "it is not JSON")
        return
    of_check = path.startswith(REFUSED) or not path.startswith("snapshots/_")  # decisions of editors lie in files, too
    for words in walk.facts.compare(path, meta) if walk.facts is not None and of_check else ():
        walk.tell(FlawKind.ROW, path, words)
    text = path.removesuffix(".json") + ".md"
    wanted = str(meta.get("text_sha256", "")).removeprefix("sha256:")
    if not wanted or text in walk.vouched:  # then its bytes are compared with the manifest
        return
    if text not in walk.there:
        if meta.get("kind") == "page" and (meta.get("changed") or path.startswith(REFUSED)):
            walk.missing(text, "the facts beside it name a text, and it is not there")
    elif read.text_sha256 != wanted:
        walk.tell(FlawKind.ALTERED, text, "its text is not the one that the facts beside it name")


def _facts_of(place: Place) -> str:
    return f"{place.path.removesuffix('.warc.gz')}.json"


def _rows(walk: _Walk, places: Sequence[Place], there: set[str], removed: Collection[str]) -> None:
    """Each version's row against its file, and what lies beside it. Of one that was dropped a note must tell."""
    for place in places:
        facts = _facts_of(place)
        if place.dropped:
            if place.path not in there and place.path not in removed:
                walk.missing(
                    place.path, f"a row says that this version of {place.source} was dropped, and no note does"
                )
            continue
        if facts not in there:
            walk.missing(facts, f"the facts beside a version of {place.source} should lie here")
        if place.path not in there:
            walk.missing(place.path, f"a version of {place.source} should lie here")
        elif (found := walk.inspected.get(place.path)) is not None and not found.faults:  # a damaged one was told above
            held = found.responses.get(place.record_id)
            if held is None:
                words = f"the record {place.record_id} of {place.source} is not in it"
                walk.tell(FlawKind.ROW, place.path, words)
            elif held != (place.offset, place.body_sha256):
                walk.tell(FlawKind.ROW, place.path, f"the record of {place.source} is not where or what its row says")


def _orphans(walk: _Walk, places: Sequence[Place], there: set[str], audits: Audits) -> None:
    """Each snapshot's file against the rows."""
    for path in sorted(_unknown(places, there, audits)):
        walk.tell(FlawKind.ORPHAN, path, "no row knows this snapshot; `sourcewatch rebuild` brings it in")


def _unknown(places: Iterable[Place], there: Iterable[str], audits: Audits) -> set[str]:
    others = (REFUSED, "snapshots/_checks/")
    captures = {path for path in there if path.endswith(".warc.gz") and not path.startswith(others)}
    if unknown := captures - {place.path for place in places}:
        unknown -= {place.path for place in audits.places()}  # what was kept meanwhile has its row by now
    return unknown


def strays(evidence: Evidence, audits: Audits, now: datetime) -> list[str]:
    """Snapshots that no row knows though they were written long ago: who wrote them was killed before the row."""
    unknown = _unknown((), evidence.files(), audits)
    return sorted(p for p in unknown if (at := evidence.changed_at(p)) is not None and at < now - STRAY_AFTER)


def _revisits(walk: _Walk) -> None:
    """Each revisit names a response that is there, in this sample or elsewhere in the archive."""
    seen = {record for found in walk.inspected.values() for record in found.responses}
    looked_at = set(walk.inspected)
    for path, found in list(walk.inspected.items()):
        for target, place in found.revisits.values():
            if target in seen:
                continue
            if place and place not in looked_at and walk.evidence.exists(place):
                looked_at.add(place)
                seen |= walk.evidence.inspect(place).responses.keys()
            if target not in seen:
                walk.tell(FlawKind.DANGLING, path, f"a revisit names {target} in {place or 'no file'}: not there")

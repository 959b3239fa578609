"""Looking back: which mementos an address has, which is closest to a time, and what was archived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..analysis.address import normal
from ..analysis.sniff import sniff
from ..analysis.unpack import unpack
from ..domain.document import Form
from ..domain.errors import StorageError
from ..domain.memento import Memento
from ..domain.source import Settings, Source
from .ports import Archive, Snapshots

MOST_UNPACKED_BYTES = 100_000_000  # the judge has accepted these bytes under a limit of its own, perhaps another one
TYPES = {
    Form.HTML: "text/html",
    Form.PDF: "application/pdf",
    Form.XML: "application/xml",
    Form.FEED: "application/xml",
    Form.IMAGE: "application/octet-stream",  # browsers look at a picture's bytes
    Form.BINARY: "application/octet-stream",
}


@dataclass(frozen=True, slots=True)
class Archived:
    """What a server sent, content-decoded. *content_type* is its own, with its charset; ours where it named none."""

    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture that a page showed, and its memento of that time; *verdict* says why there is none."""

    url: str
    alt: str
    verdict: str
    memento: Memento | None


@dataclass(frozen=True, slots=True)
class Replay:
    """Answers from the archive. *spellings*: how sources.toml spells an address that browsers know as the key."""

    archive: Archive
    snapshots: Snapshots
    spellings: Mapping[str, frozenset[str]]

    def mementos(self, url: str) -> list[Memento]:
        """The accepted versions of an address, oldest first, one a second. Raises StorageError."""
        asked = normal(url) or url
        found = self.archive.mementos({url, asked} | self.spellings.get(asked, frozenset()))
        return list({m.stamp: m for m in found}.values())

    def figures(self, page: Memento) -> list[Figure]:
        """The pictures that the page showed, in its order, each as it was then. Raises StorageError."""
        known: dict[str, Memento] = {}
        for memento in self.archive.of_sources(e["id"] for e in page.embeds):
            if memento.at <= page.at:
                known[memento.version.source] = memento
        return [Figure(e["url"], e["alt"], e["verdict"], known.get(e["id"])) for e in page.embeds]

    def archived(self, memento: Memento) -> Archived:
        """The bytes of a memento. Raises StorageError when they cannot be read or decoded."""
        version = memento.version
        answer = self.snapshots.exchange(version.path, version.offset)
        if answer.dom:  # what was read: the raw answer is a shell that scripts fill, and none run here
            return Archived("text/html; charset=utf-8", answer.dom)
        payload = unpack(answer.body, answer.all_headers("content-encoding"), most_bytes=MOST_UNPACKED_BYTES)
        if payload.fault is not None:
            raise StorageError(f"the snapshot {version.path} cannot be decoded: {payload.fault.evidence}")
        named = answer.header("content-type")
        sound = bool(named) and named.isascii() and named.isprintable()
        return Archived(named if sound else _type_of(payload.data, answer.url), payload.data)

    def screenshot(self, memento: Memento) -> bytes:
        """The whole page as a browser showed it, a PNG, or b"" where none did. Raises StorageError."""
        return self.snapshots.screenshot(memento.version.path)


def replay(settings: Settings, archive: Archive, snapshots: Snapshots) -> Replay:
    """A replay that knows how sources.toml spells its addresses."""
    return Replay(archive, snapshots, _spellings(settings.sources))


def closest(mementos: Sequence[Memento], at: datetime) -> Memento:
    """The memento nearest to a time; of two that are equally near the earlier one. *mementos* is not empty."""
    return min(mementos, key=lambda m: (abs(m.at - at), m.at))


def _spellings(sources: Iterable[Source]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for source in sources:
        for url in filter(None, (source.url, source.read)):
            if (asked := normal(url)) is not None and asked != url:
                found.setdefault(asked, set()).add(url)
    return {asked: frozenset(urls) for asked, urls in found.items()}


def _type_of(data: bytes, url: str) -> str:
    return TYPES.get(sniff(data, "", url), "text/plain")

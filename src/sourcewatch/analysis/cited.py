"""What the site cites against what sources.toml declares: missing, no longer cited, cited in an outdated form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..domain.mention import Mention
from ..domain.source import Source, SourceKind
from . import address, spelling


class Form(StrEnum):
    """How the cited address relates to its row. Only SAME needs nothing."""

    SAME = "same"
    SCHEME = "scheme"  # http where the row says https, or the other way round
    SPELLING = "spelling"
    MOVED = "moved"  # the ledger knows a permanent redirect
    ROW_MOVED = "row_moved"  # the site cites the new address already, sources.toml the old one


@dataclass(frozen=True, slots=True)
class Cited:
    """An outward address with all its places. *source* is the id of its row, or "". *better* is what to cite instead
    (for ROW_MOVED: what sources.toml should say)."""

    url: str
    places: tuple[Mention, ...]
    source: str = ""
    form: Form = Form.SAME
    better: str = ""

    @property
    def title(self) -> str:
        return next((c.title for c in self.places if c.title and c.title != c.url), "")

    @property
    def embedded(self) -> bool:
        return all(c.embedded for c in self.places)


@dataclass(frozen=True, slots=True)
class Comparison:
    """*watched* are cited and declared, *missing* cited alone, *embedded* pictures and frames of other sites that no
    row names, *uncited* declared alone, *unfit* what no browser could ask for."""

    watched: tuple[Cited, ...]
    missing: tuple[Cited, ...]
    embedded: tuple[Cited, ...]
    uncited: tuple[Source, ...]
    unfit: tuple[Mention, ...]

    @property
    def outdated(self) -> tuple[Cited, ...]:
        return tuple(c for c in self.watched if c.form is not Form.SAME)


def compare(
    mentions: Iterable[Mention], sources: Sequence[Source], moved: Mapping[str, str], site_url: str
) -> Comparison:
    """*moved*: the address that the ledger has seen a source move to for good, by id."""
    declared = _Declared(sources, moved)
    own = address.host_key(site_url)
    places: dict[str, list[Mention]] = {}
    unfit: list[Mention] = []
    for mention in mentions:
        asked = spelling.exact(mention.url)
        if asked is None or address.host(asked) in spelling.OURS_ALONE:
            if address.host_key(mention.url) != own or not own:
                unfit.append(mention)
        elif address.host_key(asked) != own:
            places.setdefault(mention.url, []).append(mention)
    cited = [declared.row_of(url, tuple(found)) for url, found in places.items()]
    names = {c.source for c in cited}
    missing = _one_row_each([c for c in cited if not c.source and not c.embedded])
    return Comparison(
        watched=tuple(c for c in cited if c.source),
        missing=tuple(missing),
        embedded=tuple(c for c in cited if not c.source and c.embedded),
        uncited=tuple(s for s in sources if s.id not in names and _should_be_cited(s, own)),
        unfit=tuple(unfit),
    )


class _Declared:
    """The rows of sources.toml by the spellings of their addresses."""

    def __init__(self, sources: Sequence[Source], moved: Mapping[str, str]) -> None:
        self.moved = moved
        self.exact: dict[str, Source] = {}
        self.key: dict[str, Source] = {}
        self.after: dict[str, Source] = {}
        self.before: dict[str, Source] = {}
        for source in sources:
            for url in (source.url, source.read, *(m.url for m in source.mirrors)):
                if url and (asked := spelling.exact(url)) and (spelled := spelling.key(url)):
                    self.exact.setdefault(asked, source)
                    self.key.setdefault(spelled, source)
            self.before |= {spelled: source for url in source.formerly if (spelled := spelling.key(url))}
            if (to := moved.get(source.id)) and (spelled := spelling.key(to)):
                self.after.setdefault(spelled, source)

    def row_of(self, url: str, places: tuple[Mention, ...]) -> Cited:
        asked, spelled = spelling.exact(url) or url, spelling.key(url) or url
        if source := self.exact.get(asked):
            to = self.moved.get(source.id, "")
            leads_on = bool(to) and spelling.exact(to) != asked and spelling.exact(source.url or "") == asked
            return Cited(url, places, source.id, Form.MOVED if leads_on else Form.SAME, to if leads_on else "")
        if source := self.key.get(spelled):
            if (to := self.moved.get(source.id, "")) and spelling.exact(to) == asked:
                return Cited(url, places, source.id, Form.ROW_MOVED, to)
            form = Form.SCHEME if spelling.only_schemes_differ(url, source.url or "") else Form.SPELLING
            return Cited(url, places, source.id, form, source.url or "")
        if source := self.after.get(spelled):
            return Cited(url, places, source.id, Form.ROW_MOVED, self.moved[source.id])
        if source := self.before.get(spelled):
            return Cited(url, places, source.id, Form.MOVED, source.url or "")
        return Cited(url, places)


def _should_be_cited(source: Source, own: str) -> bool:
    """A page of another site that has an address: figures stand on their pages, mirrors behind their
    sources, the site cites its own by itself."""
    if not source.url or source.kind is SourceKind.FIGURE or source.parent or source.mirror_of:
        return False
    return not own or address.host_key(source.url) != own


def _one_row_each(missing: list[Cited]) -> list[Cited]:
    """Spellings of one address together: the one to watch is https where any is, else the first."""
    groups: dict[str, list[Cited]] = {}
    for cited in missing:
        groups.setdefault(spelling.key(cited.url) or cited.url, []).append(cited)
    whole = []
    for group in groups.values():
        best = min(group, key=lambda c: not c.url.startswith("https://"))
        whole.append(Cited(best.url, tuple(p for c in group for p in c.places)))
    return whole

"""One check of one source: fetch, judge, and what is to be kept. The whole program in one module."""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from urllib.parse import urlsplit

from ..analysis import classify
from ..analysis.address import host_key, same_document
from ..analysis.judge import DOM, MAKER, Task, makers
from ..analysis.unpack import unpack
from ..domain.capture import Capture, Deferred, Exchange, Failure, Request, Unrendered
from ..domain.change import Sighting, SightingKind
from ..domain.check import Finding, Judgement, Memory
from ..domain.document import Document, Embed, Label
from ..domain.document import unpack as unpack_document
from ..domain.errors import StorageError, UnreadableError
from ..domain.reading import Probe
from ..domain.source import FetchPolicy, Quote, Source, SourceKind
from ..domain.standing import Recall
from ..domain.verdict import Retry, Verdict
from .ports import Browser, Clock, Judge, Ledger, Snapshots, Web
from .threads import Threads

MOST_REFRESHES = 3
MOST_TITLE_CHARS = 500
MOSTLY_GONE = 0.5  # of the accepted text kept in a plain answer: perhaps scripts bring the rest now
MOST_FIGURES = 30  # a page with more is a gallery; the first thirty stand for it, and the report says so
SCRIPTED = frozenset({"needs_js", "redirected_js", "empty_body", "content_replaced"})  # `auto` asks a browser about it
SUSPECT = frozenset({"soft_404", "soft_500", "content_replaced", "empty_body", "redirected_to_home", "removed_notice"})
CODED = re.compile(r"[-;:]+(?:gzip|br|zstd|deflate|df)$")  # how an ETag says that its bytes were compressed

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Checked:
    """A page's finding and those of its figures, each with its source and what was remembered of it.

    *mirrors*: what was read second-hand where the page itself could not be.
    """

    source: Source
    page: Finding
    recall: Recall
    figures: tuple[FigureChecked, ...] = ()
    mirrors: tuple[Checked, ...] = ()

    @property
    def memory(self) -> Memory | None:
        return self.recall.memory


@dataclass(frozen=True, slots=True)
class FigureChecked:
    """One figure of a page: the embed that shows it, the source it is, what its check found and what was remembered."""

    embed: Embed
    source: Source
    finding: Finding
    recall: Recall

    @property
    def known(self) -> bool:
        """Whether the ledger has this figure under its present address."""
        return self.recall.last is not None and self.recall.last.url == self.source.url


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks sources against the world that it is given."""

    web: Web
    judge: Judge
    ledger: Ledger
    snapshots: Snapshots
    threads: Threads
    policy: FetchPolicy
    clock: Clock
    browser: Browser | None = None
    probes: dict[str, asyncio.Future[Probe | None]] = field(default_factory=dict)

    async def check(
        self, source: Source, declared: Sequence[Source] = (), mirrors: Sequence[Source] = ()
    ) -> Checked | Deferred:
        """Read a page and the figures that it shows; where it cannot be read, the first of its *mirrors* that can.

        *declared* are the figures that the editor named for it.
        """
        recall = await self.threads.rows(self.ledger.recall, source.id, self.clock())
        memory = recall.memory
        found = await self._find(source, memory)
        if isinstance(found, Deferred):
            return found
        figures: tuple[FigureChecked, ...] = ()
        if found.judgement.verdict.accessed and source.embeds == "all":
            document = found.judgement.document or (unpack_document(memory.packed) if memory else None)
            if document is not None:
                figures = await self._figures(source, found, document, declared)
        second = () if found.judgement.verdict.accessed else await self._second_hand(mirrors)
        return Checked(source, _with_figures(source, found, figures), recall, figures, second)

    async def _second_hand(self, mirrors: Sequence[Source]) -> tuple[Checked, ...]:
        """What mirrors hold, up to the first that can be read. A defect of ours there costs the source nothing."""
        read: list[Checked] = []
        for mirror in mirrors:
            try:
                found = await self.check(mirror)
            except StorageError:
                raise
            except Exception:
                _log.exception("a defect while reading the mirror %s", mirror.id)
                continue
            if isinstance(found, Deferred):
                continue
            read.append(found)
            if found.page.judgement.verdict.accessed:
                break
        return tuple(read)

    async def _find(self, source: Source, memory: Memory | None, referer: str = "") -> Finding | Deferred:
        """Ask, and ask once more where the verdict says that now is the time, or where an answer is hard to believe."""
        first = await self._attempt(source, memory, referer)
        if isinstance(first, Deferred):
            return first
        verdict = first.judgement.verdict
        if verdict.retry is not Retry.NOW and not (verdict.word in SUSPECT and memory is not None):
            return first
        again = await self._attempt(source, memory, referer, fresh=True)
        return first if isinstance(again, Deferred) else replace(again, attempts=2)

    async def _attempt(
        self, source: Source, memory: Memory | None, referer: str, *, fresh: bool = False
    ) -> Finding | Deferred:
        request = _request(source, memory, referer)
        if fresh:  # a second asking is about doubt, and only a whole answer settles that
            request = replace(request, etag="", last_modified="")
        fetched = await self.web.fetch(request, fresh=fresh)
        if isinstance(fetched, Deferred):
            return fetched
        for _ in range(MOST_REFRESHES + 1):
            if isinstance(fetched, Failure):
                verdict = Verdict(fetched.word, fetched.rule, fetched.detail)
                return self._finding(source, fetched, Judgement(verdict, maker=MAKER))
            if (same := _unchanged(source, fetched, memory, request)) is not None and memory is not None:
                return self._finding(source, fetched, Judgement(same, maker=MAKER), unchanged_of=memory.version)
            judgement = await self._judged(source, fetched, memory)
            if not judgement.follow and self.browser is not None and _wants_browser(source, fetched, judgement, memory):
                shown = await self._rendered(self.browser, source, fetched, judgement, memory)
                if isinstance(shown, Deferred):
                    return shown
                fetched, judgement = shown
            if not judgement.follow:
                return self._finding(source, fetched, judgement, unchanged_of=_same(judgement, memory))
            onward = await self.web.fetch(replace(request, url=judgement.follow, referer="", etag="", last_modified=""))
            if isinstance(onward, Deferred):
                return onward
            if fetched.view is not None and isinstance(onward, Capture) and not _is_page(onward.answer):
                judgement = await self._judged(source, fetched, memory)  # scripts began a download: the page stays
                return self._finding(source, fetched, judgement, unchanged_of=_same(judgement, memory))
            fetched = _joined(fetched, onward)
        words = f"more than {MOST_REFRESHES} pages that refer on to another"
        return self._finding(
            source, fetched, Judgement(Verdict("too_many_redirects", "refresh-limit", words), maker=MAKER)
        )

    async def _rendered(
        self,
        browser: Browser,
        source: Source,
        plain: Capture,
        judged: Judgement,
        memory: Memory | None,
    ) -> tuple[Capture, Judgement] | Deferred:
        """The page as a browser shows it, or where its scripts lead on to; where none can, the plain answer, and why.

        A plain answer is not believed where the version before it, or the editor's wish, was the browser's.
        """
        answer, most_bytes = plain.answer, self.policy.max_bytes
        page = await asyncio.to_thread(
            unpack, answer.body, answer.all_headers("content-encoding"), most_bytes=most_bytes
        )
        if page.fault is None:
            seen = await browser.render(plain, page.data)
        else:
            seen = Unrendered(f"it is not shown to the browser: {page.fault.evidence}")
        if isinstance(seen, Deferred):
            return seen
        if isinstance(seen, Capture):
            if seen.view is not None and (onward := seen.view.onward):
                verdict = Verdict("redirected_js", "script", f"its scripts lead on to {onward}")
                return seen, Judgement(verdict, follow=onward, maker=MAKER)
            return seen, await self._judged(source, seen, memory)
        told = replace(judged, events=(*judged.events, f"browser: {seen.reason}"))
        believed = not judged.verdict.accessed or (seen.absent and not was_rendered(memory))
        if believed:
            return plain, told
        verdict = Verdict("needs_js", "browser-failed", seen.reason)
        return plain, Judgement(verdict, judged.payload_sha256, judged.document, maker=MAKER, events=told.events)

    def _finding(
        self, source: Source, fetched: Capture | Failure, judgement: Judgement, unchanged_of: int | None = None
    ) -> Finding:
        return Finding(source.id, self.clock(), fetched, judgement, fetched.seconds, unchanged_of)

    async def _judged(self, source: Source, capture: Capture, memory: Memory | None) -> Judgement:
        expect = "figure" if source.kind is SourceKind.FIGURE else "document"
        probe = await self._probe(source, capture) if expect == "document" else None
        known = replace(source, headers=())  # secrets stay in this process
        task = Task(known, capture, self.policy.max_bytes, expect, memory, probe=probe)
        if memory is not None and (memory.maker not in makers(source) or was_picture(source, memory)):
            kept: Exchange | None = None
            with suppress(UnreadableError):  # a lost snapshot costs the comparison under new rules, not the check
                kept = await self.threads.files(self.snapshots.exchange, memory.path, memory.offset)
            task = replace(task, seen=kept if was_picture(source, memory) else None)
            if memory.maker not in makers(source):
                earlier = await self.threads.rows(self.ledger.earlier_documents, source.id, memory.version)
                task = replace(task, before=kept, earlier=earlier)
        if memory is not None and source.watch == "picture" and capture.view is not None:
            with suppress(UnreadableError):  # then only the text is compared
                task = replace(task, shot=await self.threads.files(self.snapshots.screenshot, memory.path))
        outcome = await self.judge(task)
        if isinstance(outcome, Judgement):
            return outcome
        return Judgement(Verdict("document_broken", "worker-died", outcome.reason), maker=MAKER)

    async def _probe(self, source: Source, capture: Capture) -> Probe | None:
        """What the host answers for an address that was invented on the spot; asked once a host and day."""
        answer = capture.answer
        if answer.status != 200 or not _is_page(answer) or urlsplit(answer.url).path in ("", "/"):
            return None
        host = host_key(answer.url)
        asking = self.probes.get(host)
        if asking is None:  # many pages of a host come back at once: one asks, the others wait for it
            asking = self.probes[host] = asyncio.ensure_future(self._host_probe(source, host, answer.url))
            asking.add_done_callback(lambda _: self.probes.pop(host, None))  # from now on the ledger knows
        return await asyncio.shield(asking)

    async def _host_probe(self, source: Source, host: str, url: str) -> Probe | None:
        known = await self.threads.rows(self.ledger.probe, host, self.clock())
        if known is not None:
            return known
        folder = url.partition("?")[0].partition("#")[0].rpartition("/")[0]
        asked = f"{folder}/sourcewatch-{uuid.uuid4().hex}"
        fetched = await self.web.fetch(Request(asked, max_bytes=self.policy.max_bytes))
        if isinstance(fetched, Deferred):
            return None
        probe = await self._probe_of(source, asked, fetched)
        await self.threads.rows(self.ledger.remember_probe, host, probe)
        return probe

    async def _probe_of(self, source: Source, asked: str, fetched: Capture | Failure) -> Probe:
        if isinstance(fetched, Failure):
            return Probe(asked, self.clock(), status=0)
        stranger = Source(id=source.id, tier=source.tier, title="", url=asked)
        outcome = await self.judge(Task(stranger, fetched, self.policy.max_bytes))
        document = outcome.document if isinstance(outcome, Judgement) else None
        return Probe(
            asked_url=asked,
            asked_at=self.clock(),
            status=fetched.answer.status,
            final_url=fetched.final_url,
            title=document.title if document else "",
            text=document.text if document else "",
        )

    async def _figures(
        self, page: Source, found: Finding, document: Document, declared: Sequence[Source]
    ) -> tuple[FigureChecked, ...]:
        shown = [e for e in document.embeds if e.label is Label.MAIN and e.kind != "social"][:MOST_FIGURES]
        base = found.fetched.final_url if isinstance(found.fetched, Capture) else page.address or ""
        wanted = {figure.id: (embed, figure) for embed in shown for figure in [figure_of(page, embed, declared)]}
        checks = [self._figure(embed, figure, base) for embed, figure in wanted.values()]
        return tuple(f for f in await asyncio.gather(*checks) if f is not None)

    async def _figure(self, embed: Embed, figure: Source, referer: str) -> FigureChecked | None:
        recall = await self.threads.rows(self.ledger.recall, figure.id, self.clock())
        found = await self._find(figure, recall.memory, referer)
        if isinstance(found, Deferred):
            return None
        return FigureChecked(embed, figure, found, recall)


def _same(judgement: Judgement, memory: Memory | None) -> int | None:
    """The version that an access saw again."""
    return None if judgement.changed or not judgement.verdict.accessed or memory is None else memory.version


def _is_page(answer: Exchange) -> bool:
    """Whether a browser would show it, not save it. Servers that declare nothing send pages, mostly."""
    return "html" in (answer.media_type or "html")


def was_rendered(memory: Memory | None) -> bool:
    """Whether a browser read the accepted version."""
    return memory is not None and memory.maker.endswith(DOM)


def _wants_browser(source: Source, capture: Capture, judgement: Judgement, memory: Memory | None) -> bool:
    """Whether a page is to be read by a browser too: a page that came, and scripts might show more of it."""
    answer = capture.answer
    if source.render == "never" or source.kind is not SourceKind.PAGE or not _is_page(answer) or answer.status >= 300:
        return False
    if source.render == "always":
        return judgement.verdict.accessed or judgement.verdict.word in SCRIPTED
    if judgement.verdict.word in SCRIPTED:
        return True
    shrunk = judgement.change is not None and judgement.change.drift.kept < MOSTLY_GONE
    return judgement.changed and (was_rendered(memory) or shrunk)


def was_picture(source: Source, memory: Memory) -> bool:
    """Whether the accepted version is a picture: then the next one is compared with it by its looks."""
    return source.kind is SourceKind.FIGURE or memory.media_type.startswith("image/")


def figure_of(page: Source, embed: Embed, declared: Sequence[Source]) -> Source:
    """The source that an embed is: the one an editor declared for its address or its words, else one of its own."""
    for figure in declared:
        named = figure.alt and figure.alt in f"{embed.alt}\n{embed.caption}"
        if named or (figure.url and same_document(figure.url, embed.url)):
            return replace(figure, url=embed.url, read=None)
    return Source(
        id=f"{page.id}--{sha256(embed.url.encode('utf-8', 'replace')).hexdigest()[:8]}",
        tier=page.tier,
        title=(embed.alt or embed.caption or embed.url.rpartition("/")[2] or embed.url)[:MOST_TITLE_CHARS],
        url=embed.url,
        kind=SourceKind.PAGE if embed.kind in ("frame", "object") else SourceKind.FIGURE,
        parent=page.id,
        every_s=page.every_s,
        alt=embed.alt[:MOST_TITLE_CHARS],
        embeds="none",
        robots_override=page.robots_override,
    )


def _request(source: Source, memory: Memory | None, referer: str) -> Request:
    """Validators are sent only where the accepted version came from this very address, not from behind a redirect."""
    url = source.address or ""
    own = (
        memory is not None
        and memory.maker == makers(source)[0]
        and source.render != "always"
        and same_document(memory.final_url, url)
        and _all_sought(source, memory)
    )
    return Request(
        url=url,
        headers=source.headers,
        referer=referer,
        etag=memory.etag if own and memory else "",
        last_modified=memory.last_modified if own and memory else "",
        expect="figure" if source.kind is SourceKind.FIGURE else "document",
        robots_override=source.robots_override,
    )


def _unchanged(source: Source, capture: Capture, memory: Memory | None, request: Request) -> Verdict | None:
    """The verdict of an answer that is, byte for byte, the accepted version; None where the judge must look."""
    if memory is None or memory.last_verdict is None or not _all_sought(source, memory):
        return None
    if memory.maker != makers(source)[0]:
        return None
    if source.render == "always":
        return None  # the same bytes may bring another page
    answer = capture.answer
    if answer.status == 304:
        if not (request.etag or request.last_modified) or len(capture.exchanges) > 1:
            return None
        if not _vouches(answer.header("etag"), request.etag):
            return None
        evidence = f"304 for the validator of {memory.captured_at:%Y-%m-%d %H:%M} UTC"
        return Verdict(_word_again(memory, capture), "not-modified", evidence)
    same = answer.status == memory.status and answer.body_sha256 == memory.body_sha256
    if not same or answer.media_type != memory.media_type or not same_document(answer.url, memory.final_url):
        return None
    return Verdict(
        _word_again(memory, capture), "same-bytes", f"the same bytes as on {memory.captured_at:%Y-%m-%d %H:%M} UTC"
    )


def _vouches(told: str, sent: str) -> bool:
    """Whether a 304 speaks of the version whose ETag was sent, which one with another ETag does not (RFC 9110 §15.4.5).

    Compared weakly, without what servers hang on a tag when they compress (Apache's `-gzip`, Jetty's `--gzip`).
    """
    return not (told and sent) or _opaque(told) == _opaque(sent)


def _opaque(etag: str) -> str:
    return CODED.sub("", etag.strip().removeprefix("W/").strip('"'))


def _word_again(memory: Memory, capture: Capture) -> str:
    """The word of the last access; whether a figure is missing is found out anew each time."""
    last = memory.last_verdict
    if last is None or last.word == "ok_partial":
        return classify.landing(capture).word
    return last.word


def _all_sought(source: Source, memory: Memory) -> bool:
    seen = {s.quote for s in memory.sightings}
    return all(q.key in seen for q in source.quotes)


def _joined(before: Capture, after: Capture | Failure) -> Capture | Failure:
    exchanges = before.exchanges + after.exchanges
    return replace(after, exchanges=exchanges, seconds=before.seconds + after.seconds)


def _with_figures(source: Source, page: Finding, figures: Sequence[FigureChecked]) -> Finding:
    """The page's finding as its figures leave it: partial when one was not read, and its quotes' reasons."""
    judgement = page.judgement
    unread = [f for f in figures if not f.finding.judgement.verdict.accessed]
    verdict = judgement.verdict
    if unread:
        words = "; ".join(f"{f.embed.alt or f.embed.url}: {f.finding.judgement.verdict.word}" for f in unread)
        verdict = Verdict("ok_partial", "figure-unread", f"{len(unread)} of {len(figures)} figures not read: {words}")
    sightings = tuple(_reasoned(s, source, figures) for s in judgement.sightings)
    return replace(page, judgement=replace(judgement, verdict=verdict, sightings=sightings))


def _reasoned(sighting: Sighting, source: Source, figures: Sequence[FigureChecked]) -> Sighting:
    if sighting.kind is not SightingKind.UNVERIFIED:
        return sighting
    quote = next((q for q in source.quotes if q.key == sighting.quote), None)
    return sighting if quote is None else replace(sighting, reason=_figure_reason(quote, figures))


def _figure_reason(quote: Quote, figures: Sequence[FigureChecked]) -> str:
    shown = [
        f
        for f in figures
        if quote.figure in (f.embed.url, f.source.id) or quote.figure in f.embed.alt + f.embed.caption
    ]
    if not shown:
        return "figure-not-shown"
    verdict = shown[0].finding.judgement.verdict
    return "figure-read" if verdict.accessed else f"figure-unread: {verdict.word}"

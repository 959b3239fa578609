"""Where did it go? Follows what servers, GitHub, DOIs and site maps say, reads what stands there, and compares.

Nothing is proposed that was not read. Every request goes through the guarded web; all of them are bounded in number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from ..analysis import address, citing_records, whereabouts
from ..analysis.answers import text_of
from ..analysis.drift import drift
from ..analysis.judge import Task
from ..analysis.whereabouts import GithubPlace
from ..domain.capture import Capture, Deferred, Failure, Request
from ..domain.change import held
from ..domain.check import Judgement, Memory, Span
from ..domain.document import unpack as unpack_document
from ..domain.move import Evidence, Lead, Likeness, Move
from ..domain.source import FetchPolicy, Header, Source
from ..domain.standing import Recall
from ..domain.verdict import Verdict, VerdictClass
from .ports import Clock, Judge, Ledger, Web
from .threads import Threads

MOVED = frozenset({"redirected_permanent", "redirected_meta"})
GITHUB = {"github.com": "https://api.github.com"}
DOI = "https://doi.org"
MOST_BYTES = 8_000_000  # of an answer that only tells the way
MOST_SITEMAPS = 6
MOST_RENAMES = 3
MOST_NAME_CHARS = 120
ACCEPTED, REFUSED = "accepted", "refused"


class Moves(Protocol):
    """Keeps proposals. Raises StorageError."""

    def propose(self, move: Move) -> int | None: ...
    def move(self, number: int) -> Move | None: ...
    def decide(self, number: int, decision: str, by: str, at: datetime) -> bool: ...


@dataclass(slots=True)
class Looked:
    """What a look at one source brought: proposals by their numbers, and what was read and is not proposed, with why.

    *not_lost* says why there was nothing to look for.
    """

    source: Source
    moves: list[Move] = field(default_factory=list)
    dismissed: list[tuple[str, str]] = field(default_factory=list)
    not_lost: str = ""


@dataclass(frozen=True, slots=True)
class Mover:
    """*github* maps hosts of GitHub's pages to their API; *token* is for that API alone."""

    web: Web
    judge: Judge
    ledger: Ledger
    moves: Moves
    threads: Threads
    policy: FetchPolicy
    clock: Clock
    token: str = field(default="", repr=False)
    github: Mapping[str, str] = field(default_factory=lambda: GITHUB)
    doi: str = DOI

    async def look(self, source: Source) -> Looked:
        """Look for a source that is gone, or that a permanent redirect leads away from. Raises StorageError."""
        recall = await self.threads.rows(self.ledger.recall, source.id, self.clock())
        looked = Looked(source, not_lost=not_lost(source, recall))
        if looked.not_lost or recall.last is None:
            return looked
        leads = [*_redirect(source, recall.last), *_canonical(source, recall.memory)]
        leads += await self._github(source) + self._doi(source)
        await self._weigh_all(looked, leads, recall.memory)
        if not looked.moves:
            await self._weigh_all(looked, await self._sitemap(source, recall.memory), recall.memory)
        return looked

    async def _weigh_all(self, looked: Looked, leads: Iterable[tuple[str, Evidence]], memory: Memory | None) -> None:
        together: dict[str, list[Evidence]] = {}
        for lead, one in leads:
            together.setdefault(address.normal(lead) or lead, []).append(one)
        for url, evidence in together.items():
            found = await self._weigh(looked.source, url, memory)
            if isinstance(found, str):
                looked.dismissed.append((url, found))
                continue
            to_url, likeness = found
            if not whereabouts.convincing((e.lead for e in evidence), likeness):
                looked.dismissed.append((to_url, "what stands there is another page"))
                continue
            move = Move(looked.source.id, looked.source.url or "", to_url, self.clock(), tuple(evidence), likeness)
            number = await self.threads.rows(self.moves.propose, move)
            if number is None:
                looked.dismissed.append((to_url, "an editor has decided about it"))
            else:
                looked.moves = [m for m in looked.moves if m.id != number] + [replace(move, id=number)]

    async def _weigh(self, source: Source, url: str, memory: Memory | None) -> tuple[str, Likeness] | str:
        """Read what stands at an address and compare it with the last accepted version; or why it is not it."""
        fetched = await self.web.fetch(Request(url), fresh=True)
        if isinstance(fetched, Deferred):
            return f"its host wishes to be left alone until {fetched.until_at:%Y-%m-%d %H:%M} UTC"
        if isinstance(fetched, Failure):
            return f"could not be read: {fetched.word}"
        final = fetched.final_url
        if address.same_document(final, source.url or ""):
            return "leads back to the address that is cited"
        if urlsplit(final).path in ("", "/") and urlsplit(source.url or "").path not in ("", "/"):
            return "leads to the front page"
        there = replace(source, url=url, read=None, headers=())
        outcome = await self.judge(Task(there, fetched, self.policy.max_bytes))
        if not isinstance(outcome, Judgement):
            return f"could not be read: {outcome.reason}"
        if not outcome.verdict.accessed or outcome.document is None:
            return f"could not be read: {outcome.verdict.word}"
        before = unpack_document(memory.packed) if memory is not None else None
        sought = {q.key for q in source.quotes if not q.figure}
        likeness = Likeness(
            verdict=outcome.verdict.word,
            title=outcome.document.title,
            title_before=before.title if before else "",
            kept=drift(before, outcome.document).kept if before else None,
            held=held(outcome.sightings, sought),
            sought=len(sought),
        )
        return final if outcome.verdict.word in ("redirected_permanent", "redirected_temporary") else url, likeness

    async def _github(self, source: Source) -> list[tuple[str, Evidence]]:
        """A repository's new name, and where a file of it was renamed to, by GitHub's API (REST, version 2022-11-28).

        `GET /repos/O/R` follows a rename by 301; a commit's `files` name what they were called before.
        """
        url = source.url or ""
        api, place = self.github.get(address.host(url)), whereabouts.github_place(url)
        if api is None or place is None:
            return []
        repository = await self._json(f"{api}/repos/{quote(place.name)}")
        if not isinstance(repository, dict) or "/" not in str(repository.get("full_name", "")):
            return []
        owner, _, name = str(repository["full_name"]).partition("/")
        found, words = replace(place, owner=owner, repository=name), []
        if found.name.lower() != place.name.lower():
            words.append(f"GitHub says that {place.name} is now {found.name}")
        if place.path:
            renamed = await self._github_path(api, found, str(repository.get("default_branch") or place.ref))
            found, words = renamed[0], words + renamed[1]
        return [(whereabouts.github_url(url, found), Evidence(Lead.GITHUB, "; ".join(words)))] if words else []

    async def _github_path(self, api: str, place: GithubPlace, branch: str) -> tuple[GithubPlace, list[str]]:
        """Where a path is on the default branch: there as ever, or after renames."""
        words: list[str] = []
        for _ in range(MOST_RENAMES):
            there = f"{api}/repos/{quote(place.name)}/contents/{quote(place.path)}?ref={quote(branch)}"
            if await self._json(there) is not None:
                if place.ref != branch:
                    words.append(f"it stands on the branch {branch}")
                return replace(place, ref=branch), words
            commits = await self._json(
                f"{api}/repos/{quote(place.name)}/commits?path={quote(place.path)}&sha={quote(branch)}&per_page=1"
            )
            sha = str(commits[0].get("sha", "")) if isinstance(commits, list) and commits else ""
            commit = await self._json(f"{api}/repos/{quote(place.name)}/commits/{sha}") if sha else None
            files = commit.get("files", []) if isinstance(commit, dict) else []
            path = next((f["filename"] for f in files if f.get("previous_filename") == place.path), "")
            if not path:
                break
            words.append(f"commit {sha[:10]} renamed {place.path} to {path}")
            place = replace(place, path=path)
        return place, []

    async def _json(self, url: str) -> Any:
        """What an API says; None for anything but a sound 200."""
        secret = (Header("Authorization", f"Bearer {self.token}", secret=True),) if self.token else ()
        fetched = await self.web.fetch(Request(url, headers=secret, expect="any", max_bytes=MOST_BYTES), fresh=True)
        text = _sound_text(fetched)
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError):
            return None

    def _doi(self, source: Source) -> list[tuple[str, Evidence]]:
        found, url = whereabouts.doi(source.url or ""), source.url or ""
        if not found or url.startswith(f"{self.doi}/"):
            return []
        return [(f"{self.doi}/{quote(found)}", Evidence(Lead.DOI, f"the DOI {found} leads there"))]

    async def _sitemap(self, source: Source, memory: Memory | None) -> list[tuple[str, Evidence]]:
        """Pages of the same host whose names are like the old one's or the old title, by the site's own map."""
        url = source.url or ""
        split = urlsplit(url)
        top = f"{split.scheme}://{split.netloc}"
        robots = await self._read(f"{top}/robots.txt")
        waiting = [m for m in whereabouts.sitemaps(robots) if address.host_key(m) == address.host_key(url)]
        waiting = waiting or [f"{top}/sitemap.xml"]
        pages: list[str] = []
        for _ in range(MOST_SITEMAPS):
            if not waiting:
                break
            text = await self._read(waiting.pop(0))
            listed = citing_records.sitemap(text) or []
            (waiting if "<sitemapindex" in text[:4_000] else pages).extend(listed)
        own = [p for p in pages if address.host_key(p) == address.host_key(url)]
        title = unpack_document(memory.packed).title if memory is not None else source.title
        words = "the site's map names it, and its name is like the old one's or the title"
        return [(page, Evidence(Lead.SITEMAP, words)) for page in whereabouts.named_alike(url, title, own)]

    async def _read(self, url: str) -> str:
        fetched = await self.web.fetch(Request(url, expect="any", max_bytes=MOST_BYTES), fresh=True)
        return _sound_text(fetched)


def _sound_text(fetched: Capture | Failure | Deferred) -> str:
    """The characters of a sound 200, also of a file that is a gzip itself; "" for anything else."""
    if not isinstance(fetched, Capture) or fetched.answer.status != 200:
        return ""
    return text_of(fetched.answer, most_bytes=MOST_BYTES, packed_files=True) or ""


def is_lost(verdict: Verdict) -> bool:
    """Whether a verdict says that the page is gone from its address, or that it is at another one for good."""
    return verdict.klass is VerdictClass.GONE or verdict.word in MOVED


def not_lost(source: Source, recall: Recall) -> str:
    """Why there is nothing to look for, or ""."""
    last = recall.last
    if source.read:
        return "it is read at another address than the one that is cited; mend `read` by hand"
    if last is None:
        return "it was not checked yet"
    if is_lost(last.verdict):
        return ""
    return f"it is not gone: {last.verdict.word}"


def _redirect(source: Source, last: Span) -> list[tuple[str, Evidence]]:
    if last.verdict.word not in MOVED or not last.final_url:
        return []
    hops = " → ".join(f"{h['status']} {h['url']}" for h in last.facts.get("hops", ()))
    return [(last.final_url, Evidence(Lead.REDIRECT, hops or f"{source.url} leads there"))]


def _canonical(source: Source, memory: Memory | None) -> list[tuple[str, Evidence]]:
    if memory is None:
        return []
    url = unpack_document(memory.packed).canonical
    if not url or address.normal(url) is None or address.same_document(url, source.url or ""):
        return []
    at = f"{memory.captured_at:%Y-%m-%d}"
    return [(url, Evidence(Lead.CANONICAL, f"the page of {at} named it as its own address (rel=canonical)"))]


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A decision that was not taken; *why* is the key of the sentence that says so."""

    why: str


def decide(
    moves: Moves, number: int, decision: str, by: str, at: datetime, edit: Callable[[Move], None]
) -> Move | NotTaken:
    """Accept or refuse a proposal, once. Accepting it lets *edit* change sources.toml first: a proposal is not taken
    for accepted that could not be carried out.

    Raises ConfigError and StorageError; then it is open as before.
    """
    by = " ".join(by.split())
    if not by or len(by) > MOST_NAME_CHARS:
        return NotTaken("r_no_name" if not by else "r_too_long")
    move = moves.move(number)
    if move is None or move.decision is not None:
        return NotTaken("mv_none" if move is None else "mv_decided")
    if decision == ACCEPTED:
        edit(move)
    if not moves.decide(number, decision, by, at):
        return NotTaken("mv_decided")
    return replace(move, decision=decision, decided_by=by, decided_at=at)

"""What an editor reads: one message, or many in one letter. Plain text that a mail and a chat show alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..domain.change import Op, Part, sighting_of
from ..domain.message import MessageKind, News
from ..domain.report import QuoteLine
from ..domain.source import Quote, Source, SourceKind
from . import excerpt
from .excerpt import safe_href
from .voice import Voice

MOST_CHARS = 6_000  # services cut longer ones up; nobody reads more in a chat
LEAST_CHARS = 1_000  # so much of a long paragraph is still worth beginning
MOST_TITLE_CHARS = 120
MOST_LINE_CHARS = 300
MOST_EDITS = 3  # of one change; the report has all
ORDER = tuple(MessageKind)


def letter(news: Sequence[News], voice: Voice, site: str, public_url: str = "", digest: str = "") -> tuple[str, str]:
    """A title and a body that tell all of *news*, the loudest first. *digest*: daily, weekly, or "" for at once.

    The body is never longer than MOST_CHARS; what does not go in is counted.
    """
    topics = _topics(news)
    headlines = [headline(group[0], voice) for group in topics]
    about = headlines[0] if len(topics) == 1 else voice.say("m_many", n=len(topics))
    title = " · ".join([f"[{excerpt.plain(site)}]", *([voice.say(f"m_{digest}")] if digest else []), about])
    paragraphs: list[str] = []
    left = MOST_CHARS - len(voice.say("m_more", n=len(topics))) - 2
    for group in topics:
        text = "\n".join(_paragraph(group, voice, public_url))
        if len(text) + 2 > left and left < LEAST_CHARS:
            break
        text = _cut(text, left)
        paragraphs.append(text)
        left -= len(text) + 2
    if rest := len(topics) - len(paragraphs):
        paragraphs.append(voice.say("m_more", n=rest))
    return _cut(title, MOST_TITLE_CHARS), "\n\n".join(paragraphs)


def quiet(voice: Voice, site: str, sent: int) -> tuple[str, str]:
    """A weekly digest that has nothing to say says so: silence could as well be a defect."""
    return f"[{excerpt.plain(site)}] · {voice.say('m_weekly')}", voice.say("m_quiet", n=sent)


def trial(voice: Voice, site: str, editor: str) -> tuple[str, str]:
    """A test message."""
    return f"[{excerpt.plain(site)}] {voice.say('m_test')}", voice.say("m_test_body", name=excerpt.plain(editor))


def headline(news: News, voice: Voice) -> str:
    """What happened, and where."""
    facts, kind = news.message.facts, news.message.kind
    event = facts.get("event", "")
    if kind is MessageKind.QUOTE:
        key = "m_numbers" if event == "broken" and facts["sighting"] == "numbers_changed" else f"m_{event}"
    elif kind is MessageKind.RECOVERED:
        key = "m_stands" if event == "stands" else "m_recovered"
    elif kind in (MessageKind.FAILING, MessageKind.FIGURE) and event.startswith("class-"):
        key = "m_changed_kind"
    else:
        key = f"m_{kind}"
    what = voice.say(f"s_{facts['significance']}") if kind is MessageKind.CHANGE else ""
    return voice.say(key, name=_cut(voice.name(news.source, news.parent), MOST_TITLE_CHARS), kind=what)


def paragraph(news: News, voice: Voice, public_url: str = "") -> list[str]:
    """One message alone: a line for what and where, lines for the facts, for the pages that cite it, for the links."""
    return list(_paragraph([news], voice, public_url))


def _topics(news: Iterable[News]) -> list[list[News]]:
    """Messages about the same thing together, loudest first. A quote's own message makes its change's superfluous."""
    told = {(n.source.id, _version(n)) for n in news if n.message.kind is MessageKind.QUOTE}
    topics: dict[tuple[str, str, str], list[News]] = {}
    for n in sorted(news, key=lambda n: (ORDER.index(n.message.kind), n.message.id)):
        if n.message.kind is MessageKind.CHANGE and (n.source.id, _version(n)) in told:
            continue
        topics.setdefault((n.source.id, n.message.kind, n.message.facts.get("event", "")), []).append(n)
    return list(topics.values())


def _version(news: News) -> str:
    """The version that a quote's or a change's key ends with."""
    return news.message.key.rpartition(":")[2]


def _paragraph(group: Sequence[News], voice: Voice, public_url: str) -> Iterator[str]:
    first, last = group[0], group[-1]
    source = first.source
    yield headline(first, voice)
    kind = first.message.kind
    for news in group:
        if "quote" in news.message.facts:
            yield from _quote(news, voice)
    if kind is MessageKind.CHANGE:
        yield from (line for news in group for line in _edits(news))
    elif "word" in last.message.facts and kind is not MessageKind.MOVED:
        yield from _incident(last, voice)
    relying = [q.exact for q in source.quotes] if source.kind is SourceKind.FIGURE else []
    if relying:
        yield voice.labelled("m_relies", _cut(" ".join(f"“{excerpt.plain(q)}”" for q in relying), MOST_LINE_CHARS))
    pages = _pages(group)
    if pages:
        yield voice.labelled("cited_on", _cut(" ".join(excerpt.plain(p) for p in pages), MOST_LINE_CHARS))
    yield from _links(last, voice, public_url)


def _pages(group: Sequence[News]) -> list[str]:
    """The site's pages that rely on what happened."""
    source = group[0].source
    cited = {q.key: q.cited_on for q in source.quotes}
    pages = (p for n in group for p in (cited.get(n.message.facts.get("quote", "")) or source.cited_on))
    return list(dict.fromkeys(pages))


def _quote(news: News, voice: Voice) -> Iterator[str]:
    """The sentence that the site relies on, how it is held now, and what stands there instead."""
    facts = news.message.facts
    sighting = sighting_of(facts["quote"], facts["sighting"], facts["score"], facts)
    yield _cut(f"“{excerpt.plain(facts['exact'])}”", MOST_LINE_CHARS)
    if sighting.stands:
        return
    line = QuoteLine(news.source, Quote(facts["exact"]), sighting, news.message.at, _at(facts, "stood_at"))
    yield voice.quote_state(line)
    if now := _stretch(sighting.parts) or sighting.found:
        yield voice.labelled("now", _cut(f"“{excerpt.plain(now)}”", MOST_LINE_CHARS))


def _stretch(parts: Sequence[Part]) -> str:
    """The new text of an edit, without what it replaced."""
    return "".join(p.text for p in parts if p.op is not Op.DELETE).strip()


def _edits(news: News) -> Iterator[str]:
    """The first edits, as wdiff writes them: [-old-] {+new+}."""
    for edit in news.edits[:MOST_EDITS]:
        yield _cut(excerpt.as_terminal(excerpt.shortened(excerpt.parts_of(edit))), MOST_LINE_CHARS)
    if len(news.edits) > MOST_EDITS:
        yield f"… +{len(news.edits) - MOST_EDITS}"


def _incident(news: News, voice: Voice) -> Iterator[str]:
    """Why it could not be read, since when, and when it last was; or for how long it was not."""
    facts = news.message.facts
    if facts["event"] == "recovered":
        lasted = voice.say("m_lasted", lasted=voice.lasted(facts["lasted_s"]))
        yield voice.joined([lasted, voice.say("was_failing", why=voice.word(facts["word"]))])
        return
    opened, read = _at(facts, "opened_at"), _at(facts, "last_accessed")
    words = [voice.word(facts["word"])]
    words += [voice.say("was_failing", why=voice.word(facts["was"]))] if "was" in facts else []
    words += [voice.say("failing_since", at=voice.minute(opened))] if opened else []
    yield voice.joined([*words, voice.say("strikes", n=facts["failures"])])
    yield f"{voice.say('last_read')} {voice.minute(read)}" if read else voice.say("never_read")


def _links(news: News, voice: Voice, public_url: str) -> Iterator[str]:
    facts, source = news.message.facts, news.source
    if news.message.kind is MessageKind.MOVED and (href := safe_href(facts["final_url"])):
        yield voice.labelled("m_instead", href)
    if href := safe_href(source.url):
        yield excerpt.plain(href)
        if public_url and _has_copy(news):
            yield voice.labelled("m_ours", f"{public_url}timegate/{excerpt.plain(href)}")


def _has_copy(news: News) -> bool:
    """Whether the source was ever read, so that there is a dated copy to look at."""
    facts = news.message.facts
    return "last_accessed" not in facts or facts["last_accessed"] is not None


def with_declared(news: News, declared: Mapping[str, Source]) -> News:
    """The same with what sources.toml says of the source: its quotes, and where the site cites it."""
    parent = declared.get(news.source.parent or "", news.parent)
    source = declared.get(news.source.id, news.source)
    if parent is not None:
        relying = (*source.quotes, *_relying(parent, news.source))
        source = replace(source, url=news.source.url, cited_on=source.cited_on or parent.cited_on, quotes=relying)
    return replace(news, source=source, parent=parent)


def _relying(page: Source, figure: Source) -> tuple[Quote, ...]:
    """The page's quotes whose only evidence is this figure."""
    return tuple(q for q in page.quotes if q.figure and (q.figure in (figure.id, figure.url) or q.figure in figure.alt))


def _at(facts: Mapping[str, Any], key: str) -> datetime | None:
    return datetime.fromisoformat(facts[key]) if facts.get(key) else None


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"

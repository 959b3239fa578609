"""The page around a memento: what it is, of when, who read it; the archived document in a frame that can do nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Protocol

from starlette.responses import Response

from ...analysis.dates import minute
from ...analysis.excerpt import plain
from ...analysis.phrases import word
from ...domain.document import unpack
from ...domain.memento import Memento
from ...domain.verdict import WORDS
from ...services.replay import Figure, Replay
from .pages import page

if TYPE_CHECKING:
    from ..wiring import House

RAW = "id_"
SHOWN_IN_FRAMES = ("text/html", "application/xhtml+xml", "text/plain", "image/")
LABELS = {
    "zh-CN": {
        "what": "存档页面，不是现在的网页",
        "address": "地址",
        "captured": "存档时间",
        "verdict": "判定",
        "hand": "人工存档：{by} 读取并提供此页（原因：{reason}）；这是此人给出的日期，并非程序所读",
        "second": "二手镜像：这是《{title}》的镜像，不是来源本身",
        "first": "最早",
        "prev": "上一版",
        "next": "下一版",
        "last": "最新",
        "original": "现在的网页",
        "bytes": "存档原文",
        "figures": "此页当时的图片",
        "unread": "未读到：{why}",
        "gone": "未保存",
        "text": "此类文件不在框中显示，下面是其中的文字。",
    },
    "en": {
        "what": "An archived page, not the live one",
        "address": "Address",
        "captured": "Captured",
        "verdict": "Verdict",
        "hand": "By hand: {by} read this page and brought it (because: {reason}); the date is theirs, not a machine's",
        "second": "Second-hand: a copy of “{title}”, not the source itself",
        "first": "first",
        "prev": "previous",
        "next": "next",
        "last": "last",
        "original": "the live page",
        "bytes": "the archived bytes",
        "figures": "Pictures of this page at that time",
        "unread": "not read: {why}",
        "gone": "not kept",
        "text": "A file of this kind is not shown in a frame; this is its text.",
    },
}


class Addresses(Protocol):
    original: str

    def memento(self, memento: Memento, raw: str = "") -> str: ...


def frame(
    house: House,
    replay: Replay,
    links: Addresses,
    known: Sequence[Memento],
    here: Memento,
    headers: Mapping[str, str],
    language: str,
) -> Response:
    """The framed memento, in the reader's *language*. Raises StorageError."""
    say = LABELS[language]
    title = plain(here.version.title) or links.original
    body = [_banner(house, links, here, title, language), _ways(say, links, known, here)]
    if here.version.media_type.startswith(SHOWN_IN_FRAMES) or not here.version.media_type:
        source = escape(f"/memento/{here.stamp}{RAW}/{links.original}")
        body.append(f'<iframe sandbox referrerpolicy="no-referrer" title="{escape(title)}" src="{source}"></iframe>')
    else:
        text = unpack(house.ledger.packed_document(here.version.id)).text
        body.append(f"<p>{say['text']}</p><pre>{escape(text)}</pre>")
    if here.embeds:
        figures = "".join(_figure(say, language, figure) for figure in replay.figures(here))
        body.append(f"<section><h2>{say['figures']}</h2>{figures}</section>")
    response = page(f"{title} · {here.stamp}", "\n".join(body), language=language)
    response.headers.update({**headers, "Vary": "Cookie"})
    return response


def _banner(house: House, links: Addresses, here: Memento, title: str, language: str) -> str:
    site = house.settings.site
    say = LABELS[language]
    rows = [
        (say["address"], links.original),
        (say["captured"], f"{minute(here.at, site.timezone, language)} ({here.at:%Y-%m-%dT%H:%M:%SZ})"),
        (say["verdict"], f"{word(here.verdict.word, language)} ({here.verdict.word})"),
    ]
    hand = f'<p class="hand">{escape(plain(say["hand"].format(**here.hand)))}</p>' if here.hand else ""
    copied = _copied(house, here)
    hand = f'<p class="hand">{escape(say["second"].format(title=plain(copied)))}</p>{hand}' if copied else hand
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(plain(value))}</dd>" for name, value in rows)
    return f"<header><p>{say['what']}</p><h1>{escape(title)}</h1>{hand}<dl>{terms}</dl></header>"


def _copied(house: House, here: Memento) -> str:
    """The title of what this is a second-hand copy of, or ""."""
    titles = {s.id: s.title for s in house.settings.sources}
    of = next((s.mirror_of for s in house.settings.sources if s.id == here.version.source), None)
    return titles.get(of, of) if of else ""


def _ways(say: Mapping[str, str], links: Addresses, known: Sequence[Memento], here: Memento) -> str:
    position = known.index(here)
    targets = {"first": 0, "prev": position - 1, "next": position + 1, "last": len(known) - 1}
    ways = [
        f'<a rel="{name}" href="{escape(links.memento(known[at]))}">{say[name]}</a>'
        for name, at in targets.items()
        if 0 <= at < len(known) and at != position
    ]
    ways.append(f'<a rel="external noreferrer" href="{escape(links.original)}">{say["original"]}</a>')
    ways.append(f'<a href="{escape(links.memento(here, RAW))}">{say["bytes"]}</a>')
    return f"<nav>{''.join(ways)}</nav>"


def _figure(say: Mapping[str, str], language: str, figure: Figure) -> str:
    alt = escape(plain(figure.alt or figure.url))
    if figure.memento is None:
        why = (
            say["gone"] if WORDS[figure.verdict].accessed else say["unread"].format(why=word(figure.verdict, language))
        )
        return f"<figure><figcaption>{alt}<br>{escape(why)}</figcaption></figure>"
    source = escape(f"/memento/{figure.memento.stamp}{RAW}/{figure.memento.version.url}")
    when = f"{figure.memento.at:%Y-%m-%dT%H:%M:%SZ}"
    return f'<figure><img src="{source}" alt="{alt}"><figcaption>{alt}<br>{when}</figcaption></figure>'

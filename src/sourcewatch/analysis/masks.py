"""Takes out of a short text what moves without meaning anything: ids, counters, times since; one notation of dates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from sourcewatch.analysis.normalise import typographic

# Counters and clocks live in short blocks. Longer ones are prose, and enough text makes any pattern slow.
MOST_CHARS = 300

_ATTENTION = (
    r"(?:views?|stars?|forks?|comments?|likes?|upvotes?|replies|followers?|watching|reactions?|online)(?![A-Za-z])"
)
# Words that also count what news and reports tell of: there the number stands alone, with nothing beside it.
_COUNTED = (
    r"(?:points?|reads?|shares?|downloads?|issues?|answers?|votes?|people|members?)(?=\s{0,3}(?:$|[|·•,;:()/]|by\b|\d))"
)
_COUNTED_HAN = "阅读|浏览|评论|赞同|点赞|收藏|转发|关注|回复|跟帖|参与|人赞同|条评论|次浏览|次阅读|人阅读|个赞"
_FIGURE = r"\d[\d,.]{0,14} {0,3}[kKmM万亿]?\+? {0,3}"
_ALONE = r"(?:^|(?<=[|·•,;:()/])|(?<=[|·•,;:()/] ))"
_LEAVES = (
    "count|score|points|descendants|karma|likes|favorites|stars|stargazers|forks|watchers|subscribers|views|downloads|"
    "followers|following|open_issues|upvotes|num_comments"
)
_SINCE = r"(?:s|secs?|seconds?|mins?|minutes?|hrs?|hours?|h|days?|d|weeks?|w|months?|mo|years?|y)"
_SINCE_HAN = "秒|分钟|分鐘|小时|小時|天|日|周|週|个月|個月|年"
# 2024 年前三季度, 第一天前往, 三天前后: no time since.
_NOT_AGO = (
    r"(?![一二两三四五六七八九十]{1,3}[季个個名位月天年周週日强強大]|\d{1,2}[季名位强強]"
    r"|[往后後面来來夕景提端台沿途进進])"
)

# First letters of January to December in the languages that pages flip between (en, fr, de, es, it, pt, nl).
_MONTHS = (
    ("jan", "gen", "ene"),
    ("feb", "fév", "fev"),
    ("mar", "mär", "maa"),
    ("apr", "avr", "abr"),
    ("may", "mai", "mag", "mei"),
    ("jun", "juin", "giu"),
    ("jul", "juil", "lug"),
    ("aug", "aoû", "ago"),
    ("sep", "set"),
    ("oct", "okt", "ott", "out"),
    ("nov",),
    ("dec", "déc", "dez", "dic"),
)
_MONTH = r"(?P<{}>[A-Za-zäéû]{{3,10}})\.?"
_DAY = r"(?P<{}>\d{{1,2}})(?:st|nd|rd|th|er|º)?\.?"
_DATE = re.compile(
    rf"(?<!\w){_DAY.format('d1')},?\ {{1,2}}(?:de\ )?{_MONTH.format('m1')},?"
    r"\ {1,2}(?:de\ )?(?P<y1>(?:19|20)\d\d)(?!\d)"
    rf"|(?<!\w){_MONTH.format('m2')}\ {{1,2}}{_DAY.format('d2')},?\ {{1,2}}(?P<y2>(?:19|20)\d\d)(?!\d)"
    r"|(?<!\d)(?P<y3>(?:19|20)\d\d)\ ?年\ ?(?P<m3>\d{1,2})\ ?月\ ?(?P<d3>\d{1,2})\ ?[日号號](?:\ (?=[一-鿿]))?"
    r"|(?<!\d)(?P<y4>(?:19|20)\d\d)[-/.](?P<m4>\d{1,2})[-/.](?P<d4>\d{1,2})(?!\d)(?:\ (?=[一-鿿]))?"
)


def _iso(match: re.Match[str]) -> str:
    """A date in one notation: the same day in another locale is the same text, another day is not."""
    for n in "1234":
        if match[f"y{n}"]:
            month = match[f"m{n}"]
            number = int(month) if month.isdecimal() else _month(month.casefold())
            return f"␟{match[f'y{n}']}-{number:02}-{int(match[f'd{n}']):02}" if number else match.group()
    return match.group()


def _month(name: str) -> int:
    return next((n for n, starts in enumerate(_MONTHS, 1) if name.startswith(starts)), 0)


def _mark(text: str) -> Callable[[re.Match[str]], str]:
    return lambda _: text


@dataclass(frozen=True, slots=True)
class Mask:
    rule: str
    pattern: re.Pattern[str]
    new: Callable[[re.Match[str]], str]


MASKS = (
    Mask(
        "masked-id",
        re.compile(
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
            r"|\b(?=[0-9a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{16,128}\b|\b\d{12,40}\b(?<!000000)",
            re.IGNORECASE,
        ),
        _mark("␟id"),
    ),
    Mask("locale-date", _DATE, _iso),
    Mask(
        "masked-time",
        re.compile(
            rf"\b(?:over |about |almost )?(?:\d{{1,4}}|an?|(?:a )?few) ?{_SINCE} ago\b"
            r"|(?<=updated )(?:today|yesterday|this week|last week)\b"
            rf"|(?<=updated )in the last (?:\d{{1,3}} )?{_SINCE}\b"
            r"|\b(?:just now|today|yesterday)(?: at \d{1,2}:\d{2})?(?=\s{0,3}$)"
            rf"|(?<![\d第])(?:\d{{1,3}}|[一二两三四五六七八九十几数]) ?(?:{_SINCE_HAN}) ?(?:以)?前{_NOT_AGO}|刚刚|剛剛"
            r"|(?:昨天|今天|前天|昨日|今日) ?\d{1,2}:\d{2}"
            r"|(?:©|\(c\)|copyright) {0,2}(?:\d{4} {0,2}[-–—] {0,2})?\d{4}",
            re.IGNORECASE,
        ),
        _mark("␟time"),
    ),
    Mask(
        "masked-counter",
        re.compile(
            rf"(?<![\w.,]){_FIGURE}(?={_ATTENTION}|{_COUNTED_HAN})|{_ALONE}{_FIGURE}(?={_COUNTED})"
            r"|(?<=阅读|浏览|评论|赞同|点赞|收藏|转发|点击|跟帖|关注)(?:量|数)? {0,3}[:：(（]? {0,3}"
            rf"{_FIGURE}(?=次|人次|$|[|·•,，;；:：()（）/]"
            r"|[\u4e00-\u9fff]{2,4}(?:量|数)? {0,3}[:：(（]? {0,3}\d)",
            re.IGNORECASE,
        ),
        _mark("␟n "),
    ),
    Mask(  # a leaf of a JSON document: "score: 162", "stargazers_count: 1204"
        "masked-counter",
        re.compile(rf"^((?:[\w-]{{1,40}}[_-])?(?:{_LEAVES})(?:[_-]count)?: )-?\d{{1,15}}$", re.IGNORECASE),
        lambda match: f"{match[1]}␟n",
    ),
)


def plain(text: str) -> str:
    """White space as one space, normal form C."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def key(text: str) -> str:
    """What a block says apart from what moves by itself; equal keys, equal meaning."""
    text = plain(text)
    if len(text) <= MOST_CHARS:
        for mask in MASKS:
            text = mask.pattern.sub(mask.new, text)
    return text


def difference(old: str, new: str) -> str:
    """The rule that makes two texts one: "whitespace", "typography", a mask's name; "" when they differ in meaning.

    Letter case is meaning: "Customer Data" is a defined term of a contract, "customer data" is not.
    """
    old, new = plain(old), plain(new)
    if old == new:
        return "whitespace"
    if typographic(old) == typographic(new):
        return "typography"
    if max(len(old), len(new)) <= MOST_CHARS:
        for mask in MASKS:
            old, new = mask.pattern.sub(mask.new, old), mask.pattern.sub(mask.new, new)
            if old == new:
                return mask.rule
    return ""

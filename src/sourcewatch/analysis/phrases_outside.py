"""The sentences about help from outside: mirrors, moved addresses, other archives; in Chinese and in English."""

from __future__ import annotations

from collections.abc import Mapping

# key: (zh-CN, en)
OUTSIDE: Mapping[str, tuple[str, str]] = {
    "second_of": ("《{title}》的二手镜像", "second-hand copy of “{title}”"),
    "second_read": (
        "二手：{at} 读到的是镜像 {url}，不是来源本身",
        "second-hand: the copy at {url} was read {at}, not the source",
    ),
    "second_failing": ("镜像此后也读不到（{why}）", "the copy cannot be read since, either ({why})"),
    "second_unread": (
        "镜像 {url} 也读不到（{why}）",
        "its second-hand copy at {url} could not be read, either ({why})",
    ),
    "second_quotes": ("镜像中有 {n}/{of} 条引文", "{n} of {of:quote} stand in the copy"),
    "second_lacks": (
        "镜像只读文字，以下图片未读：{names}",
        "a copy is read for its text; these pictures were not: {names}",
    ),
    "second_text": ("镜像只读文字", "a copy is read for its text alone"),
    "second_unknown": (
        "镜像只读文字；来源从未读到，其中有哪些图片不得而知",
        "a copy is read for its text alone; the source was never read, so what pictures it has is not known",
    ),
    "second_only": ("来源从未读到，只有二手依据", "the source was never read; the only evidence is second-hand"),
    "second_quote": ("二手镜像 {url}（{at} 读到）中：{how}", "in the second-hand copy at {url}, read {at}: {how}"),
    "second_hand": ("二手", "Second-hand"),
    "second_note": (
        "这是二手镜像，不是来源本身。它的日期和版本只说明镜像自己。",
        "This is a second-hand copy, not the source. Its dates and versions tell of the copy alone.",
    ),
    "sum_second": ("读到的是二手镜像", "read second-hand"),
    "u_second": ("二手镜像读于 {at}", "a second-hand copy was read {at}"),
}

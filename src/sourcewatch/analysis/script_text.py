"""Prose inside the JSON that pages carry for their scripts: the last place where a quoted sentence may stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .nesting import bare_lines

DATA_IDS = frozenset({"__NEXT_DATA__", "__NUXT_DATA__", "js-initialData", "__UNIVERSAL_DATA_FOR_REHYDRATION__"})
MOST_SCRIPT_CHARS = 4_000_000
MOST_PROSE_CHARS = 1_000_000
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
NOT_PROSE = re.compile(
    r"\s{0,9}(?:https?://|//|/[\w-]|data:|[#.]?[\w-]{1,80}\s{0,3}\{|[{\[]\s{0,9}[\"{\[]"
    r"|function\b|(?:var|const|let) \w|import \{)"
)
LETTERS_LEAST = 25
CJK_LEAST = 6


def holds_data(media_type: str, element_id: str) -> bool:
    """Whether a <script> is data rather than program."""
    media_type = media_type.partition(";")[0].strip().lower()
    return media_type.endswith(("/json", "+json")) or element_id in DATA_IDS


def prose_in(script: str) -> list[str]:
    """Sentences among the strings of a JSON script, in order; markup inside strings is taken off. Bounded."""
    if len(script) > MOST_SCRIPT_CHARS:
        return []
    try:
        value = json.loads(script)
    except (ValueError, RecursionError):
        return []
    lines: list[str] = []
    left = MOST_PROSE_CHARS
    for string in strings_of(value):
        for line in bare_lines(string) if "<" in string else [" ".join(string.split())]:
            if is_prose(line):
                lines.append(line)
                left -= len(line)
        if left < 0:
            break
    return lines


def strings_of(value: object) -> Iterator[str]:
    """Every string leaf, in order, without recursion."""
    todo = [value]
    while todo:
        current = todo.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            todo.extend(reversed(current.values()))
        elif isinstance(current, list):
            todo.extend(reversed(current))


def is_prose(text: str) -> bool:
    """Whether a string is something that people read: long enough, words apart, no address and no code."""
    if len(text) < CJK_LEAST or NOT_PROSE.match(text):
        return False
    if len(CJK.findall(text[:400])) >= CJK_LEAST:
        return True
    return len(text) >= LETTERS_LEAST and text.count(" ") >= max(2, len(text) // 25)

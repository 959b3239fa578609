"""Where in a TOML file a key stands: tomllib reads values, and forgets lines."""

from __future__ import annotations

import re
from collections.abc import Mapping

Path = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[|\[)\s*([^\[\]]+?)\s*(\]\]|\])\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=\s*(.*)$"""
)
_PART = re.compile(r"""[A-Za-z0-9_-]+|"([^"]*)"|'([^']*)'""")
_STRINGS = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'')


def lines(text: str) -> Mapping[Path, int]:
    """Line numbers (from 1) of tables and keys, by their path as tomllib nests them.

    Written for files that tomllib has already accepted; what stands inside an inline table is not listed.
    """
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    here: Path = ()
    closes, depth = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if closes:
            closes = "" if closes in line else closes
            continue
        if depth > 0:
            depth += _brackets(line)
            continue
        if header := _HEADER.match(line):
            here = _enter(header, counts)
            found[here] = number
        elif key := _KEY.match(line):
            found[(*here, *_parts(key[1]))] = number
            closes = _opens_long_string(key[2])
            depth = 0 if closes else _brackets(key[2])
    return found


def line_of(path: Path, known: Mapping[Path, int]) -> int:
    """The line of a path, or of the nearest table that holds it; 1 when nothing of it is written down."""
    while path and path not in known:
        path = path[:-1]
    return known.get(path, 1)


def _parts(dotted: str) -> Path:
    return tuple(m[1] or m[2] or m[0] for m in _PART.finditer(dotted))


def _enter(header: re.Match[str], counts: dict[Path, int]) -> Path:
    names = _parts(header[2])
    path: Path = ()
    for position, name in enumerate(names):
        path = (*path, name)
        last = position == len(names) - 1
        if header[1] == "[[" and last:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _opens_long_string(value: str) -> str:
    """The delimiter of a multi-line string that this line opens and does not close, or ""."""
    for quotes in ('"""', "'''"):
        if value.startswith(quotes):
            return "" if quotes in value[3:] else quotes
    return ""


def _brackets(line: str) -> int:
    bare = _STRINGS.sub("", line).partition("#")[0]
    return bare.count("[") + bare.count("{") - bare.count("]") - bare.count("}")

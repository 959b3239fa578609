"""The site's data as text: JSON, TOML and YAML, each as the site generators read it, with nothing in it that acts.

Control, format (bidi) and unassigned characters are always written as escapes: a file that is shown in a terminal or an
editor shows them, and who parses it gets them back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .excerpt import unseen


@dataclass(frozen=True, slots=True)
class Form:
    """A file as one generator wants it: *path* is where it looks for it, *text* writes the data."""

    path: str
    text: Callable[[Mapping[str, Any]], str]


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON (RFC 8259) whose strings hold no raw control or format character."""
    separators = (",", ":") if indent is None else None
    written = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _escaped(written, lambda c: "\n" if c == "\n" else json.dumps(c)[1:-1])  # the indentation's breaks stay


def as_toml(value: Mapping[str, Any]) -> str:
    """TOML 1.0, which has no null: what is unknown is left out. Lists hold inline tables."""
    return "\n".join(_tables(value, ())) + "\n"


def as_yaml(value: Mapping[str, Any]) -> str:
    """YAML 1.2, and 1.1 too (Jekyll's): each key and text stands in quotes, so none is taken for a date or a number."""
    return "\n".join(_block(value, "")) + "\n"


def as_entries(value: Mapping[str, Any]) -> str:
    """Astro's `file()` loader: an object of entries by id, each of them whole."""
    shared = {"generated_at": value["generated_at"], "site": value["site"]}
    return as_json({id_: {**entry, **shared} for id_, entry in value["sources"].items()}, 1) + "\n"


def _whole_json(value: Mapping[str, Any]) -> str:
    return as_json(value, 1) + "\n"


# Hugo and Eleventy make an identifier of the file's name, so it has no hyphen
# (gohugo.io/methods/site/data, 11ty.dev/docs/data-global, jekyllrb.com/docs/datafiles, docs.astro.build: file()).
FORMS: Mapping[str, Form] = {
    "json": Form("last-accessed.json", _whole_json),
    "toml": Form("last-accessed.toml", as_toml),
    "yaml": Form("last-accessed.yaml", as_yaml),
    "hugo": Form("data/last_accessed.json", _whole_json),
    "jekyll": Form("_data/last_accessed.yml", as_yaml),
    "eleventy": Form("_data/last_accessed.json", _whole_json),
    "astro": Form("src/data/last_accessed.json", as_entries),
}
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    hidden = {ord(c): escape(c) for c in set(text) if unseen(c)}
    return text.translate(hidden) if hidden else text


def _quoted(text: str) -> str:
    """A string of TOML and of YAML: double quotes, escapes by code point, U+FFFD for a lone surrogate."""
    return '"' + _escaped(text.replace("\\", "\\\\").replace('"', '\\"'), _code_point) + '"'


def _code_point(c: str) -> str:
    code = ord(c)
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case str():
            return _quoted(value)
        case _:
            return json.dumps(value)


def _tables(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    known = {key: value for key, value in table.items() if value is not None}
    yield from (f"{_key(k)} = {_inline(v)}" for k, v in known.items() if not isinstance(v, Mapping))
    for key, value in known.items():
        if isinstance(value, Mapping):
            here = (*path, _key(key))
            yield f"\n[{'.'.join(here)}]"
            yield from _tables(value, here)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(v) for v in value) + "]"
    return _scalar(value)


def _block(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, inner in value.items():
        yield from _named(f"{indent}{_quoted(key)}:", inner, indent + "  ")


def _named(head: str, inner: Any, indent: str) -> Iterator[str]:
    """A key, or the dash of a list, and what belongs to it."""
    if isinstance(inner, Mapping) and inner:
        yield head
        yield from _block(inner, indent)
    elif isinstance(inner, list) and inner:
        yield head
        for one in inner:
            yield from _named(f"{indent}-", one, indent + "  ")
    else:
        yield f"{head} {_scalar(inner)}"

"""The addresses of reference lists: BibTeX, CSL-JSON, and the pages that a sitemap names."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from ..domain.mention import Mention, NotRead
from . import citing_text
from .citing_html import Found
from .citing_text import LineNumbers

_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w:.+/-]*)\s*=\s*")
_COMMAND = re.compile(r"\\([%&#_$~{}])")
_LOC = re.compile(r"<(?:\w+:)?loc\s*>\s*(?:<!\[CDATA\[)?\s*([^<\]]+?)\s*(?:\]\]>)?\s*</(?:\w+:)?loc\s*>", re.I)
_DOI = re.compile(r"10\.\d{4,9}/\S+")


def bibtex(place: str, text: str) -> Found:
    """`url`, `doi` and addresses spelled out in any other field, at their lines. A broken entry is told and passed."""
    at, numbers = 0, LineNumbers(text)
    while entry := _ENTRY.search(text, at):
        at = entry.end()
        if entry[1].lower() in ("comment", "string", "preamble"):
            continue
        fields: dict[str, tuple[str, int]] = {}
        comma = text.find(",", at)
        while comma >= 0 and (field := _FIELD.match(text, at if fields else comma)):
            value, at = _value(text, field.end())
            if at < 0:
                yield NotRead(place, numbers.at(entry.start()), "a BibTeX entry whose braces or quotes do not close")
                return
            fields[field[1].lower()] = (value, field.end())
        yield from _entry(place, numbers, fields)


def _value(text: str, start: int) -> tuple[str, int]:
    """A field's value and where it ends; -1 where it never does."""
    opening = text[start : start + 1]
    if opening not in ('"', "{"):
        bare = re.compile(r"[^\s,}]*").match(text, start)
        return (bare[0], bare.end()) if bare else ("", start)
    depth, i = 0, start + 1
    while i < len(text):
        c = text[i]
        if c == "\\":
            i += 1
        elif c == "{":
            depth += 1
        elif c == '"' and opening == '"' and depth == 0:
            return text[start + 1 : i], i + 1
        elif c == "}":
            if depth == 0:
                return (text[start + 1 : i], i + 1) if opening == "{" else ("", -1)
            depth -= 1
        i += 1
    return "", -1


def _entry(place: str, numbers: LineNumbers, fields: dict[str, tuple[str, int]]) -> Found:
    title = _words(fields.get("title", ("", 0))[0])
    cited: set[str] = set()
    for name, (value, start) in fields.items():
        plain = _COMMAND.sub(r"\1", value)
        doi = _DOI.search(plain) if name == "doi" else None
        found = [(f"https://doi.org/{doi[0].rstrip('},;')}", 0)] if doi else citing_text.addresses(plain)
        for url, offset in found:
            if url not in cited and not (doi and "url" in fields):
                line = numbers.at(start) + plain.count("\n", 0, offset)
                yield Mention(url, place, line, title)
                cited.add(url)


def _words(value: str) -> str:
    """A BibTeX title without its braces and commands."""
    return " ".join(re.sub(r"\\[A-Za-z]+\s*|[{}]", "", _COMMAND.sub(r"\1", value)).split())


def csl_json(place: str, text: str) -> Found | None:
    """CSL-JSON items with `URL` or `DOI`; None for JSON of another shape. Raises ValueError for what is no JSON."""
    rows = json.loads(text)
    items = rows.get("items") if isinstance(rows, dict) else rows
    if not isinstance(items, list) or not any(isinstance(r, dict) and ("URL" in r or "DOI" in r) for r in items):
        return None
    return _items(place, text, items)


def _items(place: str, text: str, items: list[Any]) -> Iterator[Mention]:
    at, numbers = 0, LineNumbers(text)
    for item in items:
        if not isinstance(item, dict):
            continue
        url, doi = str(item.get("URL") or ""), str(item.get("DOI") or "")
        if not url and not doi:
            continue
        spelled = [json.dumps(url or doi, ensure_ascii=ascii_) for ascii_ in (False, True)]
        spelled.append(spelled[0].replace("/", "\\/"))
        found = next((i for word in spelled if (i := text.find(word, at)) >= 0), at)
        at = found
        whole = url or (doi if doi.startswith("http") else f"https://doi.org/{doi}")
        yield Mention(whole, place, numbers.at(found), str(item.get("title") or ""))


def sitemap(text: str) -> list[str] | None:
    """The addresses that a sitemap or a sitemap index names; None for other XML. https://www.sitemaps.org/protocol"""
    if not re.search(r"<(?:\w+:)?(?:urlset|sitemapindex)\b", text[:4_000]):
        return None
    return [html.unescape(url) for url in _LOC.findall(text)]

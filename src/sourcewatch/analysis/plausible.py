"""Whether a readable page is still the document that was accepted before: not scrambled, not wholly another one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import sqrt

from sourcewatch.domain.document import Block, Document, Form, Label

from .address import registrable_domain
from .drift import drift
from .tokens import CJK, tokens
from .view import Rule, View, shown, weight

ENOUGH = 400
"""Bytes of main text on both sides below which nothing is said about letters or subjects."""
PROSE = frozenset({Form.HTML, Form.MARKDOWN, Form.TEXT, Form.PDF})
_LETTERS = re.compile(r"[^\W\d_]+")
_IDEOGRAPH = re.compile(f"[{CJK}]")
WORDS_CHARS = 5
# Measured on 147 Chinese and 400 other real pages, each against itself with its letters in another order, another page,
# and half of it rewritten (2026-12). Ideographs: other pages with letters alike hold 72 % of the pairs, half rewritten
# ones 38 % or more, shuffled ones at most 15 %. Alphabets: likeness of pair counts is 0.70 or more for other pages in
# the same language, 0.85 for half rewritten ones, 0.52 to 0.69 for nine of ten shuffled ones.
CJK_LETTERS, CJK_HELD = 0.85, 0.25
LETTERS, PAIRS = 0.985, 0.69
REPLACED_KEPT = 0.04
SUBJECT = 0.2
FRAME = 3  # lines and links around a text that make a frame


def _scrambled(view: View) -> str:
    """The letters of the accepted version in another order, or its lines with other letters in place of theirs."""
    accepted = view.reading.accepted
    if accepted is None or view.reading.form not in PROSE or view.kept >= 0.5:
        return ""
    old, new = _main(accepted.document), _main(view.document)
    before, after = "".join(b.text for b in old), "".join(b.text for b in new)
    if weight(before) < ENOUGH or weight(after) < ENOUGH:
        return ""
    if evidence := _swapped(old, new):
        return evidence
    letters = _cosine(Counter(_plain(before)), Counter(_plain(after)))
    old_pairs, new_pairs = Counter(_pairs(before)), Counter(_pairs(after))
    if len(_IDEOGRAPH.findall(after)) > 0.5 * len(_plain(after)):
        held = sum(n for pair, n in new_pairs.items() if pair in old_pairs) / max(1, sum(new_pairs.values()))
        broken = letters >= CJK_LETTERS and held < CJK_HELD
    else:
        held = _cosine(old_pairs, new_pairs)
        broken = letters >= LETTERS and held < PAIRS
    if not broken:
        return ""
    alike = f"the letters of the last version ({letters:.0%} alike) in another order ({held:.0%} of the pairs)"
    return f"{alike}; {view.facts()}"


def _swapped(old: Sequence[Block], new: Sequence[Block]) -> str:
    """Lines as long as before, with single letters exchanged all over: text that only its own font makes readable."""
    by_length: dict[int, list[str]] = {}
    for block in old:
        by_length.setdefault(len(block.text), []).append(block.text)
    lines = exchanged = 0
    for block in new:
        text = block.text
        if len(text) < 12:
            continue
        lines += 1
        for twin in by_length.get(len(text), ()):
            others = sum(a != b and a.isalpha() and b.isalpha() for a, b in zip(text, twin, strict=True))
            if 0.1 * len(text) <= others <= 0.75 * len(text) and _runs(text, twin) >= max(2, others // 4):
                exchanged += 1
                break
    if lines >= 4 and exchanged >= 0.6 * lines:
        return f"{exchanged} of {lines} lines are as long as in the last version, with other letters scattered in them"
    return ""


def _runs(text: str, twin: str) -> int:
    """In how many places two lines of one length differ: an edit is one run, exchanged letters are many."""
    runs, within = 0, False
    for a, b in zip(text, twin, strict=True):
        runs += a != b and not within
        within = a != b
    return runs


def _replaced(view: View) -> str:
    """Wholly another document: its title, its sentences, its subject and its links, and no quote of ours in it."""
    accepted = view.reading.accepted
    if accepted is None or view.reading.form not in PROSE or accepted.document.form not in PROSE:
        return ""
    old, new = accepted.document, view.document
    if weight(old.main_text) < ENOUGH or weight(new.main_text) < ENOUGH or view.kept > REPLACED_KEPT:
        return ""
    if not (_other_title(old, new) or _other_site(old, new)) or _shares_links(old, new) or _same_brand(view, old):
        return ""
    subject = _subject(old.main_text, new.main_text)
    if subject > SUBJECT:
        return ""
    left = drift(old.main_text, new.text)
    return (
        f"was {shown(old.title)}, is {shown(new.title)}: {left.kept:.0%} of the sentences and {subject:.0%} of the"
        f" words left, none of {len(view.reading.source.quotes)} quotes"
    )


def _other_title(old: Document, new: Document) -> bool:
    return _others(old.title or _heading(old), new.title or _heading(new))


def _others(ours: str, theirs: str) -> bool:
    """Whether two titles have no longer word in common; where one of them has none ("How we do it"), no word at all."""
    one, other = set(_words(ours)), set(_words(theirs))
    if not (one and other):
        one, other = ({t for t in tokens(title.lower()) if t.isalpha()} for title in (ours, theirs))
    return bool(one and other) and not one & other


def _other_site(old: Document, new: Document) -> bool:
    """Whether the headline is another, and nothing is left of what stood around the text: the site itself is gone.

    A title may stay: it is often the site's name, or was taken over with the address. What changes wholly every day
    under one title, as a front page does, keeps its frame.
    """
    frame, here = _frame(old), {b.text for b in new.visible} | {k.url for k in new.links}
    return len(frame) >= FRAME and not frame & here and _others(_heading(old), _heading(new))


def _frame(document: Document) -> set[str]:
    chrome = {b.text for b in document.blocks if b.label is Label.CHROME}
    return chrome | {k.url for k in document.links if k.label is Label.CHROME}


def _heading(document: Document) -> str:
    return next((b.text for b in document.blocks if b.tag in ("h1", "h2")), "")


def _shares_links(old: Document, new: Document) -> bool:
    """Whether a good part of the text's links or figures is the same: a translation, a redesign."""
    ours = {k.url for k in old.links if k.label is Label.MAIN} | {e.url for e in old.embeds}
    theirs = {k.url for k in new.links if k.label is Label.MAIN} | {e.url for e in new.embeds}
    return len(ours & theirs) >= max(2, 0.2 * min(len(ours), len(theirs)))


def _same_brand(view: View, old: Document) -> bool:
    """A front page that still speaks of its site is that site's front page, whatever is on it today."""
    if view.cited_path not in ("", "/"):
        return False
    label = registrable_domain(view.cited_host).partition(".")[0]
    return len(label) > 3 and label in old.text.lower() and label in view.document.text.lower()


def _subject(old: str, new: str) -> float:
    """Share of the new text's longer words, or pairs of ideographs, that the old one has."""
    ours, theirs = set(_words(old)), set(_words(new))
    return len(ours & theirs) / len(theirs) if theirs else 1.0


def _words(text: str) -> list[str]:
    """Words of some length in lower case; of ideographs, each pair."""
    found: list[str] = []
    last = ""
    for token in tokens(text.lower()):
        if _IDEOGRAPH.match(token):
            if last:
                found.append(last + token)
            last = token
        else:
            last = ""
            if len(token) >= WORDS_CHARS and token.isalpha():
                found.append(token)
    return found


def _main(document: Document) -> list[Block]:
    return [b for b in document.blocks if b.label is Label.MAIN]


def _plain(text: str) -> str:
    return "".join(_LETTERS.findall(text.lower()))


def _pairs(text: str) -> list[str]:
    return [run[i : i + 2] for run in _LETTERS.findall(text.lower()) for i in range(len(run) - 1)]


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    dot = sum(n * b[letter] for letter, n in a.items())
    return dot / sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values())) if a and b else 0.0


SCRAMBLED_RULES = (Rule("scrambled-text", "challenge", _scrambled, stand_in=False),)
RULES = (Rule("other-document", "content_replaced", _replaced),)

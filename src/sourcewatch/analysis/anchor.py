"""Says how a document holds a quote: word for word, in other characters, with other numbers, reworded or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz.distance import Levenshtein

from sourcewatch.analysis.align import align, interned
from sourcewatch.analysis.diff import token_parts
from sourcewatch.analysis.edges import grown, regained, whole
from sourcewatch.analysis.locate import locate
from sourcewatch.analysis.normalise import folded, is_cjk, simplified, typographic
from sourcewatch.analysis.numbers import facts
from sourcewatch.analysis.pages import Form, Layer, Page
from sourcewatch.domain.change import Sighting, SightingKind
from sourcewatch.domain.source import Quote

__all__ = ["ANCHORER", "CONTEXT_CHARS", "Layer", "Page", "context", "sight"]

ANCHORER = "anchor@1"
CONTEXT_CHARS = 32  # of prefix and suffix, as in the Hypothesis client
# 1 − edit distance ÷ length. Measured: at .55 a quote with 30 % of its words changed is never lost, and 1.1 % (en) and
# 0.0 % (zh) of sentences from other pages are wrongly found. Short quotes resemble something on any page.
LEAST_SCORE = 0.55
LEAST_SCORE_OF_SHORT = 0.75
SHORT_WEIGHT = 24  # a CJK character weighs two
# From here on a reworded quote in what readers see counts more than the old wording in what they don't.
SURE_SCORE = 0.75
# Both neighbours of a quote still standing make it likelier that what stands between them is the quote.
CONTEXT_ALIKE = 0.8
SAME_CONTEXT = 0.95
CONTEXT_BONUS = 0.08
# Places of one quote that are ranked by their context; "the" may stand 10,000 times.
MOST_OCCURRENCES = 1_000
# Folded characters of prefix and suffix that make a place unmistakable when they stand side by side.
LEAST_CONTEXT = 12

_NEGATION = re.compile(
    r"\b(?:not|no|never|without|cannot|nor|neither|none|unable|fail(?:ed|s)?|denied|false)\b|n't"
    r"|不(?![仅但过断少])|没|未|无(?![论锡])|(?<!除)非(?![常凡洲])|否|莫|(?<![特区级类性分个差告辨识])别(?![的人名])",
    re.IGNORECASE,
)
# A context cut at 32 characters may begin or end in the middle of a word or of a number: "[$8.8 bil]lion".
_HALF_FIRST = re.compile(r"^[A-Za-z\d.,]*\s?(?:thousand|million|billion|trillion|[万萬亿億]+)?")
_HALF_LAST = re.compile(r"(?:\d[\d.,]{0,20}\s?)?[A-Za-z\d.,]+$")
EXACT = (
    (SightingKind.VERBATIM, Form.RAW),
    (SightingKind.TYPOGRAPHIC, Form.TYPOGRAPHIC),
    (SightingKind.VARIANT, Form.FOLDED),
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Needle:
    """A quote and its neighbours in one form of a text."""

    exact: str
    prefix: str
    suffix: str

    def rewritten(self, rewrite: Callable[[str], str]) -> _Needle:
        return _Needle(*(rewrite(text) if text else "" for text in (self.exact, self.prefix, self.suffix)))

    def alike(self, text: str, span: Span) -> tuple[float, float]:
        """How like prefix and suffix are to what stands there, each 0–1."""
        before = text[max(0, span[0] - len(self.prefix)) : span[0]]
        after = text[span[1] : span[1] + len(self.suffix)]
        return _likeness(self.prefix, before), _likeness(self.suffix, after)


class _Sought:
    """A quote in the three forms of a layer, each made when it is needed: most quotes stand to the letter."""

    def __init__(self, quote: Quote) -> None:
        self.quote = quote
        prefix, suffix = quote.prefix, quote.suffix
        self.raw = _Needle(
            quote.exact,
            _HALF_FIRST.sub("", prefix) if len(prefix) >= CONTEXT_CHARS else prefix,
            _HALF_LAST.sub("", suffix) if len(suffix) >= CONTEXT_CHARS else suffix,
        )

    @cached_property
    def plain(self) -> _Needle:
        return self.raw.rewritten(typographic)

    @cached_property
    def folded(self) -> _Needle:
        return self.plain.rewritten(folded)

    def needle(self, form: Form) -> _Needle:
        match form:
            case Form.RAW:
                return self.raw
            case Form.TYPOGRAPHIC:
                return self.plain
            case Form.FOLDED:
                return self.folded

    @property
    def least_score(self) -> float:
        weight = sum(2 if is_cjk(c) else 1 for c in self.folded.exact[:SHORT_WEIGHT])
        return LEAST_SCORE_OF_SHORT if weight < SHORT_WEIGHT else LEAST_SCORE


def sight(page: Page, quote: Quote) -> Sighting:
    """How *page* holds *quote*: in the visible text first, then in hidden, noscript and script text.

    A quote whose evidence is a figure is never looked for in text: *unverified*, and the caller says why.
    """
    if quote.figure:
        return Sighting(quote.key, SightingKind.UNVERIFIED, layer="figure")
    sought = _Sought(quote)
    visible, *others = page.layers
    unseen = [layer for layer in others if layer.text]
    seen = _exact(visible, sought) or _fuzzy(visible, sought)
    if seen and seen.score >= SURE_SCORE:
        return seen
    exact_unseen = (_exact(layer, sought) for layer in unseen)
    fuzzy_unseen = (_fuzzy(layer, sought) for layer in unseen)
    return (
        next(filter(None, exact_unseen), None)
        or seen
        or _deleted_here(visible, sought)
        or next(filter(None, fuzzy_unseen), None)
        or Sighting(quote.key, SightingKind.NOT_FOUND)
    )


def context(layer: Layer | str, start: int, end: int) -> tuple[str, str]:
    """What stands before and after a place: prefix and suffix for a quote that was given as text alone."""
    text = layer if isinstance(layer, str) else layer.text
    return text[max(0, start - CONTEXT_CHARS) : start], text[end : end + CONTEXT_CHARS]


def _exact(layer: Layer, sought: _Sought) -> Sighting | None:
    """Verbatim, typographic or variant, in this order; the occurrence whose neighbours are most alike."""
    for kind, form in EXACT:
        needle = sought.needle(form)
        text = layer.reading(form)
        places = [place for place in _occurrences(text, needle.exact) if _uncut(layer, form, place, needle.exact)]
        if places:
            best = max(places, key=lambda place: sum(needle.alike(text, place)))
            at_home = sum(needle.alike(text, best)) >= 2 * SAME_CONTEXT
            there = None if at_home else _elsewhere(layer, sought)
            if there and not there.stands:
                return there
            return _told_exact(layer, sought, kind, layer.span(form, *best), len(places))
    return None


def _occurrences(text: str, exact: str) -> Iterator[Span]:
    place = text.find(exact) if exact else -1
    for _ in range(MOST_OCCURRENCES):
        if place < 0:
            return
        yield place, place + len(exact)
        place = text.find(exact, place + 1)


def _uncut(layer: Layer, form: Form, place: Span, exact: str) -> bool:
    """Folded text has lost its spaces and notations: there the layer's own text must say where they end."""
    if form is not Form.FOLDED:
        return whole(layer.reading(form), *place)
    start, end = layer.span(form, *place)
    return whole(layer.text, start, end) and folded(typographic(layer.text[start:end])) == exact


def _told_exact(layer: Layer, sought: _Sought, kind: SightingKind, span: Span, occurrences: int) -> Sighting:
    start, end = span if kind is SightingKind.VERBATIM else _with_marks(layer.text, span, sought.quote.exact)
    found = layer.text[start:end]
    parts = token_parts(sought.quote.exact, found) if kind is SightingKind.VARIANT else ()
    return Sighting(sought.quote.key, kind, 1.0, layer.name, start, end, found, parts, occurrences=occurrences)


def _elsewhere(layer: Layer, sought: _Sought) -> Sighting | None:
    """The quote's own place, if that holds something like the quote while the quote stands among other neighbours.

    In a table, "155 tok/s" of another row says nothing about the row that was cited.
    """
    spans = [span for span in _between(layer, sought) if span[0] < span[1]]
    length = len(sought.folded.exact)
    nearest = min(spans, key=lambda span: abs(span[1] - span[0] - length), default=None)
    return _judged(layer, sought, nearest, 0.0) if nearest else None


def _fuzzy(layer: Layer, sought: _Sought) -> Sighting | None:
    """Numbers changed or reworded: what stands between the quote's neighbours, else what is most like it."""
    if not layer.text or not sought.folded.exact:
        return None
    there = _elsewhere(layer, sought)
    if there:
        return there
    text, needle = layer.reading(Form.FOLDED), sought.folded
    place = locate(needle.exact, text, layer.grams)
    if place is None:
        return None
    bonus = sum(CONTEXT_BONUS for likeness in needle.alike(text, place) if likeness > CONTEXT_ALIKE)
    judged = _judged(layer, sought, place, bonus)
    # Where both neighbours stand side by side the quote is gone: a likeness elsewhere is another sentence.
    return judged if judged and not _deleted_here(layer, sought) else None


def _judged(layer: Layer, sought: _Sought, place: Span, bonus: float) -> Sighting | None:
    """What a stretch of the folded text says about the quote; None when it is too unlike."""
    span = grown(layer.text, *layer.span(Form.FOLDED, *place))
    start, end = _with_marks(layer.text, regained(layer.text, span, sought.quote.exact), sought.quote.exact)
    found = layer.text[start:end]
    plain = typographic(found)
    theirs = folded(plain)
    score = max(0.0, 1 - Levenshtein.distance(sought.folded.exact, theirs) / len(sought.folded.exact))
    if score + bonus < sought.least_score:
        return None
    ours_plain, theirs_plain = simplified(sought.plain.exact), simplified(plain)
    old, new = _changed_numbers(ours_plain, theirs_plain)
    if theirs == sought.folded.exact:
        kind = SightingKind.VARIANT
    else:
        kind = SightingKind.NUMBERS_CHANGED if old or new else SightingKind.REWORDED
    negated = len(_NEGATION.findall(ours_plain)) != len(_NEGATION.findall(theirs_plain))
    return Sighting(
        sought.quote.key,
        kind,
        round(score, 4),
        layer.name,
        start,
        end,
        found,
        token_parts(sought.quote.exact, found),
        old,
        new,
        negated,
        occurrences=1,
    )


def _changed_numbers(ours: str, theirs: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The numbers and names with digits, as they are written, that differ in value."""
    old, new = facts(ours), facts(theirs)
    runs = align(*interned([f.value for f in old], [f.value for f in new]))
    return (
        tuple(old[i].text for run in runs for i in run.old),
        tuple(new[j].text for run in runs for j in run.new),
    )


def _deleted_here(layer: Layer, sought: _Sought) -> Sighting | None:
    if all(start < end for start, end in _between(layer, sought)):
        return None
    return Sighting(sought.quote.key, SightingKind.DELETED_HERE, layer=layer.name)


def _between(layer: Layer, sought: _Sought) -> Iterator[Span]:
    """The stretches, perhaps empty, between prefix and suffix where both stand near to one another."""
    if not (sought.raw.prefix and sought.raw.suffix):
        return
    prefix, suffix = sought.folded.prefix, sought.folded.suffix
    if min(len(prefix), len(suffix)) * 3 < LEAST_CONTEXT or len(prefix) + len(suffix) < LEAST_CONTEXT:
        return
    text = layer.reading(Form.FOLDED)
    reach = 2 * len(sought.folded.exact) + len(suffix) + CONTEXT_CHARS
    for _, start in _occurrences(text, prefix):
        end = text.find(suffix, start, start + reach)
        if end >= 0 and text.find(prefix, start, end) < 0:
            yield start, end


def _with_marks(text: str, span: Span, exact: str) -> Span:
    """Spans of folded text lack the punctuation at both ends of a quote: taken in where it stands there too."""
    start, end = span
    for mark in reversed(exact[: _marks(exact)]):
        if start and typographic(text[start - 1]) == typographic(mark):
            start -= 1
    for mark in exact[len(exact) - _marks(exact[::-1]) :]:
        if end < len(text) and typographic(text[end]) == typographic(mark):
            end += 1
    return start, end


def _marks(text: str) -> int:
    return next((n for n, c in enumerate(text) if c.isalnum()), 0)


def _likeness(a: str, b: str) -> float:
    return Levenshtein.normalized_similarity(a, b) if a and b else 0.0

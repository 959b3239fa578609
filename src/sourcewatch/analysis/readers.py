"""JSON answers of known kinds as documents, by named rules that are data; what is not proved is no access."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sourcewatch.domain.document import Block, Document, Form, Label
from sourcewatch.domain.reader import Reader, Scalar

from . import markdown
from .structured import MOST_LEAVES, Gathered, leaves, unguarded
from .view import Rule, View
from .walk import one_line

UNPROVED, GONE = "not proved: ", "says that it is gone: "
SELECTOR = "selector matches nothing: "
FILLED = re.compile(r"\{([\w.-]{1,80})\}")
MOST_VALUE_CHARS = 400

Found = dict[str, list[object]]
"""Path: the values that stand there, in document order."""


def document(text: str, reader: Reader, url: str) -> Document:
    """What a rule makes of a JSON answer. Facts first, then its words in the answer's order; the rest is hidden text.

    Notes say what does not hold (`unproved` and `gone` judge by them). Never raises for what the text is.
    """
    try:
        value = json.loads(unguarded(text))
    except (ValueError, RecursionError) as error:
        return Document(Form.JSON, notes=(f"{UNPROVED}JSON does not parse: {error}",))
    found: Found = {}
    gathered = Gathered(url)
    rest: list[Block] = []
    for number, (path, key, leaf) in enumerate(leaves(value)):
        if number >= MOST_LEAVES:
            break
        name = path[2:]
        found.setdefault(name, []).append(leaf)
        if leaf is None:
            continue
        if name in reader.text:
            gathered.text(_words(leaf), path)
        elif name in reader.markdown and isinstance(leaf, str):
            _markdown(gathered, leaf, path)
        elif line := one_line(_words(leaf)):
            shown = name in reader.values
            label = Label.MAIN if shown else Label.HIDDEN
            (gathered.blocks if shown else rest).append(Block(f"{key}: {line}" if key else line, label, "dd", path))
    facts = [Block(said, Label.MAIN, "p", f"fact {n}") for n, said in enumerate(_facts(reader, found))]
    gathered.blocks = [*facts, *gathered.blocks, *rest]
    title = _first(found, reader.title)
    return gathered.document(Form.JSON, title, notes=tuple(_doubts(reader, found)))


def selected(document: Document, reader: Reader) -> Document:
    """A page that a rule's selector was to find something in; where it did not, a note says so."""
    lost = [note.removeprefix(SELECTOR) for note in document.notes if note.startswith(SELECTOR)]
    wanted = [css for path, css in reader.proves if not path]
    missing = tuple(f"{UNPROVED}{css} finds nothing" for css in wanted if css in lost)
    return replace(document, notes=(*document.notes, *missing)) if missing else document


def proved(document: Document, reader: Reader) -> bool:
    """Whether the document is the one that the rule describes."""
    if reader.form == "json" and document.form is not Form.JSON:
        return False
    return not any(note.startswith((UNPROVED, GONE)) for note in document.notes)


def _words(leaf: object) -> str:
    return leaf if isinstance(leaf, str) else json.dumps(leaf)


def _markdown(gathered: Gathered, text: str, path: str) -> None:
    inner = markdown.extract(text, url=gathered.base)
    gathered.blocks.extend(replace(b, path=path) for b in inner.blocks)
    gathered.links.extend(inner.links)
    gathered.embeds.extend(inner.embeds)


def _first(found: Found, path: str) -> str:
    """The first text or number at a path, in one line; "" where there is none."""
    values = [v for v in found.get(path, ()) if v is not None]
    return one_line(_words(values[0]))[:MOST_VALUE_CHARS] if values else ""


def _facts(reader: Reader, found: Found) -> Iterator[str]:
    for fact in reader.facts:
        if all(_holds(found, path, value) for path, value in fact.when):
            said = FILLED.sub(lambda m: _first(found, m[1]), fact.say)
            yield one_line(said)


def _holds(found: Found, path: str, value: Scalar) -> bool:
    """JSON's true is not its 1, whatever Python says."""
    return any(type(v) is type(value) and v == value for v in found.get(path, ()))


def _doubts(reader: Reader, found: Found) -> Iterator[str]:
    for path, value in reader.gone:
        if _holds(found, path, value):
            yield f"{GONE}{path} is {json.dumps(value)}"
    for path, wanted in reader.proves:
        if not path:
            continue
        there = _first(found, path)
        if not there:
            yield f"{UNPROVED}it has no {path}"
        elif wanted and there.casefold() != wanted.casefold():
            yield f"{UNPROVED}{path} is {there[:80]}, not {wanted}"


def _noted(view: View, start: str) -> str:
    reader = view.reading.source.reader
    if reader is None or view.reading.expect == "figure":
        return ""
    found = next((n for n in view.document.notes if n.startswith(start)), "")
    if not found and start == UNPROVED and not proved(view.document, reader):
        found = f"{view.reading.form.value} where {reader.form} was to come"
    return f"{reader.tag}: {found}" if found else ""


GONE_RULES: Sequence[Rule] = (Rule("reader-gone", "removed_notice", lambda view: _noted(view, GONE), stand_in=False),)
# Behind all others: a wall or an error page is better called what it is. Not a word that strikes: a site that was built
# anew is not dead.
UNPROVED_RULES: Sequence[Rule] = (
    Rule("reader-unproved", "interstitial", lambda view: _noted(view, UNPROVED), stand_in=False),
)

"""Keeps the changes that mean nothing out of reports, by rules over a source's own history instead of by selectors.

Measured on 19,342 pairs of neighbouring captures: masks alone help little, history helps most.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from sourcewatch.analysis.guard import Guard
from sourcewatch.analysis.masks import difference, key, plain
from sourcewatch.analysis.normalise import simplified, typographic
from sourcewatch.analysis.numbers import facts
from sourcewatch.domain.change import Edit, EditKind
from sourcewatch.domain.document import VISIBLE, Block, Document, Label

__all__ = ["NOISE", "History", "key", "rebuild", "same", "step", "suppress"]

NOISE = "noise@1"
WINDOW = 30  # versions in which a text that comes back is not new
PASSING = "passing"
PASSING_WINDOW = 3  # versions: a text that leaves so soon after it came was a banner or an error message
SLOT_WINDOW = 10
# A slot is volatile when at least 4 versions were seen, of which at least 3 and 30 % changed it.
SLOT_OBSERVED = 4
SLOT_CHANGES = 3
SLOT_SHARE = 0.3
# A shorter block without a digit ("New", "Blog") says nothing by coming or going. A CJK character weighs two.
SHORT_WEIGHT = 20
MOST_TEXTS = 4_000  # remembered texts; with MOST_SLOTS the state stays below 50 KB of JSON
MOST_SLOTS = 500
_HASH_CHARS = 6  # of base64: 36 bits, one false "seen before" in 15,000 blocks against 4,000 remembered


@dataclass(frozen=True, slots=True)
class Slot:
    """A structural place: what it last held, and in which of the last versions it changed (lowest bit: the newest)."""

    held: str
    changed: int = 0
    observed: int = 0

    @property
    def volatile(self) -> bool:
        changes = self.changed.bit_count()
        return self.observed >= SLOT_OBSERVED and changes >= max(SLOT_CHANGES, SLOT_SHARE * self.observed)


@dataclass(frozen=True, slots=True)
class History:
    """What the versions of a source so far have shown.

    *seen*, *came*, *gone* give for a text (hashed) the last version that had it, had it anew, had lost it.
    """

    versions: int = 0
    seen: Mapping[str, int] = field(default_factory=dict)
    came: Mapping[str, int] = field(default_factory=dict)
    gone: Mapping[str, int] = field(default_factory=dict)
    slots: Mapping[str, Slot] = field(default_factory=dict)
    rules: str = NOISE

    def knows(self, text: str) -> bool:
        return hashed(key(text)) in self.seen

    def returns(self, text: str) -> bool:
        """Whether an earlier version had it and the newest has not."""
        return self.seen.get(hashed(key(text)), self.versions) < self.versions - 1

    def lost(self, text: str) -> bool:
        return hashed(key(text)) in self.gone

    def passing(self, text: str) -> bool:
        return hashed(key(text)) in self.came

    def volatile(self, path: str) -> bool:
        slot = self.slots.get(hashed(path))
        return slot is not None and slot.volatile

    def to_json(self) -> str:
        """At most 50 KB; texts are grouped by their number."""
        state = {
            "rules": self.rules,
            "versions": self.versions,
            "seen": _grouped(self.seen),
            "came": _grouped(self.came),
            "gone": _grouped(self.gone),
            "slots": {path: (slot.held, slot.changed, slot.observed) for path, slot in self.slots.items()},
        }
        return json.dumps(state, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> History | None:
        """None when other rules made it: then `rebuild` it from the documents of the last versions."""
        state = json.loads(text)
        if state["rules"] != NOISE:
            return None
        slots = {path: Slot(*row) for path, row in state["slots"].items()}
        return cls(state["versions"], _spread(state["seen"]), _spread(state["came"]), _spread(state["gone"]), slots)


def rebuild(documents: Iterable[Document]) -> History:
    """The history after these versions, oldest first; the last WINDOW of them are enough."""
    history = History()
    for document in documents:
        history = step(history, document)
    return history


def step(history: History, document: Document) -> History:
    """The history after one more version."""
    now = history.versions
    held: dict[str, list[str]] = {}
    current: dict[str, int] = {}
    for block in (*_visible(document), Block(document.title, path="title")):
        text = hashed(key(block.text))
        current[text] = now
        held.setdefault(hashed(block.path), []).append(text)
    left = {text: now for text, last in history.seen.items() if last == now - 1 and text not in current}
    fresh = {text: now for text in current if now and history.seen.get(text) != now - 1}
    seen = _recent({**history.seen, **current}, now)
    came = _recent({**history.came, **fresh}, now, MOST_TEXTS // 4, PASSING_WINDOW)
    gone = _recent({**history.gone, **left}, now, MOST_TEXTS // 4)
    return History(now + 1, seen, came, gone, _slots(history, {path: hashed("".join(t)) for path, t in held.items()}))


def _slots(history: History, held: Mapping[str, str]) -> dict[str, Slot]:
    slots: dict[str, Slot] = {}
    for path in [*held, *(path for path in history.slots if path not in held)][:MOST_SLOTS]:
        before, now = history.slots.get(path), held.get(path, "")
        if before is None:
            # A place that was not there before has changed, but for the first version.
            before = Slot("", 0, 0) if history.versions else Slot(now, 0, -1)
        changed = (before.changed << 1 | (now != before.held)) & ((1 << SLOT_WINDOW) - 1)
        if now or changed:
            slots[path] = Slot(now, changed, min(SLOT_WINDOW, before.observed + 1))
    return slots


def suppress(
    edits: Sequence[Edit], old: Document, new: Document, history: History, protected: Sequence[str] = ()
) -> tuple[Edit, ...]:
    """The same edits, each with the name of the rule that keeps it out of reports, if there is one.

    *edits* index the blocks of *old* and *new*; *history* knows all versions up to *old*. An edit inside one of the
    *protected* texts (a quote, its prefix, its suffix) is always told.
    """
    standing = {key(block.text) for block in _visible(new)}
    guard = Guard(protected)
    rules = ["" if guard.touched_by(edit) else _rule(edit, old, new, history, standing) for edit in edits]
    if "" in rules:
        # Only a change that does nothing but take away what had just come takes a banner away; an author rewrites.
        rules = ["" if rule == PASSING else rule for rule in rules]
    return tuple(replace(edit, suppressed_by=rule) for edit, rule in zip(edits, rules, strict=True))


def same(old: Document, new: Document, protected: Sequence[str] = ()) -> bool:
    """Whether *new* says nothing else than *old*: no version of its own. Texts only; *protected* ones to the letter."""
    if [key(b.text) for b in _visible(old) if plain(b.text)] != [key(b.text) for b in _visible(new) if plain(b.text)]:
        return False
    before, after = plain(old.text), plain(new.text)
    return all((plain(text) in before) == (plain(text) in after) for text in protected)


def _rule(edit: Edit, old: Document, new: Document, history: History, standing: set[str]) -> str:
    was = old.blocks[edit.old] if edit.old is not None else None
    now = new.blocks[edit.new] if edit.new is not None else None
    place = now or was
    if place is None or place.label not in VISIBLE:
        return "hidden"
    if was and now and edit.kind is EditKind.REPLACED and (rule := difference(was.text, now.text)):
        return rule
    if not any(plain(block.text) for block in (was, now) if block):
        return "whitespace"
    if place.label is Label.CHROME:
        return "chrome"
    if edit.kind is EditKind.MOVED:
        return "reordered"
    if now and history.returns(now.text) and not (was and _figure_reverted(was, now, history)):
        return "seen-before"
    # A cell that takes the value of another cell has changed; a block that stands once more, or once less, has not.
    if now and not was and history.knows(now.text):
        return "repeated"
    if was and not now:
        if key(was.text) in standing:
            return "repeated"
        if history.lost(was.text):
            return "flapping"
        if history.passing(was.text):
            return PASSING
    if history.volatile(place.path) and place.link_chars >= 0.9 * len(place.text):
        return "volatile-slot"
    return "short" if not (was and now) and _short(place.text) else ""


def _figure_reverted(was: Block, now: Block, history: History) -> bool:
    """A figure that returns is told once: who was told 12 must not go on believing it. From then on it flaps."""
    if history.lost(was.text):
        return False
    old, new = ([fact.value for fact in facts(simplified(typographic(block.text)))] for block in (was, now))
    return old != new


def _short(text: str) -> bool:
    weight = sum(1 if c.isascii() else 2 for c in text)
    return weight < SHORT_WEIGHT and not any(c.isdigit() for c in text)


def _visible(document: Document) -> Iterator[Block]:
    return (block for block in document.blocks if block.label in VISIBLE)


def hashed(text: str) -> str:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest()
    return urlsafe_b64encode(digest).decode("ascii")[:_HASH_CHARS]


def _recent(texts: Mapping[str, int], now: int, most: int = MOST_TEXTS, window: int = WINDOW) -> dict[str, int]:
    """Those of the window; when they are too many, the newest."""
    kept = [(text, last) for text, last in texts.items() if now - last < window]
    return dict(sorted(kept, key=lambda entry: -entry[1])[:most])


def _grouped(texts: Mapping[str, int]) -> dict[str, str]:
    groups: dict[str, str] = {}
    for text, last in texts.items():
        groups[str(last)] = groups.get(str(last), "") + text
    return groups


def _spread(groups: Mapping[str, str]) -> dict[str, int]:
    return {
        texts[i : i + _HASH_CHARS]: int(last)
        for last, texts in groups.items()
        for i in range(0, len(texts), _HASH_CHARS)
    }

"""Rules for known kinds of addresses, out of their files: listed, and tried by their recorded answers. `wiring` for
what needs neither a database nor the web."""

from __future__ import annotations

from pathlib import Path

from ..adapters import config, read_by, readers
from ..analysis.extract import selector_error
from ..domain.reader import Listed
from ..domain.source import Source
from ..services import trial


def listed(settings: Path) -> list[Listed]:
    """The rules that a site's addresses are read by, its own first. Raises ConfigError."""
    book = readers.book(config.own_readers(settings), selector_error)
    return [readers.listed(rule) for rule in book.rules.values()]


def tried(path: Path | None) -> dict[str, list[str]]:
    """What is wrong with each rule of a readers file (the package's own: None). Raises ConfigError."""
    found: dict[str, list[str]] = {}
    for rule in readers.load(path or readers.SHIPPED, selector_error):
        wrong = found.setdefault(rule.name, [])
        for n, (example, applied) in enumerate(readers.examples(rule), 1):
            source = read_by.read_by(applied, Source("example", "", "", example.cited)) if applied else None
            wrong += [f"example {n}: {words}" for words in trial.faults(example, source)]
    return found

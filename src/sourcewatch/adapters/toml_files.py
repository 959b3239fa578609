"""TOML files that people write: read within a bound, and every fault told with file, line and key."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..domain.errors import ConfigError
from . import toml_lines

Loc = tuple[str | int, ...]
"""A key as pydantic names it: tables, keys, and the numbers of rows."""


def text_of(path: Path, most_bytes: int, what: str, absent: str = "cannot be read: No such file or directory") -> str:
    """The file's text. *what* is said of one that is too large, *absent* where there is none. Raises ConfigError."""
    try:
        if path.exists() and not path.is_file():
            raise ConfigError([f"{path}: cannot be read: it is not a file"])
        if path.stat().st_size > most_bytes:
            raise ConfigError([f"{path}: larger than {most_bytes // 1_000_000} MB; {what}"])
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError([f"{path}: {absent}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: not UTF-8 at byte {error.start}"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None


def faults(path: Path, text: str, found: Iterable[tuple[Loc, str]]) -> list[str]:
    """Sentences for faults of a file that tomllib has read, by their lines; each once."""
    known = toml_lines.lines(text)  # only where a fault is told: 1.5 s and 100 MB of 50,000 rows
    rows = {(toml_lines.line_of(loc, known), f"{_key(loc)}: {words}") for loc, words in found}
    return [f"{path}:{line}: {words}" for line, words in sorted(rows)]


def _key(loc: Loc) -> str:
    return ".".join(str(part) for part in loc if not isinstance(part, int)) or "file"

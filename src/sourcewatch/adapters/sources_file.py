"""New rows for sources.toml, and new addresses of old ones: all else stays as it is, byte for byte."""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit.items import AoT, Array, Table

from ..domain.errors import ConfigError, StorageError
from ..domain.mention import NewSource
from . import toml_lines
from .durable import sync_folder


def add(path: Path, rows: Sequence[NewSource], load: Callable[[Path], object]) -> None:
    """Write *rows* behind the last source. *load* reads a file strictly and raises ConfigError.

    Whole or not at all: the new file is read and compared before it takes the old one's place. tomlkit writes the rows;
    the rest is never parsed and written anew, or comments would move (tomlkit takes those above `[[claim]]` for the end
    of the row before). Raises ConfigError (nothing is written then), StorageError.
    """
    path = path.resolve()
    before = _bytes(path)
    text = before.decode("utf-8")
    newline = "\r\n" if "\r\n" in text else "\n"
    raw = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    known = toml_lines.lines(text.removeprefix("\ufeff"))
    if "source" in raw and ("source", 0) not in known:
        raise ConfigError([f"{path}: its sources are an inline array; rows can be added only to [[source]] tables"])
    after = _inserted(text, rendered(rows), newline)
    try:
        whole = tomllib.loads(after.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([f"{path}: rows cannot be added without breaking it: {error}"]) from None
    if {**whole, "source": whole["source"][: -len(rows)]} != {**raw, "source": raw.get("source", [])}:
        raise ConfigError([f"{path}: rows cannot be added without changing others; nothing was written"])
    _replace(path, before, after.encode("utf-8"), load)


def rendered(rows: Sequence[NewSource]) -> str:
    """The rows as TOML, in the order of keys that sources.toml has everywhere."""
    tables = AoT([_table(row) for row in rows])
    document = tomlkit.document()
    document.append("source", tables)
    return re.sub(r"\n{3,}", "\n\n", tomlkit.dumps(document)).strip("\n") + "\n"


def _table(row: NewSource) -> Table:
    table = tomlkit.table()
    values: dict[str, Any] = {"id": row.id, "tier": row.tier, "title": row.title, "url": row.url, "read": row.read}
    values |= {"every": row.every, "render": row.render, "select": row.select, "ignore": list(row.ignore)}
    values |= {"cited_on": list(row.cited_on), "notes": row.notes}
    for key, value in values.items():
        if value:
            table.append(key, value)
    if row.quotes:
        quotes = AoT([])
        for exact in row.quotes:
            quote = tomlkit.table()
            quote.append("exact", exact)
            quotes.append(quote)
        table.append("quote", quotes)
    table.add(tomlkit.nl())
    return table


def _inserted(text: str, block: str, newline: str) -> str:
    """Behind the last [[source]] and its quotes: before the next table and the comments that stand over it."""
    lines = text.split("\n")
    heads = sorted((n, p) for p, n in toml_lines.lines(text.removeprefix("\ufeff")).items() if _is_head(lines[n - 1]))
    rows = [i for i, (_, p) in enumerate(heads) if p[0] == "source"]
    following = heads[rows[-1] + 1][0] - 1 if rows and rows[-1] + 1 < len(heads) else len(lines)
    at = following
    while at > 0 and (not (bare := lines[at - 1].strip()) or (bare.startswith("#") and following < len(lines))):
        at -= 1
    new = block.rstrip("\n").split("\n")
    ending = "\r" if newline == "\r\n" else ""
    body = [line + ending for line in ["", *new]]
    if at and not lines[at - 1].endswith(ending):
        lines[at - 1] += ending
    rest = lines[at:] if any(line.strip() for line in lines[at:]) else [""]
    apart = [ending] if rest[0].strip() else []
    return "\n".join([*lines[:at], *body, *apart, *rest])


def _is_head(line: str) -> bool:
    return line.lstrip("\ufeff \t").startswith("[")


def _replace(path: Path, before: bytes, after: bytes, load: Callable[[Path], object]) -> None:
    """Written beside, synced, read strictly, renamed; a file that somebody else changed meanwhile is left alone."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".toml", dir=path.parent)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        try:
            load(temporary)
        except ConfigError as error:
            raise ConfigError([fault.replace(name, str(path)) for fault in error.faults]) from None
        temporary.chmod(path.stat().st_mode & 0o7777)
        if _bytes(path) != before:
            raise ConfigError([f"{path}: somebody else changed it meanwhile; nothing was written"])
        temporary.rename(path)
        sync_folder(path.parent)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror or error}"]) from None


def move(path: Path, source: str, old: str, new: str, load: Callable[[Path], object]) -> None:
    """Cite *source* at another address: its `url` becomes *new*, and `formerly` remembers *old*.

    Only these two keys change, by tomlkit, within the source's own table; every other byte stays. Raises ConfigError
    (nothing is written then), StorageError.
    """
    path = path.resolve()
    before = _bytes(path)
    text = before.decode("utf-8")
    raw = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    rows = raw.get("source", [])
    at = next((i for i, row in enumerate(rows) if row.get("id") == source), None)
    if at is None or rows[at].get("url") != old:
        raise ConfigError([f"{path}: {source} is not cited at {old} any more; nothing was written"])
    after = _moved(text, at, old, new)
    whole = tomllib.loads(after.removeprefix("\ufeff").replace("\r\n", "\n")) if after else {}
    wanted = {**rows[at], "url": new, "formerly": [*rows[at].get("formerly", []), old]}
    if whole != {**raw, "source": [*rows[:at], wanted, *rows[at + 1 :]]}:
        raise ConfigError([f"{path}: {source} cannot be changed without changing others; change its url by hand"])
    _replace(path, before, after.encode("utf-8"), load)


def _moved(text: str, at: int, old: str, new: str) -> str:
    """The file with the row changed; "" where the row is no table of its own."""
    known, lines = toml_lines.lines(text.removeprefix("\ufeff")), text.split("\n")
    first = known.get(("source", at))
    heads = sorted(n for n in known.values() if _is_head(lines[n - 1]))
    if first is None or first not in heads:
        return ""
    end = next((n for n in heads if n > first), len(lines) + 1)
    document = tomlkit.parse("\n".join(lines[first - 1 : end - 1]).removeprefix("\ufeff") + "\n")
    [row] = cast(AoT, document["source"])
    row["url"] = new
    if "formerly" in row:
        cast(Array, row["formerly"]).append(old)
    changed = tomlkit.dumps(document).removesuffix("\n").split("\n")
    if "formerly" not in row:
        place = toml_lines.lines("\n".join(changed))[("source", 0, "url")]
        remembered = tomlkit.document()
        remembered["formerly"] = [old]
        ending = "\r" if changed[place - 1].endswith("\r") else ""
        changed.insert(place, tomlkit.dumps(remembered).rstrip("\n") + ending)
    return "\n".join([*lines[: first - 1], *changed, *lines[end - 1 :]])

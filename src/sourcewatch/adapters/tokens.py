"""The tokens of the web face: DATA/tokens.json, readable by its owner alone. It holds hashes, never a secret."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from ..domain.access import Scope, Token, digest
from ..domain.errors import ConfigError, StorageError
from .durable import disk, sync_folder

SECRET_BYTES = 32
OWNER_ONLY = 0o600


class Tokens:
    """Reads again whenever the file has changed, so that who is removed is out at once."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tokens.json"
        self._seen: tuple[int, ...] | None = None
        self._tokens: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """Every token, oldest first. Raises StorageError for a file that cannot be read: then nobody is let in."""
        try:
            stat = self.path.stat()
            seen = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
            if seen != self._seen:
                self._tokens = _parse(self.path.read_text("utf-8"))
                self._seen = seen
        except FileNotFoundError:
            self._seen, self._tokens = None, ()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(f"{self.path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
        return self._tokens

    def add(self, name: str, scope: Scope, at: datetime) -> str:
        """Make a token; its secret, which is told once and kept nowhere. Raises ConfigError for a name in use."""
        secret = f"sw_{secrets.token_urlsafe(SECRET_BYTES)}"
        with self._alone():
            known = self.all()
            if any(t.name == name for t in known):
                raise ConfigError([f"there is a token of {name!r}; remove it first"])
            self._write([*known, Token(name, scope, digest(secret), at)])
        return secret

    def remove(self, name: str) -> None:
        """Raises ConfigError for a name that has none."""
        with self._alone():
            known = self.all()
            left = [t for t in known if t.name != name]
            if len(left) == len(known):
                raise ConfigError([f"there is no token of {name!r}"])
            self._write(left)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One change at a time: two at once would lose one of them."""
        with disk(self.path), self.path.with_name(".tokens.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write(self, tokens: Sequence[Token]) -> None:
        rows = [
            {"name": t.name, "scope": t.scope, "sha256": t.sha256, "created_at": t.created_at.isoformat()}
            for t in tokens
        ]
        temporary = self.path.with_name(f".{self.path.name}.tmp")
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "w") as file:
            json.dump(rows, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)
        sync_folder(self.path.parent)


def _parse(text: str) -> tuple[Token, ...]:
    rows = json.loads(text)
    return tuple(
        Token(r["name"], Scope(r["scope"]), r["sha256"], datetime.fromisoformat(r["created_at"])) for r in rows
    )

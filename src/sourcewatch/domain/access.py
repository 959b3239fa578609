"""Who may do what at the web face: tokens, of which only a hash is kept, and the three things that they allow."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256


class Scope(StrEnum):
    """What a token allows; each holds those before it."""

    READ = "read"
    REVIEW = "review"
    ADMIN = "admin"

    def covers(self, wanted: Scope) -> bool:
        order = list(Scope)
        return order.index(self) >= order.index(wanted)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept: *name* is whose it is, *sha256* the hex digest of its secret."""

    name: str
    scope: Scope
    sha256: str
    created_at: datetime


def digest(secret: str) -> str:
    """A plain hash is enough: a secret of 256 random bits cannot be guessed, so it needs no slow one."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def holder(tokens: Iterable[Token], secret: str) -> Token | None:
    """Whose secret this is. Every token is compared, each in constant time."""
    given, found = digest(secret), None
    for token in tokens:
        if hmac.compare_digest(token.sha256, given):
            found = token
    return found

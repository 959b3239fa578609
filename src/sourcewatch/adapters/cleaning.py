"""What both databases can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def clean(text: str) -> str:
    """What both databases can hold: no NUL (PostgreSQL) and no lone surrogate (neither)."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def clean_json(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {key: clean_json(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(v) for v in value]
    return value

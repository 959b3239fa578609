"""How the web says that a page is not there: notices by kind and language, from `data/sayings.txt`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def saying(kind: str) -> re.Pattern[str]:
    """One pattern for all sayings of a kind, for text in lower case. Raises KeyError for an unknown kind."""
    # Asking first whether a word starts here saves five of six tries at the alternatives.
    return re.compile(f"(?<![a-z])(?:{'|'.join(_kinds()[kind])})", re.MULTILINE)


@cache
def _kinds() -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    nouns: dict[str, str] = {}
    rows: list[str] = []
    for line in files("sourcewatch.analysis").joinpath("data/sayings.txt").read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].replace("-", "").isalpha():
            rows = kinds.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            for noun, pattern in nouns.items():
                line = line.replace(noun, pattern)
            if "nouns" in kinds and rows is kinds["nouns"]:
                noun, _, pattern = line.partition(" ")
                nouns[noun] = pattern
            rows.append(line)
    return kinds

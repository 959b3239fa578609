"""The script that a site may use: at most 1 kB, without dependencies."""

from __future__ import annotations

from importlib.resources import files

SCRIPT = files(__package__).joinpath("sourcewatch.js").read_text("utf-8")

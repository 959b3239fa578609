"""Other people's tools, each in an environment of its own: they want releases that sourcewatch cannot live beside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from databases import skip


def commands_of(name: str, config: pytest.Config) -> Path:
    """The folder of a tool's commands: the one that SOURCEWATCH_<NAME> names, or an environment in pytest's cache.

    `<name>.txt` beside this module says what is installed there. Skips where that cannot be had.
    """
    if named := os.environ.get(f"SOURCEWATCH_{name.upper()}"):
        return Path(named)
    wanted = Path(__file__).with_name(f"{name}.txt")
    assert config.cache is not None
    home = config.cache.mkdir(name) / f"{sys.version_info.major}.{sys.version_info.minor}"
    ready = home / "ready"
    if not ready.exists() or ready.read_text() != wanted.read_text():
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(home)],
            [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "-r", str(wanted)],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
            if done.returncode:
                skip(f"{name} cannot be installed here: {(done.stderr.strip() or done.stdout).splitlines()[-1]}")
        ready.write_text(wanted.read_text())
    return home / "bin"

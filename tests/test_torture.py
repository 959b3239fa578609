"""kill -9 at random instants: nothing that was recorded is lost, torn, doubled, or without its file."""

from __future__ import annotations

import os
import time
import zlib
from pathlib import Path

import pytest

from torture import torture

KILLS = int(os.environ.get("SOURCEWATCH_TORTURE_KILLS", "200"))
CHANCE = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(time.time_ns()))  # the workers of a run must name a test alike
SEED = int(os.environ.get("SOURCEWATCH_TORTURE_SEED", str(zlib.crc32(CHANCE.encode()) % 1_000_000)))


@pytest.mark.parametrize("seed", [SEED], ids=lambda seed: f"seed-{seed}")
def test_killed_passes_lose_nothing_and_leave_nothing_torn(seed: int, tmp_path: Path) -> None:
    assert f"{KILLS} passes killed" in torture(KILLS, seed, tmp_path)

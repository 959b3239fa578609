"""Pictures to show, a site of a test's own, and a folder that watches it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from site_of_pages import Site, serving
from watch import Watch


def png(colour: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (320, 200), colour).save(out, "PNG")
    return out.getvalue()


@pytest.fixture(scope="session")
def picture() -> bytes:
    return png((10, 120, 40))


@pytest.fixture
def other() -> bytes:
    return png((200, 20, 30))


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)

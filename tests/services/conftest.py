"""Pictures to show."""

from __future__ import annotations

import io

import pytest
from PIL import Image


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

"""Fixtures that several floors share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from web.cases import MisbehavingWeb, misbehaving_web

pytest_plugins = ["databases", "buckets"]


@pytest.fixture(scope="session")
def bad_web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MisbehavingWeb]:
    """The project's own misbehaving web on loopback."""
    with misbehaving_web(tmp_path_factory.mktemp("web")) as web:
        yield web

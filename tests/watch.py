"""Passes over a folder of one's own, at times of one's choice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from buckets import Bucket
from site_of_pages import write_sources
from sourcewatch.adapters.store import Store, open_store
from sourcewatch.analysis import render
from sourcewatch.faces import wiring
from sourcewatch.services import publish, site_data


class Watch:
    """A folder with a sources.toml, and passes over it at times of the test's choice; its snapshots may lie in a
    *bucket*."""

    def __init__(self, folder: Path, bucket: Bucket | None = None) -> None:
        self.folder, self.storage = folder, bucket.url if bucket else ""
        self.environ = bucket.environ if bucket else {}

    @property
    def store(self) -> Store:
        return open_store(self.storage, self.folder, self.environ)

    def passes(self, rows: str, at: datetime, *only: str) -> dict[str, dict[str, Any]]:
        path = write_sources(self.folder, rows, storage=self.storage)
        with wiring.open_house(path, None, self.environ) as house:
            lines: list[Any] = []
            asyncio.run(wiring.run_pass(house, only, all_of_them=not only, told=lines.append, clock=lambda: at))
            self.settings = house.settings
            return {line["source"]: line for line in lines}

    def ask(self, question: Callable[[wiring.House], Any]) -> Any:
        with wiring.open_house(self.folder / "sources.toml", None, self.environ) as house:
            return question(house)

    def report(self, at: datetime) -> str:
        return str(
            self.ask(lambda h: render.markdown(publish.report(h.settings, h.ledger, at, at - timedelta(days=30))))
        )

    def dates(self, at: datetime) -> dict[str, Any]:
        return dict(self.ask(lambda h: site_data.last_accessed(h.settings, h.ledger, h.site, at))["sources"])

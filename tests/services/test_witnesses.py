"""A run of one host that fails as our own network would: others are asked early, and tell whose fault it is."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from site_of_pages import Site, page, row, serving, write_sources
from sourcewatch.faces import wiring
from sourcewatch.services.run import needs_witnesses

BODY = "<h1>Notes</h1>" + "<p>A paragraph that says what the operators of the cluster measured over a week.</p>" * 4
NAMES = [f"n{i}.example" for i in range(6)]


def names(down: Collection[str]) -> Any:
    async def resolve(host: str, port: int) -> Sequence[str]:
        if host in down:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return ["127.0.0.1"]

    return resolve


def one_is_due(folder: Path, site: Site, down: Collection[str], *only: str) -> tuple[str | None, list[str]]:
    """Why the second run was void, if it was, and whom it asked: only the first source is due in it."""
    folder.mkdir(exist_ok=True)
    path = write_sources(folder, "".join(row(f"s{i}", f"http://{n}:{site.port}/p") for i, n in enumerate(NAMES)))
    with wiring.open_house(path, None, {}) as house:
        now = wiring.now() + timedelta(minutes=1)
        asyncio.run(wiring.run_pass(house, all_of_them=True, clock=lambda: now, resolve=names(())))
        house.queue.advance(now, ["s0"])
        lines: list[Any] = []
        tally = asyncio.run(wiring.run_pass(house, only, told=lines.append, clock=lambda: now, resolve=names(down)))
        assert house.ledger.standing_of("s0").strikes == (0 if tally.void_reason or not down else 1)
        return tally.void_reason, sorted(line["source"] for line in lines)


def test_when_they_fail_alike_the_run_is_void(tmp_path: Path) -> None:
    with serving() as site:
        site.pages["/p"] = page("Notes", BODY)
        void, asked = one_is_due(tmp_path, site, NAMES)
    assert void == "dns_not_found 5 5" and len(asked) == 5 and "s0" in asked


def test_when_they_answer_the_failure_is_the_sources_own(tmp_path: Path) -> None:
    with serving() as site:
        site.pages["/p"] = page("Notes", BODY)
        void, asked = one_is_due(tmp_path, site, NAMES[:1])
    assert void is None and len(asked) == 5


def test_nobody_is_asked_early_when_all_is_well_or_when_a_person_named_what_to_ask(tmp_path: Path) -> None:
    with serving() as site:
        site.pages["/p"] = page("Notes", BODY)
        assert one_is_due(tmp_path / "a", site, ()) == (None, ["s0"])
        assert one_is_due(tmp_path / "b", site, NAMES, "s0") == (None, ["s0"])


@pytest.mark.parametrize(
    ("hosts", "needed"),
    [
        ({}, False),
        ({"a": ["dns_not_found"]}, True),
        ({"a": ["dns_not_found", "connect_refused"], "b": ["connect_timeout"]}, True),
        ({"a": ["dns_not_found"], "b": ["ok"]}, False),  # somebody answered: our network works
        ({"a": ["not_found"]}, False),
        ({"a": ["dns_not_found"], "b": ["dns_not_found"], "c": ["dns_not_found"]}, False),  # enough to conclude
    ],
)
def test_witnesses_are_asked_for_only_when_nothing_can_be_concluded(hosts: dict[str, list[str]], needed: bool) -> None:
    assert needs_witnesses(hosts) is needed

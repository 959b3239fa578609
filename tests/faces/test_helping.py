"""What a daemon looks for outside by itself: once when something is lost, then once a week; and what it has saved."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import pytest
from daemons import Time, daemon, tick

from site_of_pages import Site, page, row, serving, write_sources
from sourcewatch.domain.save import SaveState
from sourcewatch.faces import fleet, wiring
from sourcewatch.faces.daemon import Daemon
from sourcewatch.faces.helping import helping
from sourcewatch.faces.lead import Leader
from sourcewatch.faces.pulse import Pulse
from spn import TOKEN, Spn, refused, saving

BODY = "<h1>Notes</h1>" + "<p>A paragraph that says what the operators of the cluster measured over a week.</p>" * 4
GONE = (404, {"Content-Type": "text/plain"}, b"no such page")


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def spn() -> Iterator[Spn]:
    with saving() as spn:
        yield spn


async def do(made: Daemon, name: str, time: Callable[[], datetime]) -> None:
    [job] = [job for job in helping(lambda: nullcontext(made.crew), time) if job.name == name]
    await made.do(job)


def asked(site: Site, path: str) -> int:
    return sum(p == path for p, _ in site.asked)


def test_what_is_gone_is_looked_for_once_and_then_once_a_week(tmp_path: Path, site: Site) -> None:
    rows = row("old", site.url("/old")) + row("well", site.url("/well"))
    site.pages["/old"] = site.pages["/well"] = page("Notes", BODY)

    async def go() -> None:
        time = Time()
        async with daemon(write_sources(tmp_path, rows), time) as made:
            await tick(made)
            site.pages["/old"], site.pages["/new"] = (301, {"Location": "/new"}, b""), page("Notes", BODY)
            time.pass_by(hours=7)
            await tick(made)
            read = asked(site, "/new")
            for _ in range(3):
                await do(made, "moved", time)
                time.pass_by(minutes=20)
            [move] = made.crew.house.moves.open()
            assert (move.source, move.to_url, asked(site, "/new") - read) == ("old", site.url("/new"), 1)
            time.pass_by(days=6)
            await do(made, "moved", time)
            assert asked(site, "/new") - read == 1
            time.pass_by(days=2)
            await do(made, "moved", time)
            assert asked(site, "/new") - read == 2 and made.pulse.faults == {}

    asyncio.run(go())


def test_an_operator_may_look_alone_and_few_are_looked_for_at_a_time(tmp_path: Path, site: Site) -> None:
    rows = "".join(row(f"p{n}", site.url(f"/p{n}")) for n in range(5))

    async def go() -> None:
        time = Time()
        path = write_sources(tmp_path, rows)
        async with daemon(path, time) as made:
            await tick(made)
            for turn in (3, 5, 5):
                await do(made, "moved", time)
                assert len(made.crew.house.outside.looked("moved")) == turn
        path.write_text(path.read_text() + "[serve]\nlook_for_moved = false\n")
        time.pass_by(days=9)
        async with daemon(path, time) as made:
            before = made.crew.house.outside.looked("moved")
            await do(made, "moved", time)
            assert made.crew.house.outside.looked("moved") == before

    asyncio.run(go())


def test_archives_are_asked_only_where_some_are_configured(tmp_path: Path, site: Site) -> None:
    site.pages["/p"] = page("Notes", BODY)
    archive = f'[[archive]]\nname = "wayback"\ntimegate = "{site.url("/web/")}{{url}}"\n'
    gate, stamp = f"/web/{site.url('/p')}", "20261019120000"
    memento = {"Content-Type": "text/html", "Memento-Datetime": "Mon, 19 Oct 2026 12:00:00 GMT"}

    async def go(more: str, time: Time) -> None:
        async with daemon(write_sources(tmp_path, row("p", site.url("/p")) + more), time) as made:
            await tick(made)
            site.pages["/p"] = GONE
            time.pass_by(hours=7)
            await tick(made)
            for _ in range(2):
                await do(made, "copies", time)
                time.pass_by(minutes=20)
            assert made.pulse.faults == {}
            assert [c.archive for c in made.crew.house.outside.of()] == (["wayback"] if more else [])

    site.pages[gate] = (302, {"Location": f"/web/{stamp}/{site.url('/p')}"}, b"")
    for form in ("", "id_"):
        site.pages[f"/web/{stamp}{form}/{site.url('/p')}"] = (200, memento, page("Notes", BODY)[2])
    time = Time()
    asyncio.run(go("", time))
    assert asked(site, gate) == 0
    asyncio.run(go(archive, time))
    assert asked(site, gate) == 1


def test_new_versions_are_saved_by_itself_and_a_limit_is_told_while_it_lasts(
    tmp_path: Path, site: Site, spn: Spn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "SPN_TOKEN", TOKEN)
    site.pages["/p"] = page("Notes", BODY)
    rows = row("p", site.url("/p")) + f'[save]\naddress = "{spn.url}"\ntoken = "${{SPN_TOKEN}}"\n'
    spn.asks = [refused("user-session-limit", "the limit is reached")]

    async def go() -> None:
        time = Time()
        async with daemon(write_sources(tmp_path, rows), time) as made:
            await do(made, "saving", time)
            await tick(made)
            for minutes in (1, 1, 4):
                assert made.pulse.faults == {} or len(spn.asked) == 1
                await do(made, "saving", time)
                if minutes < 4:
                    assert made.pulse.faults["saving"][0] == "user-session-limit: the limit is reached"
                time.pass_by(minutes=minutes)
            await do(made, "saving", time)
            assert made.pulse.faults == {} and len(spn.asked) == 2
            time.pass_by(minutes=1)
            await do(made, "saving", time)
            assert [s.state for s in made.crew.house.saves.all()] == [SaveState.SAVED]

    asyncio.run(go())


def test_a_missing_token_is_told(tmp_path: Path, site: Site, spn: Spn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(os.environ, "SPN_TOKEN", raising=False)
    site.pages["/p"] = page("Notes", BODY)
    rows = row("p", site.url("/p")) + f'[save]\naddress = "{spn.url}"\ntoken = "${{SPN_TOKEN}}"\n'

    async def go() -> None:
        time = Time()
        async with daemon(write_sources(tmp_path, rows), time) as made:
            await tick(made)
            for _ in range(2):
                await do(made, "saving", time)
                assert made.pulse.faults["saving"][0] == "the environment has no SPN_TOKEN"
                time.pass_by(minutes=1)
        assert spn.asked == []

    asyncio.run(go())


def test_the_jobs_wait_for_nobody_who_is_gone(tmp_path: Path, site: Site) -> None:
    """A source that was looked for, recovered and is gone again is looked for at once."""
    site.pages["/p"] = page("Notes", BODY)

    async def go() -> None:
        time = Time()
        async with daemon(write_sources(tmp_path, row("p", site.url("/p"))), time) as made:
            looked = made.crew.house.outside.looked
            await tick(made)
            for _ in range(2):
                site.pages["/p"] = GONE
                time.pass_by(hours=7)
                await tick(made)
                time.pass_by(minutes=20)
                await do(made, "moved", time)
                assert looked("moved") == {"p": time()}
                site.pages["/p"] = page("Notes", BODY)
                time.pass_by(hours=25)
                await tick(made)

    asyncio.run(go())


def test_a_leader_that_checks_nothing_itself_asks_by_turns_as_workers_do(
    tmp_path: Path, empty_postgresql: str, site: Site, spn: Spn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "SPN_TOKEN", TOKEN)
    site.pages["/p"] = page("Notes", BODY)
    rows = row("p", site.url("/p")) + row("gone", site.url("/gone"))
    path = write_sources(tmp_path, f'{rows}[save]\naddress = "{spn.url}"\ntoken = "${{SPN_TOKEN}}"\n')

    async def go(house: wiring.House) -> None:
        await wiring.run_pass(house, all_of_them=True)
        async with fleet.base(house) as base:
            pulse = Pulse(wiring.now())
            jobs = {job.name: job for job in helping(lambda: fleet.visiting(house, base))}
            leader = Leader(base, lambda: house, [], pulse, wiring.now)
            await leader.do(jobs["saving"])
            assert spn.asked == [], "it does not lead"
            leader.leads = True
            for name in ("saving", "moved", "copies"):
                await leader.do(jobs[name])
            assert pulse.faults == {}
        assert [(s.source, s.state) for s in house.saves.all()] == [("p", SaveState.ASKED)]
        assert house.outside.looked("moved").keys() == {"gone"} and house.outside.looked("copies") == {}

    with wiring.open_house(path, None, {wiring.DATABASE_VARIABLE: empty_postgresql}) as house:
        asyncio.run(go(house))

"""The daemon goes on: whatever hangs, dies, jumps or goes away, the rest is checked, and the lag is told."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest
from daemons import Time, daemon, tick
from sqlalchemy import text

from site_of_pages import HEAD, Site, page, row, serving, write_sources
from sourcewatch.adapters import database
from sourcewatch.domain.errors import BusyError
from sourcewatch.domain.kept import DueRow
from sourcewatch.domain.message import Backlog
from sourcewatch.faces import wiring
from sourcewatch.faces.daemon import Daemon, Job, each
from sourcewatch.faces.pulse import Pulse
from sourcewatch.services.desk import PER_HOST

BODY = "<h1>Notes</h1>" + "<p>A paragraph that says what the operators of the cluster measured over a week.</p>" * 4


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        site.pages["/p"] = page("Notes", BODY)
        yield site


@pytest.fixture
def other() -> Iterator[Site]:
    """A second host."""
    with serving("127.0.0.2") as site:
        site.pages |= {f"/p{n}": page(f"Notes {n}", BODY) for n in range(30)}
        yield site


def words(made: Daemon) -> dict[str, str]:
    """The word of each source's newest check."""
    standings = made.crew.house.ledger.standings(made.crew.clock() + timedelta(days=9999))
    return {i: s.verdict.word for i, s in standings.items() if s.verdict}


def runs(made: Daemon) -> int:
    with made.crew.house.ledger._engine.connect() as c:
        return int(c.execute(text("SELECT count(*) FROM runs")).scalar_one())


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - what is waited for happens in other threads
            await asyncio.sleep(0.02)


def test_a_tick_checks_what_is_due_and_the_next_one_has_nothing_to_do(tmp_path: Path, site: Site) -> None:
    async def go() -> None:
        time = Time()
        async with daemon(write_sources(tmp_path, row("p", site.url("/p"))), time) as made:
            await tick(made)
            assert words(made) == {"p": "ok"} and made.pulse.run_ended_at == time()
            asked = len(site.asked)
            time.pass_by(minutes=1)
            await tick(made)
            assert len(site.asked) == asked and runs(made) == 1, "a tick with nothing due leaves no run"
            time.pass_by(hours=7)
            await tick(made)
            assert len(site.asked) > asked and runs(made) == 2

    asyncio.run(go())


def test_a_pass_that_outlasts_its_tick_holds_up_nobody_and_its_host_is_not_asked_twice(
    tmp_path: Path, site: Site, other: Site
) -> None:
    go_on = threading.Event()
    site.pages["/slow"] = lambda _: (go_on.wait(20), page("Slow", BODY))[1]
    rows = row("slow", site.url("/slow")) + row("p", site.url("/p")) + row("q", other.url("/p0"))

    async def go() -> None:
        time = Time()
        async with daemon(write_sources(tmp_path, rows), time) as made:
            made.crew.house.queue.advance(time())
            made.crew.house.ledger.put_off("q", time() + timedelta(seconds=10))
            made.crew.house.ledger.put_off("p", time() + timedelta(seconds=10))
            await made.tick()
            first = set(made.passes)
            assert len(first) == 1
            time.pass_by(seconds=30)
            await made.tick()
            second = set(made.passes) - first
            assert len(second) == 1
            await asyncio.gather(*second)
            assert words(made) == {"q": "ok"}, "the slow host's other page waits its turn"
            assert made.crew.house.queue.due(time()).oldest_at is not None, "and the lag is visible"
            go_on.set()
            await asyncio.gather(*first)
            await tick(made)
            assert words(made) == {"q": "ok", "slow": "ok", "p": "ok"}

    asyncio.run(go())


def test_dead_names_and_hosts_that_hang_hold_up_nobody(tmp_path: Path, other: Site) -> None:
    """Sixty names that the name service never answers for, and sixty hosts that answer with a head and no more."""
    with Hanging() as hanging:
        port = hanging.port
        rows = "".join(row(f"dead-{n}", f"http://n{n}.dead.example/") for n in range(60))
        rows += "".join(row(f"hang-{n}", f"http://127.0.1.{n}:{port}/") for n in range(1, 61))
        rows += "".join(row(f"good-{n}", other.url(f"/p{n}")) for n in range(20))
        path = write_sources(tmp_path, rows)
        change = path.read_text().replace("[fetch]", "[fetch]\nrespect_robots = false\nconcurrency = 8")
        path.write_text(change.replace('"60s"', '"61s"'))

        async def go() -> None:
            answers, order = asyncio.Event(), []

            async def resolve(host: str, port: int) -> Sequence[str]:
                await answers.wait()
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

            async with daemon(path, time := Time(), resolve=resolve) as made:
                made.meter.checked = lambda line: order.append(line["source"])  # type: ignore[method-assign]
                await made.tick()
                await until(lambda: sum(s.startswith("good") for s in order) == 20)
                assert all(s.startswith("good") for s in order), "none of the hanging ones is done yet"
                due = made.crew.house.queue.due(time())
                assert due.waiting == 120 and due.oldest_at is not None
                answers.set()
                hanging.ends()
                await asyncio.gather(*made.passes)
                found = words(made)
                assert {found[f"dead-{n}"] for n in range(60)} == {"dns_not_found"}
                assert {found[f"hang-{n}"] for n in range(1, 61)} <= {"body_truncated", "connect_refused"}

        asyncio.run(go())


class Hanging:
    """A server at every loopback address that sends a head, a few bytes, and nothing more until it ends."""

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("0.0.0.0", 0), backlog=128)
        self.port = int(self._listening.getsockname()[1])
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 999\r\n\r\n<p>")
            self._open.append(connection)

    def ends(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        for connection in self._open:
            connection.close()
        self._open.clear()

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self.ends()


def test_five_hundred_sources_of_one_host_that_never_answers_cost_six_time_outs_and_no_strike_each(
    tmp_path: Path, other: Site
) -> None:
    with socket.create_server(("127.0.0.3", 0), backlog=128) as silent:
        port = silent.getsockname()[1]
        rows = "".join(row(f"s{n}", f"http://127.0.0.3:{port}/{n}") for n in range(500)) + row("q", other.url("/p0"))
        path = write_sources(tmp_path, rows)
        path.write_text(path.read_text().replace('"60s"', '"1s"').replace("[fetch]", "[fetch]\nrespect_robots = false"))

        async def go() -> None:
            lines: list[Any] = []
            async with daemon(path, time := Time()) as made:
                made.meter.checked = lines.append  # type: ignore[method-assign]
                for _ in range(3):
                    await tick(made)
                    time.pass_by(seconds=30)
                failed = [x for x in lines if x.get("accessed") is False]
                assert words(made)["q"] == "ok" and len(failed) <= 6
                assert any("deferred_until" in x for x in lines)
                due = made.crew.house.queue.due(time())
                assert due.waiting + len({x["source"] for x in lines}) >= 501 and due.oldest_at is not None
                assert made.crew.hosts.left_alone() == 1

        asyncio.run(go())


def test_a_long_sleep_is_caught_up_host_by_host_in_the_order_of_what_waited_longest(
    tmp_path: Path, site: Site, other: Site
) -> None:
    site.pages |= {f"/p{n}": page(f"Notes {n}", BODY) for n in range(PER_HOST + 5)}
    rows = "".join(row(f"s{n:02}", site.url(f"/p{n}")) for n in range(PER_HOST + 5)) + row("q", other.url("/p0"))

    async def go() -> None:
        order: list[str] = []
        async with daemon(write_sources(tmp_path, rows), time := Time()) as made:
            made.meter.checked = lambda line: order.append(line["source"])  # type: ignore[method-assign]
            for n in range(PER_HOST + 5):
                made.crew.house.ledger.put_off(f"s{n:02}", time() + timedelta(minutes=PER_HOST + 5 - n))
            made.crew.house.ledger.put_off("q", time() + timedelta(days=2))
            time.pass_by(days=3)  # closed on Friday, opened on Monday
            await made.tick()
            [first] = made.passes
            await first
            assert len(order) == PER_HOST + 1, "a host's share, and nobody else waits for the rest of it"
            assert set(order) == {f"s{n:02}" for n in range(5, PER_HOST + 5)} | {"q"}
            await asyncio.gather(*made.passes)
            assert len(order) == PER_HOST + 6, "the rest follows at once, not at the next tick"

    asyncio.run(go())


def test_a_clock_that_is_set_back_leaves_nothing_waiting_for_a_time_that_it_has_left(
    tmp_path: Path, site: Site
) -> None:
    async def go() -> None:
        async with daemon(write_sources(tmp_path, row("p", site.url("/p"))), time := Time()) as made:
            time.set(days=365)
            await made.look_at_clock()
            await tick(made)  # a check a year ahead; the next is due a year ahead, too
            made.scheduler.start(paused=True)
            ahead = datetime.now(tz=made.scheduler.timezone) + timedelta(days=365)
            for job in made.scheduler.get_jobs():
                job.modify(next_run_time=ahead)
            time.set(days=-365)
            await made.look_at_clock()
            assert all(j.next_run_time < ahead - timedelta(days=364) for j in made.scheduler.get_jobs())
            asked = len(site.asked)
            await tick(made)
            assert len(site.asked) > asked
            assert made.crew.house.queue.times()["p"] < time() + timedelta(hours=7)
            made.scheduler.shutdown(wait=False)

    asyncio.run(go())


def test_a_daemon_that_starts_after_the_clock_was_ahead_asks_again_within_the_interval(
    tmp_path: Path, site: Site
) -> None:
    path = write_sources(tmp_path, row("p", site.url("/p")))

    async def go(time: Time) -> None:
        async with daemon(path, time) as made:
            await made.start()
            await asyncio.gather(*made.passes)

    ahead = Time()
    ahead.set(days=365)
    asyncio.run(go(ahead))
    asked = len(site.asked)
    asyncio.run(go(Time()))
    assert len(site.asked) > asked


def test_a_disk_that_is_full_and_then_is_not(tmp_path: Path, site: Site, small_disk: Path) -> None:
    path = write_sources(small_disk, row("p", site.url("/p")))

    filler = small_disk / "filler"

    def fill() -> None:
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass

    async def go() -> None:
        async with daemon(path, time := Time()) as made:
            fill()
            await tick(made)
            assert "database" in made.pulse.faults and words(made) == {}
            filler.unlink()
            time.pass_by(seconds=30)
            await tick(made)
            assert made.pulse.faults == {} and words(made) == {"p": "ok"}

    asyncio.run(go())


def test_a_database_that_goes_away_in_mid_run_and_comes_back(
    tmp_path: Path, site: Site, other: Site, empty_postgresql: str
) -> None:
    site.pages["/p"] = lambda _: switch(False) or page("Notes", BODY)
    admin = database.open_engine(empty_postgresql.rpartition("/")[0] + "/postgres")
    name = empty_postgresql.rpartition("/")[2]

    def switch(on: bool) -> None:
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
            c.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {on}"))
            if not on:
                c.execute(
                    text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :n"), {"n": name}
                )

    path = write_sources(tmp_path, row("p", site.url("/p")))
    path.write_text(path.read_text().replace("[fetch]", "[fetch]\nrespect_robots = false"))

    async def go() -> None:
        environ = {wiring.DATABASE_VARIABLE: empty_postgresql.replace("+psycopg", "")}
        async with daemon(path, time := Time(), environ=environ) as made:
            await tick(made)
            assert "database" in made.pulse.faults
            time.pass_by(seconds=30)
            await tick(made)
            assert "database" in made.pulse.faults, "still away"
            site.pages["/p"] = page("Notes", BODY)
            switch(True)
            time.pass_by(seconds=30)
            await tick(made)
            if "database" in made.pulse.faults:  # one connection of the pool may have found out only now
                await tick(made)
            assert made.pulse.faults == {} and words(made) == {"p": "ok"}
            with wiring.open_house(path, tmp_path / "elsewhere", environ) as house, pytest.raises(BusyError):
                house.ledger.exclusive().hold()

    try:
        asyncio.run(go())
    finally:
        switch(True)
        admin.dispose()


def test_a_page_that_kills_its_reader_each_time_costs_the_others_nothing(
    tmp_path: Path, site: Site, other: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/deadly"] = page("P", "<p>deadly</p>")
    monkeypatch.setattr(wiring, "judge", deadly_judge)
    rows = row("deadly", site.url("/deadly")) + "".join(row(f"q{n}", other.url(f"/p{n}")) for n in range(3))

    async def go() -> None:
        async with daemon(write_sources(tmp_path, rows), time := Time()) as made:
            for _ in range(3):
                await tick(made)
                found = words(made)
                assert found.pop("deadly") == "document_broken" and set(found.values()) == {"ok"}
                time.pass_by(hours=7)

    asyncio.run(go())


def deadly_judge(task: Any) -> Any:
    import os

    from sourcewatch.analysis.judge import judge

    if b"deadly" in task.capture.answer.body:
        os.abort()
    return judge(task)


def test_a_changed_configuration_is_adopted_and_a_broken_one_told_and_left(tmp_path: Path, site: Site) -> None:
    site.pages["/q"] = page("Other", BODY)
    path = write_sources(tmp_path, row("p", site.url("/p")))

    async def go() -> None:
        shown: list[int] = []
        async with daemon(path, time := Time()) as made:
            made.adopted = lambda house: shown.append(len(house.settings.sources))
            await tick(made)
            path.write_text(path.read_text() + row("q", "nowhere"))
            time.pass_by(hours=7)
            await tick(made)
            sentence, _ = made.pulse.faults["configuration"]
            assert "sources.toml:" in sentence and "stays in use" in sentence and set(words(made)) == {"p"}
            write_sources(tmp_path, row("q", site.url("/q"), more='pause = { until = "2099-01-01", reason = "later" }'))
            await tick(made)
            assert made.pulse.faults == {} and shown == [1] and set(words(made)) == {"p"}
            write_sources(tmp_path, row("q", site.url("/q")))
            await tick(made)
            assert words(made)["q"] == "ok" and made.crew.house.queue.times().keys() == {"q"}
            path.write_text(path.read_text().replace('delay = "0s"', 'delay = "9s"').replace('"60s"', '"6s"'))
            await tick(made)
            assert made.crew.hosts._default.delay_s == 9.0 and made.crew.web.policy.deadline_s == 6.0

    asyncio.run(go())


def test_stopping_finishes_what_is_begun_and_gives_the_rest_back(tmp_path: Path, site: Site) -> None:
    go_on = threading.Event()
    answer = page("Notes", BODY)
    site.pages |= {f"/p{n}": lambda _: (go_on.wait(20), answer)[1] for n in range(12)}
    path = write_sources(tmp_path, "".join(row(f"s{n:02}", site.url(f"/p{n}")) for n in range(12)))
    path.write_text(path.read_text().replace("[fetch]", "[fetch]\nrespect_robots = false"))

    async def go() -> None:
        async with daemon(path, time := Time()) as made:
            await made.tick()
            await until(lambda: bool(site.asked))
            draining = asyncio.create_task(made.drain(20))
            await asyncio.sleep(0)
            go_on.set()
            assert await draining
            begun = set(words(made))
            assert 0 < len(begun) < 12
            await made.crew.desk.give_back()
            work = made.crew.house.queue.claim(time(), hosts=9, per_host=99)
            assert set(work["127.0.0.1"]) == {f"s{n:02}" for n in range(12)} - begun
            assert not made.crew.house.ledger.cut_short()

    asyncio.run(go())


def test_what_does_not_end_in_time_is_given_back_undone(tmp_path: Path, site: Site) -> None:
    go_on = threading.Event()
    site.pages["/p"] = lambda _: (go_on.wait(20), page("Notes", BODY))[1]

    async def go() -> None:
        async with daemon(write_sources(tmp_path, row("p", site.url("/p"))), time := Time()) as made:
            await made.tick()
            await asyncio.sleep(0.1)
            assert not await made.drain(0)
            go_on.set()
            await made.crew.desk.give_back()
            assert made.crew.house.queue.claim(time(), hosts=9, per_host=99) == {"127.0.0.1": ["p"]}

    asyncio.run(go())


def test_a_job_that_fails_is_told_until_it_works(tmp_path: Path, site: Site) -> None:
    outcomes: list[Callable[[], list[str]]] = [lambda: ["no authority"], lambda: [][0], list]
    job = Job("days", lambda house: outcomes.pop(0)(), each(minutes=1))

    async def go() -> None:
        async with daemon(write_sources(tmp_path, row("p", site.url("/p"))), Time(), jobs=[job]) as made:
            assert {j.id for j in made.scheduler.get_jobs()} == {"tick", "days"}
            told = []
            for _ in range(3):
                await made.do(job)
                told.append(made.pulse.faults.get("days", ("", None))[0])
            assert told == ["no authority", "IndexError: list index out of range", ""]

    logging.disable(logging.CRITICAL)
    try:
        asyncio.run(go())
    finally:
        logging.disable(logging.NOTSET)


NOW = datetime.fromisoformat("2026-10-20T11:00:00Z")
WELL = DueRow(0, None, NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    ("change", "due", "free", "outbox", "why"),
    [
        ({}, WELL, 10**10, Backlog(), []),
        ({}, DueRow(3, NOW - timedelta(minutes=59), None), 10**10, Backlog(), []),
        ({}, DueRow(3, NOW - timedelta(hours=5), None), 10**10, Backlog(),
         ["lag: 3 sources are due, the oldest for 5 h"]),
        ({}, WELL, 10**8, Backlog(), ["disk: 100 MB are free, less than 500"]),
        ({"ticked_at": NOW - timedelta(minutes=9)}, WELL, 10**10, Backlog(),
         ["schedule: nobody has looked for what is due for 9 min"]),
        ({"ticked_at": None, "started_at": NOW}, WELL, 10**10, Backlog(), []),
        ({"run_ended_at": NOW - timedelta(hours=3)}, DueRow(1, NOW - timedelta(minutes=61), None), 10**10, Backlog(),
         ["lag: 1 sources are due, the oldest for 61 min", "runs: none has ended for 3 h although sources are due"]),
        ({"run_ended_at": NOW - timedelta(days=3)}, WELL, 10**10, Backlog(), []),
        ({"faults": {"configuration": ("sources.toml:3: id: is missing", NOW)}}, WELL, 10**10, Backlog(),
         ["configuration: sources.toml:3: id: is missing (since 2026-10-20T11:00:00Z)"]),
        ({}, WELL, 10**10, Backlog(failing=2, oldest_at=NOW - timedelta(hours=2), error="refused"),
         ["messages: 2 cannot be sent, the oldest for 2 h: refused"]),
        ({}, WELL, 10**10, Backlog(waiting=40), []),
    ],
)  # fmt: skip
def test_health_says_why_it_is_unwell(
    change: dict[str, Any], due: DueRow, free: int, outbox: Backlog, why: list[str]
) -> None:
    pulse = Pulse(NOW - timedelta(days=1), ticked_at=NOW, run_ended_at=NOW)
    for key, value in change.items():
        setattr(pulse, key, value)
    assert list(pulse.complaints(NOW, due, free, outbox)) == why


def test_the_head_of_the_configuration_is_the_one_that_these_tests_change() -> None:
    assert all(part in HEAD for part in ("[fetch]", '"60s"', 'delay = "0s"'))

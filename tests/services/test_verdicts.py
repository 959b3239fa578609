"""Stand-ins and their doubles through everything: real servers, the real web, the real judge, the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from site_of_pages import row, write_sources
from sourcewatch.adapters.hosts import Hosts
from sourcewatch.adapters.http import Web
from sourcewatch.domain.capture import Failure, Request
from sourcewatch.domain.source import FetchPolicy, HostPolicy
from sourcewatch.domain.verdict import WORDS
from sourcewatch.faces import wiring
from web import cases, stand_ins
from web.server import Server, Talk, answers
from web.stand_ins import StandIn

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
CASES = tuple(
    case
    for case in (*stand_ins.ALL, *stand_ins.BODIES, *stand_ins.REFRESHES, *stand_ins.ROBOTS, *stand_ins.STATUSES)
    if not case.figure
)
DOMAIN = ".stand-in.example"
INVALID = "http://[::1/"


class StandIns:
    """A host for each case. On the first day it shows what was there before, where the case names that."""

    def __init__(self) -> None:
        self.cases = {case.name.lower(): case for case in CASES}
        self.day = 0

    def __call__(self, talk: Talk) -> None:
        while head := talk.read_head().decode("latin-1"):
            target = head.split(" ", 2)[1]
            host = next(line for line in head.split("\r\n") if line.lower().startswith("host:"))
            answer = self.answer(self.cases[host.split(":")[1].strip().partition(".")[0]], target)
            talk.send(answer)
            if answer.startswith(b"HTTP/1.0"):
                return  # which closes the connection: the answer's only end

    def answer(self, case: StandIn, target: str) -> bytes:
        if target == "/robots.txt":
            return answers(200, case.robots.encode(), {"Content-Type": "text/plain"}) if case.robots else answers(404)
        if self.day == 0 and case.before and target == case.cited:
            before = case.before if isinstance(case.before, bytes) else case.before.encode()
            return answers(200, before, {"Content-Type": case.type})
        way = [case.cited, *(path for _, path in case.leads)]
        if target not in way:
            return answers(200, case.unknown.encode()) if case.unknown else answers(404, b"none")
        at = way.index(target)
        if not case.framed:
            return f"HTTP/1.0 200 OK\r\nContent-Type: {case.type}\r\n\r\n".encode() + case.body
        if at == len(case.leads):
            return answers(case.status, case.body, {"Content-Type": case.type, **dict(case.headers)})
        status, onward = case.leads[at]
        if status == 200:
            page = f'<meta http-equiv="refresh" content="0; url={onward}"><p>This page has moved.</p>'
            return answers(200, page.encode())
        return answers(status, b"", {"Location": onward})


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """The last line that `run --json` tells for each case, and where its data is."""
    folder = tmp_path_factory.mktemp("stand-ins")
    web = StandIns()

    async def resolve(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    with Server(web) as server:
        rows = "".join(
            row(
                case.name.lower(),
                f"http://{case.name.lower()}{DOMAIN}:{server.port}{case.cited}"
                + (f"#{case.fragment}" if case.fragment else ""),
                *case.quotes,
            )
            for case in CASES
        )
        told: dict[str, dict[str, Any]] = {}
        for web.day in (0, 1):
            with wiring.open_house(write_sources(folder, rows), None, {}) as house:
                found: list[Any] = []
                at = START + timedelta(days=web.day)
                asyncio.run(
                    wiring.run_pass(house, all_of_them=True, told=found.append, clock=lambda at=at: at, resolve=resolve)
                )
            told = {line["source"]: line for line in found}
        told[""] = {"folder": folder}
        yield told


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_stand_in_is_told_apart(case: StandIn, lines: dict[str, dict[str, Any]]) -> None:
    line = lines[case.name.lower()]
    assert line["verdict"] == case.word, line
    assert not case.rule or line["rule"] in (case.rule, "same-bytes"), line
    assert line["accessed"] == WORDS[case.word].accessed
    first_day = "2026-10-20T03:03:00Z" if case.before else None
    assert line["last_accessed"] == ("2026-10-21T03:03:00Z" if line["accessed"] else first_day)
    if line["accessed"]:
        texts = sorted((lines[""]["folder"] / "snapshots" / case.name.lower()).rglob("*.md"))
        words = case.holds or next(
            (w for w in ("places experts", "夜间", "jackpot", "nine to five") if w in str(case.page)), ""
        )
        assert words in texts[-1].read_text("utf-8")


def test_no_stand_in_becomes_a_version(lines: dict[str, dict[str, Any]]) -> None:
    for case in CASES:
        if not WORDS[case.word].accessed:
            line = lines[case.name.lower()]
            assert not line["new_version"] and line["change"] is None, line


def test_what_no_browser_could_ask_for_is_invalid() -> None:
    async def fetched() -> object:
        hosts = Hosts({"default": HostPolicy(0)}, respect_robots=False)
        async with Web(FetchPolicy(), hosts, user_agent="test", clock=lambda: START) as web:
            return await web.fetch(Request(INVALID))

    failure = asyncio.run(fetched())
    assert isinstance(failure, Failure) and failure.word == "invalid_url"


def test_every_word_is_reached_by_a_case() -> None:
    """All 67: here, or on the misbehaving web below the text (held by the adapters' tests)."""
    reached = {case.word for case in (*CASES, *cases.ALL)} | {"invalid_url"}
    assert set(WORDS) - reached == set()

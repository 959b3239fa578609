"""Save Page Now over a real socket: what is sent, how often, what comes of it, and what never leaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from site_of_pages import Answer, Site, page, row
from sourcewatch.analysis.save_page_now import Job, Pending, Refused, Rest, Saved, form, heard
from sourcewatch.domain.save import Save, SavePolicy, SaveState
from sourcewatch.domain.source import Header, Quote, Source
from sourcewatch.faces import moving, wiring
from sourcewatch.services.saves import Turn, sent
from spn import TOKEN, Spn, refused, said, saving
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
QUOTE = "the cache stays warm"
ARTICLE = "<h1>Production</h1>" + "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)
ENVIRON = {"SPN_TOKEN": TOKEN}
BUSY = (
    "You have already reached the limit of active Save Page Now sessions. Please wait for a minute and then try again."
)


@pytest.fixture
def spn() -> Iterator[Spn]:
    with saving() as spn:
        yield spn


def after(**span: float) -> datetime:
    return START + timedelta(**span)


def table(spn: Spn, more: str = "") -> str:
    return f'[save]\naddress = "{spn.url}"\ntoken = "${{SPN_TOKEN}}"\n{more}\n'


def turn(watch: Watch, at: datetime, environ: dict[str, str] | None = None) -> Turn:
    def once(house: wiring.House) -> Turn:
        policy = house.settings.save
        assert policy is not None
        given = ENVIRON if environ is None else environ
        return asyncio.run(moving.save(house, policy, clock=lambda: at, environ=given))

    done: Turn = watch.ask(once)
    return done


def saves(watch: Watch) -> list[Save]:
    return list(watch.ask(lambda house: house.saves.all()))


def read(site: Site, watch: Watch, spn: Spn, at: datetime = START, more: str = "", text: str = ARTICLE) -> str:
    site.pages["/p"] = page("Production", text)
    rows = row("p", site.url("/p"), QUOTE) + table(spn, more)
    watch.passes(rows, at)
    return rows


def test_a_new_version_is_saved_read_there_and_kept_among_the_copies(site: Site, watch: Watch, spn: Spn) -> None:
    read(site, watch, spn)
    spn.states = [said({"status": "pending", "resources": []})]
    first = turn(watch, after(minutes=1))
    assert (first.found, [s.state for s in first.moved]) == (1, [SaveState.ASKED])
    assert spn.asked == [{"url": site.url("/p"), "skip_first_archive": "1", "if_not_archived_within": "60"}]
    assert spn.tokens == {f"LOW {TOKEN}"}
    assert turn(watch, after(minutes=1)).moved == [], "it is asked about in half a minute"
    assert [s.state for s in turn(watch, after(minutes=2)).moved] == [SaveState.ASKED]
    [done] = turn(watch, after(minutes=3)).moved
    copy = f"{spn.url}/web/{spn.stamp}/{site.url('/p')}"
    assert (done.state, done.facts["url"]) == (SaveState.SAVED, copy)
    assert watch.ask(lambda h: h.outside.of()) == [], "the archive's word is no check"
    date = "Tue, 20 Oct 2026 03:05:00 GMT"
    status, fields, body = page("Production", ARTICLE)
    spn.mementos[copy.removeprefix(spn.url).replace(spn.stamp, f"{spn.stamp}id_")] = (
        status, {**fields, "Memento-Datetime": date}, body,
    )  # fmt: skip
    [checked] = turn(watch, after(minutes=20)).moved
    [kept] = watch.ask(lambda h: h.outside.of())
    assert checked.state is SaveState.CHECKED
    assert (kept.url, kept.held, kept.sought, kept.kept, kept.offered) == (copy, 1, 1, 1.0, True)
    assert turn(watch, after(days=3)).moved == []
    assert len(spn.asked) == 1


def test_a_copy_that_is_not_shown_is_looked_for_four_times_and_stays_the_archives_word(
    site: Site, watch: Watch, spn: Spn
) -> None:
    read(site, watch, spn)
    for minutes in (1, 2, 15, 90, 600):
        turn(watch, after(minutes=minutes))
    older = f"/web/{spn.stamp}id_/{site.url('/p')}"
    fields = {"Content-Type": "text/html", "Memento-Datetime": "Mon, 19 Oct 2026 12:00:00 GMT"}
    spn.mementos[older] = (200, fields, page("Production", ARTICLE)[2])
    turn(watch, after(days=3))
    [save] = saves(watch)
    assert (save.state, save.facts["looks"]) == (SaveState.UNREAD, 4)
    assert save.facts["why"] == "it shows its copy of 2026-10-19 12:00 instead"
    assert watch.ask(lambda h: h.outside.of()) == []


def test_only_versions_since_the_feature_is_in_use_are_sent_and_only_the_newest(
    site: Site, watch: Watch, spn: Spn
) -> None:
    site.pages["/p"] = page("Production", ARTICLE)
    rows = row("p", site.url("/p"), QUOTE)
    watch.passes(rows, after(days=-9))
    watch.passes(rows + table(spn), START)
    assert turn(watch, START).found == 0 and spn.asked == []
    for day in (1, 2):
        read(site, watch, spn, after(days=day), text=ARTICLE + f"<p>News of day {day}: twelve engines more.</p>")
    done = turn(watch, after(days=2))
    assert done.found == 2 and [s.state for s in done.moved] == [SaveState.FAILED, SaveState.ASKED]
    assert "a newer version came first" in done.moved[0].facts["why"]
    assert [a["if_not_archived_within"] for a in spn.asked] == ["60"]


def test_a_wall_is_not_sent(site: Site, watch: Watch, spn: Spn) -> None:
    site.pages["/p"] = page(
        "Sign in", '<form><input name="u"><input type="password" name="p"><button>In</button></form>'
    )
    watch.passes(row("p", site.url("/p")) + table(spn), START)
    assert turn(watch, START).found == 0 and spn.asked == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (refused("no-access", "Target URL could not be accessed."), "no-access: Target URL could not be accessed."),
        (refused("soft-time-limit-exceeded"), "soft-time-limit-exceeded"),
        (said({"detail": "oops"}, 500), "it answered 500"),
        ((502, {"Content-Type": "text/html"}, b"<h1>Bad gateway</h1>"), "it answered 502, and not in JSON"),
        ((200, {"Content-Type": "text/html"}, b"<html>Save Page Now</html>"), "it answered 200, and not in JSON"),
        ((302, {"Location": "/save?there"}, b""), "it answered 302, and not in JSON"),
        (said([1]), "it answered 200, and not in JSON"),
        (said({"url": "x", "job_id": None, "message": "The capture will start in ~2 hours"}),
         "it answered without a job: The capture will start in ~2 hours"),
    ],
)  # fmt: skip
def test_what_fails_is_told_and_tried_again(site: Site, watch: Watch, spn: Spn, answer: Answer, why: str) -> None:
    read(site, watch, spn)
    spn.asks = [answer]
    [save] = turn(watch, after(minutes=1)).moved
    assert (save.state, save.facts["why"], save.next_try_at) == (SaveState.WAITING, why, after(minutes=11))


def test_the_fifth_try_is_the_last_and_no_date_moves(site: Site, watch: Watch, spn: Spn) -> None:
    read(site, watch, spn)
    spn.asks = [refused("no-access")] * 9
    waits, at = [], after(minutes=1)
    for _ in range(5):
        [save] = turn(watch, at).moved
        waits.append((save.next_try_at - at) // timedelta(minutes=1))
        at = save.next_try_at
    assert waits == [10, 60, 360, 1440, 0] and save.state is SaveState.FAILED
    assert turn(watch, after(days=9)).moved == [] and len(spn.asked) == 5
    assert watch.dates(after(days=9))["p"]["last_accessed"] == "2026-10-20T03:03:00Z"


def test_what_no_try_can_change_is_tried_once(site: Site, watch: Watch, spn: Spn) -> None:
    read(site, watch, spn)
    spn.asks = [refused("blocked-url", "This URL is in our block list.")]
    [save] = turn(watch, after(minutes=1)).moved
    assert (save.state, save.attempts) == (SaveState.FAILED, 1)


def test_an_error_of_the_job_is_as_good_as_one_of_the_request(site: Site, watch: Watch, spn: Spn) -> None:
    read(site, watch, spn)
    spn.states = [refused("invalid-host-resolution", "Couldn't resolve host.", "spn2-1")]
    turn(watch, after(minutes=1))
    [save] = turn(watch, after(minutes=2)).moved
    assert (save.state, save.facts["why"]) == (SaveState.WAITING, "invalid-host-resolution: Couldn't resolve host.")


def test_a_job_that_nobody_hears_of_is_asked_for_again(site: Site, watch: Watch, spn: Spn) -> None:
    read(site, watch, spn)
    spn.states = [said({"status": "pending"})] * 5 + [said({"message": "no such job"}, 404)] * 3
    turn(watch, after(minutes=1))
    at = START
    for n in range(1, 8):
        at = after(minutes=1 + 30 * n)
        [save] = turn(watch, at).moved
    assert save.state is SaveState.WAITING and save.facts["why"] == "nothing was heard of its job within the hour"
    assert [s.state for s in turn(watch, at + timedelta(minutes=10)).moved] == [SaveState.ASKED]


@pytest.mark.parametrize(
    ("answer", "rest_s", "why"),
    [
        (refused("user-session-limit", BUSY), 300, f"user-session-limit: {BUSY}"),
        (said({"message": "Too Many Requests"}, 429, Retry_After="1800"), 1800, "it is asked too much (429)"),
        ((429, {"Content-Type": "text/html"}, b"slow down"), 600, "it is asked too much (429)"),
        (said({"message": "You need to be logged in to use Save Page Now."}, 401), 3600,
         "it does not accept the token (401)"),
    ],
    ids=["sessions", "429", "a bare 429", "a wrong token"],
)  # fmt: skip
def test_limits_let_the_whole_queue_rest_and_are_no_failures(
    site: Site, watch: Watch, spn: Spn, answer: Answer, rest_s: int, why: str
) -> None:
    for name in "pq":
        site.pages[f"/{name}"] = page("Production", ARTICLE + f"<p>{name}</p>")
    watch.passes(row("p", site.url("/p")) + row("q", site.url("/q")) + table(spn), START)
    spn.asks = [answer]
    at = after(minutes=1)
    done = turn(watch, at)
    assert done.rests == why and len(spn.asked) == 1
    assert {(s.state, s.next_try_at, s.attempts) for s in saves(watch)} == {
        (SaveState.WAITING, at + timedelta(seconds=rest_s), 0)
    }
    assert turn(watch, at + timedelta(seconds=rest_s - 1)).moved == []
    again = turn(watch, at + timedelta(seconds=rest_s))
    assert [s.state for s in again.moved] == [SaveState.ASKED] * 2


def test_a_limit_of_one_address_lets_the_others_go_on(site: Site, watch: Watch, spn: Spn) -> None:
    for name in "pq":
        site.pages[f"/{name}"] = page("Production", ARTICLE + f"<p>{name}</p>")
    watch.passes(row("p", site.url("/p")) + row("q", site.url("/q")) + table(spn), START)
    spn.asks = [refused("too-many-daily-captures", "This URL has been already captured 5 times today.")]
    done = turn(watch, after(minutes=1))
    assert [(s.state, s.attempts) for s in done.moved] == [(SaveState.WAITING, 0), (SaveState.ASKED, 1)]
    assert done.moved[0].next_try_at == after(days=1, minutes=1) and done.rests == ""


def test_an_archive_that_hangs_costs_its_deadline_and_no_version(site: Site, watch: Watch, spn: Spn) -> None:
    rows = read(site, watch, spn)
    spn.asks = [None]

    def hurried(house: wiring.House) -> Turn:
        fetch = replace(house.settings.fetch, deadline_s=0.5)
        quick = replace(house, settings=replace(house.settings, fetch=fetch))
        assert house.settings.save is not None
        return asyncio.run(moving.save(quick, house.settings.save, clock=lambda: after(minutes=1), environ=ENVIRON))

    done: Turn = watch.ask(hurried)
    assert [(s.state, s.facts["why"]) for s in done.moved] == [(SaveState.WAITING, "it cannot be reached: too_slow")]
    assert watch.passes(rows, after(hours=6))["p"]["verdict"] == "ok"


def test_a_minute_and_a_day_have_their_limits(site: Site, watch: Watch, spn: Spn) -> None:
    rows = ""
    for n in range(5):
        site.pages[f"/{n}"] = page("Production", ARTICLE + f"<p>{n}</p>")
        rows += row(f"p{n}", site.url(f"/{n}"))
    watch.passes(rows + table(spn, "per_minute = 2\nper_day = 3"), START)
    done = turn(watch, after(minutes=1))
    assert len(spn.asked) == 2 and done.rests == "2 were asked for within a minute"
    assert turn(watch, after(minutes=1.5)).rests and len(spn.asked) == 2
    assert turn(watch, after(minutes=3)).rests == "3 were asked for within a day" and len(spn.asked) == 3
    turn(watch, after(days=1, minutes=2))
    assert len(spn.asked) == 5


def test_a_server_keeps_the_queue_as_a_file_does(site: Site, watch: Watch, spn: Spn, empty_postgresql: str) -> None:
    watch.environ = {wiring.DATABASE_VARIABLE: empty_postgresql}
    site.pages["/p"] = page("Production", ARTICLE)
    watch.passes(row("p", site.url("/p"), QUOTE), after(days=-9))
    read(site, watch, spn)
    assert turn(watch, START).found == 0, "what was there before is a history"
    for day in (1, 2):
        read(site, watch, spn, after(days=day), "per_day = 1", ARTICLE + f"<p>News of day {day}: twelve engines.</p>")
    spn.asks = [refused("user-session-limit", BUSY)]
    assert turn(watch, after(days=2)).found == 2
    assert [s.state for s in turn(watch, after(days=2, minutes=5)).moved] == []
    assert turn(watch, after(days=2, minutes=5)).rests == "1 were asked for within a day"
    assert [s.state for s in turn(watch, after(days=3, minutes=6)).moved] == [SaveState.ASKED]
    assert [s.state for s in turn(watch, after(days=3, minutes=7)).moved] == [SaveState.SAVED]
    assert [s.state for s in saves(watch)] == [SaveState.FAILED, SaveState.SAVED]


def test_without_a_token_nobody_is_asked(site: Site, watch: Watch, spn: Spn) -> None:
    read(site, watch, spn)
    done = turn(watch, START, {})
    assert done.rests == "the environment has no SPN_TOKEN" and done.found == 1 and spn.asked == []


def test_the_token_stands_nowhere(site: Site, watch: Watch, spn: Spn) -> None:
    read(site, watch, spn)
    spn.asks = [refused("no-access")]
    turn(watch, after(minutes=1))
    files = [p for p in watch.folder.rglob("*") if p.is_file()]
    assert any(p.name == "sourcewatch.db" for p in files)
    assert not [p for p in files if b"a-secret-word" in p.read_bytes()]


KILLED = """
import asyncio, os, signal, sys
from datetime import datetime
from pathlib import Path
from sourcewatch.faces import moving, wiring
at = datetime.fromisoformat(sys.argv[1])
with wiring.open_house(Path("sources.toml")) as house:
    asyncio.run(moving.save(house, house.settings.save, clock=lambda: at))
"""


def test_whoever_is_killed_between_the_question_and_the_row_asks_twice_at_most_and_says_so(
    site: Site, watch: Watch, spn: Spn
) -> None:
    read(site, watch, spn)
    spn.asks = [None, None]
    for n in (1, 2):
        command = [sys.executable, "-c", KILLED, after(minutes=n).isoformat()]
        asking = subprocess.Popen(command, cwd=watch.folder, env={**os.environ, **ENVIRON})
        until = time.monotonic() + 60
        while len(spn.asked) < n and time.monotonic() < until:
            time.sleep(0.02)
        asking.send_signal(signal.SIGKILL)
        asking.wait(20)
        assert len(spn.asked) == n
    [save] = turn(watch, after(minutes=3)).moved
    assert save.state is SaveState.FAILED and len(spn.asked) == 2
    assert save.facts["why"] == "it was asked twice, and the answer was lost both times"


def test_the_command_says_what_it_did_and_what_is_queued(site: Site, watch: Watch, spn: Spn) -> None:
    def command(*args: str, code: int = 0) -> str:
        run = [sys.executable, "-m", "sourcewatch.faces.cli", "save", *args]
        said = subprocess.run(
            run, cwd=watch.folder, capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, **ENVIRON},
        )  # fmt: skip
        assert said.returncode == code, said.stderr
        return said.stdout + said.stderr

    site.pages["/p"] = page("Production", ARTICLE)
    watch.passes(row("p", site.url("/p")), datetime.now(UTC))
    assert "there is no [save]" in command(code=2)
    read(site, watch, spn, datetime.now(UTC))
    assert command() == f"p: asked {site.url('/p')}\n1 asked\n"
    [one] = json.loads(command("--json"))
    assert (one["source"], one["state"], one["attempts"], one["copy"], one["asked_twice"]) == (
        "p",
        "asked",
        1,
        None,
        False,
    )
    assert len(spn.asked) == 1 and not spn.polled


PUBLIC = Source("p", "A", "a page", "https://example.com/p")
ARCHIVE = SavePolicy("https://web.archive.org", "T", 4, 100, ("A",), ("kept-here",))


@pytest.mark.parametrize(
    ("change", "goes"),
    [
        ({}, True),
        ({"headers": (Header("Accept-Language", "zh"),)}, True),
        ({"quotes": (Quote("a sentence"),)}, True),
        ({"headers": (Header("Cookie", "s=1", secret=True),)}, False),
        ({"id": "kept-here"}, False),
        ({"tier": "D"}, False),
        ({"url": None}, False),
        ({"mirror_of": "other"}, False),
        ({"url": "http://10.0.0.7/wiki"}, False),
        ({"url": "http://[::1]/wiki"}, False),
        ({"url": "http://wiki/page"}, False),
        ({"url": "https://wiki.corp/page"}, False),
        ({"url": "https://8.8.8.8/page"}, True),
    ],
)
def test_what_is_not_for_others_never_leaves(change: dict[str, object], goes: bool) -> None:
    assert sent(replace(PUBLIC, **change), ARCHIVE) is goes  # type: ignore[arg-type]


def test_an_archive_in_our_own_network_may_know_of_it() -> None:
    assert sent(replace(PUBLIC, url="http://10.0.0.7/wiki"), replace(ARCHIVE, address="http://10.0.0.9:8080"))


def test_answers_are_read_as_they_are_documented() -> None:
    assert heard(200, '{"url":"http://a.example/","job_id":"ac58789b-f3ca"}') == Job("ac58789b-f3ca")
    same = '{"url":"u","job_id":"spn2-dea4","message":"The same snapshot had been made 2 minutes ago."}'
    assert heard(200, same) == Job("spn2-dea4")
    assert heard(200, '{"status":"pending","job_id":"e70f","resources":[]}') == Pending()
    done = '{"status":"success","job_id":"a","original_url":"http://a.example/","timestamp":"20180326070330"}'
    assert heard(200, done) == Saved(datetime(2018, 3, 26, 7, 3, 30, tzinfo=UTC), "http://a.example/")
    assert heard(200, done.replace("20180326070330", "soon")) == Refused("it says success, and not when")
    assert heard(200, done.replace("http://a.example/", "javascript:0")) == Refused("it says success, and not of what")
    assert heard(503, "", 90.0) == Rest(90.0, "it wishes to be left alone (503)")
    assert heard(200, '{"job_id":"../../etc"}') == Refused("it answered without a job: ")
    assert heard(200, "[" * 100_000) == Refused("it answered 200, and not in JSON")
    assert form("http://a.example/?q=1&r=ü", 7200.5) == (
        b"url=http%3A%2F%2Fa.example%2F%3Fq%3D1%26r%3D%C3%BC&skip_first_archive=1&if_not_archived_within=7200"
    )

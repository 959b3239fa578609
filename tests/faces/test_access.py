"""Who gets in: nobody by accident, nobody by another site's page, and everybody who should."""

from __future__ import annotations

import base64
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from asking import Answer, ask
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from live import live
from site_of_pages import write_sources
from sourcewatch.adapters.tokens import Tokens
from sourcewatch.domain.access import Scope
from sourcewatch.domain.errors import ConfigError, StorageError
from sourcewatch.domain.kept import DueRow
from sourcewatch.domain.message import Backlog
from sourcewatch.faces.pulse import Pulse
from sourcewatch.faces.web.access import Failures, is_loopback, may_listen, require
from sourcewatch.faces.web.login import local
from sourcewatch.faces.web.ops import Meter, Ops

AT = datetime(2026, 10, 20, tzinfo=UTC)
PUBLIC = '[serve]\nurl = "https://sw.example/w/"\n'
FORM = "application/x-www-form-urlencoded"


def _write(request: Request) -> Response:
    return PlainTextResponse(f"done by {require(request, 'review')!r}")


WRITE = Route("/write", _write, methods=["POST"])


@dataclass(frozen=True, slots=True)
class Face:
    base: str
    tokens: Tokens

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        return ask(self.base, path, method, body, **headers)

    def login(self, token: str, where: str = "/", **headers: str) -> Answer:
        return self.ask("/login", "POST", urlencode({"token": token, "next": where}), Content_Type=FORM, **headers)


@pytest.fixture
def face(tmp_path: Path) -> Iterator[Face]:
    write_sources(tmp_path, "")
    with live(tmp_path, WRITE) as base:
        yield Face(base, Tokens(tmp_path))


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Face]:
    write_sources(tmp_path, PUBLIC)
    with live(tmp_path, WRITE) as base:
        yield Face(base, Tokens(tmp_path))


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_on_loopback_without_a_token_everybody_may_read_and_review(face: Face) -> None:
    assert face.ask("/api/v1/sources").status == 200
    assert face.ask("/write", "POST").text == "done by ''"


def test_with_a_token_set_it_is_needed(face: Face) -> None:
    secret = face.tokens.add("Li", Scope.REVIEW, AT)
    for path in ("/api/v1/sources", "/last-accessed.json", "/changes", "/", "/nowhere"):
        answer = face.ask(path)
        assert answer.status == 401 and answer.headers["www-authenticate"] == "Bearer", path
    assert face.ask("/write", "POST").status == 401
    assert face.ask("/api/v1/sources", **bearer(secret)).status == 200
    assert face.ask("/write", "POST", **bearer(secret)).text == "done by 'Li'"
    assert face.ask("/api/v1/sources", **bearer(secret + "x")).status == 401
    assert face.ask(f"/api/v1/sources?token={secret}").status == 401, "an address never carries a token"


def test_who_is_removed_is_out_at_once(face: Face) -> None:
    secret, other = face.tokens.add("Li", Scope.READ, AT), face.tokens.add("Wang", Scope.READ, AT)
    assert face.ask("/api/v1/sources", **bearer(secret)).status == 200
    face.tokens.remove("Li")
    assert face.ask("/api/v1/sources", **bearer(secret)).status == 401
    assert face.ask("/api/v1/sources", **bearer(other)).status == 200


def test_a_token_for_reading_does_not_review(face: Face) -> None:
    answer = face.ask("/write", "POST", **bearer(face.tokens.add("bot", Scope.READ, AT)))
    assert answer.status == 403 and answer.text == "this token may read; this needs a token for review\n"


def test_a_feed_reader_gives_the_token_as_its_password(face: Face) -> None:
    secret = face.tokens.add("Li", Scope.READ, AT)
    pair = base64.b64encode(f"Li:{secret}".encode()).decode()
    assert face.ask("/feed.atom", Authorization=f"Basic {pair}").status == 200
    for wrong in ("Basic !!", f"Basic {base64.b64encode(b'Li').decode()}", "Basic /w==", "Digest x", "Bearer"):
        assert face.ask("/feed.atom", Authorization=wrong).status == 401


def test_a_person_logs_in_by_a_form_and_out_again(face: Face) -> None:
    secret = face.tokens.add("李", Scope.REVIEW, AT)
    asked = face.ask("/changes?limit=5", Accept="text/html,*/*")
    assert (asked.status, asked.headers["location"]) == (303, "/login?next=/changes%3Flimit%3D5")
    form = face.ask(asked.headers["location"])
    assert form.status == 200 and 'name="next" value="/changes?limit=5"' in form.text
    entered = face.login(secret, "/changes?limit=5")
    assert (entered.status, entered.headers["location"]) == (303, "/changes?limit=5")
    cookie, *rest = entered.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(rest) and "Secure" not in rest
    assert face.ask("/api/v1/sources", Cookie=cookie).status == 200
    assert "李" in face.ask("/login", Cookie=cookie).text
    left = face.ask("/logout", "POST", Cookie=cookie, Origin=face.base.rstrip("/"))
    assert left.status == 303 and 'sourcewatch_token=""' in left.headers["set-cookie"]


def test_over_https_the_cookie_stays_there(face: Face) -> None:
    secret = face.tokens.add("Li", Scope.READ, AT)
    host = urlsplit(face.base).netloc
    assert "Secure" in face.login(secret, Origin=f"https://{host}").headers["set-cookie"]


def test_a_wrong_token_is_told_on_the_form_and_not_repeated(face: Face) -> None:
    face.tokens.add("Li", Scope.READ, AT)
    answer = face.login("<script>x7(1)</script>", "https://evil.example/")
    assert answer.status == 401 and "There is no such token." in answer.text
    assert "x7" not in answer.text and "evil" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},  # another port of this machine
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site", "Origin": "http://127.0.0.1"},
    ],
)
def test_no_other_sites_page_writes(face: Face, headers: dict[str, str]) -> None:
    assert face.ask("/write", "POST", **headers).status == 403
    secret = face.tokens.add("Li", Scope.REVIEW, AT)
    for given_ in ({"Cookie": f"sourcewatch_token={secret}"}, {"Authorization": f"Basic {_pair(secret)}"}):
        answer = face.ask("/write", "POST", **headers, **given_)
        assert answer.status == 403 and "another site" in answer.text
    assert face.login(secret, **headers).status == 403, "nobody is logged in by a stranger's page"


def _pair(secret: str) -> str:
    return base64.b64encode(f":{secret}".encode()).decode()


def test_our_own_pages_write_and_scripts_do(face: Face) -> None:
    secret = face.tokens.add("Li", Scope.REVIEW, AT)
    cookie = {"Cookie": f"sourcewatch_token={secret}"}
    for headers in ({"Sec_Fetch_Site": "same-origin"}, {"Origin": face.base.rstrip("/")}):
        assert face.ask("/write", "POST", **headers, **cookie).status == 200
    assert face.ask("/write", "POST", **cookie).status == 403, "a browser would say where it comes from"
    assert face.ask("/write", "POST", **bearer(secret), Sec_Fetch_Site="cross-site").status == 200


def test_a_link_in_a_mail_finds_the_strict_cookie_by_asking_again(face: Face) -> None:
    face.tokens.add("Li", Scope.READ, AT)
    answer = face.ask("/changes", Accept="text/html", Sec_Fetch_Site="cross-site")
    assert (answer.status, answer.headers["refresh"], answer.body) == (200, "0", b"")


def test_who_gives_many_wrong_tokens_waits(face: Face, caplog: pytest.LogCaptureFixture) -> None:
    secret = face.tokens.add("Li", Scope.READ, AT)
    with caplog.at_level(logging.WARNING):
        statuses = [face.ask("/api/v1/sources", **bearer(f"guess-{n}")).status for n in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    late = face.login(secret)
    assert late.status == 429 and 0 < int(late.headers["retry-after"]) <= 60 and "try again in" in late.text
    assert "a wrong token was given by 127.0.0.1" in caplog.text and "guess" not in caplog.text


def test_a_minute_later_one_is_listened_to_again() -> None:
    now = [0.0]
    failures = Failures(lambda: now[0])
    for _ in range(10):
        failures.note("192.0.2.1")
        now[0] += 1
    assert failures.wait_s("192.0.2.1") == 50.0 and failures.wait_s("192.0.2.2") == 0.0
    now[0] = 60.0
    assert failures.wait_s("192.0.2.1") == 0.0


def test_what_the_site_publishes_is_open_where_readers_reach_us(public: Face) -> None:
    public.tokens.add("Li", Scope.READ, AT)
    for path in ("/last-accessed.json", "/sourcewatch.js", "/healthz", "/style.css"):
        assert public.ask(path).status in (200, 404), path
    assert public.ask("/timemap/link/https://example.org/").status == 404
    for path in ("/api/v1/sources", "/changes", "/feed.atom", "/metrics", "/last-accessed.json/../api/v1/sources"):
        assert public.ask(path).status == 401, path
    assert public.ask("/last-accessed.json", **bearer("wrong")).status == 200


def test_behind_a_proxy_without_a_token_nobody_reviews_and_strangers_read_what_is_published(public: Face) -> None:
    assert public.ask("/api/v1/sources").status == 200
    answer = public.ask("/write", "POST")
    assert answer.status == 403 and answer.text == "without a token one may here read; this needs a token for review\n"
    for carried in ({"Host": "sw.example"}, {"X_Forwarded_For": "203.0.113.9"}, {"Forwarded": "for=203.0.113.9"}):
        assert public.ask("/api/v1/sources", **carried).status == 401
        assert public.ask("/last-accessed.json", **carried).status == 200
        assert public.ask("/write", "POST", **carried).status == 401


def test_a_file_of_tokens_that_cannot_be_read_lets_nobody_in(face: Face) -> None:
    face.tokens.path.write_text("[{", "utf-8")
    for path in ("/api/v1/sources", "/last-accessed.json"):
        assert face.ask(path).status == 503
    with pytest.raises(StorageError, match="cannot be read"):
        face.tokens.all()


def test_a_form_that_is_none_is_refused(face: Face) -> None:
    face.tokens.add("Li", Scope.READ, AT)
    assert face.ask("/login", "POST", "{}", Content_Type="application/json").status == 415
    assert face.ask("/login", "POST", "token=" + "x" * 70_000, Content_Type=FORM).status == 413
    assert face.ask("/login", "POST", "a=1&" * 200, Content_Type=FORM).status == 400
    assert face.ask("/login", "POST", "\xff".encode("latin-1").decode("latin-1"), Content_Type=FORM).status in (
        400,
        401,
    )


@pytest.mark.parametrize(
    "where",
    [
        "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil", "javascript:alert(1)", "", "x",
        "/\t/evil", "/\r\nSet-Cookie: a=b", "//[::1", "/é",
    ],
)  # fmt: skip
def test_a_login_leads_nowhere_else(where: str) -> None:
    assert local(where) == "/"


@given(st.text())
def test_wherever_a_login_leads_it_is_a_path_of_ours(where: str) -> None:
    there = urlsplit(local(where))
    assert (there.scheme, there.netloc) == ("", "") and there.path.startswith("/") and not there.path.startswith("//")


def test_only_hashes_are_kept_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    secret = tokens.add("李", Scope.ADMIN, AT)
    text = tokens.path.read_text("utf-8")
    assert secret not in text and len(secret) > 40
    assert tokens.path.stat().st_mode & 0o777 == 0o600
    [token] = tokens.all()
    assert (token.name, token.scope, token.created_at) == ("李", Scope.ADMIN, AT)
    assert json.loads(text)[0]["sha256"] == token.sha256
    with pytest.raises(ConfigError, match="there is a token of '李'"):
        tokens.add("李", Scope.READ, AT)
    with pytest.raises(ConfigError, match="no token of 'Wang'"):
        tokens.remove("Wang")


@pytest.mark.parametrize(("host", "loopback"), [
    ("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("[::1]", True), ("localhost", True), ("0.0.0.0", False),
    ("::", False), ("", False), ("192.0.2.7", False), ("no-such-host.invalid", False),
])  # fmt: skip
def test_loopback_is_known_by_the_address(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_where_others_reach_us_a_token_comes_first(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    may_listen("127.0.0.1", tokens.all())
    with pytest.raises(ConfigError, match="token add"):
        may_listen("0.0.0.0", tokens.all())
    tokens.add("Li", Scope.READ, AT)
    may_listen("0.0.0.0", tokens.all())


def sourcewatch(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sourcewatch.faces.cli", "--config", str(folder / "sources.toml"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)


def test_the_commands_make_list_and_remove_tokens_and_serve_refuses_strangers(tmp_path: Path) -> None:
    write_sources(tmp_path, "")
    refused = sourcewatch(tmp_path, "serve", "--host", "0.0.0.0", "--port", "0")
    assert (refused.returncode, len(refused.stderr.strip().splitlines())) == (2, 1) and "token add" in refused.stderr
    made = sourcewatch(tmp_path, "token", "add", "--name", "李", "--scope", "review")
    assert made.returncode == 0 and made.stdout.startswith("sw_")
    shown = sourcewatch(tmp_path, "token", "list").stdout
    assert "李" in shown and "review" in shown and made.stdout.strip() not in shown
    assert sourcewatch(tmp_path, "token", "add", "--name", "李").returncode == 2
    assert sourcewatch(tmp_path, "token", "add", "--name", "\x1b[31mx").returncode == 2
    assert sourcewatch(tmp_path, "token", "remove", "李").returncode == 0
    assert sourcewatch(tmp_path, "token", "list").stdout == "there is no token\n"


def test_a_stranger_learns_whether_all_is_well_and_not_why_not(tmp_path: Path) -> None:
    write_sources(tmp_path, "")
    unwell = Ops(Pulse(AT), Meter(), lambda: (DueRow(0, None, None), Backlog()), lambda: 0, lambda: 0, lambda: AT)
    with live(tmp_path, *unwell.routes()) as base:
        assert ask(base, "/healthz").json["why"]
        secret = Tokens(tmp_path).add("Li", Scope.READ, AT)
        stranger = ask(base, "/healthz")
        assert (stranger.status, stranger.json) == (503, {"ok": False})
        assert ask(base, "/metrics").status == 401
        assert ask(base, "/healthz", **bearer(secret)).json["why"]


def test_the_form_speaks_the_language_that_was_chosen_on_the_desk(public: Face) -> None:
    assert '<html lang="en">' in public.ask("/login").text
    assert '<html lang="zh-CN">' in public.ask("/login", Cookie="sourcewatch_lang=zh-CN").text
    assert '<html lang="zh-CN">' in public.ask("/login?lang=zh-CN").text

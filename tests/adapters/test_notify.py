"""Letters to real servers on loopback: a mail server and a webhook, also when they fail; and no secret in any trace."""

from __future__ import annotations

import email
import email.policy
import json
import logging
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import apprise
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from sourcewatch.adapters.notify import Notifier, _without

TITLE = "[田野笔记] 引文不再成立：DeepServe README"
BODY = "引文不再成立：DeepServe README\n“gains 4–7%”\n现为：3–5% <b>&amp; *stars* _lines_\nhttps://a.example/p?x=1&y=2"
SECRETS = ("hunter2-p@ss/word", "T0kenT0kenT0ken", "secret-user")


@dataclass
class Hook:
    """A webhook that answers as it is told."""

    port: int
    answers: list[int] = field(default_factory=list)
    got: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    silent: threading.Event | None = None
    trickles: threading.Event | None = None


@pytest.fixture
def hook() -> Iterator[Hook]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if hook.silent is not None:
                hook.silent.wait(10)
                return
            if hook.trickles is not None:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                while not hook.trickles.wait(0.05):
                    self.wfile.write(b".")
                return
            status = hook.answers.pop(0) if hook.answers else 200
            hook.paths.append(self.path)
            if status == 200:
                hook.got.append(json.loads(body))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hook = Hook(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield hook
    for event in filter(None, (hook.silent, hook.trickles)):
        event.set()
    server.shutdown()
    server.server_close()


@dataclass
class MailServer:
    """A mail server that keeps what it gets, or refuses."""

    refuses: str = ""
    letters: list[email.message.EmailMessage] = field(default_factory=list)
    to: list[str] = field(default_factory=list)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.refuses:
            return self.refuses
        self.to += envelope.rcpt_tos
        self.letters.append(email.message_from_bytes(envelope.content, policy=email.policy.default))  # type: ignore[arg-type]
        return "250 OK"


@pytest.fixture
def mail() -> Iterator[tuple[MailServer, int]]:
    def allowed(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        return AuthResult(success=data.password == SECRETS[0].encode(), handled=True)

    handler = MailServer()
    controller = Controller(handler, hostname="127.0.0.1", port=0, authenticator=allowed, auth_require_tls=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        controller.port = probe.getsockname()[1]
    controller.start()
    yield handler, controller.port
    controller.stop()


def send(address: str, title: str = TITLE, body: str = BODY) -> str:
    return Notifier({"LI": address}).send("LI", title, body)


def test_a_mail_arrives_with_its_title_and_its_text_as_it_is(mail: tuple[MailServer, int]) -> None:
    server, port = mail
    user, password = SECRETS[2], "hunter2-p%40ss%2Fword"
    address = f"mailto://{user}:{password}@127.0.0.1:{port}/?from=watch@a.example&to=li@b.example&mode=insecure"
    assert send(address) == ""
    [letter] = server.letters
    body = letter.get_body(("plain",))
    assert body is not None and body.get_content().split() == BODY.split() and not letter.get_body(("html",))
    assert letter["Subject"] == TITLE and server.to == ["li@b.example"] and "watch@a.example" in letter["From"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Apprise leaves its socket open then
def test_a_mail_that_is_refused_is_told_without_the_address(
    mail: tuple[MailServer, int], caplog: pytest.LogCaptureFixture
) -> None:
    server, port = mail
    server.refuses = "554 no mail from secret-user with T0kenT0kenT0ken here"
    with caplog.at_level(logging.DEBUG):
        reason = send(f"mailto://secret-user:hunter2-p%40ss%2Fword@127.0.0.1:{port}/?from=T0kenT0kenT0ken@a.example")
    ours = "\n".join(r.getMessage() for r in caplog.records if r.name != "mail.log")  # that is the server's own
    assert reason and not _leaks(reason + ours) and server.letters == []


def test_a_webhook_gets_title_and_text(hook: Hook) -> None:
    assert send(f"json://secret-user:x@127.0.0.1:{hook.port}/T0kenT0kenT0ken") == ""
    assert [(x["title"], x["message"]) for x in hook.got] == [(TITLE, BODY)]


def test_a_server_that_fails_and_then_works(hook: Hook, caplog: pytest.LogCaptureFixture) -> None:
    hook.answers = [500, 503, 200]
    address = f"json://secret-user:hunter2-p%40ss%2Fword@127.0.0.1:{hook.port}/T0kenT0kenT0ken"
    with caplog.at_level(logging.DEBUG):
        first, second, third = send(address), send(address), send(address)
    assert "error=500" in first and "error=503" in second and third == "" and len(hook.got) == 1
    assert hook.paths == ["/T0kenT0kenT0ken"] * 3 and not _leaks(first + second + caplog.text)


def test_a_server_that_says_nothing_is_given_up_by_the_clock_of_the_socket(hook: Hook) -> None:
    hook.silent = threading.Event()
    reason = send(f"json://127.0.0.1:{hook.port}/T0kenT0kenT0ken?rto=0.3&cto=0.3")
    assert reason and not _leaks(reason) and hook.got == []


def test_a_server_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        reason = send("json://secret-user:hunter2-p%40ss%2Fword@127.0.0.1:1/T0kenT0kenT0ken")
    assert reason and not _leaks(reason + caplog.text)


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, "LI is not set"),
        ({"LI": "  "}, "LI is not set"),
        ({"LI": "nonsense T0kenT0kenT0ken"}, "LI does not hold an address that Apprise knows"),
        ({"LI": "tgram://T0kenT0kenT0ken"}, "LI does not hold an address that Apprise knows"),
        ({"LI": "https://hooks.example/T0kenT0kenT0ken"}, "LI does not hold an address that Apprise knows"),
    ],
)
def test_an_address_that_cannot_work(environ: dict[str, str], told: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert Notifier(environ).send("LI", TITLE, BODY) == told
    assert not _leaks(caplog.text)


def test_without_apprise_the_reason_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "apprise", None)
    assert send("json://127.0.0.1") == "Apprise is not installed: pip install 'sourcewatch[notify]'"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("bot123456:AAbbCC is unknown", "tgram://bot123456:AAbbCC/42/"),
        ("no p@ss/word, no p%40ss%2Fword", "mailto://u:p%40ss%2Fword@h.example"),
        ("POST https://HOOKS.example/SERVICES/tok", "json://hooks.example/services/tok"),
        ("the key ABCDEF is wrong", "wecombot://abcdef"),
        ("query sec=zzz9 refused", "json://h.example/?sec=zzz9"),
    ],
)
def test_of_an_error_only_words_that_are_not_of_the_address_are_left(text: str, address: str) -> None:
    left = _without(text, address).lower()
    words = [w for w in re.split(r"\W+", address.lower().partition("://")[2]) if len(w) >= 3]
    assert words and not [w for w in words if w in left]


def test_the_plain_words_of_an_error_are_left() -> None:
    text = "Failed to send JSON POST notification: Internal Server Error., error=500."
    assert _without(text, "json://h.example/T0ken") == text


def test_every_address_in_the_documentation_is_understood() -> None:
    text = (Path(__file__).parents[2] / "docs" / "messages.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "://" in line and "where" not in line[:9]]
    shapes = [a for row in rows for a in re.findall(r"`([a-z]+://[^`]+)`", row)]
    assert len(shapes) == 13
    stand_in = {
        "BOT_TOKEN": "123456789:" + "a" * 35,
        "CHAT_ID": "12315544",
        "ACCESS_TOKEN": "a" * 40,
        "TOKEN_A": "T1JJ3T3L2",
        "TOKEN_B": "A1BRTD4JD",
        "TOKEN_C": "TIiajkdnlazkcOXrIdevi7FQ",
        "SENDKEY": "SCT" + "a" * 30,
        "SECRET": "SEC" + "b" * 40,
        "TOKEN": "abcdef01-2345-6789-abcd-ef0123456789",
        "KEY": "693axxx6-7aoc-4bc4-97a0-0ec2sifa5aaa",
    }
    for shape in shapes:
        address = shape
        for name, value in stand_in.items():
            address = re.sub(rf"\b{name}\b", value, address)
        assert apprise.Apprise.instantiate(address) is not None, shape


def _leaks(text: str) -> list[str]:
    parts = [*SECRETS, "hunter2", "p%40ss%2Fword", "p@ss"]
    return [p for p in parts if p.lower() in text.lower()]


def test_a_service_that_trickles_its_answer_holds_up_nobody(hook: Hook) -> None:
    environ = {"SLOW": f"json://127.0.0.1:{hook.port}/slow", "OTHER": f"json://127.0.0.1:{hook.port}/other"}
    hook.trickles = threading.Event()
    slow = Notifier(environ, deadline_s=0.5)
    assert slow.send("SLOW", TITLE, BODY) == "the service did not answer within 0.5 s"
    assert "still has not answered" in slow.send("SLOW", TITLE, BODY)
    stuck = next(thread for thread in threading.enumerate() if thread.name == "sends to SLOW")
    released, hook.trickles = hook.trickles, None
    assert Notifier(environ).send("OTHER", TITLE, BODY) == "" and hook.paths == ["/other"]
    released.set()
    stuck.join(30)
    assert not stuck.is_alive() and slow.send("SLOW", TITLE, BODY) == ""

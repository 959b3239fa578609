"""One Chromium: found, started as nobody who matters, and ended together with all its children.

Its own sandbox where it can have one; under root also an unprivileged user, because a browser must never run as root.
It reaches the world through the guard's proxy alone: it resolves no names, speaks no UDP and calls nobody by itself.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-pings",
    "--mute-audio",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # names are the proxy's to resolve
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # else a page reaches any address by STUN
    "--js-flags=--max-old-space-size=512",
)
USER = "nobody"


class AbsentError(Exception):
    """There is no browser here; the message is a sentence that says how to get one."""


@dataclass(slots=True)
class Chromium:
    """A running browser. *pages* counts what it has read, *reading* who is at it; *own_user*: not as we are."""

    browser: Browser
    folder: Path
    sandboxed: bool
    own_user: bool
    pages: int = 0
    reading: int = 0
    ended: bool = False
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def version(self) -> str:
        return f"Chromium {self.browser.version}"

    async def end(self) -> None:
        """End it and all its children, whatever they are at."""
        if self.ended:
            return
        self.ended = True
        kill(self.folder)
        with contextlib.suppress(Exception):  # it is gone already: the driver only has to notice
            await self.browser.close()
        self._stack.close()


def find(named: str = "") -> str:
    """Where the browser lies, as an editor *named* it or as the system has it. Raises AbsentError."""
    if named:
        if shutil.which(named) is None:
            raise AbsentError(f"there is no browser at {named}, which [render] browser names")
        return named
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise AbsentError("no Chromium is installed: `apt install chromium`, or name one by [render] browser")
    return found


async def start(playwright: Playwright, path: str, proxy_port: int, ca_bundle: str) -> Chromium:
    """Start it with an empty profile. Raises AbsentError when it does not start."""
    root = os.geteuid() == 0
    ways = ((True, root), (False, True)) if root else ((True, False),)  # (its own sandbox, as another user)
    faults = []
    for sandboxed, own_user in ways:
        stack = contextlib.ExitStack()
        folder = stack.enter_context(_home(own_user, ca_bundle))
        env = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}  # no secret of ours
        try:
            browser = await playwright.chromium.launch(
                executable_path=str(_starter(folder, path, own_user)),
                chromium_sandbox=sandboxed,
                args=list(FLAGS),
                env={**env, "PATH": os.environ.get("PATH", os.defpath)},
                proxy={"server": f"http://127.0.0.1:{proxy_port}", "bypass": "<-loopback>"},
                handle_sigint=False, handle_sigterm=False, handle_sighup=False,
            )  # fmt: skip
            return Chromium(browser, folder, sandboxed, own_user, _stack=stack)
        except Exception as error:  # whatever the driver has to say: one sentence of it
            kill(folder)
            stack.close()
            faults.append(str(error).strip().splitlines()[0])
    how = "" if root else ": its sandbox needs user namespaces here, or Debian's chromium-sandbox"
    raise AbsentError(f"Chromium does not start ({faults[-1]}){how}")


def kill(folder: Path) -> None:
    """End the process group whose first process lies written in *folder*."""
    with contextlib.suppress(OSError, ValueError):
        os.killpg(int((folder / "pid").read_text()), signal.SIGKILL)


@contextlib.contextmanager
def _home(own_user: bool, ca_bundle: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sourcewatch-browser-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _trust(folder, ca_bundle)
        if own_user:
            who = pwd.getpwnam(USER)
            for place in [folder, *folder.rglob("*")]:
                os.chown(place, who.pw_uid, who.pw_gid)
        yield folder


def _starter(folder: Path, path: str, own_user: bool) -> Path:
    """A script that the driver starts in the browser's place: it writes down who it is, and becomes the browser."""
    as_user: Sequence[str] = ()
    if own_user:
        who = pwd.getpwnam(USER)
        as_user = ("setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups")
    script = folder / "start"
    words = " ".join(_quoted(word) for word in (*as_user, path))
    profile = _quoted(str(folder / "profile"))
    script.write_text(
        f'#!/bin/sh\necho $$ > {_quoted(str(folder / "pid"))}\nexec {words} "$@" --user-data-dir={profile}\n'
    )
    script.chmod(0o755)
    return script


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _trust(folder: Path, ca_bundle: str) -> None:
    """Let the browser trust the roots that [fetch] ca_bundle adds, where NSS's certutil is here to tell it so."""
    if not ca_bundle or shutil.which("certutil") is None:
        return
    store = folder / ".pki" / "nssdb"
    store.mkdir(parents=True)
    database = f"sql:{store}"
    subprocess.run(["certutil", "-N", "--empty-password", "-d", database], check=True, capture_output=True, timeout=30)
    pem = Path(ca_bundle).read_text(encoding="ascii", errors="replace")
    for n, one in enumerate(part for part in pem.split("-----BEGIN CERTIFICATE-----")[1:]):
        words = ["certutil", "-A", "-d", database, "-n", f"root {n}", "-t", "C,,", "-a"]
        given = (
            "-----BEGIN CERTIFICATE-----"
            + one.partition("-----END CERTIFICATE-----")[0]
            + "-----END CERTIFICATE-----\n"
        )
        subprocess.run(words, input=given.encode(), check=True, capture_output=True, timeout=30)

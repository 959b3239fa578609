"""One Chromium: found, started as nobody who matters, and ended together with all its children.

Its own sandbox where it can have one; under root also an unprivileged user, because a browser must never run as root.
It reaches the world through the guard's proxy alone: it resolves no names, speaks no UDP and calls nobody by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
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
    # two pages for the address bar in every window: 0.7 s of CPU for each page that is read (measured, Chromium 156)
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
)
OPENS_NO_WINDOWS = ["--disable-popup-blocking"]  # the driver's wish, and not ours
OWN_USER = 62_017  # of nobody: in the range that systemd, too, gives to passing users (61184–65519)
STARTS_WITHIN_MS = 30_000
# The kernel ends the browser when the driver dies, even by kill -9; the wish is forgotten when the user changes. Of
# several lists of features Chromium believes the last alone, and the driver has one of its own.
_BECOME = """\
import ctypes, os, sys
user, off = int(sys.argv[1]), "--disable-features="
words = [word for word in sys.argv[2:] if not word.startswith(off)]
words.append(off + ",".join(word.removeprefix(off) for word in sys.argv[2:] if word.startswith(off)))
if user:
    os.setgroups([]), os.setgid(user), os.setuid(user)
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
os.execv(words[0], words)
"""


class AbsentError(Exception):
    """There is no browser here; the message is a sentence that says how to get one."""


class StartError(Exception):
    """A browser is here, and did not start this time; a sentence."""


@dataclass(slots=True)
class Chromium:
    """A running browser. *gone* is set when it ends, however, and *why* says how.

    *pages* counts what it has read, *reading* who is at it, *shared* whether that was more than
    one meanwhile; *sandboxed*: by itself; *own_user*: as a user of its own.
    """

    browser: Browser
    group: int
    sandboxed: bool
    own_user: bool
    pages: int = 0
    reading: int = 0
    shared: bool = False
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    why: str = "the browser ended in the middle of the page"
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def version(self) -> str:
        return f"Chromium {self.browser.version}"

    def memory_bytes(self) -> int:
        """What its processes have for themselves; 0 where the system does not tell."""
        return sum(_own_bytes(pid) for pid in _members(self.group))

    def kill(self, why: str = "") -> None:
        """End it and all its children, whatever they are at."""
        if not self.gone.is_set():
            self.why = why or self.why
            self.gone.set()
            _kill(self.group)

    async def end(self) -> None:
        self.kill()
        with contextlib.suppress(Exception):  # it is gone: the driver only has to notice
            async with asyncio.timeout(5):
                await self.browser.close()
        self._stack.close()


def find(named: str = "") -> str:
    """Where the browser lies, as an editor *named* it or as the system has it. Raises AbsentError."""
    found = next((path for name in ((named,) if named else NAMES) if (path := shutil.which(name))), None)
    if found is None and named:
        raise AbsentError(f"there is no browser at {named}, which [render] browser names")
    if found is None:
        raise AbsentError("no Chromium is installed: `apt install chromium`, or name one by [render] browser")
    return str(Path(found).absolute())


async def start(playwright: Playwright, path: str, proxy_port: int, ca_bundle: str) -> Chromium:
    """Start it with an empty profile. Raises StartError."""
    root = os.geteuid() == 0
    faults = []
    for sandboxed in (True, False) if root else (True,):  # never without both: a sandbox, and a user of its own
        stack = contextlib.ExitStack()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sourcewatch-browser-")))
        try:
            browser = await _launch(playwright, path, folder, proxy_port, ca_bundle, sandboxed=sandboxed, root=root)
            return _made(browser, Chromium(browser, _group(folder), sandboxed, root, _stack=stack))
        except BaseException as error:
            _kill(_group(folder))
            stack.close()
            if not isinstance(error, Exception):
                raise
            faults.append((str(error).strip() or type(error).__name__).splitlines()[0][:300])  # the driver's own words
    how = "" if root else ": its sandbox needs user namespaces here, or Debian's chromium-sandbox"
    raise StartError(f"Chromium does not start ({faults[-1]}){how}")


def _made(browser: Browser, made: Chromium) -> Chromium:
    browser.on("disconnected", lambda _: made.kill())
    if not browser.is_connected():
        made.kill()
    return made


async def _launch(
    playwright: Playwright, path: str, folder: Path, proxy_port: int, ca_bundle: str, *, sandboxed: bool, root: bool
) -> Browser:
    home = _home(folder, ca_bundle, own_user=root)
    return await playwright.chromium.launch(
        executable_path=str(_starter(folder, home, path, own_user=root)),
        chromium_sandbox=sandboxed,
        args=list(FLAGS),
        ignore_default_args=OPENS_NO_WINDOWS,
        env={"HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)},
        proxy={"server": f"http://127.0.0.1:{proxy_port}", "bypass": "<-loopback>"},
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        timeout=STARTS_WITHIN_MS,
    )


def _home(folder: Path, ca_bundle: str, *, own_user: bool) -> Path:
    """The only place that the browser may write to. Who starts and ends it keeps *folder* itself."""
    home = folder / "home"
    home.mkdir()
    _trust(home, ca_bundle)
    if own_user:
        folder.chmod(0o711)
        for place in [home, *home.rglob("*")]:
            os.chown(place, OWN_USER, OWN_USER)
    return home


def _starter(folder: Path, home: Path, path: str, *, own_user: bool) -> Path:
    """A script that the driver starts in the browser's place: it writes down who it is, and becomes the browser."""
    script, user = folder / "start", str(OWN_USER if own_user else 0)
    become = shlex.join([sys.executable, "-I", "-S", "-c", _BECOME, user, path])
    profile = shlex.quote(f"--user-data-dir={home / 'profile'}")  # the driver's own folder is closed to that user
    script.write_text(f'#!/bin/sh\necho $$ > {shlex.quote(str(folder / "pid"))}\nexec {become} "$@" {profile}\n')
    script.chmod(0o700)
    return script


def _group(folder: Path) -> int:
    try:
        return int((folder / "pid").read_text())
    except (OSError, ValueError):
        return 0  # it did not come so far


def _kill(group: int) -> None:
    if group:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)


def _members(group: int) -> list[int]:
    """The processes of a group, as Linux tells them."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            if stat.read_bytes().rpartition(b")")[2].split()[2] == str(group).encode():
                found.append(int(stat.parent.name))
    return found


def _own_bytes(pid: int) -> int:
    """What a process does not share with files that lie on the disk."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


def _trust(home: Path, ca_bundle: str) -> None:
    """Let the browser trust the roots that [fetch] ca_bundle adds, where NSS's certutil is here to tell it so."""
    certutil = shutil.which("certutil")
    if not ca_bundle or certutil is None:
        return
    store = home / ".pki" / "nssdb"
    store.mkdir(parents=True)

    def tell(*words: str, given: str = "") -> None:
        command = [certutil, *words, "-d", f"sql:{store}"]
        subprocess.run(command, input=given.encode(), check=True, capture_output=True, timeout=30)

    tell("-N", "--empty-password")
    begins, ends = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    for n, part in enumerate(Path(ca_bundle).read_text(encoding="utf-8", errors="replace").split(begins)[1:]):
        tell("-A", "-n", f"root {n}", "-t", "C,,", "-a", given=f"{begins}{part.partition(ends)[0]}{ends}\n")

"""One process and one event loop: the daemon and the web application over the same house."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from ..domain.errors import ConfigError
from ..domain.kept import DueRow
from ..domain.message import Backlog
from . import wiring
from .crew import crew
from .daemon import Daemon
from .helping import helping
from .jobs import jobs
from .moving import mover_of
from .signals import HARD, stop_signals
from .web import app, moves_page
from .web.ops import Meter, Ops

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from .wiring import House

DRAIN_S = 30.0

_log = logging.getLogger(__name__)


async def serve(house: House, config: Path, listening: socket.socket) -> int:
    """Serve until SIGTERM or SIGINT; the exit code. A second signal stops without waiting for what is under way.

    Raises BusyError, StorageError before anything is begun.
    """
    asked, again = stop_signals()
    async with crew(house, "serve") as at_hand:
        meter, front = Meter(), Front(lambda source: mover_of(at_hand).look(source))
        daemon = Daemon(
            at_hand,
            config,
            meter,
            [*jobs(house.settings), *helping(lambda: nullcontext(at_hand))],
            adopted=lambda new: front.show(new, ops, listening),
        )
        ops = Ops(
            daemon.pulse, meter, lambda: rows_of(at_hand.house), lambda: shutil.disk_usage(house.data).free,
            at_hand.hosts.left_alone, wiring.now,
        )  # fmt: skip
        front.show(house, ops, listening)
        server, serving = begin(front, listening, house)
        watching = asyncio.create_task(daemon.watch_clock())
        starting = asyncio.create_task(daemon.start())
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, daemon.look_now)
        await asked.wait()
        _log.info("stopping: what is under way may end within %g s", DRAIN_S)
        draining = asyncio.create_task(daemon.drain(DRAIN_S))
        hurrying = asyncio.create_task(again.wait())
        await asyncio.wait((draining, hurrying), return_when=asyncio.FIRST_COMPLETED)
        if hurried := not draining.done():
            draining.cancel()
            await daemon.drain(0)
        server.should_exit = True
        for task in (watching, hurrying, starting):
            task.cancel()
        await asyncio.gather(serving, watching, hurrying, starting, draining, return_exceptions=True)
    _log.info("stopped")
    return HARD if hurried else 0


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, before anything else is begun. Raises ConfigError with a sentence."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=256)
    except (OSError, OverflowError, UnicodeError) as error:
        raise ConfigError([f"cannot listen at {host}:{port}: {getattr(error, 'strerror', None) or error}"]) from None
    # asyncio does so only for sockets that name their protocol; without it a small answer waits 40 ms for an ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def begin(front: Front, listening: socket.socket, house: House) -> tuple[uvicorn.Server, asyncio.Task[None]]:
    """The server at work; it ends when its `should_exit` is set."""
    server = _Server(
        uvicorn.Config(
            front,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=5,
        )
    )
    host, port = listening.getsockname()[:2]
    _log.info(
        "serving http://%s:%d/, %d sources", f"[{host}]" if ":" in host else host, port, len(house.settings.sources)
    )
    return server, asyncio.create_task(server.serve([listening]))


class Front:
    """The application over the newest configuration; *look* is how an editor lets who is at work look for a source."""

    def __init__(self, look: moves_page.Look | None = None) -> None:
        self._app: ASGIApp | None = None
        self.look = look

    def show(self, house: House, ops: Ops, listening: socket.socket) -> None:
        more = [*ops.routes(), *(moves_page.looking(self.look) if self.look else ())]
        self._app = app.build(house, extra_routes=more, bind=listening.getsockname()[0])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None
        await self._app(scope, receive, send)


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are ours: checks come to their end first


def rows_of(house: House) -> tuple[DueRow, Backlog]:
    now = wiring.now()
    return house.queue.due(now), house.outbox.backlog(now)

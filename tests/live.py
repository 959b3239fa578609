"""Our web face on a free port of loopback, as readers meet it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import uvicorn
from starlette.routing import BaseRoute

from sourcewatch.faces import wiring
from sourcewatch.faces.web.app import build


@contextmanager
def live(folder: Path, *more: BaseRoute, environ: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """The address, with a slash at its end, of the application over the folder's sources.toml."""
    with wiring.open_house(folder / "sources.toml", None, environ) as house:
        app = build(house, extra_routes=more)
        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/"
        server.should_exit = True
        thread.join()

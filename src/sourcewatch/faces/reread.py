"""sources.toml while a process runs: adopted when it changes, and kept as it was when it is broken."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ..domain.errors import ConfigError
from ..domain.source import Settings
from ..services.threads import aside
from . import wiring
from .pulse import Pulse
from .wiring import House

_log = logging.getLogger(__name__)


class Adopts(Protocol):
    """Works by a configuration, and by another one from now on. Raises StorageError; then the old one stays."""

    async def adopt(self, settings: Settings) -> None: ...

    @property
    def house(self) -> House: ...


@dataclass(slots=True)
class Rereader:
    """*adopted* is told of each new house."""

    config: Path
    crew: Adopts
    pulse: Pulse
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    adopted: Callable[[House], None] = lambda house: None
    _seen: tuple[int, ...] | None = field(init=False)

    def __post_init__(self) -> None:
        self._seen = _signature(self.config)

    async def look(self) -> None:
        """Adopt the file when it has changed; a fault in it is told. Raises StorageError; then it is tried again."""
        signature = _signature(self.config)
        if signature == self._seen:
            return
        try:
            settings = await aside(wiring.read_settings, self.config, self.environ)
        except ConfigError as error:
            self._seen = signature
            words = f"{error.faults[0]} ({len(error.faults)} faults); the file as it was before stays in use"
            self.pulse.fault("configuration", words, wiring.now())
            return
        await self.crew.adopt(settings)
        self._seen = signature
        self.pulse.well("configuration")
        _log.info("%s was read again: %d sources", self.config, len(settings.sources))
        self.adopted(self.crew.house)


def _signature(path: Path) -> tuple[int, ...] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino

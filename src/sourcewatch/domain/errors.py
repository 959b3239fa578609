"""What stops the program: its own storage, or another run. Each message is one sentence for people."""

from __future__ import annotations


class StorageError(Exception):
    """Snapshots or database cannot be written or read; the run stops with exit code 4 and nothing half-written."""


class UnreadableError(StorageError):
    """One kept file is gone or damaged, while the storage as such works: told, and the others are gone on with."""


class BusyError(Exception):
    """Another run holds the lock; the message names the holder."""


class TakenError(Exception):
    """Work that this process was given belongs to another by now: nothing of it is written. *sources* are whose."""

    def __init__(self, sources: frozenset[str]) -> None:
        super().__init__(f"given to another meanwhile: {', '.join(sorted(sources))}")
        self.sources = sources


class ConfigError(Exception):
    """sources.toml cannot be used. *faults* are sentences with file, line and key, one each."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults

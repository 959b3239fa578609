"""Is everything as it should be? Looks at configuration, database, trust store, clock, disk and network."""

from __future__ import annotations

import shutil
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from ..domain.errors import ConfigError, StorageError
from ..domain.source import Settings
from . import wiring

LEAST_FREE_BYTES = 500_000_000
MADE_AT = datetime(2026, 12, 1, tzinfo=UTC)  # a clock before this version was written is wrong
MOST_HOSTS = 3

Finding = tuple[bool, str, str]


def examine(config: Path, data: Path | None) -> Iterator[Finding]:
    """(good, what, a sentence) for each part, in the order in which they depend on each other."""
    try:
        settings = wiring.read_settings(config)
    except ConfigError as error:
        yield False, "configuration", f"{len(error.faults)} faults, the first: {error.faults[0]}"
        return
    yield True, "configuration", f"{config}: {len(settings.sources)} sources, no fault"
    yield from _storage(config, data)
    yield _trust(settings)
    if any(source.render != "never" for source in settings.sources):
        yield wiring.browser_here(settings)
    yield from _network(settings)


def _storage(config: Path, data: Path | None) -> Iterator[Finding]:
    try:
        with wiring.open_house(config, data) as house:
            fault = wiring.schema_fault(house.database_url)
            yield (
                fault is None,
                "database",
                fault or f"{wiring.shown_url(house.database_url)}: schema and guards in place",
            )
            yield _clock(house)
            yield _disk(house.data)
            if house.settings.storage.startswith("s3://"):
                yield _bucket(house)
    except StorageError as error:
        yield False, "database", str(error)


def _clock(house: wiring.House) -> Finding:
    now = wiring.now()
    newest = max(
        (s.checked_at for s in house.ledger.standings(now + timedelta(days=36_500)).values() if s.checked_at),
        default=None,
    )
    if now < MADE_AT:
        return False, "clock", f"{now:%Y-%m-%d %H:%M} UTC is before this version was made: dates would lie"
    if newest is not None and newest > now + timedelta(minutes=5):
        return False, "clock", f"{now:%Y-%m-%d %H:%M} UTC is before the newest check ({newest:%Y-%m-%d %H:%M})"
    return True, "clock", f"{now:%Y-%m-%d %H:%M} UTC"


def _disk(data: Path) -> Finding:
    try:
        probe = data / ".doctor"
        try:
            probe.write_bytes(b"x")
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        return False, "disk", f"{data} cannot be written: {error.strerror}"
    free = shutil.disk_usage(data).free
    return free >= LEAST_FREE_BYTES, "disk", f"{free / 1e9:.1f} GB free in {data}"


def _bucket(house: wiring.House) -> Finding:
    """Some servers ignore the condition under which a name is given to one writer: snapshots would be overwritten."""
    name, shown = f"doctor/{uuid4().hex}", house.settings.storage
    try:
        house.store.put(name, b"first")
        again = house.store.put(name, b"second")
        kept = house.store.get(name)
        house.store.delete([name])
    except StorageError as error:
        return False, "bucket", str(error)
    if again or kept != b"first":
        return (
            False,
            "bucket",
            f"{shown}: it overwrites what is there (If-None-Match is ignored): snapshots could be lost",
        )
    return True, "bucket", f"{shown}: written, read and removed, and nothing is overwritten"


def _trust(settings: Settings) -> Finding:
    try:
        context = ssl.create_default_context()
        if settings.fetch.ca_bundle:
            context.load_verify_locations(settings.fetch.ca_bundle)
    except (OSError, ssl.SSLError) as error:
        return False, "trust store", f"{settings.fetch.ca_bundle or 'the system’s'} cannot be read: {error}"
    roots = context.cert_store_stats()["x509_ca"]
    where = ssl.get_default_verify_paths()
    return roots > 0, "trust store", f"{roots} roots ({where.cafile or where.capath or 'none found'})"


def _network(settings: Settings) -> Iterator[Finding]:
    """Whether names resolve: if none does, the network itself is down, and a run would prove nothing."""
    hosts = list(dict.fromkeys(urlsplit(s.address).hostname or "" for s in settings.sources if s.address))[:MOST_HOSTS]
    if not hosts:
        yield True, "network", "no source has an address: nothing to reach"
        return
    failed = []
    for host in hosts:
        try:
            socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            failed.append(f"{host} ({error})")
    if len(failed) == len(hosts):
        yield False, "network", f"no name resolves: {'; '.join(failed)}"
    else:
        yield True, "network", f"names resolve ({len(hosts) - len(failed)} of {len(hosts)} tried)"

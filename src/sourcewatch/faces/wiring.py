"""Builds the adapters and hands them to the services: the only module that knows both."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..domain.errors import StorageError

if TYPE_CHECKING:
    from ..adapters.archive_rows import ArchiveRows
    from ..adapters.audits import Audits
    from ..adapters.desk_rows import DeskRows
    from ..adapters.guard import Resolve
    from ..adapters.ledger import Ledger
    from ..adapters.move_rows import MoveRows
    from ..adapters.outbox import Outbox
    from ..adapters.outside_rows import OutsideRows
    from ..adapters.queue_rows import Queue
    from ..adapters.retention import Retention
    from ..adapters.reviews import Reviews
    from ..adapters.save_rows import SaveRows
    from ..adapters.search import Search
    from ..adapters.site_rows import SiteRows
    from ..adapters.snapshots import Snapshots
    from ..adapters.store import Store
    from ..adapters.tokens import Tokens
    from ..adapters.trend_rows import TrendRows
    from ..analysis.judge import Task
    from ..domain.audit import Audit
    from ..domain.check import Judgement
    from ..domain.copies import OutsideCopy
    from ..domain.kept import WorkerRow
    from ..domain.reading import Fault
    from ..domain.retention import Removal
    from ..domain.source import Editor, Settings, Source
    from ..domain.verdict import Verdict
    from ..services.messages import Delivered
    from ..services.ports import Clock
    from ..services.rebuild import Rebuilt
    from ..services.run import Progress, Tally

SOFTWARE = f"sourcewatch/{__version__}"
DATABASE_VARIABLE = "SOURCEWATCH_DATABASE_URL"
WORKERS = 2
MOST_LATE_TOKENS = 7  # days whose manifests an authority is asked about once more


def judge(task: Task) -> Judgement:
    """What the worker processes run; they import the analysis, this process need not."""
    from ..analysis.judge import judge

    return judge(task)


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class House:
    """A configuration with its data folder, its ledger and its snapshots."""

    settings: Settings
    data: Path
    ledger: Ledger
    queue: Queue
    store: Store
    snapshots: Snapshots
    database_url: str
    audits: Audits
    retention: Retention
    archive: ArchiveRows
    outbox: Outbox
    reviews: Reviews
    desk: DeskRows
    search: Search
    site: SiteRows
    tokens: Tokens
    trends: TrendRows
    moves: MoveRows
    outside: OutsideRows
    saves: SaveRows
    config: Path


def seconds(text: str) -> float:
    """A duration as in sources.toml. Raises ValueError with a sentence for people."""
    from ..adapters import config_values

    return config_values.seconds(text)


def read_settings(path: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """sources.toml. Raises ConfigError with every fault."""
    from ..adapters import config

    return config.load(path, environ, _selector_error)


def _selector_error(css: str) -> str | None:
    from ..analysis.extract import selector_error

    return selector_error(css)


def database_url(data: Path, environ: Mapping[str, str] = os.environ) -> str:
    """PostgreSQL where the environment names it, else the data folder's own file."""
    from ..adapters.database import sqlite_url

    given = environ.get(DATABASE_VARIABLE, "")
    if given.startswith(("postgresql://", "postgres://")):
        return "postgresql+psycopg://" + given.partition("://")[2]
    return given or sqlite_url(data / "sourcewatch.db")


@contextmanager
def open_house(path: Path, data: Path | None = None, environ: Mapping[str, str] = os.environ) -> Iterator[House]:
    """Read the configuration, then open (and where needed upgrade) the storage. Raises ConfigError, StorageError."""
    from ..adapters import database
    from ..adapters.archive_rows import ArchiveRows
    from ..adapters.audits import Audits
    from ..adapters.desk_rows import DeskRows
    from ..adapters.ledger import Ledger
    from ..adapters.move_rows import MoveRows
    from ..adapters.outbox import Outbox
    from ..adapters.outside_rows import OutsideRows
    from ..adapters.queue_rows import Queue
    from ..adapters.retention import Retention
    from ..adapters.reviews import Reviews
    from ..adapters.save_rows import SaveRows
    from ..adapters.search import Search
    from ..adapters.site_rows import SiteRows
    from ..adapters.snapshots import Snapshots
    from ..adapters.store import open_store
    from ..adapters.tokens import Tokens
    from ..adapters.trend_rows import TrendRows

    settings = read_settings(path, environ)
    folder = (data or path.parent).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"the data folder {folder} cannot be made: {error.strerror}") from error
    url = database_url(folder, environ)
    store = open_store(settings.storage, folder, environ)
    engine = database.open_engine(url)
    try:
        database.upgrade(engine)
        house = House(
            settings=settings,
            data=folder,
            ledger=Ledger(engine),
            queue=Queue(engine),
            store=store,
            snapshots=Snapshots(store, SOFTWARE),
            database_url=url,
            audits=Audits(engine),
            retention=Retention(engine, store),
            archive=ArchiveRows(engine),
            outbox=Outbox(engine),
            reviews=Reviews(engine, store),
            desk=DeskRows(engine),
            search=Search(engine, folder),
            site=SiteRows(engine),
            tokens=Tokens(folder),
            trends=TrendRows(engine),
            moves=MoveRows(engine),
            outside=OutsideRows(engine),
            saves=SaveRows(engine),
            config=path,
        )
        mirror(house, now())  # whoever only reads asks about the addresses of today, too
        yield house
    finally:
        engine.dispose()


def best_copies(house: House) -> dict[str, OutsideCopy]:
    """For each source the outside copy that can stand for the cited version, where one is known."""
    from ..domain.copies import best_of

    return best_of(house.outside.of())


def lost(house: House, at: datetime, *, dead_too: bool) -> list[tuple[Source, datetime | None]]:
    """Declared pages that are gone or lead elsewhere for good (or are dead), and since when they cannot be read.

    Raises StorageError.
    """
    from ..services import moves, publish

    standings = publish.view(house.settings, house.ledger, at).standings
    found = []
    for source in house.settings.sources:
        standing = standings.get(source.id)
        if standing is None or not source.by_itself or not source.url or (source.read and not dead_too):
            continue
        if (dead_too and standing.dead) or (standing.verdict is not None and moves.is_lost(standing.verdict)):
            found.append((source, standing.failing_since))
    return found


def mirror(house: House, at: datetime) -> None:
    """Let the database know what sources.toml declares. Raises StorageError."""
    house.ledger.sync(house.settings.sources, at)
    house.queue.sync(house.settings.sources, house.settings.site.timezone, at)


def browser_here(settings: Settings) -> tuple[bool, str, str]:
    """Whether there is a browser for the sources that ask for one, as `doctor` tells it."""
    import asyncio

    from ..adapters.browser import Browser
    from ..adapters.chromium import AbsentError
    from ..adapters.guard import Guard
    from ..adapters.hosts import Hosts

    async def look() -> str:
        async with Browser(Guard(), Hosts({}), settings.fetch, settings.render, user_agent="") as browser:
            return await browser.look()

    try:
        return True, "browser", asyncio.run(look())
    except AbsentError as error:
        return False, "browser", f"{error}; pages that ask for one are read by plain HTTP"


def user_agent(settings: Settings) -> str:
    """Names the product, the site that asks, and whom to write to."""
    about = "; ".join(filter(None, (f"+{settings.site.url}" if settings.site.url else "", settings.fetch.contact)))
    return f"{SOFTWARE} ({about})" if about else SOFTWARE


async def run_pass(
    house: House,
    only: Sequence[str] = (),
    *,
    all_of_them: bool = False,
    trigger: str = "run",
    told: Progress = lambda line: None,
    clock: Clock = now,
    resolve: Resolve | None = None,
) -> Tally:
    """One pass under the run lock. *resolve* stands in for the name service. Raises BusyError, StorageError."""
    from .crew import crew

    async with crew(house, trigger, clock=clock, resolve=resolve) as at_hand:
        tally = await at_hand.runner.run(only, all_of_them=all_of_them, trigger=trigger, told=told)
        for fault in await at_hand.threads.files(close_days, house, clock()):
            logging.getLogger(__name__).warning("nobody else vouches for this day yet: %s", fault)
        return tally


async def clear_up(house: House, clock: Clock, *, killed: bool) -> None:
    """Finish what a run left half done that was *killed*, or could not come to its end. The caller holds the lock."""
    cut_short = killed or house.ledger.cut_short()
    house.snapshots.tidy(clock(), cut_short=cut_short)
    if cut_short:  # a kill between a snapshot and its row: the row is made now
        await _rebuild(house, lambda day, so_far: None, clock)
    house.queue.release()


def deliver_due(house: House, clock: Clock = now, environ: Mapping[str, str] = os.environ) -> Delivered:
    """Send the editors what is due now, at once or in a digest. Blocks while it sends. Raises StorageError."""
    from ..adapters.notify import Notifier
    from ..services.messages import Postman

    return Postman(house.settings, house.outbox, Notifier(environ).send, clock).deliver()


def send_trial(settings: Settings, editor: Editor, variable: str, environ: Mapping[str, str] = os.environ) -> str:
    """Send a test message to one address: "" or why it did not go out."""
    from ..adapters.notify import Notifier
    from ..services.messages import trial

    return trial(settings, editor, variable, Notifier(environ).send)


def verify(house: House, at: datetime, sample: float | None = None) -> Audit:
    """Verify the archive, or a share of it, and the timestamps where an authority's root is configured."""
    from ..adapters import timestamps
    from ..adapters.evidence import Evidence
    from ..adapters.manifest import Manifests
    from ..services import verify as service

    if sample is None and (damage := database_damage(house.database_url)):
        raise StorageError(
            f"the database is damaged: {damage}; put a copy back, or make it again: `sourcewatch rebuild`"
        )
    wrong = {}
    if house.settings.proof.tsa_ca:
        manifests = Manifests(house.store)
        roots = timestamps.certificates(Path(house.settings.proof.tsa_ca))
        wrong = timestamps.faults(house.store, [manifests.path(day) for day in manifests.days()], roots)
    notes = tuple(filter(None, [ahead(house.ledger.dated_ahead(at))]))
    return service.verify(Evidence(house.store), house.audits, at, sample=sample, timestamps=wrong, notes=notes)


def ahead(count: int) -> str:
    """What is to be said of records that are dated in the future, or ""."""
    if not count:
        return ""
    records, they = ("1 record", "is") if count == 1 else (f"{count} records", "are")
    was = "it was" if count == 1 else "they were"
    return f"{records} of a check {they} dated in the future; the clock was wrong when {was} written"


def strays(house: House, at: datetime) -> list[str]:
    """Snapshots that no row knows and that nobody can be writing a row of any more."""
    from ..adapters.evidence import Evidence
    from ..services import verify as service

    return service.strays(Evidence(house.store), house.audits, at)


def reread(task: tuple[Task, Verdict]) -> Judgement | Fault:
    """What the worker processes run while the database is made again."""
    from ..analysis.judge import reread

    return reread(*task)


async def rebuild(house: House, told: Callable[[date, Rebuilt], None], clock: Clock = now) -> Rebuilt:
    """Bring the archive into the database: everything into an empty one, else what no row knows.

    Raises BusyError, StorageError.
    """
    from ..adapters.lock import run_lock

    with run_lock(house.data, "rebuild"), house.ledger.exclusive():
        return await _rebuild(house, told, clock)


async def _rebuild(house: House, told: Callable[[date, Rebuilt], None], clock: Clock) -> Rebuilt:
    from ..adapters.archive import Archive
    from ..adapters.processes import Processes
    from ..services.rebuild import Rebuilder
    from ..services.threads import Threads

    with Threads() as threads:
        async with Processes(reread, WORKERS, preload="sourcewatch.analysis.judge") as rereading:
            archive, known, until = Archive(house.store), house.audits.records(), house.audits.until()
            rebuilder = Rebuilder(
                house.settings, house.ledger, house.snapshots, archive, rereading, threads, clock, known, until, told
            )
            done = await rebuilder.rebuild(messages=bool(until) and not house.audits.half_made())
            done.lost += await threads.rows(_decisions, house)
            return done


def _decisions(house: House) -> list[tuple[str, str]]:
    """Bring in the decisions that no row knows; what could not be, as (path, sentence)."""
    lost: list[tuple[str, str]] = []
    versions = house.audits.records()
    for path, review in house.reviews.files.read(lost):
        if why := house.reviews.bring_in(review, versions):
            lost.append((path, why))
    return lost


def retain(house: House, at: datetime, *, apply: bool = False, locked: bool = False) -> Removal:
    """What [retain] lets go; removed under the run lock when *apply* (*locked*: the caller holds it).

    Raises BusyError, StorageError.
    """
    from ..adapters.lock import run_lock
    from ..services import retain as service

    if locked or not apply:
        return service.retain(house.retention, house.settings, at, apply=apply)
    with run_lock(house.data, "retain"), house.ledger.exclusive():
        return service.retain(house.retention, house.settings, at, apply=True)


def close_days(house: House, at: datetime) -> list[str]:
    """Write the manifest of the days that are over, and let others vouch for it. What they could not do, in sentences.

    An authority that gave no token is asked again the next time. Raises StorageError.
    """
    from ..adapters import manifest, retention, timestamps, tls
    from ..adapters.manifest import Manifests

    house.retention.make_room(at)
    proof, manifests = house.settings.proof, Manifests(house.store)
    failed: list[str] = []
    closed = manifests.close(at)
    known = {one.path for one in house.audits.noted()}
    new = [path for day in manifests.days() if (path := manifests.path(day)) not in known]
    new += [] if known else retention.notes(house.store)  # a database that was made again meets them now
    house.audits.note_files({path: manifest.sha256_of(house.store, path) for path in new}, at)
    if closed is not None and proof.hook:
        with house.store.as_file(closed) as file:
            failed += filter(None, [timestamps.hook(proof.hook, file)])
    if proof.tsa:
        roots = timestamps.certificates(Path(proof.tsa_ca)) if proof.tsa_ca else []
        for path in [manifests.path(day) for day in manifests.days()[-MOST_LATE_TOKENS:]]:
            if house.store.find(timestamps.token_path(path)) is None:
                try:
                    timestamps.stamp(house.store, path, proof.tsa, roots, tls.trust(house.settings.fetch.ca_bundle))
                except timestamps.AuthorityError as error:
                    failed.append(str(error))
    return failed


def backup(house: House, to: Path) -> str:
    """Copy the database; what was done, in a sentence. Raises ConfigError for PostgreSQL, StorageError."""
    from ..adapters import backup

    size = backup.backup(house.database_url, to)
    return f"{to}: {size / 1e6:.1f} MB, verified; snapshots/ is copied beside it by any tool that copies files"


def copy_database(house: House, to: str, storage: str, told: Callable[[str], None]) -> str:
    """Copy rows, and where *storage* is given the snapshots too, and compare them; what was done, in a sentence.

    Nobody may run at either meanwhile. Raises BusyError, ConfigError, StorageError.
    """
    from ..adapters import copying, database
    from ..adapters.copy_rows import copy_rows
    from ..adapters.exclusive import Exclusive
    from ..adapters.lock import run_lock
    from ..adapters.store import open_store
    from ..domain.errors import ConfigError

    url = database_url(house.data, {DATABASE_VARIABLE: to})
    if database.file_of(house.database_url) is None or not url.startswith("postgresql"):
        raise ConfigError([f"`db copy` goes from a file to postgresql://…; unset {DATABASE_VARIABLE}, and name that"])
    files = ""
    with run_lock(house.data, "db copy"):
        if storage:
            done = copying.copy(house.store, open_store(storage, house.data, os.environ))
            files = f" and {done.written + done.there} files of {done.size_bytes / 1e6:.1f} MB"
            told(f"snapshots: {done.written} files written, {done.there} were there")
        source, target = database.open_engine(house.database_url), database.open_engine(url)
        try:
            database.upgrade(target)
            with Exclusive(target):
                rows = copy_rows(source, target, lambda table, count: told(f"{table}: {count} rows"))
        finally:
            source.dispose()
            target.dispose()
    return f"{database.shown(url)}: {rows} rows{files}, each compared"


def database_damage(url: str) -> str:
    """What is wrong with the database's own file, or "". Raises StorageError."""
    from ..adapters import database

    engine = database.open_engine(url)
    try:
        return database.damage(engine)
    finally:
        engine.dispose()


def schema_fault(url: str) -> str | None:
    """What differs between the database's schema and the one that this version wants, or None."""
    from ..adapters import database

    engine = database.open_engine(url)
    try:
        return database.check(engine)
    finally:
        engine.dispose()


def schema() -> str:
    """The JSON schema of sources.toml."""
    from ..adapters import config

    return config.schema()


def workers(house: House) -> list[WorkerRow]:
    """Those of a PostgreSQL database; elsewhere there are none. Raises StorageError."""
    from ..adapters import database, turn_rows

    if database.file_of(house.database_url) is not None:
        return []
    engine = database.open_engine(house.database_url)
    try:
        return turn_rows.workers(engine)
    finally:
        engine.dispose()


def shown_url(url: str) -> str:
    """A database address without its password."""
    from ..adapters import database

    return database.shown(url)


def loopback_tls(hosts: Sequence[str], untrusted: Collection[str]) -> tuple[dict[str, ssl.SSLContext], str]:
    """Server contexts for hosts of our own, and the root (PEM) that vouches for all of them but the *untrusted*."""
    from ..adapters.certificates import issue, make_root, server_context

    trusted, stranger = make_root("sourcewatch demo root"), make_root("a root that nobody knows")
    contexts = {h: server_context(issue(stranger if h in untrusted else trusted, [h])) for h in hosts}
    return contexts, trusted.pem.decode()

"""`verify` finds what is wrong, says where and since when, and finds nothing where nothing is."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from buckets import harm, moved, names
from site_of_pages import page, row, serving
from sourcewatch.adapters import database
from sourcewatch.adapters.audits import Audits
from sourcewatch.adapters.evidence import Evidence
from sourcewatch.adapters.manifest import Manifests, sha256_of
from sourcewatch.adapters.retention import Retention
from sourcewatch.adapters.snapshots import Snapshots
from sourcewatch.adapters.store import FolderStore, Store
from sourcewatch.domain.audit import Audit, Flaw, FlawKind, Place
from sourcewatch.faces.cli import main
from sourcewatch.services.verify import verify
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
LATER = START + timedelta(days=9)
BODY = "<p>The scheduler places experts at night, and the cache stays warm during the day.</p>" * 3


class Archive:
    """Two versions of a page and one of another, with the manifest of their days."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder, self.store = folder, store
        self.engine = database.open_engine(database.sqlite_url(folder / "sourcewatch.db"))

    def file(self, pattern: str) -> str:
        return names(self.store, pattern)[0]

    def write(self, name: str, text: str) -> None:
        harm(self.store, name, lambda path: path.write_text(text))

    def audit(self, at: datetime = LATER, sample: float | None = None) -> Audit:
        return verify(Evidence(self.store), Audits(self.engine), at, sample=sample)

    def flaws(self, at: datetime = LATER) -> list[Flaw]:
        return list(self.audit(at).flaws)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; every test harms a copy."""
    folder = tmp_path_factory.mktemp("archive")
    watch = Watch(folder)
    with serving() as site:
        rows = row("p", site.url("/p"), "the cache stays warm") + row("q", site.url("/q"))
        site.pages["/p"], site.pages["/q"] = page("P", BODY), page("Q", BODY)
        watch.passes(rows, START)
        watch.passes(rows, START + timedelta(days=1))
        site.pages["/p"] = page("P", BODY + "<p>From November on the panel counts requests instead of words.</p>")
        watch.passes(rows, START + timedelta(days=2))
        watch.passes(rows, START + timedelta(days=3))
    Snapshots(watch.store, "test").tidy(START + timedelta(days=4), cut_short=False)
    Manifests(watch.store).close(START + timedelta(days=4))
    return folder


@pytest.fixture(params=["folder", "bucket"])
def archive(
    request: pytest.FixtureRequest, tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Archive]:
    """Where snapshots lie in a folder, and where they were copied into a bucket."""
    folder = shutil.copytree(made, tmp_path / "archive")
    archive = Archive(folder, FolderStore(folder))
    if request.param == "bucket":
        archive.store = moved(folder, request.getfixturevalue("bucket"), monkeypatch)
    yield archive
    archive.engine.dispose()


def test_an_archive_that_nobody_touched_has_no_flaw(archive: Archive) -> None:
    audit = archive.audit()
    assert audit.flaws == () and audit.files >= 9 and audit.records >= 12


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def reword(path: Path) -> None:
    """Another text in a record, in a sound gzip member, as only somebody who forges would write it."""
    members = gzip.decompress(path.read_bytes())
    assert b"cache" in members
    path.write_bytes(gzip.compress(members.replace(b"cache stays warm", b"cache stays cold", 1)))


def tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize(
    ("pattern", "how", "kinds"),
    [
        ("p/2026/*.warc.gz", flip, {FlawKind.ALTERED, FlawKind.DAMAGED}),
        ("p/2026/*.warc.gz", tear, {FlawKind.ALTERED, FlawKind.DAMAGED}),
        ("p/2026/*.warc.gz", reword, {FlawKind.ALTERED, FlawKind.DAMAGED}),
        ("p/2026/*.warc.gz", Path.unlink, {FlawKind.MISSING}),
        ("p/2026/*.md", lambda path: path.write_text("forged"), {FlawKind.ALTERED}),
        ("p/2026/*.json", lambda path: path.write_text("{"), {FlawKind.ALTERED, FlawKind.DAMAGED}),
        ("p/2026/*.json", Path.unlink, {FlawKind.MISSING}),
    ],
)
def test_harm_is_found_with_its_place(
    archive: Archive, pattern: str, how: Callable[[Path], object], kinds: set[FlawKind]
) -> None:
    path = archive.file(pattern)
    harm(archive.store, path, how)
    flaws = [f for f in archive.flaws() if f.kind is not FlawKind.DANGLING]
    assert {f.kind for f in flaws} == kinds
    assert {f.path for f in flaws} == {path}


def test_since_when_is_between_the_last_good_verification_and_the_disks_own_date(archive: Archive) -> None:
    assert archive.audit(LATER).flaws == ()
    archive.write(archive.file("q/2026/*.md"), "forged")
    [flaw] = archive.flaws(LATER + timedelta(days=1))
    assert flaw.good_at == LATER and flaw.changed_at is not None and flaw.changed_at > flaw.good_at - timedelta(3650)
    [again] = archive.flaws(LATER + timedelta(days=2))
    assert again.good_at == LATER, "a verification that found it bad makes nothing good"


def test_a_manifest_that_was_rewritten_breaks_the_chain(archive: Archive) -> None:
    first, second = names(archive.store, "_manifest/*.sha256")[:2]
    archive.write(first, "\n".join(archive.store.get(first).decode().splitlines()[:-1]) + "\n")
    told = {(f.kind, f.path) for f in archive.flaws()}
    assert (FlawKind.CHAIN, second) in told
    assert FlawKind.UNNAMED in {kind for kind, _ in told}, "the file whose line was taken out"


def test_a_manifest_that_is_gone_breaks_the_chain(archive: Archive) -> None:
    archive.store.delete([archive.file("_manifest/*.sha256")])
    gone, chain = [f.words for f in archive.flaws() if f.kind is FlawKind.CHAIN][::-1]
    assert "chained to _manifest/2026-10-20.sha256, which is not there" in chain
    assert "the database noted this manifest on 2026-10-21, and it is not there" in gone


@pytest.fixture
def closed(archive: Archive) -> Archive:
    """As a day's end leaves it: the database has noted the newest manifest, too."""
    newest = names(archive.store, "_manifest/*.sha256")[-1]
    Audits(archive.engine).note_files({newest: sha256_of(archive.store, newest)}, START + timedelta(days=4))
    return archive


def test_the_newest_manifest_that_is_gone_is_missed(closed: Archive) -> None:
    assert closed.flaws() == []
    last = names(closed.store, "_manifest/*.sha256")[-1]
    closed.store.delete([last])
    [chain] = [f for f in closed.flaws() if f.kind is FlawKind.CHAIN]
    assert chain.path == last and "the database noted this manifest on 2026-10-24, and it is not there" in chain.words


def test_the_newest_manifest_that_was_written_anew_over_a_forged_file_is_told(closed: Archive) -> None:
    last = names(closed.store, "_manifest/*.sha256")[-1]
    closed.store.delete([last])
    closed.write(closed.file("_checks/2026-10-23*"), "forged")
    again = Manifests(closed.store).close(START + timedelta(days=4))
    assert again == last
    [chain] = [f for f in closed.flaws() if f.kind is FlawKind.CHAIN]
    assert chain.path == last and "it is not the manifest that the database noted on 2026-10-24" in chain.words


def test_a_timestamp_without_its_manifest_is_told(archive: Archive) -> None:
    last = names(archive.store, "_manifest/*.sha256")[-1]
    archive.store.put(last.replace(".sha256", ".tsr"), b"token")
    archive.store.delete([last])
    told = {(f.kind, f.path, f.words) for f in archive.flaws()}
    assert (FlawKind.CHAIN, last.replace(".sha256", ".tsr"), "its manifest is not there") in told


def test_a_note_of_a_days_end_is_no_verification(closed: Archive) -> None:
    audits = Audits(closed.engine)
    assert audits.last() is None and audits.whole() == []
    assert [one.path for one in audits.noted()] == names(closed.store, "_manifest/*.sha256")


def test_a_snapshot_that_no_row_knows_is_an_orphan(archive: Archive) -> None:
    with archive.engine.begin() as c:
        c.execute(text("DROP TRIGGER guard_versions_delete"))
        c.execute(text("DROP TRIGGER guard_checks_delete"))
        for table in ("sightings", "documents", "changes", "histories", "checks", "versions"):
            c.execute(
                text(f"DELETE FROM {table} WHERE {'1' if table in ('documents', 'changes') else 'source'} IN (1, 'q')")
            )
    orphans = [f.path for f in archive.flaws() if f.kind is FlawKind.ORPHAN]
    assert orphans == [archive.file("q/2026/*.warc.gz")]


def test_a_snapshot_that_is_kept_while_the_files_are_listed_is_no_orphan(archive: Archive) -> None:
    class Late(Audits):
        """The row of what was listed comes after the rows were read."""

        asked = 0

        def places(self) -> list[Place]:
            self.asked += 1
            return [place for place in super().places() if place.source != "q" or self.asked > 1]

    assert verify(Evidence(archive.store), Late(archive.engine), LATER).flaws == ()


def test_a_row_that_says_something_else_than_its_file_is_told(archive: Archive) -> None:
    with archive.engine.begin() as c:
        c.execute(text("DROP TRIGGER guard_versions_update"))
        c.execute(text("UPDATE versions SET \"offset\" = 7 WHERE source = 'q'"))
    guards, _, flaw = archive.flaws()
    assert "guards on versions were missing" in guards.words
    assert flaw.kind is FlawKind.ROW and "of q is not where or what its row says" in flaw.words


def test_a_sample_looks_at_a_part_and_at_another_part_the_next_day(archive: Archive) -> None:
    for n in range(60):
        archive.store.put(f"snapshots/q/2026/20261023T{n:06d}Z.md", b"text")
    whole = archive.audit().files
    looked = [archive.audit(LATER + timedelta(days=n), sample=0.3) for n in range(2)]
    assert all(0 < one.files < whole / 2 and one.sample for one in looked)
    assert archive.audit(LATER, sample=0.3).files == looked[0].files


def forge(archive: Archive, statement: str) -> None:
    """As somebody who has the database to himself, and who puts the guards back."""
    with archive.engine.begin() as c:
        for name in c.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).scalars().all():
            c.execute(text(f"DROP TRIGGER {name}"))
        c.execute(text("PRAGMA defer_foreign_keys = ON"))
        assert c.execute(text(statement)).rowcount
        database.install_guards(c)


OTHER = "(SELECT packed FROM documents LIMIT 1)"
NEWEST = "(SELECT max(id) FROM versions WHERE source = 'p')"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE checks SET last_at = '2026-10-27 03:03:00' WHERE source = 'q'", "2026-10-27T03:03:00Z, and no file"),
        ("UPDATE checks SET last_at = '2026-10-23 20:00:00' WHERE source = 'q'", "and no run was at work then"),
        ("UPDATE checks SET first_at = '2026-10-18 03:03:00' WHERE source = 'q'", "2026-10-18T03:03:00Z, and no file"),
        ("UPDATE checks SET word = 'not_found', accessed = 0, version = NULL WHERE source = 'q'", "says not_found"),
        ("DELETE FROM checks WHERE source = 'q'", "a check of q on 2026-10-21, and no row does"),
        (f"UPDATE versions SET captured_at = '2026-09-05 10:00:00' WHERE id = {NEWEST}", "another captured_at of p"),
        ("UPDATE versions SET url = 'http://evil.example/' WHERE source = 'p'", "another url of p"),
        ("UPDATE versions SET final_url = 'http://evil.example/' WHERE source = 'p'", "another final_url of p"),
        ("UPDATE versions SET status = 203 WHERE source = 'p'", "another status of p"),
        ("UPDATE versions SET text_sha256 = 'sha256:00' WHERE source = 'p'", "another text_sha256 of p"),
        (f"UPDATE documents SET packed = {OTHER} WHERE version = {NEWEST}", "is not that of its version"),
        ("UPDATE documents SET packed = x'00'", "in the database cannot be read"),
        (f"DELETE FROM documents WHERE version = {NEWEST}", "the text of p is not in the database"),
        ("UPDATE sightings SET kind = 'not_found'", "a quote of p is not_found, its facts say verbatim"),
    ],
)  # fmt: skip
def test_a_row_that_somebody_wrote_is_told(made: Path, tmp_path: Path, statement: str, words: str) -> None:
    folder = shutil.copytree(made, tmp_path / "archive")
    archive = Archive(folder, FolderStore(folder))
    assert archive.flaws() == []
    forge(archive, statement)
    flaws = archive.flaws()
    archive.engine.dispose()
    assert {f.kind for f in flaws} == {FlawKind.ROW}
    assert any(words in f.words for f in flaws), [f.words for f in flaws]


def test_an_editors_decision_is_no_check(archive: Archive) -> None:
    archive.store.put("snapshots/_reviews/20261024T030000Z.1.json", b'{"source": "p", "decision": "accepted"}')
    assert archive.flaws(START + timedelta(days=4)) == []


def test_a_text_that_later_rules_read_again_is_no_flaw(made: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(made, tmp_path / "archive")
    archive = Archive(folder, FolderStore(folder))
    forge(archive, f"UPDATE documents SET packed = {OTHER}, maker = 'later' WHERE version = {NEWEST}")
    assert archive.flaws() == []
    archive.engine.dispose()


def test_a_day_whose_notes_are_gone_while_it_runs_is_told(archive: Archive) -> None:
    open_day(archive)
    notes = archive.file("_checks/2026-10-23*")
    archive.store.delete([notes])
    told = {f.words for f in archive.flaws(START + timedelta(days=3, hours=6)) if f.kind is FlawKind.ROW}
    assert told >= {"a row says ok on 2026-10-23T03:03:00Z, and no file tells so of that day"}


def open_day(archive: Archive) -> None:
    """As before the day's end: nothing vouches for its files but the rows."""
    archive.store.delete(names(archive.store, "_manifest/*"))
    with archive.engine.begin() as c:
        c.execute(text("DROP TRIGGER guard_audits_delete"))
        c.execute(text("DELETE FROM audits"))
        database.install_guards(c)


@pytest.mark.parametrize("pattern", ["q/2026/*.json", "q/2026/*.md", "q/2026/*.warc.gz"])
def test_a_file_of_the_day_that_runs_is_missed_when_a_row_relies_on_it(archive: Archive, pattern: str) -> None:
    open_day(archive)
    assert archive.flaws(START + timedelta(days=2)) == []
    path = archive.file(pattern)
    archive.store.delete([path])
    assert (FlawKind.MISSING, path) in {(f.kind, f.path) for f in archive.flaws(START + timedelta(days=2))}


def test_evidence_of_a_refusal_is_missed_when_a_row_names_it(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    with serving() as site:
        rows = row("p", site.url("/p"))
        site.pages["/p"] = page("Just a moment...", "<p>Checking your browser before accessing the site.</p>")
        line = watch.passes(rows, START)["p"]
    assert not line["accessed"]
    archive = Archive(tmp_path, watch.store)
    [path] = names(archive.store, "_refused/p/*.warc.gz")
    assert archive.flaws(START) == []
    archive.store.delete([path])
    assert [(f.kind, f.path) for f in archive.flaws(START)] == [(FlawKind.MISSING, path)]
    archive.engine.dispose()


def forged_note(archive: Archive, path: str) -> str:
    stem = path.removeprefix("snapshots/")
    note = f"# versions older than [retain] allows\n{sha256_of(archive.store, path)}  {stem}\n"
    archive.store.put("snapshots/_removed/20261024T030000Z.0.txt", note.encode())
    archive.store.delete([path])
    return path


@pytest.mark.parametrize("pattern", ["q/2026/*.warc.gz", "q/2026/*.json", "q/2026/*.md"])
def test_a_forged_note_of_a_removal_hides_nothing(archive: Archive, pattern: str) -> None:
    path = forged_note(archive, archive.file(pattern))
    [flaw] = [f for f in archive.flaws() if f.kind is FlawKind.MISSING and f.path == path]
    assert "20261024T030000Z.0.txt says that it was removed, and no row of the database knows that note" in flaw.words


def test_a_note_of_a_removal_that_was_altered_or_taken_away_is_told(archive: Archive) -> None:
    path, other = archive.file("q/2026/*.warc.gz"), archive.file("p/2026/*.warc.gz")
    keeping = Retention(archive.engine, archive.store)
    keeping.note_dropped([v.id for v in keeping.versions() if v.path == path], "a rule", LATER)
    keeping.remove([path], LATER, "a rule")
    [note] = names(archive.store, "_removed/*")
    before = archive.store.get(note)
    archive.write(note, before.decode() + f"{'0' * 64}  {other.removeprefix('snapshots/')}\n")
    assert (FlawKind.ALTERED, note) in {(f.kind, f.path) for f in archive.flaws()}
    archive.store.delete([note])
    told = {(f.kind, f.path) for f in archive.flaws()}
    assert {(FlawKind.MISSING, note), (FlawKind.MISSING, path)} <= told


def test_a_database_that_was_made_again_believes_the_notes_that_are_there(archive: Archive) -> None:
    path = archive.file("q/2026/*.warc.gz")
    keeping = Retention(archive.engine, archive.store)
    keeping.note_dropped([v.id for v in keeping.versions() if v.path == path], "a rule", LATER)
    keeping.remove([path], LATER, "a rule")
    with archive.engine.begin() as c:
        c.execute(text("DROP TRIGGER guard_audits_delete"))
        c.execute(text("DELETE FROM audits"))
        database.install_guards(c)
    assert [f for f in archive.flaws() if f.kind is not FlawKind.DANGLING] == []


def test_guards_that_were_missing_are_told_until_everything_was_verified_once(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(made, tmp_path / "archive")
    archive = Archive(folder, FolderStore(folder))
    with archive.engine.begin() as c:
        c.execute(text("DROP TRIGGER guard_checks_update"))
        c.execute(text("CREATE TRIGGER guard_checks_update BEFORE UPDATE ON checks BEGIN SELECT 1; END"))
    assert "no append-only guard on checks" in str(database.check(archive.engine))
    database.upgrade(archive.engine)  # as every command does
    assert database.check(archive.engine) is None
    audits = Audits(archive.engine)
    assert audits.last() is None or audits.last()[1] == 0
    assert ["checks"] in [gap.tables for gap in audits.gaps()]
    assert command(folder, "db", "check") == 4
    assert "guards on checks were missing" in capsys.readouterr().err
    assert any("guards on checks were missing" in f.words for f in archive.flaws())
    assert archive.flaws() == []
    assert command(folder, "db", "check") == 0
    archive.engine.dispose()


@pytest.mark.parametrize("harm_to", ["pages", "time", "json"])
def test_a_damaged_database_is_one_sentence(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], harm_to: str
) -> None:
    folder = shutil.copytree(made, tmp_path / "archive")
    path = folder / "sourcewatch.db"
    with closing(sqlite3.connect(path)) as c:
        if harm_to == "pages":
            c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            c.execute("DROP TRIGGER guard_versions_update")
            c.execute("DROP TRIGGER guard_audits_update")
            c.execute("UPDATE audits SET at = 'never'" if harm_to == "time" else "UPDATE audits SET facts = '{'")
            c.commit()
    if harm_to == "pages":
        data = bytearray(path.read_bytes())
        for place in range(4096 * 3, len(data), 4096):  # the head of each page beyond the schema
            data[place : place + 12] = b"\xff" * 12
        path.write_bytes(data)
    assert command(folder, "verify") == 4
    err = capsys.readouterr().err
    assert err.startswith("sourcewatch: the database") and err.count("\n") == 1


def test_what_retention_removed_is_not_missed(archive: Archive) -> None:
    path = archive.file("q/2026/*.warc.gz")
    keeping = Retention(archive.engine, archive.store)
    [version] = [v.id for v in keeping.versions() if v.path == path]
    keeping.note_dropped([version], "a rule", LATER)
    assert keeping.remove([path], LATER, "a rule")[0] == 3
    assert [f for f in archive.flaws() if f.kind is not FlawKind.DANGLING] == []


def test_each_verification_is_kept(archive: Archive) -> None:
    archive.audit()
    audits = Audits(archive.engine)
    assert audits.last() == (LATER, 0) and audits.whole() == [(LATER, frozenset())]


def test_a_text_that_no_manifest_names_yet_is_compared_with_the_facts_beside_it(archive: Archive) -> None:
    archive.store.delete(names(archive.store, "_manifest/*"))
    text_file = archive.file("q/2026/*.md")
    archive.write(text_file, "forged")
    [flaw] = [f for f in archive.flaws(START + timedelta(days=2)) if f.kind is not FlawKind.CHAIN]
    assert flaw.kind is FlawKind.ALTERED and flaw.path == text_file


def command(folder: Path, *words: str) -> int:
    with pytest.raises(SystemExit) as end, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["sourcewatch", "--config", str(folder / "sources.toml"), *words])
        main()
    return int(str(end.value.code))


def test_the_command_tells_flaws_and_ends_with_four(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    folder = archive.folder
    assert command(folder, "verify") == 0 and "no flaw" in capsys.readouterr().out
    archive.write(archive.file("q/2026/*.md"), "forged")
    assert command(folder, "verify") == 4
    said = capsys.readouterr().out
    assert ".md: altered: its bytes are not those that the manifest of 2026-10-20 vouches for (good on" in said
    assert command(folder, "verify", "--json") == 4
    assert json.loads(capsys.readouterr().out)["flaws"][0]["kind"] == "altered"
    assert command(folder, "verify", "--sample", "lots") == 2

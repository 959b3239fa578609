"""Kill passes at random instants with SIGKILL, and look after each whether anything that was recorded is lost or torn.

    python tests/torture.py [KILLS] [SEED]        # `make torture`

A warm process forks one child a pass, so that a kill costs a fraction of a second: real passes over a real web server,
real files, real SQLite, real SIGKILL. A power cut, which also loses what was not synced, is not simulated.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from site_of_pages import Site, page, row, serving, write_sources
from sourcewatch.adapters.warc_walk import Record, walk
from sourcewatch.faces import wiring

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
EVERY = timedelta(hours=7)  # days turn every fourth pass: daily files and manifests are closed under fire
LANES = 2
GENTLE = 15  # one pass in so many comes to its end: it takes up what killed ones left, and tells how long a pass takes
TORN = 0.2
ARTICLE = "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)


class LossError(AssertionError):
    """Something that was recorded is gone, torn or doubled."""


@dataclass(slots=True)
class Torture:
    """One data folder under fire. *killed* counts passes that died of SIGKILL, *ended* those that came to their end."""

    folder: Path
    site: Site
    chance: random.Random
    killed: int = 0
    ended: int = 0
    passes: int = 0
    typical_s: float = 0.0
    versions: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    accessed: dict[str, str] = field(default_factory=dict)
    sound: set[Path] = field(default_factory=set)
    torn: set[str] = field(default_factory=set)

    def run(self, kills: int) -> None:
        """Kill that many passes. Raises LossError with the first thing that is wrong."""
        self._pages()
        command = [sys.executable, str(Path(__file__).with_name("torture_child.py")), str(self.folder)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as warm:
            self.typical_s = self._pass(warm, None)
            while self.killed < kills:
                gentle = self.passes % GENTLE == 0
                if gentle:
                    self.typical_s = self._pass(warm, None)
                else:
                    killed = self.killed
                    self._pass(warm, self.chance.uniform(0, self.typical_s))
                    if self.killed > killed:
                        self._tear()
                self.look(settled=gentle)
            self._pass(warm, None)
            self.look(settled=True)
            self._verified()
            assert warm.stdin
            warm.stdin.close()

    def _pass(self, warm: subprocess.Popen[str], after_s: float | None) -> float:
        """One pass in a child, killed after so many seconds; how long it lasted."""
        assert warm.stdin and warm.stdout
        self.passes += 1
        at = START + EVERY * self.passes
        print(at.isoformat(), file=warm.stdin, flush=True)
        child, begun = int(warm.stdout.readline()), time.monotonic()
        if after_s is not None:
            time.sleep(after_s)
            os.kill(child, signal.SIGKILL)  # not reaped before the next line: the number is still this child's
        print("", file=warm.stdin, flush=True)
        status = int(warm.stdout.readline())
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            self.killed += 1
        elif status == 0:
            self.ended += 1
        else:
            raise LossError(f"pass {self.passes} failed by itself (status {status})")
        return time.monotonic() - begun

    def _tear(self) -> None:
        """Now and then cut an open daily file short: SIGKILL seldom tears one write, a power cut does."""
        for path in sorted((self.folder / "snapshots").glob("_checks/*.open"))[-1:]:
            if self.chance.random() < TORN:
                os.truncate(path, self.chance.randrange(path.stat().st_size + 1))
                self.torn.add(path.name[:10])

    def _verified(self) -> None:
        """At the end the archive's own verification has nothing to say: what had no row has been taken up.

        Of a day whose file we cut short, it rightly misses the notes of checks whose rows were written long before.
        """
        with wiring.open_house(self.folder / "sources.toml", self.folder, {}) as house:
            audit = wiring.verify(house, START + EVERY * self.passes)
        ours = [f for f in audit.flaws if "no file tells so of that day" in f.words and self._of_torn(f.words)]
        if flaws := [f for f in audit.flaws if f not in ours]:
            raise LossError(f"verify: {flaws}")

    def _of_torn(self, words: str) -> bool:
        return any(f" on {day}T" in words for day in self.torn)

    # -- what the passes read ---------------------------------------------------------------------------------------

    def _pages(self) -> None:
        """Pages that change often, seldom and never, a figure, a 304, a refusal, and one that never answers."""
        from PIL import Image

        def moving(share: float) -> Any:
            count = [0]

            def answer(headers: dict[str, str]) -> Any:
                count[0] += self.chance.random() < share
                return page("P", f"{ARTICLE}<p>Release {count[0]} serves {155 + count[0]} trillion tokens a day.</p>")

            return answer

        def figure(headers: dict[str, str]) -> Any:
            import io

            out = io.BytesIO()
            Image.new("RGB", (320, 200), (self.chance.randrange(4) * 60, 120, 40)).save(out, "PNG")
            return 200, {"Content-Type": "image/png"}, out.getvalue()

        shown = '<figure><img src="/figure.png" alt="the panel" width="800"></figure>'
        steady = page("P", ARTICLE + shown)
        self.site.pages |= {f"/moving{n}": moving(0.9) for n in range(2)}
        self.site.pages |= {"/seldom": moving(0.2), "/steady": steady, "/figure.png": figure}
        self.site.pages["/wall"] = (404, {"Content-Type": "text/html"}, b"<h1>Not found</h1>")
        self.site.pages["/etag"] = lambda h: (
            (304, {}, b"") if "if-none-match" in h else (200, {**steady[1], "ETag": '"1"'}, page("E", ARTICLE)[2])
        )
        names = [f"moving{n}" for n in range(2)] + ["seldom", "steady", "wall", "etag"]
        rows = [row(n, self.site.url(f"/{n}"), "the cache stays warm") for n in names]
        write_sources(self.folder, "".join([*rows, row("dead", "http://127.0.0.1:1/")]))

    # -- what must hold ---------------------------------------------------------------------------------------------

    def look(self, *, settled: bool) -> None:
        """After every kill; *settled* after a pass that came to its end, when what killed ones left is taken up."""
        self._files(settled)
        with closing(sqlite3.connect(f"file:{self.folder}/sourcewatch.db?mode=ro", uri=True)) as c:
            self._rows(c)
            if settled and (found := c.execute("PRAGMA quick_check").fetchall()) != [("ok",)]:
                raise LossError(f"the database is damaged: {found}")

    def _files(self, settled: bool) -> None:
        """Nothing torn stands under a final name; after a whole pass no daily file is torn and nothing is left over."""
        tree = self.folder / "snapshots"
        for path in {p for p in tree.rglob("*") if p.is_file()} - self.sound:
            hidden = path.name.startswith(".")
            if hidden or path.name.endswith(".open"):
                if settled and hidden:
                    raise LossError(f"{path} was left over")
                if settled:
                    _whole(path)
                continue
            if path.name.endswith(".warc.gz"):
                _whole(path)
            elif path.suffix == ".json":
                _meta(path)
            self.sound.add(path)

    def _rows(self, c: sqlite3.Connection) -> None:
        columns = "source, captured_at, path, record_id, offset, body_sha256"
        now = {r[0]: r[1:] for r in c.execute(f"SELECT id, {columns} FROM versions")}
        if lost := {i for i, was in self.versions.items() if now.get(i) != was}:
            raise LossError(f"versions {sorted(lost)} are gone or changed")
        for version in now.keys() - self.versions.keys():
            self._stands(*now[version])
        self.versions = now
        doubled = c.execute("SELECT to_version FROM changes GROUP BY to_version HAVING count(*) > 1").fetchall()
        untold = c.execute(
            "SELECT id FROM versions v WHERE id > (SELECT min(id) FROM versions w WHERE w.source = v.source)"
            " AND id NOT IN (SELECT to_version FROM changes)"
        ).fetchall()
        if doubled or untold:
            raise LossError(f"changes told twice: {doubled}, never: {untold}")
        dates = dict(c.execute("SELECT source, max(last_at) FROM checks WHERE accessed GROUP BY source"))
        if back := {s for s, at in self.accessed.items() if dates.get(s, "") < at}:
            raise LossError(f"the last access went back for {sorted(back)}")
        self.accessed = dates

    def _stands(self, source: str, at: str, name: str, record_id: str, offset: int, sha256: str) -> None:
        """A version's row has its file, its record and its meta."""
        path = self.folder / name
        if not path.is_file() or not (meta := path.with_name(path.name.replace(".warc.gz", ".json"))).is_file():
            raise LossError(f"the row of {source} at {at} has no file {name}, or no meta")
        found = [r for r in walk(path) if r.id == record_id]
        if [(r.offset, r.headers["warc-payload-digest"]) for r in found] != [(offset, sha256)]:
            raise LossError(f"the row of {source} at {at} names a record that {name} does not hold")
        known = _meta(meta)
        if record_id not in [known.get("record_id"), *(f.get("record_id") for f in known.get("figures", ()))]:
            raise LossError(f"the meta beside {name} does not know {record_id}")


def _whole(path: Path) -> list[Record]:
    try:
        records = list(walk(path))
    except ValueError as error:
        raise LossError(f"{path} is torn: {error}") from error
    if faults := [r.fault for r in records if r.fault]:
        raise LossError(f"{path}: {faults}")
    return records


def _meta(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_bytes()))
    except ValueError as error:
        raise LossError(f"{path} is torn: {error}") from error


def torture(kills: int, seed: int, folder: Path) -> str:
    """Kill passes over two data folders at once; what was seen, in a sentence. Raises LossError."""
    with ThreadPoolExecutor(LANES) as pool:
        lanes = [pool.submit(_lane, kills // LANES, seed + n, folder / str(n)) for n in range(LANES)]
        done = [lane.result() for lane in lanes]
    killed, ended, versions = (sum(n) for n in zip(*((t.killed, t.ended, len(t.versions)) for t in done), strict=True))
    return f"{killed} passes killed, {ended} ended, {versions} versions, nothing lost (seed {seed})"


def _lane(kills: int, seed: int, folder: Path) -> Torture:
    folder.mkdir()
    with serving() as site:
        lane = Torture(folder, site, random.Random(seed))
        lane.run(kills)
        return lane


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 1_000_000
    print(f"{kills} kills, seed {seed}", flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        print(torture(kills, seed, Path(name)), f"in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()

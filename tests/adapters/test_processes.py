"""A page may kill its worker, never the run."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from sourcewatch.adapters.lock import run_lock
from sourcewatch.adapters.processes import Died, Limits, Processes
from sourcewatch.domain.errors import BusyError, StorageError


def work(task: str) -> object:
    match task:
        case "spin":
            while True:
                pass
        case "hang":
            signal.pause()
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "eat":
            return len(bytearray(4_000_000_000))
        case "exit":
            os._exit(3)
        case "stop":
            os.kill(os.getpid(), signal.SIGTERM)
        case "raise":
            raise ValueError("a defect of ours")
    return task.upper(), os.getpid()


TIGHT = Limits(cpu_s=1, wall_s=3.0, memory_bytes=1_000_000_000)


def run(*tasks: str, workers: int = 1, limits: Limits = TIGHT) -> list[object]:
    async def all_of_them() -> list[object]:
        async with Processes(work, workers, limits) as processes:
            return list(await asyncio.gather(*(processes(t) for t in tasks), return_exceptions=True))

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("spin", "more than 1 s of CPU"),
        ("hang", "longer than 3 s"),
        ("crash", "SIGSEGV"),
        ("eat", "ended"),
        ("exit", "exit 3"),
    ],
)
def test_a_worker_that_dies_is_a_value_and_the_next_page_is_read(task: str, words: str) -> None:
    patient = replace(TIGHT, wall_s=60.0)  # on a busy machine a second of CPU may take many by the clock
    died, after = run(task, "good", limits=TIGHT if task == "hang" else patient)
    assert isinstance(died, Died) and words in died.reason
    assert isinstance(after, tuple) and after[0] == "GOOD"


def test_a_signal_to_the_whole_group_does_not_make_a_page_look_deadly() -> None:
    [answer] = run("stop")
    assert isinstance(answer, tuple) and answer[0] == "STOP"


def test_a_defect_of_ours_is_raised_and_keeps_its_worker() -> None:
    first, raised, last = run("a", "raise", "b")
    assert isinstance(raised, ValueError) and str(raised) == "a defect of ours"
    assert isinstance(first, tuple) and isinstance(last, tuple) and first[1] == last[1]


class NoStart:
    """Does not survive being unpickled in the worker."""

    def __call__(self, task: str) -> object:
        return task

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (7,)


def test_a_worker_that_cannot_start_is_a_defect_of_ours_not_a_verdict_on_a_page() -> None:
    async def start() -> object:
        async with Processes(NoStart(), 1, TIGHT) as processes:
            return await processes("a")

    with pytest.raises(RuntimeError, match="does not start"):
        asyncio.run(start())


def test_two_workers_work_side_by_side() -> None:
    results = run(*"abcdef", workers=2)
    assert [r[0] for r in results if isinstance(r, tuple)] == list("ABCDEF")


def test_a_second_run_is_refused_and_told_who_holds_the_lock(tmp_path: Path) -> None:
    with (
        run_lock(tmp_path, "run"),
        pytest.raises(BusyError, match=rf"run, pid {os.getpid()}, since 20"),
        run_lock(tmp_path, "run"),
    ):
        raise AssertionError("two runs at once")
    with run_lock(tmp_path, "serve"):
        pass


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        with run_lock(tmp_path, "run"):
            os.write(told, b"x")
            signal.pause()
    os.read(ready, 1)
    with pytest.raises(BusyError, match=f"pid {child}"), run_lock(tmp_path, "run"):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with run_lock(tmp_path, "run") as killed:
        assert killed


def test_a_holder_that_let_go_was_not_killed(tmp_path: Path) -> None:
    with pytest.raises(StorageError), run_lock(tmp_path, "run"):
        raise StorageError("the disk is full")
    with run_lock(tmp_path, "run") as killed:
        assert not killed


def test_a_folder_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"run.lock cannot be written"), run_lock(tmp_path / "none", "run"):
        pass

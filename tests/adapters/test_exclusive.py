"""A lock of the database's session is made sure of in one thread and released in another, at any instant."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, event, select

from sourcewatch.adapters.exclusive import Exclusive, Lead
from sourcewatch.domain.errors import BusyError, StorageError


class Slow:
    """Statements whose server takes its time: *asked* is set when one begins, and it goes on when *answers* is."""

    def __init__(self) -> None:
        self.asked, self.answers = threading.Event(), threading.Event()

    def __call__(self, *_: object) -> None:
        if threading.current_thread().name == "slow":
            self.asked.set()
            assert self.answers.wait(20)


@contextmanager
def slow(engine: Engine) -> Iterator[Slow]:
    what = Slow()
    event.listen(engine, "before_cursor_execute", what)
    try:
        yield what
    finally:
        what.answers.set()
        event.remove(engine, "before_cursor_execute", what)


def in_a_thread(lock: Exclusive | Lead, raised: list[BaseException]) -> threading.Thread:
    def work() -> None:
        try:
            lock.hold()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, name="slow")
    thread.start()
    return thread


def test_a_lock_released_while_another_thread_makes_sure_of_it_goes_when_that_is_done(server: Engine) -> None:
    lock, raised = Exclusive(server, shared=True), list[BaseException]()
    lock.hold()
    with pytest.raises(BusyError), Exclusive(server):
        pass  # it is ours
    with slow(server) as server_:
        thread = in_a_thread(lock, raised)
        assert server_.asked.wait(20)
        lock.__exit__(None, None, None)  # does not wait, and leaves the session to who uses it
        with server.connect() as c:
            assert c.execute(select(1)).scalar() == 1, "another connection has its own socket"
        server_.answers.set()
        thread.join(20)
    assert not raised
    with Exclusive(server):
        pass  # it is free


def test_a_lock_asked_for_when_it_is_released_is_not_kept(server: Engine) -> None:
    lead, raised = Lead(server), list[BaseException]()
    with slow(server) as server_:
        thread = in_a_thread(lead, raised)
        assert server_.asked.wait(20)
        lead.release()
        server_.answers.set()
        thread.join(20)
    assert not raised
    with pytest.raises(StorageError, match="released"):
        lead.hold()
    other = Lead(server)
    assert other.hold(), "another may lead"
    other.release()

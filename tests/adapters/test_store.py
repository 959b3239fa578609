"""Folder and bucket keep one promise: what is put is whole, safe and never overwritten, and what fails says so."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from buckets import KEY, SECRET, Bucket, Way, names, new_bucket
from sourcewatch.adapters.bucket import READ_BYTES, BucketStore
from sourcewatch.adapters.copying import copy
from sourcewatch.adapters.store import FolderStore, Store, open_store
from sourcewatch.domain.errors import StorageError, UnreadableError

GROUP = {"20261020T110305Z.json": b"{}", "20261020T110305Z.md": b"text", "20261020T110305Z.warc.gz": b"warc"}
PLACE = "snapshots/a/2026"


def test_what_was_put_is_read_found_and_listed(store: Store) -> None:
    before = datetime.now(UTC) - timedelta(minutes=1)
    assert store.put("snapshots/_reviews/x.json", b"one") and store.put("snapshots/a/2026/y.md", b"three")
    assert store.get("snapshots/_reviews/x.json") == b"one"
    found = store.find("snapshots/a/2026/y.md")
    assert found is not None and found.size_bytes == 5 and before < found.changed_at <= datetime.now(UTC)
    assert list(store.list("snapshots")) == [store.find("snapshots/_reviews/x.json"), found]
    assert names(store, "a/*") == ["snapshots/a/2026/y.md"] and list(store.list("snapshots/nothing")) == []


def test_what_is_there_is_never_overwritten(store: Store) -> None:
    assert store.put("snapshots/a/x", b"one")
    assert not store.put("snapshots/a/x", b"two") and store.get("snapshots/a/x") == b"one"
    assert store.put("snapshots/a/x", b"one"), "the same bytes stand there already"


def test_of_many_that_put_one_name_at_once_one_is_told_that_it_is_its_own(store: Store) -> None:
    start = threading.Barrier(8)

    def put(number: int) -> bool:
        start.wait()
        return store.put("snapshots/a/x", b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(put, range(8)))
    assert told.count(True) == 1 and store.get("snapshots/a/x") == b"%d" % told.index(True)


def test_what_is_not_there_is_told_in_a_sentence(store: Store) -> None:
    assert store.find("snapshots/a/x") is None
    for ask in (store.get, store.open):
        with pytest.raises(UnreadableError, match="snapshots/a/x"):
            ask("snapshots/a/x")
    store.delete(["snapshots/a/x"])


def test_a_group_is_all_there_or_not_taken(store: Store) -> None:
    assert store.put_together(PLACE, GROUP)
    assert names(store) == [f"{PLACE}/{name}" for name in GROUP]
    other = {name: data + b"!" for name, data in GROUP.items()}
    assert not store.put_together(PLACE, other) and store.get(f"{PLACE}/20261020T110305Z.md") == b"text"


def test_of_many_groups_of_one_name_one_is_kept_whole(store: Store) -> None:
    start = threading.Barrier(6)

    def put(number: int) -> bool:
        start.wait()
        wanted = [name for name in GROUP if number % 2 or not name.endswith(".md")]  # pictures have no text
        return store.put_together(PLACE, dict.fromkeys(wanted, b"%d" % number))

    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(put, range(6)))
    assert told.count(True) == 1
    assert {store.get(name) for name in names(store)} == {b"%d" % told.index(True)}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=200),
    steps=st.lists(st.tuples(st.integers(0, 220), st.sampled_from([-1, 0, 1, 7, 64])), max_size=6),
)
def test_a_file_is_read_from_any_place_as_on_disk(store: Store, data: bytes, steps: list[tuple[int, int]]) -> None:
    name = f"snapshots/a/{hash(data):x}"
    store.put(name, data)
    with store.open(name) as file, io.BytesIO(data) as wanted:
        for place, size in steps:
            assert file.seek(place) == wanted.seek(place)
            assert file.read(size) == wanted.read(size)
        assert file.seek(0, io.SEEK_END) == len(data)


def test_a_large_file_is_read_in_pieces(store: Store) -> None:
    data = bytes(range(256)) * (READ_BYTES // 100)
    store.put("snapshots/a/x", data)
    with store.open("snapshots/a/x") as file:
        assert b"".join(iter(lambda: file.read(100_000), b"")) == data
        file.seek(len(data) - 300)
        assert file.read() == data[-300:]


def test_anothers_program_gets_a_file_and_what_it_leaves_beside_it_is_kept(store: Store) -> None:
    store.put("snapshots/_manifest/2026-10-20.sha256", b"digest")
    with store.as_file("snapshots/_manifest/2026-10-20.sha256") as path:
        assert path.read_bytes() == b"digest"
        path.with_name("2026-10-20.sha256.ots").write_bytes(b"proof")
    assert store.get("snapshots/_manifest/2026-10-20.sha256.ots") == b"proof"


@pytest.mark.parametrize("back", [False, True])
def test_a_copy_is_whole_goes_on_where_it_was_cut_off_and_changes_nothing(
    tmp_path: Path, bucket: Bucket, back: bool
) -> None:
    source, target = (bucket.store, FolderStore(tmp_path)) if back else (FolderStore(tmp_path), bucket.store)
    source.put_together(PLACE, GROUP)
    for number in range(9):
        source.put(f"snapshots/b/2026/{number}.md", b"%d" % number)
    target.put("snapshots/b/2026/3.md", b"3")
    done = copy(source, target)
    assert (done.written, done.there, done.size_bytes) == (11, 1, 19)
    assert {n: target.get(n) for n in names(target)} == {n: source.get(n) for n in names(source)}
    assert copy(source, target).written == 0


def test_a_copy_stops_at_a_name_that_holds_something_else(tmp_path: Path, bucket: Bucket) -> None:
    source, target = FolderStore(tmp_path), bucket.store
    source.put("snapshots/a/2026/x.md", b"one")
    target.put("snapshots/a/2026/x.md", b"two")
    with pytest.raises(StorageError, match="holds other bytes"):
        copy(source, target)
    assert target.get("snapshots/a/2026/x.md") == b"two"


# a bucket alone


def test_a_list_goes_on_where_a_page_of_it_ends(bucket: Bucket) -> None:
    store = bucket.store
    with ThreadPoolExecutor(8) as pool:
        wanted = [f"snapshots/a/2026/{n:05d}.md" for n in range(1005)]
        assert all(pool.map(lambda name: store.put(name, b""), wanted))
    assert names(store) == wanted
    store.delete(wanted)
    assert names(store) == []


def test_a_group_shows_when_it_is_whole_and_half_of_one_when_it_is_old(bucket: Bucket) -> None:
    ahead = timedelta()
    store = BucketStore.of(bucket.url, bucket.environ, lambda: datetime.now(UTC) + ahead)
    for name in list(GROUP)[:2]:
        store.put(f"{PLACE}/{name}", GROUP[name])
    store.put(f"{PLACE}/20261021T000000Z.warc.gz", b"another")
    assert names(store) == [f"{PLACE}/20261021T000000Z.warc.gz"]
    ahead = timedelta(hours=2)
    assert len(names(store)) == 3, "nobody writes it any more: what is damaged is not hidden"


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("lost", [0, -1])
def test_a_group_that_cannot_be_finished_is_taken_back(s3: str, way: Way, number: int, lost: int) -> None:
    """*lost* -1: the server has kept it, and its answer went astray."""
    store = new_bucket(s3, way.endpoint).store
    name = list(GROUP)[number]
    way.fails = lambda method, path: lost if method == "PUT" and path.endswith(name) else None
    with pytest.raises(StorageError, match="cannot be written"):
        store.put_together(PLACE, GROUP)
    way.fails = lambda method, path: None
    assert names(store) == []
    assert not [n for n in GROUP if n.endswith(".warc.gz") and store.find(f"{PLACE}/{n}")]


def test_a_group_that_was_kept_while_nobody_heard_of_it_goes_before_the_next_one_comes(s3: str, way: Way) -> None:
    store, lost = new_bucket(s3, way.endpoint).store, False

    def fails(method: str, path: str) -> int | None:
        nonlocal lost
        lost = lost or path.endswith(".warc.gz")
        return -1 if path.endswith(".warc.gz") and method == "PUT" else 503 if lost else None

    way.fails = fails
    with pytest.raises(StorageError, match="cannot be written"):
        store.put_together(PLACE, GROUP)
    way.fails = lambda method, path: None
    assert len(names(store)) == 3, "all of it is there, and whoever asked was told that it is not"
    other = {name.replace("0305Z", "0306Z"): data for name, data in GROUP.items()}
    assert store.put_together(PLACE, other) and names(store) == [f"{PLACE}/{name}" for name in other]


def test_a_put_whose_answer_was_lost_is_ours_when_it_is_asked_again(s3: str, way: Way) -> None:
    store = new_bucket(s3, way.endpoint).store
    way.fails = lambda method, path: -1 if method == "PUT" else None
    with pytest.raises(StorageError, match="cannot be written"):
        store.put("snapshots/a/x", b"one")
    way.fails = lambda method, path: None
    assert store.put("snapshots/a/x", b"one") and not store.put("snapshots/a/x", b"two")


def test_a_hiccup_is_not_noticed(s3: str, way: Way) -> None:
    store = new_bucket(s3, way.endpoint).store
    ill = iter([503, 500, 503])
    way.fails = lambda method, path: next(ill, None)
    assert store.put("snapshots/a/x", b"one") and len(way.asked) == 4


@pytest.mark.parametrize("status", [503, 403])
def test_a_bucket_that_is_out_of_order_is_told_in_a_sentence_without_secrets(
    s3: str, way: Way, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcewatch.adapters.bucket.RETRIES", 1)
    bucket = new_bucket(s3, way.endpoint)
    way.fails = lambda method, path: status
    _fails(bucket, rf"it answered {status}( SlowDown)?$")


def test_nobody_listening_is_told_in_a_sentence(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sourcewatch.adapters.bucket.RETRIES", 1)
    _fails(Bucket(bucket.url, {**bucket.environ, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}), "it cannot be reached")


def test_a_bucket_that_nobody_made_is_no_file_that_is_missing(bucket: Bucket) -> None:
    store = Bucket("s3://no-such-bucket/x", bucket.environ).store
    for ask in (lambda: store.get("snapshots/a/x"), lambda: store.put("snapshots/a/x", b""), lambda: names(store)):
        with pytest.raises(
            StorageError, match=r"s3://no-such-bucket/x cannot be .*: it answered 404 NoSuchBucket"
        ) as e:
            ask()
        assert not isinstance(e.value, UnreadableError)


def _fails(bucket: Bucket, words: str) -> None:
    store = bucket.store
    for ask in (
        lambda: store.get("snapshots/a/x"),
        lambda: store.find("snapshots/a/x"),
        lambda: store.open("snapshots/a/x"),
        lambda: names(store),
        lambda: store.put("snapshots/a/x", b"one"),
        lambda: store.delete(["snapshots/a/x"]),
    ):
        with pytest.raises(StorageError, match=words) as told:
            ask()
        assert not isinstance(told.value, UnreadableError), "a storage that is ill has lost nothing"
        said = str(told.value)
        assert said.startswith(bucket.url) and "\n" not in said and not {KEY, SECRET} & set(said.split())
        assert KEY not in said and SECRET not in said and told.value.__cause__ is None


@pytest.mark.parametrize("missing", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_credentials_that_the_environment_does_not_have_are_named(bucket: Bucket, missing: str, tmp_path: Path) -> None:
    environ = {name: value for name, value in bucket.environ.items() if name != missing}
    with pytest.raises(StorageError, match=f"needs {missing} in the environment"):
        open_store(bucket.url, tmp_path, environ)


def test_a_folder_of_another_place_is_used_when_it_is_named(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "big"), tmp_path, {})
    assert store.put("snapshots/a/2026/x.md", b"one") and (tmp_path / "big/snapshots/a/2026/x.md").exists()
    assert open_store("", tmp_path, {}).shown("snapshots") == str(tmp_path / "snapshots")

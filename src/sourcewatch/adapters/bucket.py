"""Snapshots in a bucket that speaks S3: objects that are created or refused, never overwritten.

Several machines write at once. A name is given to whoever creates its object first (`If-None-Match: *`). Credentials
come from the environment alone, and no error repeats what a server said: servers repeat keys.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from ..domain.errors import StorageError, UnreadableError
from .store import BUCKETS, Found

if TYPE_CHECKING:
    from obstore import ObjectMeta

READ_BYTES = 1 << 20  # at a time: a request costs more than half a megabyte of transfer
LIST_OBJECTS = 1000  # a page of S3's
DELETE_OBJECTS = 500
RETRIES = 4
RETRY_S = 8.0  # a server that is out of order for longer is told: who waits must know for what
TIMEOUT_S = 30.0
LONGEST_PUT = timedelta(hours=1)  # a group that is not whole by then is what a killed writer left
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_KIND = re.compile(r"\bkind: (Connect|Timeout)\b")
_KINDS = {"Connect": "it cannot be reached", "Timeout": "it did not answer in time"}
_SNAPSHOT = re.compile(r"(.*/\d{4}/\d{8}T\d{6}Z)\.(?:json|md|warc\.gz)")


def _now() -> datetime:
    return datetime.now(UTC)


class BucketStore:
    """Objects under a prefix of a bucket. *shown* names both, without credentials; *clock* is UTC."""

    def __init__(self, store: S3Store, shown: str, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._shown = shown
        self._clock = clock
        self._unfinished: list[Sequence[str]] = []  # groups that could not be taken back while the bucket was ill

    @classmethod
    def of(cls, storage: str, environ: Mapping[str, str], clock: Callable[[], datetime] = _now) -> BucketStore:
        """The bucket of `s3://bucket/prefix` with what the environment says of it. Raises StorageError."""
        missing = [name for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY") if not environ.get(name)]
        if missing:
            raise StorageError(f"{storage} needs {' and '.join(missing)} in the environment")
        bucket, _, prefix = storage.removeprefix(BUCKETS).partition("/")
        names = {
            "access_key_id": "AWS_ACCESS_KEY_ID",
            "secret_access_key": "AWS_SECRET_ACCESS_KEY",
            "session_token": "AWS_SESSION_TOKEN",
            "endpoint": "AWS_ENDPOINT_URL",
        }
        config = {key: value for key, name in names.items() if (value := environ.get(name))}
        try:
            store = S3Store(
                bucket,
                prefix=prefix.strip("/") or None,
                config={**config, "region": environ.get("AWS_REGION") or "us-east-1"},  # type: ignore[arg-type]
                client_options={
                    "allow_http": config.get("endpoint", "").startswith("http://"),
                    "connect_timeout": timedelta(seconds=5),
                    "timeout": timedelta(seconds=TIMEOUT_S),
                },
                retry_config={
                    "max_retries": RETRIES,
                    "retry_timeout": timedelta(seconds=RETRY_S),
                    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=2)},
                },
            )
        except (BaseError, ValueError) as error:
            raise StorageError(f"{storage} is no bucket that can be used: {type(error).__name__}") from None
        return cls(store, storage.rstrip("/"), clock)

    def get(self, name: str) -> bytes:
        with self._asking(name):
            return bytes(obstore.get(self._store, name).bytes())

    def open(self, name: str) -> IO[bytes]:
        file = io.BufferedReader(_Ranges(self, name), READ_BYTES)
        file.peek(1)  # what is not there is told now
        return file

    def read(self, name: str, start: int, most: int) -> tuple[bytes, int]:
        """Up to so many bytes from *start*, and the object's size."""
        with self._asking(name):
            try:
                found = obstore.get(self._store, name, options={"range": (start, start + most)})
                return bytes(found.bytes()), found.meta["size"]
            except BaseError as error:
                if _status(error) == 416:  # behind its end; an empty object has nothing else
                    return b"", start
                raise

    def find(self, name: str) -> Found | None:
        try:
            with self._asking(name):
                return _found(obstore.head(self._store, name))
        except UnreadableError:
            return None

    def list(self, under: str) -> Iterator[Found]:
        young = self._clock() - LONGEST_PUT
        for _, group in groupby(self._listed(under), key=lambda found: _stem(found.name)):
            those = list(group)
            half = _SNAPSHOT.fullmatch(those[0].name) and not those[-1].name.endswith(".warc.gz")
            if not half or those[-1].changed_at < young:
                yield from those

    def _listed(self, under: str) -> Iterator[Found]:
        pages = obstore.list(self._store, under, chunk_size=LIST_OBJECTS)
        while True:
            with self._asking(under):
                page = next(pages, None)
            if page is None:
                return
            yield from map(_found, page)

    def put(self, name: str, data: bytes) -> bool:
        try:
            with self._asking(name, "written"):
                obstore.put(self._store, name, data, mode="create", use_multipart=False)
        except _ExistsError:
            return self.get(name) == data  # an answer that was lost: it is ours after all
        return True

    def put_together(self, folder: str, files: Mapping[str, bytes]) -> bool:
        """The last name is given to whoever creates the first; the group is listed when the last one is there."""
        names = [f"{folder}/{name}" for name in files]
        contents = list(files.values())
        unfinished, self._unfinished = self._unfinished, []
        for left in unfinished:
            self._take_back(left)
        if not self.put(names[0], contents[0]):
            return False
        try:
            taken = not all(self.put(name, data) for name, data in zip(names[1:], contents[1:], strict=True))
        except StorageError:
            self._take_back(names)
            raise
        if taken:  # by what a killed writer left, long ago
            self._take_back(names[:1])
        return not taken

    def _take_back(self, names: Sequence[str]) -> None:
        try:
            self._remove(names)
        except StorageError:
            self._unfinished.append(names)

    def _remove(self, names: Sequence[str]) -> None:
        """The last first: what stays then is half a group, and nobody sees it."""
        for name in reversed(names):
            self.delete([name])

    def delete(self, names: Iterable[str]) -> None:
        those = list(names)
        for start in range(0, len(those), DELETE_OBJECTS):
            with suppress(UnreadableError), self._asking(self._shown, "removed"):
                obstore.delete(self._store, those[start : start + DELETE_OBJECTS])

    def clear(self) -> None:
        """Nothing: who died left half a group, which no list shows, and a part of another may be under way."""

    @contextmanager
    def as_file(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="sourcewatch-") as folder:
            path = Path(folder, name.rpartition("/")[2])
            path.write_bytes(self.get(name))
            yield path
            for beside in sorted(Path(folder).iterdir()):
                if beside != path and beside.is_file():
                    self.put(f"{name.rpartition('/')[0]}/{beside.name}", beside.read_bytes())

    def shown(self, name: str) -> str:
        return f"{self._shown}/{name}"

    @contextmanager
    def _asking(self, name: str, verb: str = "read") -> Iterator[None]:
        """Every failure in here is told in a sentence of our own words."""
        try:
            yield
        except AlreadyExistsError:
            raise _ExistsError from None
        except (BaseError, OSError) as error:
            if isinstance(error, FileNotFoundError) and _code(error) != "NoSuchBucket":
                raise UnreadableError(f"{self.shown(name)} is not there") from None
            raise StorageError(f"{self._shown} cannot be {verb}: {_words(error)}") from None


class _ExistsError(Exception):
    """Another created the object first."""


class _Ranges(io.RawIOBase):
    """An object read in ranges."""

    def __init__(self, store: BucketStore, name: str) -> None:
        self._store, self._name = store, name
        self._at = 0
        self._size: int | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self.read(READ_BYTES) or b"", b""))

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            found = self._store.find(self._name)
            offset += found.size_bytes if found else 0
        self._at = offset + (self._at if whence == io.SEEK_CUR else 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not view or (self._size is not None and self._at >= self._size):
            return 0
        data, self._size = self._store.read(self._name, self._at, len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


def _found(meta: ObjectMeta) -> Found:
    return Found(meta["path"], meta["size"], meta["last_modified"].astimezone(UTC))


def _stem(name: str) -> str:
    m = _SNAPSHOT.fullmatch(name)
    return m[1] if m else name


def _status(error: BaseException) -> int:
    m = _STATUS.search(str(error))
    return int(m[1]) if m else 0


def _code(error: BaseException) -> str:
    m = _CODE.search(str(error))
    return m[1] if m else ""


def _words(error: BaseException) -> str:
    """What happened; never the server's own text, which may hold the key that was used."""
    if status := _status(error):
        return f"it answered {' '.join(filter(None, (str(status), _code(error))))}"
    m = _KIND.search(str(error))
    return _KINDS[m[1]] if m else f"it failed ({type(error).__name__})"

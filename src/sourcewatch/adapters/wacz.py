"""A WACZ package (https://specs.webrecorder.net/wacz/1.1.1/): snapshots that one file carries and any browser replays.

The WARC files go in as they are, stored and not compressed, so that a viewer can read parts of them over HTTP.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from ..domain.errors import StorageError
from ..domain.memento import Memento
from .store import Store
from .warc_walk import Record, TornError, records

VERSION = "1.1.1"
CHUNK_BYTES = 1 << 20
_WWW = re.compile(r"^www\d*\.")
_END_OF_TYPE = re.compile(r"[;\s]")


def write(
    out: Path,
    store: Store,
    pages: Sequence[Memento],
    others: Iterable[Memento],
    *,
    title: str,
    software: str,
    at: datetime,
) -> int:
    """Package the files of these mementos, written whole or not at all; how many WARC files went in.

    *pages* are listed as pages, *others* (figures) only indexed. Raises StorageError.
    """
    warcs = {m.version.path: _name_of(m.version.path) for m in [*pages, *others]}
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            with zipfile.ZipFile(file, "w") as package:
                _fill(package, store, warcs, pages, {"title": title, "software": software, "created": _iso(at)})
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(out)
    except (OSError, TornError) as error:
        words = getattr(error, "strerror", None) or error
        raise StorageError(f"{out} cannot be written: {words}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return len(warcs)


def _fill(
    package: zipfile.ZipFile, store: Store, warcs: Mapping[str, str], pages: Sequence[Memento], told: Mapping[str, str]
) -> None:
    resources, index = [], list[str]()
    for path, name in warcs.items():
        with store.open(path) as file:
            resources.append(_stored(package, f"archive/{name}", file))
            file.seek(0)
            index += _lines(file, name, resources[-1]["bytes"])
    resources.append(_add(package, "indexes/index.cdx", "".join(sorted(index))))
    resources.append(_add(package, "pages/pages.jsonl", "".join(_pages(pages))))
    description = {"profile": "data-package", "wacz_version": VERSION, **told, "resources": resources}
    digest = _add(package, "datapackage.json", json.dumps(description, ensure_ascii=False, indent=1))["hash"]
    _add(package, "datapackage-digest.json", json.dumps({"path": "datapackage.json", "hash": digest}))


def _stored(package: zipfile.ZipFile, name: str, file: IO[bytes]) -> dict[str, Any]:
    digest, size = sha256(), 0
    with package.open(zipfile.ZipInfo(name), "w", force_zip64=True) as entry:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            size += entry.write(chunk)
    return _resource(name, digest.hexdigest(), size)


def _add(package: zipfile.ZipFile, name: str, text: str) -> dict[str, Any]:
    body = text.encode("utf-8", "replace")
    package.writestr(zipfile.ZipInfo(name), body, zipfile.ZIP_DEFLATED)
    return _resource(name, sha256(body).hexdigest(), len(body))


def _resource(path: str, digest: str, size: int) -> dict[str, Any]:
    return {"name": path.rpartition("/")[2].lower(), "path": path, "hash": f"sha256:{digest}", "bytes": size}


def _pages(pages: Iterable[Memento]) -> Iterator[str]:
    yield json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "All pages"}) + "\n"
    for memento in pages:
        version = memento.version
        line = {
            "id": version.record_id.strip("<>").rpartition(":")[2],
            "url": version.url,
            "ts": _iso(memento.at),
            "title": version.title or version.url,
        }
        yield json.dumps(line | ({"byHand": dict(memento.hand)} if memento.hand else {}), ensure_ascii=False) + "\n"


def _lines(file: IO[bytes], name: str, size: int) -> Iterator[str]:
    """A CDXJ line for every record of the file that can be replayed."""
    found = list(records(file))
    ends = [*(after.offset for _, after in pairwise(found)), size]
    for record, end in zip(found, ends, strict=True):
        if record.kind in ("response", "resource"):
            url, at = record.headers["warc-target-uri"], re.sub(r"\D", "", record.headers["warc-date"])[:14]
            fields = {"url": url, **_served(record), "digest": record.headers.get("warc-payload-digest", "")}
            fields |= {"length": str(end - record.offset), "offset": str(record.offset), "filename": name}
            yield f"{url_key(url)} {at} {json.dumps(fields)}\n"


def _served(record: Record) -> dict[str, str]:
    if record.kind == "resource":
        return {"mime": _END_OF_TYPE.split(record.headers.get("content-type", ""), maxsplit=1)[0]}
    head = record.block.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    kind = next((line.partition(":")[2].strip() for line in head[1:] if line.lower().startswith("content-type:")), "")
    served = {"mime": _END_OF_TYPE.split(kind, maxsplit=1)[0]} if kind else {}
    return served | {"status": [*head[0].split(" "), ""][1]}


def url_key(url: str) -> str:
    """The address as indexes sort it (SURT): host reversed, without `www.`, then path and sorted query, lower case.

    A URN has no host to reverse, but for the rest the `surt` package treats it likewise.
    """
    parts = urlsplit(url)
    path = parts.path.lower().rstrip("/")
    query = "?" + "&".join(sorted(parts.query.lower().split("&"))) if parts.query else ""
    if parts.hostname is None:
        return f"{parts.scheme}:{path}{query}"
    host = ",".join(reversed(_WWW.sub("", parts.hostname).split(".")))  # of an IP too: so do the other tools
    port = "" if parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme)) else f":{parts.port}"
    return f"{host}{port}){path or '/'}{query}"


def _name_of(path: str) -> str:
    """`snapshots/<id>/<year>/<stamp>.warc.gz` as a name that is unique in one folder."""
    return f"{Path(path).parts[-3]}-{Path(path).name}"


def _iso(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"

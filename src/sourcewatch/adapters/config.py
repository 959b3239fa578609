"""sources.toml, read strictly: every fault with file, line and key, all of them at once, before anything is fetched."""

from __future__ import annotations

import json
import os
import re
import ssl
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from ..domain.copies import KNOWN, OutsideArchive
from ..domain.errors import ConfigError
from ..domain.save import SavePolicy
from ..domain.source import (
    Claim,
    Editor,
    FetchPolicy,
    Header,
    Mirror,
    Proof,
    Quote,
    RenderPolicy,
    Rest,
    Retention,
    Settings,
    Site,
    Source,
    SourceKind,
    Tier,
    with_mirrors,
)
from . import read_by, readers, toml_files
from .config_models import ArchiveModel, FileModel, RestModel, Row, SaveModel, SourceModel
from .config_values import CONTROL
from .store import BUCKETS

MOST_BYTES = 32_000_000  # 50,000 rows with notes are 25 MB; a larger file is a mistake

_FRAMING = {"host", "content-length", "transfer-encoding", "connection", "te", "upgrade", "trailer", "expect"}
_ENV = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_Found = Iterator[tuple[toml_files.Loc, str]]


def schema() -> str:
    """The JSON schema that editors' tools read (`#:schema ./sources.schema.json`)."""
    return json.dumps(FileModel.model_json_schema(mode="validation"), indent=1, ensure_ascii=False) + "\n"


def own_readers(path: Path) -> Path | None:
    """The site's own readers file, where its sources file names one. Raises ConfigError for one that is not TOML."""
    try:
        fetch = tomllib.loads(_text(path)).get("fetch")
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([f"{path}: not valid TOML: {error}"]) from None
    name = fetch.get("readers") if isinstance(fetch, dict) else None
    return path.parent / name if isinstance(name, str) and name else None


def load(
    path: Path,
    environ: Mapping[str, str] = os.environ,
    selector_error: Callable[[str], str | None] = lambda css: None,
) -> Settings:
    """Read and judge the file. Raises ConfigError with every fault that was found."""
    text = _text(path)
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([f"{path}: not valid TOML: {error}"]) from None
    except RecursionError:
        raise ConfigError([f"{path}: nested too deeply to be a sources file"]) from None
    try:
        model = FileModel.model_validate(raw)
    except ValidationError as error:
        faults = [(e["loc"], _sentence(e)) for e in error.errors()]
        raise ConfigError(toml_files.faults(path, text, [*faults, *_names(raw)])) from None
    del raw  # 40 MB of 50,000 rows
    own = path.parent / model.fetch.readers if model.fetch.readers else None
    rules = read_by.rules(model, readers.book(own, selector_error), environ)
    wrong = [*_whole(model, environ, selector_error), *read_by.faults(rules)]
    for key, bundle in (("fetch", "ca_bundle"), model.fetch.ca_bundle), (("proof", "tsa_ca"), model.proof.tsa_ca):
        wrong += [(key, words) for words in _bundle_faults(bundle, path.parent)]
    if wrong:
        raise ConfigError(toml_files.faults(path, text, wrong))
    return _settings(model, environ, path.parent, rules)


def _text(path: Path) -> str:
    absent = "not found; write one (see the README) or name it with --config"
    return toml_files.text_of(path, MOST_BYTES, "this is not a sources file", absent)


def _sentence(error: Any) -> str:
    kind, given = error["type"], error.get("input")
    match kind:
        case "extra_forbidden":
            return "unknown key"
        case "missing":
            return "is missing"
        case "string_pattern_mismatch":
            return f"{given!r} may hold only lower-case letters, digits and hyphens (at most 100, not at the ends)"
        case "string_too_short":
            return "may not be empty"
        case "value_error":
            return str(error["ctx"]["error"])
        case _:
            return f"{error['msg'].lower()} (found {str(given)[:60]!r})"


def _names(raw: Mapping[str, Any]) -> _Found:
    """Ids used twice and tiers that lead nowhere, in a file whose values are not sound: told with the other faults."""
    tiers, ids = raw.get("tiers"), set[str]()
    for table in ("source", "claim"):
        rows = raw.get(table)
        for i, row in enumerate(rows if isinstance(rows, list) else []):
            if not isinstance(row, dict):
                continue
            name, tier = row.get("id"), row.get("tier")
            if isinstance(name, str) and name in ids:
                yield (table, i, "id"), f"{name!r} is used twice"
            if isinstance(tier, str) and tier and isinstance(tiers, dict) and tier not in tiers:
                yield (table, i, "tier"), f"no [tiers.{tier}] in this file"
            ids.add(str(name))


def _whole(model: FileModel, environ: Mapping[str, str], selector_error: Callable[[str], str | None]) -> _Found:
    """Faults that only the whole file shows: duplicates, names that lead nowhere, missing environment."""
    ids: dict[str, str] = {}
    tables: tuple[tuple[str, Sequence[Row]], ...] = (("source", model.source), ("claim", model.claim))
    for table, rows in tables:
        for i, row in enumerate(rows):
            if row.id in ids:
                yield (table, i, "id"), f"{row.id!r} is used twice"
            ids[row.id] = table
            if row.tier not in model.tiers:
                yield (table, i, "tier"), f"no [tiers.{row.tier}] in this file"
    for name, tier in model.tiers.items():
        if tier.slowest is not None and (tier.cron or tier.slowest < tier.every):
            yield ("tiers", name, "slowest"), "is the longest interval that `every` may grow to"
    for name in model.retain:
        if name != "default" and name not in model.tiers:
            yield ("retain", name), f"no [tiers.{name}] in this file"
    for i, editor in enumerate(model.editor):
        if any(other.name == editor.name for other in model.editor[:i]):
            yield ("editor", i, "name"), f"{editor.name!r} is used twice"
        for wanted in editor.tiers:
            if wanted not in model.tiers:
                yield ("editor", i, "tiers"), f"no [tiers.{wanted}] in this file"
    for i, archive in enumerate(model.archive):
        if any(other.name == archive.name for other in model.archive[:i]):
            yield ("archive", i, "name"), f"{archive.name!r} is used twice"
        if not archive.timegate and not archive.timemap and archive.name not in KNOWN:
            yield ("archive", i, "name"), f"is none of {', '.join(sorted(KNOWN))}, so it needs a timegate or a timemap"
    yield from _save_faults(model)
    sources = {row.id: row for row in model.source}
    claims = {row.id for row in model.claim}
    for i, claim in enumerate(model.claim):
        for carrier in claim.carriers:
            if carrier not in sources:
                yield ("claim", i, "carriers"), f"{carrier!r} is not a source of this file"
    for i, source in enumerate(model.source):
        if source.watch == "picture" and not model.render.screenshot:
            yield ("source", i, "watch"), "needs screenshots, and [render] says screenshot = false"
        yield from _row_faults(i, source, sources, claims)
        yield from _row_environment(i, source, environ, selector_error)


def _save_faults(model: FileModel) -> _Found:
    """A name that leads nowhere would send nothing, or what was to stay here."""
    if model.save is None:
        return
    for tier in model.save.tiers:
        if tier not in model.tiers:
            yield ("save", "tiers"), f"no [tiers.{tier}] in this file"
    known = {row.id for row in model.source}
    for excepted in model.save.leave_out:
        if excepted not in known:
            yield ("save", "leave_out"), f"{excepted!r} is not a source of this file"


def _row_faults(i: int, row: SourceModel, sources: Mapping[str, SourceModel], claims: set[str]) -> _Found:
    for name, other in (("parent", row.parent), ("mirror_of", row.mirror_of)):
        if other is not None and (other not in sources or other == row.id):
            yield ("source", i, name), f"{other!r} is not another source of this file"
    original = sources.get(row.mirror_of or "")
    if original is not None and (original.mirror_of is not None or original.kind == "figure"):
        yield ("source", i, "mirror_of"), f"{row.mirror_of!r} is a mirror or a figure itself; a mirror is of a page"
    if (row.mirrors or row.mirror_of) and row.kind == "figure":
        yield ("source", i, "kind"), "a figure has no mirror: only text is read second-hand"
    if row.mirrors and row.mirror_of:
        yield ("source", i, "mirrors"), "a mirror has no mirrors; give them to the source"
    if row.kind == "figure" and row.parent is None:
        yield ("source", i, "kind"), "a figure needs a parent: the page that shows it"
    if row.kind == "figure" and row.url is None and not row.alt:
        yield ("source", i, "kind"), "a figure needs a url, or words of its alt text, to be known by"
    if row.read is not None and row.url is None:
        yield ("source", i, "read"), "says what is fetched, but there is no url that the site cites"
    if row.every is not None and row.cron is not None:
        yield ("source", i, "cron"), "every and cron exclude each other"
    if row.slowest is not None and (row.every is None or row.slowest < row.every):
        yield ("source", i, "slowest"), "is the longest interval that its own `every` may grow to"
    if row.render != "never" and row.headers:
        yield ("source", i, "render"), "headers of its own would follow a browser's redirects to other hosts"
    if row.watch == "picture" and row.kind == "page" and row.render != "always":
        yield ("source", i, "watch"), 'how a page looks is known only by a browser: write render = "always" too'
    seen: set[tuple[str, str, str, str]] = set()
    for j, quote in enumerate(row.quote):
        same = (quote.exact, quote.prefix, quote.suffix, quote.figure)
        if same in seen:
            yield ("source", i, "quote", j, "exact"), "the same quote twice; tell them apart by prefix or suffix"
        seen.add(same)
        for carried in quote.carries:
            if carried not in claims:
                yield ("source", i, "quote", j, "carries"), f"{carried!r} is not a claim of this file"


def _row_environment(
    i: int, row: SourceModel, environ: Mapping[str, str], selector_error: Callable[[str], str | None]
) -> _Found:
    for name, value in row.headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or CONTROL.search(value):
            yield ("source", i, "headers", name), "not a header that can be sent"
        elif name.lower() in _FRAMING:
            yield ("source", i, "headers", name), "frames the request itself and is not yours to set"
        for variable in _ENV.findall(value):
            if variable not in environ:
                yield ("source", i, "headers", name), f"the environment has no {variable}"
    for key, selectors in (("select", [row.select] if row.select else []), ("ignore", row.ignore)):
        for css in selectors:
            if words := selector_error(css):
                yield ("source", i, key), f"{css!r} is not a CSS selector: {words}"


def _bundle_faults(bundle: str, folder: Path) -> Iterator[str]:
    if not bundle:
        return
    try:
        ssl.create_default_context().load_verify_locations(folder / bundle)
    except (OSError, ssl.SSLError) as error:
        yield f"{bundle!r} holds no certificate that can be read: {error}"


def _settings(model: FileModel, environ: Mapping[str, str], folder: Path, rules: read_by.Rules) -> Settings:
    fetch, site, proof = model.fetch, model.site, model.proof
    tiers = {name: Tier(name, t.title, t.every, t.cron, t.slowest) for name, t in model.tiers.items()}
    zone = ZoneInfo(site.timezone)
    return Settings(
        site=Site(site.name, site.url or "", site.timezone, site.language),
        fetch=FetchPolicy(
            contact=fetch.contact,
            allow_networks=tuple(fetch.allow_networks),
            ca_bundle=str((folder / fetch.ca_bundle).resolve()) if fetch.ca_bundle else "",
            max_bytes=fetch.max_bytes,
            deadline_s=fetch.deadline,
            connect_s=fetch.connect,
            read_s=fetch.read,
            respect_robots=fetch.respect_robots,
            concurrency=fetch.concurrency,
        ),
        hosts=MappingProxyType(read_by.policies(model, rules)),
        tiers=MappingProxyType(tiers),
        sources=with_mirrors(
            [
                read_by.read_by(rule, _source(row, tiers[row.tier], environ, zone))
                for row, rule in zip(model.source, rules, strict=True)
            ]
        ),
        claims=tuple(Claim(c.id, c.tier, c.text, tuple(c.carriers), c.notes) for c in model.claim),
        retention=MappingProxyType(
            {name: Retention(r.versions, r.refused, r.checks) for name, r in model.retain.items()}
        ),
        proof=Proof(proof.tsa or "", str((folder / proof.tsa_ca).resolve()) if proof.tsa_ca else "", tuple(proof.hook)),
        editors=tuple(
            Editor(
                e.name,
                tuple(e.to),
                e.language or site.language,
                tuple(e.tiers),
                tuple(e.at_once),
                e.digest,
                e.digest_at,
            )
            for e in model.editor
        ),
        render=RenderPolicy(model.render.browser, model.render.screenshot),
        public_url=model.serve.url.rstrip("/") + "/" if model.serve.url else "",
        archives=tuple(_archive(a) for a in model.archive),
        save=_save(model.save),
        look_for_moved=model.serve.look_for_moved,
        storage=_place(model.storage, folder),
    )


def _save(row: SaveModel | None) -> SavePolicy | None:
    if row is None:
        return None
    limits = row.per_minute, row.per_day
    return SavePolicy(row.address.rstrip("/"), row.token, *limits, tuple(row.tiers), tuple(row.leave_out))


def _archive(row: ArchiveModel) -> OutsideArchive:
    if not row.timegate and not row.timemap:
        return KNOWN[row.name]
    return OutsideArchive(row.name, row.timegate, row.timemap)


def _place(storage: str, folder: Path) -> str:
    return storage if not storage or storage.startswith(BUCKETS) else str((folder / storage).resolve())


def _rest(model: RestModel | None, zone: ZoneInfo) -> Rest | None:
    """Until the end of the day, in the site's zone."""
    if model is None:
        return None
    ends = datetime.combine(model.until + timedelta(days=1), time(), zone)
    return Rest(ends.astimezone(UTC), model.reason)


def _source(row: SourceModel, tier: Tier, environ: Mapping[str, str], zone: ZoneInfo) -> Source:
    return Source(
        id=row.id,
        tier=row.tier,
        title=row.title,
        url=row.url,
        read=row.read,
        language=row.language,
        publisher=row.publisher,
        kind=SourceKind(row.kind),
        every_s=row.every or tier.every_s,
        cron=row.cron or (tier.cron if row.every is None else None),
        parent=row.parent,
        alt=row.alt,
        quotes=tuple(
            Quote(q.exact, q.prefix, q.suffix, tuple(q.carries), tuple(q.cited_on), q.figure) for q in row.quote
        ),
        mirrors=tuple(Mirror(m.url, m.kind) for m in row.mirrors),
        mirror_of=row.mirror_of,
        cited_on=tuple(row.cited_on),
        formerly=tuple(row.formerly),
        headers=tuple(
            Header(name, _ENV.sub(lambda m: environ[m[1]], value), secret=bool(_ENV.search(value)))
            for name, value in row.headers.items()
        ),
        select=row.select,
        ignore=tuple(row.ignore),
        render=row.render,
        embeds=row.embeds,
        robots_override=row.robots_override,
        dates=tuple(row.dates.items()),
        notes=row.notes,
        slowest_s=row.slowest or (tier.slowest_s if row.every is None else None),
        pause=_rest(row.pause, zone),
        mute=_rest(row.mute, zone),
        watch=row.watch,
    )

"""sources.toml, read strictly: every fault with file, line and key, all of them at once, before anything is fetched."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import ssl
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import ada_url
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..domain.errors import ConfigError
from ..domain.source import (
    Claim,
    FetchPolicy,
    Header,
    HostPolicy,
    Mirror,
    Quote,
    Settings,
    Site,
    Source,
    SourceKind,
    Tier,
)
from . import cron, toml_lines

MOST_BYTES = 32_000_000  # 50,000 rows with notes are 25 MB; a larger file is a mistake

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_SIZES = {"B": 1, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)", re.I)
MOST_QUOTE_CHARS = 2_000
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_FRAMING = {"host", "content-length", "transfer-encoding", "connection", "te", "upgrade", "trailer", "expect"}
_ID = r"^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$"
_ENV = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DAYS = r"(?:mon|tue|wed|thu|fri|sat|sun)"
_CRON = re.compile(
    rf"^\s*[\d*,/-]+\s+[\d*,/-]+\s+[\d*,/-]+\s+[\d*,/-]+\s+(?:\*|{_DAYS}(?:-{_DAYS})?(?:,{_DAYS}(?:-{_DAYS})?)*)\s*$",
    re.I,
)


def seconds(value: object) -> float:
    """ "90s", "6h", "1h 30m" → seconds. Raises ValueError with a sentence for people."""
    if isinstance(value, str) and (found := _DURATION.findall(value)):
        rest = _DURATION.sub("", value).strip()
        total = sum(float(number) * _UNITS_S[unit] for number, unit in found)
        if not rest and 0 < total <= 3_660 * 86_400:
            return total
    raise ValueError(f'{value!r} is not a duration; write e.g. "90s", "6h", "7d"')


def _delay(value: object) -> float:
    return 0.0 if value in ("0", "0s") else seconds(value)


def size_bytes(value: object) -> int:
    """ "20MB" → 20000000. Raises ValueError with a sentence for people."""
    if isinstance(value, str) and (m := _SIZE.fullmatch(value.strip())):
        total = float(m[1]) * _SIZES[m[2].upper()]
        if 0 < total <= 2_000_000_000:
            return int(total)
    raise ValueError(f'{value!r} is not a size; write e.g. "20MB"')


def web_address(value: object) -> str:
    """An absolute http(s) address as the WHATWG URL standard reads it; returned as written."""
    if not isinstance(value, str):
        raise ValueError("an address is text")
    text = value.strip()
    if not text:
        raise ValueError("an address may not be empty; leave the key out when it is not known")
    try:
        parsed = ada_url.URL(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an address") from None
    if parsed.protocol not in ("http:", "https:"):
        raise ValueError(f"{text!r} is not an http or https address")
    if parsed.username or parsed.password:
        raise ValueError("an address may not hold a user name or password; use headers with ${ENV}")
    return text


def _network(value: object) -> str:
    try:
        return str(ipaddress.ip_network(str(value)))
    except ValueError:
        raise ValueError(f'{value!r} is not a network; write e.g. "127.0.0.0/28"') from None


def _zone(value: object) -> str:
    try:
        ZoneInfo(str(value))
    except (ValueError, OSError, KeyError):
        raise ValueError(f'{value!r} is not a time zone; write e.g. "Asia/Shanghai"') from None
    return str(value)


def _cron(value: object) -> str:
    if isinstance(value, str) and _CRON.match(value):
        try:
            cron.next_time(value, "UTC", datetime.now(UTC))
        except ValueError as error:
            raise ValueError(f"{value!r} is not a schedule: {error}") from None
        return value.strip()
    raise ValueError(f'{value!r} is not a schedule; write five fields with day names, e.g. "0 9 * * mon"')


Duration = Annotated[float, BeforeValidator(seconds, json_schema_input_type=str)]
Delay = Annotated[float, BeforeValidator(_delay, json_schema_input_type=str)]
Size = Annotated[int, BeforeValidator(size_bytes, json_schema_input_type=str)]
Address = Annotated[str, BeforeValidator(web_address, json_schema_input_type=str)]
Network = Annotated[str, BeforeValidator(_network, json_schema_input_type=str)]
Zone = Annotated[str, BeforeValidator(_zone, json_schema_input_type=str)]
Cron = Annotated[str, BeforeValidator(_cron, json_schema_input_type=str)]
Words = Annotated[str, Field(min_length=1)]
Id = Annotated[str, Field(pattern=_ID, description="lower-case letters, digits and hyphens; names a folder")]


_Found = Iterator[tuple[tuple[str | int, ...], str]]


def _sentence_to_find(text: str) -> str:
    """A quote that can be looked for: letters or digits in it, and no longer than a passage."""
    if not any(c.isalnum() for c in text):
        raise ValueError("has no letter and no digit to look for")
    if len(text) > MOST_QUOTE_CHARS:
        raise ValueError(f"is longer than {MOST_QUOTE_CHARS} characters; quote a sentence or two")
    return text


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("may not hold line breaks or control characters")
    return text


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SiteModel(_Strict):
    name: Words
    url: Address | None = None
    timezone: Zone = "UTC"
    language: Literal["zh-CN", "en"] = "en"


class FetchModel(_Strict):
    contact: Annotated[str, AfterValidator(_one_line)] = ""
    allow_networks: list[Network] = []
    ca_bundle: str = ""
    max_bytes: Annotated[Size, Field(json_schema_extra={"default": "20MB"})] = 20_000_000
    deadline: Annotated[Duration, Field(json_schema_extra={"default": "60s"})] = 60.0
    connect: Annotated[Duration, Field(json_schema_extra={"default": "10s"})] = 10.0
    read: Annotated[Duration, Field(json_schema_extra={"default": "20s"})] = 20.0
    respect_robots: bool = True
    concurrency: Annotated[int, Field(ge=1, le=512)] = 32


class HostModel(_Strict):
    delay: Annotated[Delay, Field(json_schema_extra={"default": "2s"})] = 2.0


class TierModel(_Strict):
    title: Words
    every: Annotated[Duration, Field(json_schema_extra={"default": "24h"})] = 86_400.0
    cron: Cron | None = None


class QuoteModel(_Strict):
    exact: Annotated[str, AfterValidator(_sentence_to_find)]
    prefix: str = ""
    suffix: str = ""
    carries: list[str] = []
    cited_on: list[str] = []
    figure: str = ""


class MirrorModel(_Strict):
    url: Address
    kind: Words = "text"


class _Row(_Strict):
    id: Id
    tier: Words


class SourceModel(_Row):
    title: Words
    url: Address | None = None
    read: Address | None = None
    language: str = ""
    publisher: str = ""
    kind: Literal["page", "figure"] = "page"
    every: Duration | None = None
    cron: Cron | None = None
    parent: str | None = None
    alt: str = ""
    mirrors: list[MirrorModel] = []
    mirror_of: str | None = None
    cited_on: list[str] = []
    headers: dict[str, str] = {}
    select: str = ""
    ignore: list[str] = []
    render: Literal["never", "auto", "always"] = "never"
    embeds: Literal["all", "none"] = "all"
    robots_override: str = ""
    dates: dict[str, str] = {}
    notes: str = ""
    quote: list[QuoteModel] = []


class ClaimModel(_Row):
    text: Words
    carriers: list[str] = []
    notes: str = ""


class FileModel(_Strict):
    """The whole of sources.toml."""

    site: SiteModel
    fetch: FetchModel = FetchModel()
    hosts: dict[str, HostModel] = {}
    tiers: dict[str, TierModel] = {}
    source: list[SourceModel] = []
    claim: list[ClaimModel] = []


def schema() -> str:
    """The JSON schema that editors' tools read (`#:schema ./sources.schema.json`)."""
    return json.dumps(FileModel.model_json_schema(mode="validation"), indent=1, ensure_ascii=False) + "\n"


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
    known = toml_lines.lines(text)
    try:
        model = FileModel.model_validate(raw)
    except ValidationError as error:
        faults = {_fault(path, known, e["loc"], _sentence(e)) for e in error.errors()}
        faults |= {_fault(path, known, loc, words) for loc, words in _names(raw)}
        raise ConfigError(sorted(faults, key=_line_number)) from None
    wrong = [_fault(path, known, loc, words) for loc, words in _whole(model, environ, selector_error)]
    wrong += [_fault(path, known, ("fetch", "ca_bundle"), words) for words in _bundle_faults(model, path.parent)]
    if wrong:
        raise ConfigError(sorted(wrong, key=_line_number))
    return _settings(model, environ, path.parent)


def _text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise ConfigError([f"{path}: cannot be read: it is not a file"])
        if path.stat().st_size > MOST_BYTES:
            raise ConfigError([f"{path}: larger than {MOST_BYTES // 1_000_000} MB; this is not a sources file"])
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError([f"{path}: not found; write one (see the README) or name it with --config"]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: not UTF-8 at byte {error.start}"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None


def _fault(path: Path, known: Mapping[toml_lines.Path, int], loc: tuple[str | int, ...], words: str) -> str:
    key = ".".join(str(part) for part in loc if not isinstance(part, int)) or "file"
    return f"{path}:{toml_lines.line_of(loc, known)}: {key}: {words}"


def _line_number(fault: str) -> tuple[int, str]:
    m = re.search(r":(\d+): ", fault)
    return (int(m[1]) if m else 0, fault)


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
    tables: tuple[tuple[str, Sequence[_Row]], ...] = (("source", model.source), ("claim", model.claim))
    for table, rows in tables:
        for i, row in enumerate(rows):
            if row.id in ids:
                yield (table, i, "id"), f"{row.id!r} is used twice"
            ids[row.id] = table
            if row.tier not in model.tiers:
                yield (table, i, "tier"), f"no [tiers.{row.tier}] in this file"
    sources = {row.id: row for row in model.source}
    claims = {row.id for row in model.claim}
    for i, claim in enumerate(model.claim):
        for carrier in claim.carriers:
            if carrier not in sources:
                yield ("claim", i, "carriers"), f"{carrier!r} is not a source of this file"
    for i, source in enumerate(model.source):
        yield from _row_faults(i, source, sources, claims)
        yield from _row_environment(i, source, environ, selector_error)


def _row_faults(i: int, row: SourceModel, sources: Mapping[str, SourceModel], claims: set[str]) -> _Found:
    for name, other in (("parent", row.parent), ("mirror_of", row.mirror_of)):
        if other is not None and (other not in sources or other == row.id):
            yield ("source", i, name), f"{other!r} is not another source of this file"
    if row.kind == "figure" and row.parent is None:
        yield ("source", i, "kind"), "a figure needs a parent: the page that shows it"
    if row.kind == "figure" and row.url is None and not row.alt:
        yield ("source", i, "kind"), "a figure needs a url, or words of its alt text, to be known by"
    if row.read is not None and row.url is None:
        yield ("source", i, "read"), "says what is fetched, but there is no url that the site cites"
    if row.every is not None and row.cron is not None:
        yield ("source", i, "cron"), "every and cron exclude each other"
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
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or _CONTROL.search(value):
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


def _bundle_faults(model: FileModel, folder: Path) -> Iterator[str]:
    if not model.fetch.ca_bundle:
        return
    try:
        ssl.create_default_context().load_verify_locations(folder / model.fetch.ca_bundle)
    except (OSError, ssl.SSLError) as error:
        yield f"{model.fetch.ca_bundle!r} holds no certificate that can be read: {error}"


def _settings(model: FileModel, environ: Mapping[str, str], folder: Path) -> Settings:
    fetch, site = model.fetch, model.site
    tiers = {name: Tier(name, t.title, t.every, t.cron) for name, t in model.tiers.items()}
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
        hosts=MappingProxyType({name: HostPolicy(h.delay) for name, h in model.hosts.items()}),
        tiers=MappingProxyType(tiers),
        sources=tuple(_source(row, tiers[row.tier], environ) for row in model.source),
        claims=tuple(Claim(c.id, c.tier, c.text, tuple(c.carriers), c.notes) for c in model.claim),
    )


def _source(row: SourceModel, tier: Tier, environ: Mapping[str, str]) -> Source:
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
    )

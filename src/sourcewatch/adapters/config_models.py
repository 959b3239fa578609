"""The shape of sources.toml, key by key, strictly."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .config_values import (
    Address,
    ClockTime,
    Cron,
    Day,
    Delay,
    Duration,
    Id,
    Lasting,
    Network,
    Size,
    Storage,
    Template,
    Variable,
    Words,
    Zone,
    one_line,
    sentence_to_find,
)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SiteModel(_Strict):
    name: Words
    url: Address | None = None
    timezone: Zone = "UTC"
    language: Literal["zh-CN", "en"] = "en"


class FetchModel(_Strict):
    contact: Annotated[str, AfterValidator(one_line)] = ""
    allow_networks: list[Network] = []
    ca_bundle: str = ""
    max_bytes: Annotated[Size, Field(json_schema_extra={"default": "20MB"})] = 20_000_000
    deadline: Annotated[Duration, Field(json_schema_extra={"default": "60s"})] = 60.0
    connect: Annotated[Duration, Field(json_schema_extra={"default": "10s"})] = 10.0
    read: Annotated[Duration, Field(json_schema_extra={"default": "20s"})] = 20.0
    respect_robots: bool = True
    concurrency: Annotated[int, Field(ge=1, le=512)] = 32
    readers: str = ""


class HostModel(_Strict):
    delay: Annotated[Delay, Field(json_schema_extra={"default": "2s"})] = 2.0


class TierModel(_Strict):
    title: Words
    every: Annotated[Duration, Field(json_schema_extra={"default": "24h"})] = 86_400.0
    cron: Cron | None = None
    slowest: Duration | None = None


class QuoteModel(_Strict):
    exact: Annotated[str, AfterValidator(sentence_to_find)]
    prefix: str = ""
    suffix: str = ""
    carries: list[str] = []
    cited_on: list[str] = []
    figure: str = ""


class MirrorModel(_Strict):
    url: Address
    kind: Words = "text"


class RestModel(_Strict):
    until: Day
    reason: Words


class RetainModel(_Strict):
    versions: Lasting = None
    refused: Lasting = None
    checks: Lasting = None


class ProofModel(_Strict):
    tsa: Address | None = None
    tsa_ca: str = ""
    hook: list[Words] = []


class ServeModel(_Strict):
    url: Address | None = None
    look_for_moved: bool = True


class EditorModel(_Strict):
    name: Words
    to: Annotated[list[Variable], Field(min_length=1)]
    language: Literal["zh-CN", "en"] | None = None
    tiers: list[str] = []
    at_once: list[Literal["quote", "dead", "figure", "failing", "change"]] = ["quote", "dead", "figure"]
    digest: Literal["daily", "weekly", "none"] = "daily"
    digest_at: ClockTime = "08:30"


class RenderModel(_Strict):
    """How pages are read that need a browser; sources ask for it by `render`."""

    browser: str = ""
    screenshot: bool = True


class ArchiveModel(_Strict):
    """An archive of others that is asked for copies; known names need no templates."""

    name: Words
    timegate: Template = ""
    timemap: Template = ""


class SaveModel(_Strict):
    """An archive that is asked to save each new version (the Internet Archive's Save Page Now)."""

    address: Address = "https://web.archive.org"
    token: Variable
    per_minute: Annotated[int, Field(ge=1, le=12)] = 4
    per_day: Annotated[int, Field(ge=1, le=30_000)] = 500
    tiers: Annotated[list[str], Field(min_length=1)] = ["A"]
    leave_out: list[str] = []


class Row(_Strict):
    """What sources and claims share."""

    id: Id
    tier: Words


class SourceModel(Row):
    title: Words
    url: Address | None = None
    formerly: list[Address] = []
    read: Address | None = None
    reader: Words = "auto"
    language: str = ""
    publisher: str = ""
    kind: Literal["page", "figure"] = "page"
    every: Duration | None = None
    cron: Cron | None = None
    slowest: Duration | None = None
    pause: RestModel | None = None
    mute: RestModel | None = None
    parent: str | None = None
    alt: str = ""
    mirrors: list[MirrorModel] = []
    mirror_of: str | None = None
    cited_on: list[str] = []
    headers: dict[str, str] = {}
    select: str = ""
    ignore: list[str] = []
    render: Literal["never", "auto", "always"] = "never"
    watch: Literal["text", "picture"] = "text"
    embeds: Literal["all", "none"] = "all"
    robots_override: str = ""
    dates: dict[str, str] = {}
    notes: str = ""
    quote: list[QuoteModel] = []


class ClaimModel(Row):
    text: Words
    carriers: list[str] = []
    notes: str = ""


class FileModel(_Strict):
    """The whole of sources.toml."""

    storage: Storage = ""
    site: SiteModel
    fetch: FetchModel = FetchModel()
    hosts: dict[str, HostModel] = {}
    tiers: dict[str, TierModel] = {}
    serve: ServeModel = ServeModel()
    render: RenderModel = RenderModel()
    proof: ProofModel = ProofModel()
    retain: dict[str, RetainModel] = {}
    editor: list[EditorModel] = []
    archive: list[ArchiveModel] = []
    save: SaveModel | None = None
    source: list[SourceModel] = []
    claim: list[ClaimModel] = []

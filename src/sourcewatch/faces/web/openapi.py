"""The OpenAPI document of what scripts ask. It is kept by hand and held true by a fuzzer in the tests."""

from __future__ import annotations

from typing import Any

from ... import __version__
from ...domain.change import EditKind, Extent, SightingKind, Significance
from ...domain.source import SourceKind
from ...domain.verdict import WORDS

LIMIT, MOST = 100, 1_000
MOST_ID = 2**63 - 1

Schema = dict[str, Any]


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _or_null(schema: Schema) -> Schema:
    return {"oneOf": [schema, {"type": "null"}]}


def _object(**properties: Schema) -> Schema:
    """An object that has exactly these properties."""
    names = {name.rstrip("_"): schema for name, schema in properties.items()}
    return {"type": "object", "properties": names, "required": list(names), "additionalProperties": False}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _words(words: Any) -> Schema:
    return {"type": "string", "enum": [str(w) for w in words]}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
YES_NO: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}
DAY: Schema = {"type": "string", "format": "date"}
SPOKEN = {"type": "object", "properties": {"zh-CN": TEXT, "en": TEXT}, "required": ["zh-CN", "en"]}
VERDICT = _words(sorted(WORDS))
CLASS = _words(sorted({w.klass for w in WORDS.values()}))

_ENTRY = {
    "url": _or_null(TEXT),
    "title": TEXT,
    "tier": TEXT,
    "last_accessed": _or_null(TIME),
    "precision": _or_null(_words(["minute", "day", "month", "year"])),
    "date": _or_null(DAY),
    "text": _or_null(SPOKEN),
    "version_at": _or_null(TIME),
    "as_of": _or_null(SPOKEN),
    "by_hand": _or_null(_object(by=TEXT, at=TIME, date=DAY)),
    "verdict": _or_null(VERDICT),
    "failing_since": _or_null(TIME),
    "dead": YES_NO,
    "memento": _or_null(TEXT),
    "unread": _list(_object(url=_or_null(TEXT), alt=TEXT, verdict=_or_null(VERDICT), since=TIME)),
    "mirror_of": _or_null(TEXT),
    "second_hand": _list(
        _object(
            source=TEXT, url=_or_null(TEXT), last_accessed=_or_null(TIME), date=_or_null(DAY),
            verdict=_or_null(VERDICT), quotes=_object(held=NUMBER, sought=NUMBER), lacks=_list(TEXT),
        )
    ),
    "outside": _or_null(
        _object(archive=TEXT, url=TEXT, memento_at=TIME, date=DAY, quotes=_object(held=NUMBER, sought=NUMBER))
    ),
}  # fmt: skip
_SOURCE = {
    "id": TEXT,
    "kind": _words(SourceKind),
    "parent": _or_null(TEXT),
    **_ENTRY,
    "class_": _or_null(CLASS),
    "rule": _or_null(TEXT),
    "evidence": _or_null(TEXT),
    "checked_at": _or_null(TIME),
    "strikes": NUMBER,
    "final_url": _or_null(TEXT),
}
_QUOTE = _object(
    quote=TEXT, exact=TEXT, cited_on=_list(TEXT), sighting=_or_null(_words(SightingKind)), score=_or_null(SHARE),
    seen_at=_or_null(TIME), stood_at=_or_null(TIME),
)  # fmt: skip
_CHECK = _object(
    id=NUMBER, first_at=TIME, last_at=TIME, n=NUMBER, verdict=VERDICT, class_=CLASS, accessed=YES_NO, rule=TEXT,
    evidence=TEXT, status=NUMBER, url=TEXT, final_url=TEXT, version=_or_null(NUMBER), new_version=YES_NO, void=YES_NO,
    by_hand=_or_null(TEXT), ms=NUMBER,
)  # fmt: skip
_VERSION = _object(
    id=NUMBER, captured_at=TIME, title=TEXT, url=TEXT, final_url=TEXT, media_type=TEXT, size_bytes=NUMBER,
    payload_sha256=TEXT, text_sha256=TEXT, by_hand=_or_null(TEXT), dropped=_or_null(_object(at=TIME, rule=TEXT)),
    memento=_or_null(TEXT),
)  # fmt: skip
_AT = _object(version=NUMBER, captured_at=TIME)
_PART = {"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [{"enum": [-1, 0, 1]}, TEXT]}
_PICTURE = _object(from_=_list(NUMBER), to=_list(NUMBER), share=SHARE, regions=_list(
    _object(x=NUMBER, y=NUMBER, width=NUMBER, height=NUMBER, share=SHARE)
))  # fmt: skip
_CHANGE = _object(
    id=NUMBER, source=TEXT, seen_at=TIME, from_=_AT, to=_AT, significance=_words(Significance), confirmed=YES_NO,
    confirmed_at=_or_null(TIME), told=NUMBER, suppressed=NUMBER, extent=_words(Extent), kept=SHARE, novelty=SHARE,
    title=_or_null(_object(from_=TEXT, to=TEXT)), by_hand=_or_null(TEXT),
    picture=_or_null(_PICTURE), edits=_list(_object(kind=_words(EditKind), parts=_list(_PART))),
)  # fmt: skip


def _parameter(name: str, schema: Schema, words: str, *, where: str = "query") -> Schema:
    return {"name": name, "in": where, "required": where == "path", "schema": schema, "description": words}


_ID = _parameter("id", {"type": "string", "minLength": 1, "pattern": "^[a-z0-9-]+$"}, "The source's id.", where="path")
_LIMIT = _parameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST, "default": LIMIT}, "Rows of a page.")
_AFTER = _parameter("after", {"type": "integer", "minimum": 1, "maximum": MOST_ID}, "The last row's id, as in `next`.")
_AFTER_ID = _parameter("after", TEXT, "The last source's id, as in `next`.")
_SINCE = _parameter("since", TIME, "Only what was seen at this time or later.")
_HAVE = _parameter("If-None-Match", TEXT, "The ETag of what you have; 304 when it is still so.", where="header")

_ERROR = {"description": "What is wrong, in a sentence.", "content": {"application/json": {"schema": _ref("Error")}}}


def _get(words: str, schema: Schema, *parameters: Schema, media: str = "application/json") -> Schema:
    """A GET that can be revalidated; 400 where it takes parameters, 404 where one of them names a source."""
    answers: Schema = {
        "200": {"description": words, "content": {media: {"schema": schema}}},
        "304": {"description": "It is as you have it."},
        "401": _ERROR,
        "429": _ERROR,
        "503": _ERROR,
    }
    answers |= {"400": _ERROR} if any(p["in"] == "query" for p in parameters) else {}
    answers |= {"404": _ERROR} if _ID in parameters else {}
    return {"get": {"summary": words, "parameters": [*parameters, _HAVE], "responses": answers}}


def _rows(name: str, of: str) -> Schema:
    return _object(**{name: _list(_ref(of)), "next": _or_null(TEXT)})


_ONE = "/api/v1/sources/{id}"
_CHANGES = _get("Changes of all sources, newest first.", _rows("changes", "Change"), _LIMIT, _AFTER, _SINCE)
DOCUMENT: Schema = {
    "openapi": "3.1.0",
    "info": {
        "title": "sourcewatch",
        "version": __version__,
        "description": "When each cited source was last read, what changed, and what could not be read. Times are UTC.",
    },
    "paths": {
        "/last-accessed.json": _get("The site's dates.", _ref("LastAccessed")),
        "/api/v1/sources": _get(
            "Every source, by id; figures that pages show too.", _rows("sources", "Source"), _LIMIT, _AFTER_ID
        ),
        _ONE: _get("One source, its quotes, and where it is used.", _ref("WholeSource"), _ID),
        f"{_ONE}/checks": _get("Its checks, newest first.", _rows("checks", "Check"), _ID, _LIMIT, _AFTER),
        f"{_ONE}/versions": _get("Its versions, newest first.", _rows("versions", "Version"), _ID, _LIMIT, _AFTER),
        f"{_ONE}/changes": _get("Its changes, newest first.", _rows("changes", "Change"), _ID, _LIMIT, _AFTER, _SINCE),
        "/api/v1/changes": _CHANGES,
        "/changes": _CHANGES,
        "/feed.atom": _get("What editors are told, as a feed.", TEXT, media="application/atom+xml"),
        "/sourcewatch.js": _get("Fills <time data-source> from the dates.", TEXT, media="text/javascript"),
        "/api/openapi.json": _get("This document.", {"type": "object"}),
    },
    "components": {
        "schemas": {
            "Error": _object(error=TEXT),
            "Entry": _object(**_ENTRY),
            "LastAccessed": _object(
                generated_at=TIME, site=TEXT, sources={"type": "object", "additionalProperties": _ref("Entry")}
            ),
            "Source": _object(**_SOURCE),
            "WholeSource": _object(
                **_SOURCE, cited_on=_list(TEXT), quotes=_list(_QUOTE), checks=TEXT, versions=TEXT, changes=TEXT
            ),
            "Check": _CHECK,
            "Version": _VERSION,
            "Change": _CHANGE,
        },
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
    "security": [{}, {"token": []}],
}

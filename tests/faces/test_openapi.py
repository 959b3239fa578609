"""The API does what its document says, whatever it is asked: a fuzzer asks, and believes nothing but the document."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import jsonschema_rs
import pytest
import schemathesis
from asking import ask
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from live import live
from site_of_pages import page, row, serving
from sourcewatch.faces.web.openapi import DOCUMENT
from watch import Watch

AT = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
PARAGRAPH = "<p>A paragraph that says what the operators of the cluster measured over a whole week of service.</p>"
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    response_headers_conformance, negative_data_rejection, unsupported_method,
]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("api")
    with serving() as site:
        watch = Watch(folder)
        rows = row("notes", site.url("/notes"), "Edition 0 of it") + row("gone", site.url("/gone"))
        for n in range(3):
            site.pages["/notes"] = page(
                f"Notes {n}", f"<h1>Notes</h1>{PARAGRAPH * 4}<p>Edition {n}</p><img src=/x.png>"
            )
            watch.passes(rows, AT + timedelta(days=n))
    with live(folder) as base:
        yield base


ASKED = [
    (path, mode)
    for path, operations in DOCUMENT["paths"].items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or any(p["in"] != "header" for p in operations["get"]["parameters"])
]  # a header may hold anything


@pytest.mark.parametrize(("path", "mode"), ASKED)
def test_it_answers_as_documented(base: str, path: str, mode: GenerationMode) -> None:
    """Sound questions and unsound ones, as many as a test suite has time for."""
    operation = schemathesis.openapi.from_url(f"{base}api/openapi.json")[path]["GET"]

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def asks(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS)

    asks()


@pytest.mark.parametrize(
    "path",
    [
        "/last-accessed.json", "/api/v1/sources", "/api/v1/sources/notes", "/api/v1/sources/gone",
        "/api/v1/sources/notes/checks", "/api/v1/sources/notes/versions", "/api/v1/sources/notes/changes", "/changes",
    ],
)  # fmt: skip
def test_what_is_there_has_the_documented_shape(base: str, path: str) -> None:
    document = ask(base, "/api/openapi.json").json
    named = path.replace("/notes", "/{id}").replace("/gone", "/{id}")
    schema = document["paths"][named]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    found = ask(base, path).json
    jsonschema_rs.validate({**schema, "components": document["components"]}, found, validate_formats=True)
    assert all(rows for name, rows in found.items() if name in ("sources", "checks", "versions", "changes"))

"""The editors' desk: what needs somebody first; and where decisions are taken."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ...analysis.render import by_state, told_edits, used_on
from ...domain.change import Significance
from ...domain.review import Decision, Overtaken, Subject
from ...services import review as deciding
from ...services.overview import SECTIONS, Overviews, Wanted
from ...services.threads import aside
from . import compare_page, moves_page, search_page, source_page
from .access import require
from .forms import fields
from .login import local
from .shell import house_of, number, show, static, version_or_404, voice_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..wiring import House

PER_SECTION, PER_PAGE = 40, 80
UNNARROWED = {"lang", "section", "page"}
SINCE = {"1d": 1, "7d": 7, "30d": 30, "90d": 90}


def routes(house: House, clock: Callable[[], datetime]) -> list[BaseRoute]:
    """The desk and its pages over an open house."""
    desk = Desk(Overviews(house.settings, house.ledger, house.desk, house.site, house.reviews), clock)
    return [
        Route("/", desk.overview),
        Route("/reviews", desk.decide, methods=["POST"]),
        Route("/static/{name}", static),
        *compare_page.routes(),
        *source_page.routes(clock),
        *moves_page.routes(clock),
        *search_page.routes(),
    ]


class Desk:
    """*clock* says what time it is (UTC)."""

    def __init__(self, overviews: Overviews, clock: Callable[[], datetime]) -> None:
        self._overviews, self._clock = overviews, clock

    def overview(self, request: Request) -> Response:
        """The desk. A coroutine would hold up everybody while it reads: Starlette runs this in a thread."""
        asked = request.query_params
        now = self._clock()
        section = asked.get("section", "")
        section = section if section in SECTIONS else ""
        page = max(1, number(asked.get("page", "1"), 100_000) or 1)
        most = PER_PAGE if section else PER_SECTION
        made = self._overviews.make(_wanted(request, now), now, section=section, skip=(page - 1) * most, most=most)
        run = house_of(request).ledger.last_run()
        return show(
            request, "desk.html.j2", o=made, void=run.void_reason if run else None,
            now=now, section=section, page=page, most=most, edits=told_edits,
            sections=[section] if section else SECTIONS, asked=dict(asked), narrowed=bool(asked.keys() - UNNARROWED),
            significances=list(Significance),
            since=list(SINCE), by_state=by_state, used=used_on, tiers=house_of(request).settings.tiers,
        )  # fmt: skip

    async def decide(self, request: Request) -> Response:
        """Take a decision out of a form; without a script the page that sent it comes back."""
        who = require(request, "review")
        sent = await fields(request)
        decision = next((d for d in Decision if d == sent.get("decision")), None)
        if decision is None:
            raise HTTPException(400, "a form must say what is decided")
        by, note = who or sent.get("by", ""), sent.get("note", "")
        subject = await aside(_subject, request, sent)
        house, now = house_of(request), self._clock()
        found = await aside(deciding.decide, house.reviews, subject, decision, by, now, note, sent.get("seen", ""))
        voice, status, fault = voice_of(request), 200, ""
        if isinstance(found, deciding.Refused):
            status, fault = 400, voice.say(found.why)
        elif isinstance(found, Overtaken):
            status, fault = 409, voice.say("r_overtaken")
        elif not request.headers.get("hx-request"):
            return RedirectResponse(local(sent.get("next", "/")), 303, {"Cache-Control": "no-store"})
        rule = await aside(_rule, request, subject, decision) if not fault else None
        history = await aside(house.reviews.history, subject.source, subject.record)
        fragment = "decided.html.j2" if request.headers.get("hx-request") else "decided_page.html.j2"
        return show(
            request, fragment, status=status if fragment == "decided_page.html.j2" else 200, fault=fault, rule=rule,
            review=history[-1] if history else None, source=subject.source, version=sent.get("version", ""),
            next=local(sent.get("next", "/")), by=by, note=note, number=sent.get("number", "0"),
        )  # fmt: skip


def _wanted(request: Request, now: datetime) -> Wanted:
    asked = request.query_params
    days = SINCE.get(asked.get("since", ""))
    return Wanted(
        tier=asked.get("tier", ""),
        significance=next((s for s in Significance if s == asked.get("significance")), None),
        host=asked.get("host", "").strip().lower(),
        language=asked.get("language", ""),
        since=now - timedelta(days=days) if days else None,
        decided=bool(asked.get("decided")),
    )


def _subject(request: Request, sent: dict[str, str]) -> Subject:
    """What a form is about: a version of a source, or a source that was never read."""
    source, wanted = sent.get("source", ""), sent.get("version", "")
    if wanted:
        return deciding.subject_of(source, version_or_404(request, wanted, source))
    if source not in {s.id for s in house_of(request).settings.sources}:
        raise HTTPException(404, "there is no such source")
    return Subject(source, "")


def _rule(request: Request, subject: Subject, decision: Decision) -> str | None:
    """The rule that an unimportant change teaches ("" for none); None where nobody asked."""
    house = house_of(request)
    if decision is not Decision.UNIMPORTANT:
        return None
    source = next((s for s in house.settings.sources if s.id == subject.source), None)
    version = next((v for v in house.ledger.versions(subject.source) if v.record_id == subject.record), None)
    change = house.desk.into(version.id) if version else None
    return deciding.rule_for(house.ledger, source, change.row) if source and change else None

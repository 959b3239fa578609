"""Says things in one language and one time zone: sentences about values, before they are HTML or Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from ..domain.change import Op, PictureChange, Region, Sighting, SightingKind
from ..domain.copies import OutsideCopy
from ..domain.move import Move
from ..domain.report import ChangeLine, Line, QuoteLine, SecondHand
from ..domain.review import Review
from ..domain.source import Source, SourceKind
from ..domain.verdict import WORDS
from . import dates, excerpt, phrases


@dataclass(frozen=True, slots=True)
class Voice:
    """Says things in one language and one time zone."""

    language: str
    zone: str

    def say(self, key: str, **values: object) -> str:
        return phrases.say(key, self.language, **values)

    def word(self, verdict: str) -> str:
        return phrases.word(verdict, self.language)

    def minute(self, at: datetime) -> str:
        return dates.minute(at, self.zone, self.language)

    def day(self, at: datetime) -> str:
        return dates.day(at, self.zone, self.language)

    def apart(self, times: Sequence[datetime]) -> dict[datetime, str]:
        """Each time to the minute, and to the second where another one is of the same minute."""
        minutes = Counter(self.minute(at) for at in times)
        zone = ZoneInfo(self.zone)
        return {
            at: f"{said}:{at.astimezone(zone):%S}" if minutes[said := self.minute(at)] > 1 else said for at in times
        }

    def until(self, told: str) -> str:
        """A certificate's end as the row has it (ISO 8601), as a date in the site's zone.

        One without an end says 9999-12-31T23:59:59Z (RFC 5280 §4.1.2.5), which has no place east of Greenwich.
        """
        try:
            return f"{self.minute(datetime.fromisoformat(told))} ({self.zone})" if told else ""
        except (ValueError, OverflowError):
            return excerpt.plain(told)

    def name(self, source: Source, parent: Source | None = None) -> str:
        """A source's title; a figure is named after the page that shows it, a mirror after what it is a copy of."""
        if source.mirror_of is not None:
            of = excerpt.plain(parent.title) if parent is not None else source.mirror_of
            return f"{excerpt.plain(source.title)} — {self.say('second_of', title=of)}"
        if source.kind is SourceKind.FIGURE and parent is not None:
            return f"{excerpt.plain(source.title)} — {self.say('figure_of', title=excerpt.plain(parent.title))}"
        return excerpt.plain(source.title)

    def failing(self, line: Line, now: datetime | None = None) -> str:
        """Why a source is not read, since when, and for how long, where *now* is given."""
        standing = line.standing
        words = [self.word(standing.verdict.word)] if standing.verdict else []
        if standing.failing_since:
            lasted = (now - standing.failing_since).total_seconds() if now else 0.0
            since = self.say("failing_since", at=self.minute(standing.failing_since))
            words.append(self.say("for_long", since=since, lasted=self.lasted(lasted)) if lasted > 0 else since)
        if standing.strikes:
            words.append(self.say("strikes", n=standing.strikes))
        if standing.dead and line.source.kind is not SourceKind.FIGURE:  # of a picture only its reading is known
            words.append(self.say("dead"))
        return self.joined(words)

    def last_read(self, line: Line) -> str:
        at = line.standing.last_accessed
        machine = f"{self.say('last_read')} {self.minute(at)}" if at else self.say("never_read")
        return self.joined([machine, self.by_hand(line)])

    def second_hand(self, line: Line) -> list[str]:
        """What was read in place of a source that cannot be read, and what that lacks: a sentence for each mirror."""
        return [self._second(s) for s in line.second_hand]

    def _second(self, s: SecondHand) -> str:
        url, at = excerpt.plain(s.mirror.url or ""), s.standing.last_accessed
        why = self.word(s.standing.verdict.word) if s.standing.verdict else ""
        if at is None:
            return self.say("second_unread", url=url, why=why)
        words = [self.say("second_read", url=url, at=self.minute(at))]
        if s.standing.failing_since:
            words.append(self.say("second_failing", why=why))
        if s.sought:
            words.append(self.say("second_quotes", n=s.held, of=s.sought))
        names = "、".join(f"“{excerpt.plain(name)}”" for name in s.lacks)
        names = names if self.language == "zh-CN" else names.replace("、", ", ")
        lacks = self.say("second_lacks", names=names) if s.lacks else self.say("second_text")
        return self.joined([*words, lacks if s.known else self.say("second_unknown")])

    def _second_quote(self, q: QuoteLine) -> str:
        """How a mirror holds a quote, or ""."""
        if q.second_hand is None or q.there is None or q.second_hand.standing.last_accessed is None:
            return ""
        at, url = self.minute(q.second_hand.standing.last_accessed), excerpt.plain(q.second_hand.mirror.url or "")
        return self.say("second_quote", how=self.say(f"k_{q.there.kind}"), url=url, at=at)

    def by_hand(self, line: Line) -> str:
        """Who read the source since the machine did, and on which day; "" for nobody."""
        at = line.standing.by_hand_at
        return self.hand(line.standing.by_hand_by, at) if at else ""

    def hand(self, by: str, at: datetime) -> str:
        return self.say("by_hand", by=excerpt.plain(by), at=self.day(at))

    def outside(self, copy: OutsideCopy) -> str:
        """When an outside copy was archived, and whether it can stand for the cited version."""
        words = [self.say("oc_of", archive=excerpt.plain(copy.archive), at=self.minute(copy.memento_at))]
        if not WORDS[copy.word].accessed:
            return self.joined([*words, self.say("oc_error", why=self.word(copy.word))])
        words += [self.say("mv_quotes", held=copy.held, sought=copy.sought)] if copy.sought else []
        words += [self.say("mv_kept", kept=f"{copy.kept:.0%}")] if copy.kept is not None else []
        return self.joined([*words, self.say("oc_offered" if copy.offered else "oc_lacks")])

    def likeness(self, move: Move) -> str:
        """How what stands at a new address is like the last accepted version."""
        found = move.likeness
        if found.kept is None:
            words = [self.say("mv_never")]
        else:
            other = self.say("mv_other_title", title=excerpt.plain(found.title)[:200])
            words = [self.say("mv_same_title") if found.same_title else other]
            words.append(self.say("mv_kept", kept=f"{found.kept:.0%}"))
        words += [self.say("mv_quotes", held=found.held, sought=found.sought)] if found.sought else []
        return self.joined([*words, self.word(found.verdict)])

    def decision(self, review: Review) -> str:
        """What an editor decided, who, and when."""
        words = self.say(f"r_{review.decision}")
        said = self.say("r_by", what=words, by=excerpt.plain(review.by), at=self.minute(review.at))
        return f"{said} — {excerpt.plain(review.note)}" if review.note else said

    def quote_state(self, q: QuoteLine) -> str:
        """How a quote is held, in a sentence."""
        s = q.sighting
        if s.reason == "second-hand":
            return self.joined([self.say("q_unverified"), self.say("second_only"), self._second_quote(q)])
        if s.kind is SightingKind.UNVERIFIED:
            return self.joined([self.say("q_unverified"), self._figure_state(q)])
        if s.kind is SightingKind.NOT_FOUND:
            words = [self.say("q_not_found" if q.stood_at else "q_never")]
        elif s.kind is SightingKind.NUMBERS_CHANGED:
            words = [self.say("q_numbers_changed", **_numbers(s))]
        else:
            words = [self.say(f"q_{s.kind}", score=f"{s.score:.0%}")]
        if s.negation_changed:
            words.append(self.say("q_negation"))
        if q.stood_at:
            words.append(self.say("q_stood", at=self.minute(q.stood_at)))
        if q.by_hand and q.seen_at:
            words.append(self.hand(q.by_hand, q.seen_at))
        return self.joined([*words, self._second_quote(q)])

    def _figure_state(self, q: QuoteLine) -> str:
        if q.unread is None:
            return self.say(self._unasked(q) or "figure_read")
        words = [self.say("figure_unread", why=self.failing(q.unread))]
        if q.page is not None and q.page.standing.last_accessed and not q.page.standing.failing_since:
            words.append(self.say("page_read", at=self.minute(q.page.standing.last_accessed)))
        return self.joined(words)

    def _unasked(self, q: QuoteLine) -> str:
        """Why a figure was never asked for: its page was not read, or does not show it."""
        if q.sighting.reason != "figure-not-asked":
            return "figure_not_shown" if q.sighting.reason == "figure-not-shown" else ""
        read = q.page is not None and q.page.standing.last_accessed is not None
        return "figure_not_shown" if read else "figure_not_asked"

    def void(self, reason: str) -> str:
        """A void run's reason (verdict, hosts, of how many) in a sentence."""
        word, failing, of = reason.split()
        return self.say("void", n=int(failing), of=int(of), why=self.word(word))

    def lasted(self, seconds: float) -> str:
        """A duration in its largest unit: days from two on, hours from two on, else minutes."""
        for unit, size in (("days", 86_400), ("hours", 3_600)):
            if seconds >= 2 * size:
                return self.say(unit, n=round(seconds / size))
        return self.say("minutes", n=max(1, round(seconds / 60)))

    def span(self, earlier: datetime, later: datetime) -> str:
        """Two times as briefly as they can be told apart."""
        if self.minute(earlier) == self.minute(later):
            zone = ZoneInfo(self.zone)
            return f"{self.minute(earlier)}:{earlier.astimezone(zone):%S} → {later.astimezone(zone):%H:%M:%S}"
        if self.day(earlier) == self.day(later):
            return f"{self.minute(earlier)} → {later.astimezone(ZoneInfo(self.zone)):%H:%M}"
        return f"{self.minute(earlier)} → {self.minute(later)}"

    def labelled(self, key: str, rest: str) -> str:
        """A label, the colon of the language, and what it labels."""
        return f"{self.say(key)}：{rest}" if self.language == "zh-CN" else f"{self.say(key)}: {rest}"

    def extent(self, change: ChangeLine) -> str:
        """How much changed: of a figure its looks, of a page its text, and its looks where they were compared."""
        looks = [self.looks(change.picture)] if change.picture and change.picture.regions else []
        if looks and (change.source.kind is SourceKind.FIGURE or all(change.pictures)):
            return looks[0]
        return self.joined([self.say(f"e_{change.drift.extent}", kept=f"{change.drift.kept:.0%}"), *looks])

    def looks(self, picture: PictureChange) -> str:
        """How much of a picture differs."""
        return self.say("e_picture", n=len(picture.regions), share=_percent(picture.share))

    def box(self, region: Region) -> str:
        """Where, and how much of it."""
        where = {"x": region.x, "y": region.y, "width": region.width, "height": region.height}
        return self.say("e_box", share=_percent(region.share), **where)

    def joined(self, words: Sequence[str]) -> str:
        return ("；" if self.language == "zh-CN" else "; ").join(w for w in words if w)


def _percent(share: float) -> str:
    """A share that is there at all is never told as 0 %."""
    return f"{share:.0%}" if share >= 0.1 else f"{max(share, 0.0001):.2%}"


def _numbers(s: Sighting) -> dict[str, str]:
    """What stood and what stands: whole tokens where the diff has them (4–7% rather than 4, 7%)."""
    sides = ((Op.DELETE, s.numbers_old), (Op.INSERT, s.numbers_new))
    said = [
        "、".join(excerpt.plain(p.text).strip() for p in s.parts if p.op is op and p.text.strip()) or "、".join(n)
        for op, n in sides
    ]
    return {"old": said[0] or "–", "new": said[1] or "–"}

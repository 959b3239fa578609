"""What came back, in one word: named rules in a declared order, the first that holds decides."""

from __future__ import annotations

from sourcewatch.domain.capture import Capture, Exchange
from sourcewatch.domain.document import Form
from sourcewatch.domain.reading import Fault, Reading
from sourcewatch.domain.verdict import Verdict

from . import challenges, cut, fitness, fragments, plausible, readers, soft404, statuses, vacancies, walls
from . import follow as refresh
from . import landing as arrival
from .view import Rule, View

CLASSIFIER = "classify@1"

# Whatever the status: challenges come as 200, 403, 429 and 503, filing blocks as 403, captive portals as anything.
ANY_STATUS: tuple[Rule, ...] = (*challenges.RULES, *vacancies.SUSPENDED_RULES, *walls.NETWORK_RULES)
# A figure is judged by its form alone; a page by the most exact sign first.
READ: tuple[Rule, ...] = (
    *fitness.FIRST_RULES,
    *readers.GONE_RULES,
    *vacancies.RULES,
    *soft404.RULES,
    *walls.RULES,
    *walls.SHELL_RULES,
    *vacancies.LATE_RULES,
    *fitness.RULES,
    *cut.RULES,
    *arrival.RULES,
    *soft404.PROBE_RULES,
    *plausible.SCRAMBLED_RULES,
    *plausible.RULES,
    *readers.UNPROVED_RULES,
)
RULES = (*ANY_STATUS, *READ)


def classify(reading: Reading) -> Verdict:
    """The verdict on one reading: which rule decided, and evidence that an editor can read."""
    view = View(reading)
    refused = statuses.refused(view.answer)
    verdict = _first(ANY_STATUS, view, error=refused is not None) or refused or _first(READ, view)
    return verdict or fragments.missing(view) or _good(view)


def unread(answer: Exchange, fault: Fault) -> Verdict:
    """The verdict on a body that did not decode: what headers and status say of it outranks its fault."""
    if mark := challenges.by_header(answer):
        return Verdict("challenge", "challenge-header", mark)
    return statuses.refused(answer) or Verdict(fault.word, fault.rule, fault.evidence)


def follow(reading: Reading) -> str:
    """The address that a page refers on to by meta refresh or Refresh header and that is to be read instead, or ""."""
    return refresh.target(View(reading))


def landing(capture: Capture) -> Verdict:
    """The word for a good page by the way that led to it."""
    return arrival.landing(capture)


def _first(rules: tuple[Rule, ...], view: View, *, error: bool = False) -> Verdict | None:
    for rule in rules:
        evidence = rule.find(view)
        if evidence and (error or not rule.stand_in or not view.source_is_here):
            return Verdict(rule.word, rule.name, evidence)
    return None


def _good(view: View) -> Verdict:
    verdict = arrival.landing(view.reading.capture)
    notes = [note for note in view.document.notes if note == "no text layer"] if view.reading.form is Form.PDF else []
    if not notes:
        return verdict
    return Verdict(verdict.word, verdict.rule, "; ".join(filter(None, (verdict.evidence, *notes))))

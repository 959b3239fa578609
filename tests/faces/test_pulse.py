"""How a daemon says what is wrong, and since when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sourcewatch.domain.kept import DueRow
from sourcewatch.domain.message import Backlog
from sourcewatch.faces.pulse import Pulse

AT = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def complaints(pulse: Pulse, at: datetime) -> list[str]:
    pulse.ticked_at = at
    return list(pulse.complaints(at, DueRow(0, None, None), 10**12, Backlog()))


def test_void_runs_are_told_since_the_first_of_them_until_one_is_not() -> None:
    pulse = Pulse(AT)
    pulse.ran(None, AT)
    assert complaints(pulse, AT) == []
    for n in (1, 2):
        pulse.ran("dns_not_found 4 5", AT + n * MINUTE)
    [said] = complaints(pulse, AT + 3 * MINUTE)
    assert said.startswith("network: the last runs were void") and "since 2026-10-20T11:04:00Z" in said
    pulse.ran(None, AT + 4 * MINUTE)
    assert complaints(pulse, AT + 4 * MINUTE) == [] and pulse.run_ended_at == AT + 4 * MINUTE

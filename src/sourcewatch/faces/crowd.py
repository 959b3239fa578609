"""How the workers are, in sentences: for /healthz and `status`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..domain.kept import WorkerRow

SILENT_S = 30.0  # fifteen heartbeats
GONE_S = 900.0  # whoever was killed on purpose is no fault for ever


def complaints(workers: Sequence[WorkerRow]) -> Iterator[str]:
    """What is wrong with workers; nothing where there never were any."""
    for w in present(workers):
        if w.silent_s > SILENT_S:
            yield f"worker {w.id}: silent for {w.silent_s:.0f} s"
        elif w.fault:
            since = f" (since {w.fault_at:%Y-%m-%dT%H:%M:%SZ})" if w.fault_at else ""
            yield f"worker {w.id}: {w.fault}{since}"
    if workers and not any(w.leads and w.silent_s <= SILENT_S for w in workers):
        yield "schedule: no process leads; nothing is given out to workers"


def present(workers: Sequence[WorkerRow]) -> list[WorkerRow]:
    return [w for w in workers if w.silent_s <= GONE_S]


def summary(workers: Sequence[WorkerRow]) -> str:
    """A line on how many are at work, and one for each fault; "" where there are none."""
    if not (here := present(workers)):
        return ""
    heard = [w for w in here if w.silent_s <= SILENT_S]
    leads = next((w.id for w in heard if w.leads), "nobody")
    words = f"{len(heard)} workers at {sum(w.hosts for w in heard)} hosts; {leads} leads"
    return "\n".join([words, *complaints(workers)])

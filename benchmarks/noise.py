"""How many changes of dated captures are told, against how many have another visible text.

    python benchmarks/noise.py FOLDER [NAME]

FOLDER holds one folder for each page, with its captures in the order of their names (000.html, 001.html, …; also .md).
A file true.txt beside them names captures that are known to bring a lasting change of the text: those that are not told
are listed with the rules that suppressed their edits. NAME limits the run to folders that have it in their name.

Quotes play no part: with them more would be told. "confirmed" are alerts of which the next capture still shows an edit.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sourcewatch.analysis import noise, weigh
from sourcewatch.analysis.extract import extract
from sourcewatch.domain.change import Edit
from sourcewatch.domain.document import Document, Form

FORMS = {".html": Form.HTML, ".md": Form.MARKDOWN, ".txt": Form.TEXT}


def captures(folder: Path) -> Iterator[tuple[str, Document]]:
    for path in sorted(folder.iterdir()):
        if path.suffix in FORMS and path.name != "true.txt":
            yield path.name, extract(path.read_bytes(), form=FORMS[path.suffix], url="https://page.example/")


def told(old: Document, new: Document, history: noise.History) -> tuple[list[Edit], list[Edit]]:
    """The edits that are told, and those that are not."""
    edits = noise.suppress(weigh.visible_edits(old, new), old, new, history)
    return [e for e in edits if not e.suppressed_by], [e for e in edits if e.suppressed_by]


def page(folder: Path, count: Counter[str], rules: Counter[str], took: list[float]) -> Iterator[str]:
    """Count one page's changes; yields a line for each true change that is not told."""
    truth = folder / "true.txt"
    known = set(truth.read_text().split()) if truth.exists() else set()
    stream = captures(folder)
    _, old = next(stream, ("", None))
    if old is None:
        return
    history = noise.step(noise.History(), old)
    following = next(stream, None)
    while following is not None:
        (name, new), following = following, next(stream, None)
        count["pairs"] += 1
        if old.text == new.text:
            continue
        start = time.process_time()
        alerts, quiet = ([], []) if noise.same(old, new) else told(old, new, history)
        later = history
        history = noise.step(history, new)
        took.append(time.process_time() - start)
        count["text differs"] += 1
        count["told"] += bool(alerts)
        count["confirmed"] += bool(alerts and (following is None or told(old, following[1], later)[0]))
        rules.update({edit.suppressed_by for edit in quiet})
        if name in known:
            count["true"] += 1
            count["true and told"] += bool(alerts)
            if not alerts:
                yield f"  {folder.name}/{name}: {dict(Counter(edit.suppressed_by for edit in quiet))}"
        old = new
    count["largest state, bytes"] = max(count["largest state, bytes"], len(history.to_json()))


def main(root: Path, part: str) -> None:
    print(f"{platform.platform()}, CPython {platform.python_version()}, shared machine; load {os.getloadavg()[0]:.1f}")
    count: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    took: list[float] = []
    untold = [
        line for folder in sorted(root.iterdir()) if part in folder.name for line in page(folder, count, rules, took)
    ]
    for name, n in count.items():
        print(f"{name:<24}{n:>8}")
    differing = count["text differs"] or 1
    print(f"fewer alerts than texts that differ: {1 - count['told'] / differing:.1%}", end="")
    print(f", confirmed: {1 - count['confirmed'] / differing:.1%} (target 85 %)")
    print(f"diff, noise and state: {statistics.median(took or [0]) * 1000:.1f} ms median CPU a changed pair")
    print(
        f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB; rules:",
        dict(rules.most_common()),
    )
    print(f"true changes that are not told: {len(untold)}", *untold, sep="\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")

"""Median CPU milliseconds of a quote check, and how many labelled edits of real quotes are told right.

    python benchmarks/quotes.py [ROUNDS]

Pages are made as in benchmarks/diff.py; "once" is the first look at a page, which normalises it. The labelled edits are
those of tests/analysis/quote_edits.py, the wrong ones are listed. Targets in the last column.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from sourcewatch.analysis.anchor import Page, sight
from sourcewatch.domain.change import SightingKind
from sourcewatch.domain.document import Block, Document, Form
from sourcewatch.domain.source import Quote

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/analysis")]
quote_edits = importlib.import_module("quote_edits")
made = importlib.import_module("diff")

EDITS = Path(__file__).parents[1] / "tests/analysis"


def main(rounds: int) -> None:
    print(made.machine())
    print(f"\n{'page':<14}{'quote':<12}{'once ms':>9}{'ms':>9}  target")
    for language in ("en", "zh"):
        for size in (40_000, 2_000_000):
            timed(language, size, rounds if size < 1_000_000 else max(3, rounds // 8))
    labelled()


def timed(language: str, size: int, rounds: int) -> None:
    texts = made.lines(language, size, seed=3)
    document = Document(Form.HTML, blocks=tuple(Block(text) for text in texts))
    standing = cut(texts, language, rounds)
    absent = cut(made.lines(language, 200_000, seed=9), language, rounds)
    kinds = {
        "verbatim": (standing, SightingKind.VERBATIM, 0.1),
        "typographic": ([text.replace(" ", "\u00a0").replace("，", ",") for text in standing], None, None),
        "absent": (absent, SightingKind.NOT_FOUND, 0.1),
        "reworded": ([reworded(text, language) for text in standing], None, 1.0),
    }
    for name, (exacts, expected, target) in kinds.items():
        page = Page(document)
        once = check(page, Quote(exacts[0]))[0]
        checked = [check(page, Quote(exact)) for exact in exacts]
        milliseconds = statistics.median(ms for ms, _ in checked)
        others = Counter(str(kind) for _, kind in checked if expected is not None and kind is not expected)
        told = f" (target {target} ms, once 20 ms)" if target and size < 1_000_000 else ""
        print(
            f"{language} {size // 1000:>5} KB   {name:<12}{once:>9.2f}{milliseconds:>9.3f} {told} {dict(others) or ''}"
        )


def cut(texts: list[str], language: str, count: int) -> list[str]:
    """Whole words of about 140 characters, 55 in Chinese: quotes as editors make them."""
    chars = 55 if language == "zh" else 140
    long = [text[:chars].rpartition(" ")[0] or text[:chars] for text in texts if len(text) > chars]
    return long[:: max(1, len(long) // count)][:count]


def reworded(text: str, language: str) -> str:
    """Every fifth word or character exchanged with the one after the next."""
    units = list(text) if language == "zh" else text.split(" ")
    for i in range(2, len(units) - 2, 5):
        units[i], units[i + 2] = units[i + 2], units[i]
    return ("" if language == "zh" else " ").join(units)


def check(page: Page, quote: Quote) -> tuple[float, SightingKind]:
    start = time.process_time()
    sighting = sight(page, quote)
    return (time.process_time() - start) * 1000, sighting.kind


def labelled() -> None:
    sys.path.append(str(EDITS))
    import quote_edits

    cases = list(quote_edits.cases())
    wrong = [(c, s) for c in cases if (s := sight(Page(c.page), c.quote)).kind is not c.expected]
    share = 1 - len(wrong) / len(cases)
    print(f"\nlabelled edits: {len(cases) - len(wrong)} of {len(cases)} right, {share:.2%} (target 99 %)")
    for case, sighting in wrong:
        print(f"  {case.name}: {sighting.kind} for {case.expected}: {sighting.found!r}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)

"""Median CPU milliseconds of a diff, over block lists made of real sentences.

    python benchmarks/diff.py [ROUNDS]

The sentences are those of tests/analysis/corpus, their words or characters dealt anew with a fixed seed, so that any
amount of text has the make-up of real text and no two lines are the same. Targets in the last column.
"""

from __future__ import annotations

import os
import platform
import random
import re
import statistics
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sourcewatch.analysis.diff import apply, edits
from sourcewatch.domain.document import Block

CORPUS = Path(__file__).parents[1] / "tests/analysis/corpus"
FILES = {"en": ("lmdeploy-en.md", "xinference-en.md", "open-infra-index.md"), "zh": ("xinference-zh.md",)}


def machine() -> str:
    return (
        f"{platform.platform()}, CPython {platform.python_version()}, {os.cpu_count()} cores, shared machine; "
        f"load {os.getloadavg()[0]:.1f}"
    )


def cpu_ms(work: Callable[[], object], rounds: int) -> float:
    """Median of the CPU time of this process."""
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken) * 1000


@cache
def units(language: str) -> list[str]:
    text = "\n".join((CORPUS / name).read_text("utf-8") for name in FILES[language])
    pattern = r"[\u4e00-\u9fff]" if language == "zh" else r"[A-Za-z][a-z'-]{1,14}|\d[\d,.%]*\d"
    return re.findall(pattern, text)


def lines(language: str, size: int, seed: int) -> list[str]:
    """Paragraphs of one to four sentences, *size* characters in all."""
    draw, words = random.Random(seed), units(language)
    made: list[str] = []
    while size > 0:
        sentences = []
        for _ in range(draw.randint(1, 4)):
            if language == "zh":
                sentences.append("".join(draw.choices(words, k=draw.randint(12, 45))) + f" {draw.randint(1, 999)} 倍。")
            else:
                sentences.append(" ".join(draw.choices(words, k=draw.randint(8, 25))).capitalize() + ". ")
        made.append("".join(sentences).strip())
        size -= len(made[-1]) + 1
    return made


def changed(texts: list[str], count: int, seed: int) -> list[str]:
    """The same with *count* small edits in different lines: a word is another, comes, goes; a line comes, goes."""
    draw, new = random.Random(seed), list(texts)
    for place in sorted(draw.sample(range(len(texts)), count), reverse=True):
        text = new[place]
        at = draw.randrange(len(text))
        match draw.randrange(6):
            case 0:
                del new[place]
            case 1:
                new.insert(place, f"A new line {draw.random()} of some length stands here.")
            case 2:
                new[place] = text[:at] + text[at + 5 :]
            case _:
                new[place] = text[:at] + " 160 new words " + text[at + 8 :]
    return new


def cases() -> dict[str, tuple[list[str], list[str], float | None]]:
    """Old texts, new texts, target in ms."""
    small = {language: lines(language, 40_000, 1) for language in ("en", "zh")}
    large = lines("en", 500_000, 2)
    section = lines("en", 20_000, 3)
    one, other = " ".join(small["en"]), " ".join(changed(small["en"], 10, 5))
    return {
        "en 40 KB, 10 edits": (small["en"], changed(small["en"], 10, 4), 3),
        "zh 40 KB, 10 edits": (small["zh"], changed(small["zh"], 10, 4), 3),
        "en 40 KB as one line, 10 edits": ([one], [other], None),
        "en 500 KB, 200 edits": (large, changed(large, 200, 4), 40),
        "en 200 KB, unrelated": (lines("en", 200_000, 6), lines("en", 200_000, 7), 100),
        "zh 200 KB, unrelated": (lines("zh", 200_000, 6), lines("zh", 200_000, 7), 100),
        "en 60 KB, a section moved": (section + small["en"], small["en"] + section, None),
        "20,000 blocks, all other": (
            [f"line {n} old" for n in range(20_000)],
            [f"new {n}" for n in range(20_000)],
            None,
        ),
    }


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    print(machine())
    for name, (old, new, target) in cases().items():
        ours, theirs = [Block(text) for text in old], [Block(text) for text in new]
        found = edits(ours, theirs)
        assert apply(found, old) == new
        taken = cpu_ms(lambda a=ours, b=theirs: edits(a, b), rounds)  # type: ignore[misc]
        goal = f"target ≤ {target:g}" if target else ""
        print(f"{name:<32} {taken:8.2f} ms  {len(found):>6} edits  {goal}")


if __name__ == "__main__":
    main()

"""Pages a second through decoding and extraction, and milliseconds a page for charset decoding. CPU time of one core.

python benchmarks/text.py [FILE.html ...]     with files: these; without: generated pages of about 43 KB and 175 KB

A generated page has the make-up of a news page: scripts, a menu, paragraphs with links, cards with pictures, nearly
every element with a class; it has more elements for its size than real pages have.
"""

from __future__ import annotations

import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sourcewatch.analysis.decode import characters
from sourcewatch.analysis.extract import extract
from sourcewatch.domain.document import Form

URL = "https://news.example/2026/12/a-page.html"
WORDS = (
    *("engine", "request", "cache", "token", "price", "report", "model", "cluster", "node", "the", "of"),
    *("and", "in", "to", "it", "that", "with", "for", "is", "was"),
)
HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"
    "同工也能下过子说产种面而方后多定行学法所"
)


def page(size: int, seed: int, chinese: bool) -> str:
    """A page of about *size* characters."""
    rng = random.Random(seed)

    def sentence() -> str:
        if chinese:
            return "".join(rng.choices(HAN, k=rng.randint(12, 40))) + rng.choice("。，；") + str(rng.randint(1, 9999))
        return " ".join(rng.choices(WORDS, k=rng.randint(8, 22))).capitalize() + f" {rng.randint(1, 9999)}."

    def paragraph() -> str:
        inside = " ".join(sentence() for _ in range(rng.randint(2, 5)))
        link = f'<a href="/tag/{rng.randint(1, 99)}.html">{sentence()[:12]}</a>'
        return f'<p class="c{rng.randint(1, 9)} text">{inside} {link}</p>'

    def card() -> str:
        at = rng.randint(1, 9999)
        return (
            f'<li class="item card-{at % 7}"><a class="more" href="/2026/{at}.html"><img class="thumb" width="300" '
            f'src="/i/{at}.jpg" alt="{sentence()[:20]}"><span class="t">{sentence()[:40]}</span></a><div class="meta">'
            f'<span class="by">{at}</span><time datetime="2026-12-01">1 December</time></div></li>'
        )

    def script() -> str:
        return (
            "<script>"
            + "".join(f"var a{n}={{b:{rng.random()},c:'x<y'}};" for n in range(rng.randint(20, 90)))
            + "</script>"
        )

    parts = [
        f'<!doctype html><html lang="{"zh" if chinese else "en"}"><head><meta charset="utf-8">',
        f"<title>{sentence()}</title>",
    ]
    parts += [f'<meta property="og:image" content="/og.jpg"><link rel="canonical" href="{URL}">', "</head><body>"]
    menu = "".join(f'<li><a href="/s/{n}">{WORDS[n]}</a></li>' for n in range(18))
    parts.append(f"<nav class=menu><ul>{menu}</ul></nav>")
    length = sum(map(len, parts))
    while length < size:
        made = rng.choices((paragraph, card, script), (5, 5, 3))[0]()
        parts.append(made)
        length += len(made)
    return "".join([*parts, "<footer><p>© 2026 News</p></footer></body></html>"])


def cpu_ms(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Best and median CPU milliseconds."""
    spent = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        spent.append((time.process_time() - start) * 1e3)
    return min(spent), statistics.median(spent)


def tell(name: str, pages: Sequence[bytes], rounds: int = 7) -> None:
    best, median = cpu_ms(lambda: [extract(data, form=Form.HTML, url=URL) for data in pages], rounds)
    size = sum(map(len, pages)) / len(pages)
    print(
        f"extract  {name:28} {size / 1000:7.0f} kB/page  best {1e3 * len(pages) / best:6.0f} pages/s, "
        f"median {1e3 * len(pages) / median:6.0f} pages/s ({median / len(pages):.2f} ms)"
    )


def tell_decoding(name: str, data: bytes) -> None:
    best, median = cpu_ms(lambda: characters(data), 50)
    print(f"decode   {name:28} {len(data) / 1000:7.0f} kB       best {best:6.3f} ms, median {median:6.3f} ms")


def main() -> None:
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    )
    print(f"load {os.getloadavg()[0]:.2f}; the machine is shared: compare figures of one run only\n")
    if files := sys.argv[1:]:
        tell(f"{len(files)} files", [Path(name).read_bytes() for name in files])
        return
    for chinese in (False, True):
        for size in (43_000, 175_000):
            name = f"{'zh' if chinese else 'en'} {size // 1000} kB"
            length = size * 2 // 3 if chinese else size  # a Chinese page has about 1.5 bytes for each character
            tell(name, [page(length, seed, chinese).encode() for seed in range(20)])
    text = page(30_000, 1, True).replace('<meta charset="utf-8">', "")
    for codec in ("utf-8", "gb18030", "big5hkscs", "utf-16"):
        tell_decoding(f"zh {codec}, unlabelled", text.encode(codec, "ignore"))
    tell_decoding(
        "en windows-1252, unlabelled", page(43_000, 1, False).replace("December", "Décembre").encode("cp1252")
    )


if __name__ == "__main__":
    main()

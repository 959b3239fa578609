"""Text of a normal page, to be served by tests: written for them."""

from __future__ import annotations

import random


def html(title: str, body: str, language: str = "en") -> str:
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return f'<!doctype html><html lang="{language}">{head}<body>{body}</body></html>'


_SENTENCES = (
    "Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm during the day",
    "An operator who watched all of it for {n} weeks wrote down what the machines did when the load fell",
    "Nothing in these numbers is an estimate: each of them was read from a counter of the router",
    "What remains open is whether a smaller cluster would behave alike, and section {n} returns to this question",
)
ARTICLE = "".join(f"<p>{'. '.join(_SENTENCES).format(n=n)}.</p>" for n in range(2, 8))
"""Prose of 2,300 bytes in six paragraphs."""

_ZH = (
    "第{n}节说明调度器在夜间怎样安排专家，以及为什么白天缓存一直保持温热。",
    "一位运维人员连续观察了{n}个星期，写下了负载下降时机器的行为。",
    "这些数字都不是估计，每一个都从路由器的计数器里读出。",
    "更小的集群是否有同样表现仍是未决的问题，后面会再次讨论。",
)
ARTICLE_ZH = "".join(f"<p>{''.join(_ZH).format(n=n)}</p>" for n in range(2, 8))

_OTHER = (
    "Welcome bonus number {n} doubles whatever you deposit before Sunday, and free spins follow on Monday",
    "Blackjack, roulette and {n} slot games wait for lucky players who join through our mobile lobby",
    "Withdrawals arrive within minutes; verified customers receive cashback from every losing streak",
    "Jackpot winners {n} share their favourite strategies, from doubling down to walking away early",
)
OTHER = "".join(f"<p>{'. '.join(_OTHER).format(n=n)}.</p>" for n in range(2, 8))
"""Prose about another subject in other words."""


def _shuffled(page: str) -> str:
    """The same ideographs in another order."""
    letters = [c for c in page if c >= "\u4e00"]
    random.Random(7).shuffle(letters)
    rest = iter(letters)
    return "".join(next(rest) if c >= "\u4e00" else c for c in page)


SCRAMBLED_ZH = _shuffled(ARTICLE_ZH)
SWAPPED_ZH = ARTICLE_ZH.translate(
    str.maketrans("的器个在夜一员了数都不从出更小有会", "了在一会的小不都器从有个更出数员夜")
)
"""Some of the commonest ideographs stand for others, as a page's own font would show them right."""

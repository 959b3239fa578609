"""Where a quote may stand reworded is guessed from the few characters in a row that it shares with a place."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.grams import PIECE_CHARS, PLACES, Grams
from sourcewatch.analysis.locate import locate

LETTERS = "abcdefghijklmnopqrstuvwxyz"
HAN = "".join(chr(code) for code in range(0x4E00, 0x5200))


def text(alphabet: str, length: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def test_a_quote_as_long_as_a_piece_overflows_no_count() -> None:
    page = text(HAN, 8_000, seed=4)
    quote = page[1_000 : 1_000 + PIECE_CHARS]
    assert any(first <= 1_000 and 1_000 + len(quote) <= last for first, last in Grams(page).places(quote))
    assert list(Grams("x" * 8_000).places(quote)) == []


@pytest.mark.parametrize("alphabet", [LETTERS, HAN])
@pytest.mark.parametrize("start", [0, 200, 250, 256, 3_900, 7_880])
def test_the_place_of_a_reworded_quote_is_among_those_to_look_at(alphabet: str, start: int) -> None:
    page = text(alphabet, 8_000, seed=1)
    quote = page[start : start + 120]
    reworded = "".join(text(alphabet, 6, seed=n) if n % 4 == 0 else quote[n * 6 : n * 6 + 6] for n in range(20))
    places = list(Grams(page).places(reworded))
    assert 1 <= len(places) <= PLACES
    assert any(first <= start and start + len(quote) <= last for first, last in places)


def test_a_quote_of_other_words_has_no_place() -> None:
    page = Grams(text(LETTERS[:13], 8_000, seed=1))
    assert list(page.places(text(LETTERS[13:], 100, seed=2))) == []


@given(st.integers(0, 7_000), st.integers(40, PIECE_CHARS))
def test_with_grams_or_without_the_same_place_is_found(start: int, length: int) -> None:
    page = text(LETTERS, 8_000, seed=3)
    quote = page[start : start + length]
    reworded = quote[: length // 2] + "zzz" + quote[length // 2 :]
    assert locate(reworded, page, Grams(page)) == locate(reworded, page)

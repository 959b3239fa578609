"""Every sentence in both languages: none missing, none the same by oversight, all with the same gaps to fill."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sourcewatch.analysis import noise, phrases
from sourcewatch.analysis.masks import MASKS
from sourcewatch.domain.change import Extent, SightingKind, Significance
from sourcewatch.domain.review import Decision
from sourcewatch.domain.verdict import WORDS

SOURCE = Path(phrases.__file__).parents[1]
GAP = re.compile(r"\{([^}]+)\}")


def gaps(text: str) -> set[str]:
    return {name.partition(":")[0] for name in GAP.findall(text)}


@pytest.mark.parametrize("key", phrases._ALL)
def test_both_languages_say_it_and_fill_the_same_gaps(key: str) -> None:
    zh, en = phrases._ALL[key]
    assert zh
    assert en
    assert gaps(zh) == gaps(en)
    assert re.search(r"[\u4e00-\u9fff]", zh) or not re.search("[A-Za-z]", GAP.sub("", zh)), zh
    assert not re.search(r"[\u4e00-\u9fff]", en), en


def test_no_two_modules_use_one_key() -> None:
    own = [m for m in vars(phrases).values() if isinstance(m, dict) and m and isinstance(next(iter(m.values())), tuple)]
    tables = [table for table in own if table is not phrases._ALL and table is not phrases._WORDS]
    assert sum(map(len, tables)) == len(phrases._ALL)


def test_every_template_and_module_asks_for_sentences_that_exist() -> None:
    asked: set[str] = set()
    for path in [*SOURCE.rglob("*.j2"), *SOURCE.rglob("*.py")]:
        asked |= set(
            re.findall(r"""(?:\bv\.|voice\.|self\.|\b)say\(\s*['"]([a-z_0-9]+)['"]\s*[,)]""", path.read_text("utf-8"))
        )
    assert asked
    assert asked <= set(phrases._ALL), asked - set(phrases._ALL)


@pytest.mark.parametrize(
    ("prefix", "kinds"),
    [
        ("s_", list(Significance)),
        ("e_", list(Extent)),
        ("k_", list(SightingKind)),
        ("r_", list(Decision)),
        (
            "n_",
            [
                *re.findall(r'return "([a-z-]+)"', Path(noise.__file__).read_text("utf-8")),
                *(mask.rule for mask in MASKS),
                noise.PASSING,
                "typography",
            ],
        ),
    ],
)
def test_every_kind_of_thing_has_a_name(prefix: str, kinds: list[str]) -> None:
    missing = [kind for kind in kinds if prefix + kind.replace("-", "_") not in phrases._ALL]
    assert not missing


def test_every_verdict_has_words() -> None:
    assert set(phrases._WORDS) == set(WORDS)

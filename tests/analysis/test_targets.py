"""A link is another one when it leads elsewhere, not when a server wrote a new token into it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.targets import differ, target

SITE = "https://a.example"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "/vote?id=46&how=up&auth=0a55e1f2b9c84d0e97a1c2b3d4e5f60718293a4b&goto=news",
            "/vote?id=46&how=up&auth=ffee1c0b9a897867565544332211000aabbccdde&goto=news",
        ),
        ("/a;jsessionid=81DC3A?page=2", "/a;jsessionid=77FFE0?page=2"),
        ("/a?PHPSESSID=k3j4&page=2", "/a?PHPSESSID=9s8d&page=2"),
        ("/login?csrf_token=x1&next=/a", "/login?csrf_token=y2&next=/a"),
        (
            "/f.pdf?X-Amz-Date=20261201T101112Z&X-Amz-Signature=ab",
            "/f.pdf?X-Amz-Date=20261202T101112Z&X-Amz-Signature=c",
        ),
        ("/a?utm_source=news&b=1", "/a?utm_source=home&b=1"),
        ("/a?r=1f0c8a52-7f6e-4c5d-9a1b-0c2d3e4f5a6b", "/a?r=2f0c8a52-7f6e-4c5d-9a1b-0c2d3e4f5a6c"),
        ("/a?state=Zm9vYmFy0UxN2p3Q4kLm", "/a?state=aGVsbG93b3JsZDEyMzQ1Njc4"),
        ("/a?t=1764660000123", "/a?t=1764663600456"),
        ("/a?b=1&c=2", "/a?c=2&b=1"),
        ("/a?_=17&b=2#top", "/a?_=18&b=2#top"),
    ],
)
def test_what_names_the_visit_does_not_count(one: str, other: str) -> None:
    assert not differ([SITE + one], [SITE + other])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/item?id=46", "/item?id=47"),
        ("/a?page=2", "/a?page=3"),
        ("/a", "/b"),
        ("/a#one", "/a#two"),
        ("/a", "/a?page=2"),
        ("/watch?v=dQw4w9WgXcQ", "/watch?v=oHg5SJYRHA0"),
        (
            "/open?id=1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms",
            "/open?id=2CyjNWt1YSB6oGNeLwCeCAkhnVVrqumct85PhwF3vqnt",
        ),
        ("/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74", "/d/2CyjNWt1YSB6oGNeLwCeCAkhnVVrqumct85"),
        ("/go?to=how-to-serve-deepseek-v3-on-h800-nodes", "/go?to=how-to-serve-deepseek-v4-on-h800-nodes"),
        ("/go?to=%2Fnews%2F2026%2F12%2F01", "/go?to=%2Fnews%2F2026%2F12%2F02"),
        ("/blob/0a55e1f2b9c84d0e97a1c2b3d4e5f60718293a4b/a.py", "/blob/ffee1c0b9a897867565544332211000aabbccdde/a.py"),
        ("/vote?id=46&auth=0a55e1f2b9c84d0e97a1", "/vote?id=47&auth=ffee1c0b9a8978675655"),
    ],
)
def test_another_target_counts(one: str, other: str) -> None:
    assert differ([SITE + one], [SITE + other])


def test_a_link_that_comes_or_goes_beside_its_like_counts() -> None:
    assert differ([SITE + "/f?id=1"], [SITE + "/f?id=1", SITE + "/f?id=2"])
    assert differ([SITE + "/f?s=0a55e1f2b9c84d0e97a1"], [SITE + "/f?s=0a55e1f2b9c84d0e97a1", SITE + "/g"])


def test_order_and_repetition_are_nothing() -> None:
    assert not differ(["x:a", "x:b"], ["x:b", "x:a", "x:a"])


@given(st.text())
def test_any_address_has_a_target(url: str) -> None:
    assert not differ([url], [url])
    assert isinstance(target(url), str)


@pytest.mark.parametrize("unit", ["?a=1", "&", ";", "a1", "=", "-0a1b2c3d"])
def test_an_endless_address_does_not_stall(unit: str) -> None:
    assert differ([unit * 100_000], ["https://a.example/"])

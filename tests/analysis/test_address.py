"""Addresses are read as browsers read them."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.address import absolute, host, host_key, normal, registrable_domain, same_document

BASE = "https://example.org/a/b?x=1#f"


@pytest.mark.parametrize(
    ("ref", "target"),
    [
        ("c", "https://example.org/a/c"),
        ("../c", "https://example.org/c"),
        ("//cdn.example.net/i.png", "https://cdn.example.net/i.png"),
        ("?y=2", "https://example.org/a/b?y=2"),
        ("#g", "https://example.org/a/b?x=1#g"),
        ("", "https://example.org/a/b?x=1"),
        ("  /sp ace\n", "https://example.org/sp%20ace"),
        ("/中文?q=中", "https://example.org/%E4%B8%AD%E6%96%87?q=%E4%B8%AD"),
        ("https://例え.jp/", "https://xn--r8jz45g.jp/"),
        ("HTTPS://Example.ORG:443/x/../y", "https://example.org/y"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("mailto:a@example.org", "mailto:a@example.org"),
        ("javascript:void(0)", "javascript:void(0)"),
        ("http://[::1", None),
        ("https://exa mple.org/", None),
        ("http://", None),
    ],
)
def test_a_reference_resolves_as_in_a_browser(ref: str, target: str | None) -> None:
    assert absolute(BASE, ref) == target


URL_TEXT = st.text(alphabet="abcXYZ019-._~!$&()*+,;=:@/%?#|'\"{}中 \\", max_size=30)


@given(
    st.sampled_from(["https://", "http://", "HTTP://", ""]),
    st.sampled_from(["a.com", "a-b.co.uk", "1.2.3.4", "0x1.a.b", "xn--a.com", ""]),
    URL_TEXT,
)
def test_the_shortcut_for_plain_addresses_never_differs_from_the_parser(scheme: str, name: str, rest: str) -> None:
    ref = f"{scheme}{name}/{rest}"
    try:
        expected: str | None = ada_url.join_url(BASE, ref)
    except ValueError:
        expected = None
    assert absolute(BASE, ref) == expected


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://example.org", "https://example.org/"),
        ("https://example.org/a#:~:text=b", "https://example.org/a"),
        ("ftp://example.org/", None),
        ("no address", None),
    ],
)
def test_what_is_asked_has_no_fragment_and_is_on_the_web(url: str, asked: str | None) -> None:
    assert normal(url) == asked


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normal(text)
    assert once is None or normal(once) == once


def test_a_host_key_has_the_port_only_if_it_is_not_the_schemes_own() -> None:
    assert host_key("https://user:pw@Example.org:443/x") == "example.org"
    assert host_key("http://example.org:8080/") == "example.org:8080"
    assert host_key("http://[2001:db8::1]:81/") == "[2001:db8::1]:81"
    assert host("http://[2001:db8::1]:81/") == "[2001:db8::1]"
    assert host_key("mailto:x@example.org") == ""


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("zhuanlan.zhihu.com", "zhihu.com"),
        ("www.moi.gov.tw", "moi.gov.tw"),
        ("alice.github.io", "alice.github.io"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("localhost", "localhost"),
        ("co.uk", "co.uk"),
    ],
)
def test_the_registrable_domain_is_what_somebody_registered(name: str, domain: str) -> None:
    assert registrable_domain(name) == domain


def test_two_addresses_name_one_document_when_only_fragments_differ() -> None:
    assert same_document("https://example.org/a#x", "https://EXAMPLE.org/a")
    assert not same_document("https://example.org/a", "https://example.org/a?")
    assert not same_document("nonsense", "nonsense")

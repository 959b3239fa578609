"""What a hostile page may put into a title, a text, an alt or an address, and what must never come out raw."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import strategies as st

BREAKOUTS = (
    "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'; alert(1); '", "<!-- --> ]]>",
    "\x1b]0;owned\x07", "\x1b[2J\x1b[31mred", "\x9b31m", "\x1b]8;;https://evil.example/\x1b\\link", "a\rb", "\x08" * 9,
    "\u202egnp.exe", "\u2066\u2067", "\u2028\u2029", "\x85", "\U000e0041tag", "\x7f", "\ud800",
    "[x](javascript:alert(1))", "# heading", "| a | b |", "```", "![x](https://evil.example/)", "=cmd|' /C calc'!A1",
    "}\n@comment{", "\\input{/etc/passwd}", "100% $x_y^z~ & #1 {", "\\", "---\n- a: b", '"""', "a\": 1", "null", "on",
    "&lt;b&gt;", "{{ 7*7 }}", "{% raw %}", "%(x)s {0} {x!r}", "[bold red]x[/]", "访问于 2026 年", "\t\n",
)  # fmt: skip
ANSI = re.compile(r"\x1b|\x9b|\x07")


def texts() -> st.SearchStrategy[str]:
    """Any text, and above all the texts that somebody would try."""
    pieces = st.one_of(st.sampled_from(BREAKOUTS), st.text(st.characters(), max_size=8))
    return st.lists(pieces, min_size=1, max_size=4).map("".join)


def raw(text: str) -> set[str]:
    """The characters that steer a terminal or turn a line round; line breaks and joiners are none."""
    unsafe = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return {c for c in text if unicodedata.category(c) in unsafe and c not in "\n\u200c\u200d"}

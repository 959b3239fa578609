"""Whether an answer whose length nobody told came whole: by the markup it ends in, and by the last accepted version.

An HTTP/1 answer without Content-Length, chunks or a coding ends where its connection does, and a server that died ends
it alike (RFC 9112 §8: such an answer is taken for complete). Only what came can tell.
"""

from __future__ import annotations

import re

from sourcewatch.domain.document import Document, Form

from .drift import drift
from .view import Rule, View, shown, weight

IN_TAG = re.compile(rb"<[a-z/!?][^<>]*\Z")
UNFINISHED = 0.5  # of the new text at most that the last version did not have: a cut brings nothing new
MOST_TAIL = 10_000
LINES = frozenset({Form.HTML, Form.MARKDOWN, Form.TEXT})


def _cut(view: View) -> str:
    """Without an end of its own in the transport: it stops within a tag, or where the last version went on."""
    if not _ends_with_connection(view) or view.reading.form not in LINES:
        return ""
    if view.is_page and not view.document.closed and (open_ := _open_end(view.reading.payload.data)):
        return f"no length was told, and it ends within {shown(open_)}"
    accepted = view.reading.accepted
    if accepted is None or accepted.document.form is not view.reading.form:
        return ""
    old, new = accepted.document, view.document
    if new.closed or weight(new.text) >= weight(old.text):
        return ""
    if old.closed and drift(old, new).novelty <= UNFINISHED:
        return f"no length was told, and its html is not closed as the last version's was; {_sizes(old, new)}"
    if rest := _breaks_off(old, new):
        return f"no length was told, and it breaks off before {shown(rest)}; {_sizes(old, new)}"
    return ""


def _ends_with_connection(view: View) -> bool:
    """Whether nothing but the end of the connection tells where the answer ends."""
    answer = view.answer
    told = ("content-length", "transfer-encoding", "content-encoding")
    return answer.http_version.startswith("HTTP/1") and not answer.dom and not any(map(answer.header, told))


def _open_end(data: bytes) -> str:
    """The tag, comment or script that a page ends within, or ""."""
    lower = data.lower()
    tail = lower[-MOST_TAIL:].rstrip(b" \t\r\n\0")
    if found := IN_TAG.search(tail):
        return found.group().decode("utf-8", "replace")
    for start, end in ((b"<script", b"</script"), (b"<style", b"</")):  # no style sheet has a tag in it
        if lower.rfind(start) > lower.rfind(end):
            return start.decode() + ">"
    return ""


def _breaks_off(old: Document, new: Document) -> str:
    """How the last version went on in the line that is the last one now, where all lines before it are known."""
    ours, theirs = old.text.split("\n"), new.text.split("\n")
    last = theirs[-1]
    if not set(theirs[:-1]) <= set(ours) or last in ours:
        return ""
    whole = next((line for line in ours if len(last) >= 2 and line.startswith(last)), "")
    return whole[len(last) :]


def _sizes(old: Document, new: Document) -> str:
    return f"{weight(new.text):,} bytes of text where there were {weight(old.text):,}"


RULES = (Rule("cut-off", "body_truncated", _cut, stand_in=False),)

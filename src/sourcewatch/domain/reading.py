"""What the judge reads: a capture unpacked into a document, and what is remembered of the source and of its host."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .capture import Capture
from .document import Document, Form
from .source import Source


@dataclass(frozen=True, slots=True)
class Fault:
    """Why bytes could not be read: a verdict word, the rule and its evidence."""

    word: str
    rule: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Payload:
    """A body after content decoding. *codings* as the server named them; *fault* when they did not hold.

    *note* says what was odd and yet readable ("labelled gzip, sent plain").
    """

    data: bytes = field(repr=False)
    sha256: str
    codings: tuple[str, ...] = ()
    fault: Fault | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Characters:
    """Decoded text. *origin*: bom, ascii, valid, http, meta or detected; *replaced* counts undecodable characters."""

    text: str = field(repr=False)
    codec: str
    origin: str
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class Accepted:
    """The last accepted version of a source, as far as judging needs it. It was itself an access, never a wall."""

    version: int
    captured_at: datetime
    final_url: str
    payload_sha256: str
    media_type: str
    document: Document


@dataclass(frozen=True, slots=True)
class Probe:
    """What a host answers for an address that was invented on the spot (the soft-404 probe), or that it failed.

    *status* is 0 when nothing came; *final_url* tells a redirect of every unknown address to the front page.
    """

    asked_url: str
    asked_at: datetime
    status: int
    final_url: str = ""
    title: str = ""
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that the classifier may look at. *form* is what the bytes are, whatever their label says."""

    source: Source
    capture: Capture
    payload: Payload
    form: Form
    document: Document
    accepted: Accepted | None = None
    probe: Probe | None = None
    expect: str = "document"

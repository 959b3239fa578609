"""How a known kind of address is read: what is asked, what of the answer is its text, and what proves access."""

from __future__ import annotations

from dataclasses import dataclass

Scalar = str | bool | int | float


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence that the document holds where every condition does: (path in the answer, its value)."""

    say: str
    when: tuple[tuple[str, Scalar], ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """A named rule as it applies to one source, the parts of the cited address filled in.

    *official* says why the address that is read is the source itself. Paths ("message.title") name values in a JSON
    answer, lists passed through. *proves*: (path, text that stands there, "" for any) or, with a path of "", a CSS
    selector that finds something. *gone*: conditions under which the source says that it is no more. *text* and
    *markdown* are the document's words, *values* are told as "key: value"; all else is looked through for quotes only.
    """

    name: str
    version: int
    official: str
    form: str = ""
    proves: tuple[tuple[str, str], ...] = ()
    gone: tuple[tuple[str, Scalar], ...] = ()
    title: str = ""
    text: tuple[str, ...] = ()
    markdown: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def tag(self) -> str:
        """Name and version, as makers are named."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Example:
    """A recorded answer and what a rule must make of it: *asks* is the address that is read for *cited*.

    *shows* stands in what is compared, *finds* in what is only looked through for quotes.
    """

    cited: str
    asks: str
    status: int
    content_type: str
    body: str
    verdict: str
    title: str | None = None
    shows: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """A rule as it is shown to people."""

    name: str
    version: int
    cited: tuple[str, ...]
    read: str
    official: str
    only_named: bool = False

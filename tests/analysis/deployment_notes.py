"""A page of our own in several versions, and the changes between them as the judge would put them together."""

from __future__ import annotations

from collections.abc import Sequence

from sourcewatch.analysis import anchor, noise, weigh
from sourcewatch.domain.change import Change
from sourcewatch.domain.document import Block, Document, Embed, Form, Label, Link
from sourcewatch.domain.source import Quote

BODY = (
    "The scheduler computes the placement of experts anew at night.",
    "A cluster serves 155 trillion tokens a day.",
    "We do not keep the prompts of our customers.",
)
SITE = "https://a.example"


def page(
    *texts: str,
    title: str = "Deployment notes",
    links: Sequence[str] = (),
    pictures: Sequence[str] = (),
    label: Label = Label.MAIN,
) -> Document:
    return Document(
        Form.HTML,
        title,
        blocks=tuple(Block(text, path="article/p") for text in texts),
        links=tuple(Link(SITE + path, "more", label) for path in links),
        embeds=tuple(Embed(SITE + path, label=label) for path in pictures),
    )


def edited(place: int, text: str) -> Document:
    return page(*BODY[:place], text, *BODY[place + 1 :])


def changes(*versions: Document, quotes: Sequence[Quote] = ()) -> list[Change | None]:
    """The change that each version but the first makes, as the judge would put it together."""
    history = noise.History()
    seen = [tuple(anchor.sight(anchor.Page(version), quote) for quote in quotes) for version in versions]
    found = []
    for n in range(1, len(versions)):
        history = noise.step(history, versions[n - 1])
        found.append(weigh.change(versions[n - 1], versions[n], history, quotes, seen[n - 1], seen[n]))
    return found


def change(old: Document, new: Document, *quotes: Quote) -> Change:
    (found,) = changes(old, new, quotes=quotes)
    assert found is not None
    return found


CITED = Quote("A cluster serves 155 trillion tokens a day.")

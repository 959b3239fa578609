"""The judge: a capture goes in, everything that is concluded from it comes out. Pure: no clock, no disk, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from ..domain.capture import Capture, Exchange
from ..domain.change import Change, PictureChange, Sighting, SightingKind, Significance
from ..domain.check import Judgement, Memory
from ..domain.document import Block, Document, Form, pack
from ..domain.document import unpack as unpack_document
from ..domain.reading import Accepted, Fault, Payload, Probe, Reading
from ..domain.source import Quote, Source
from ..domain.verdict import Verdict
from . import anchor, classify, diff, extract, images, looks, noise, picture_diff, readers, sniff, weigh
from .address import same_document
from .answers import MOST_UNPACKED, charset
from .unpack import unpack

MAKER = " ".join((extract.EXTRACTOR, classify.CLASSIFIER, anchor.ANCHORER, diff.DIFFER, noise.NOISE))
DOM = " dom@1"  # the same rules, on what a browser made of the answer
IMAGE_READER = "image@1"


@dataclass(frozen=True, slots=True)
class Task:
    """What the judge needs to know. *memory* is the newest accepted version, *before* its response as it was kept.

    *before* is given when another extractor made the remembered document: it is read anew, so that a change of our own
    rules never looks like a change of the page. *earlier* are the packed documents before it, then too. *seen* is that
    version's response where it is a picture: a picture is compared with the picture. *shot* is that version's
    screenshot, where the source's looks are watched too.
    """

    source: Source
    capture: Capture
    most_bytes: int
    expect: str = "document"
    memory: Memory | None = None
    before: Exchange | None = None
    probe: Probe | None = None
    earlier: tuple[bytes, ...] = ()
    seen: Exchange | None = None
    shot: bytes = field(default=b"", repr=False)


def judge(task: Task) -> Judgement:
    """Decode, extract, classify; of an access also what changed, and how the quotes stand."""
    answer = task.capture.answer
    payload = _unpacked(answer, task.most_bytes)
    if payload.fault is not None:
        return Judgement(classify.unread(answer, payload.fault), payload.sha256, maker=MAKER)
    form = _form(answer, payload)
    document = _document(task.source, answer, payload, form)
    if isinstance(document, Fault):
        return _refusal(document, payload)
    accepted = _accepted(task, document)
    reading = Reading(
        source=task.source,
        capture=task.capture,
        payload=payload,
        form=form,
        document=document,
        accepted=accepted,
        probe=task.probe,
        expect=task.expect,
    )
    if target := classify.follow(reading):
        verdict = Verdict("redirected_js", "refresh", f"the page refers on to {target}")
        return Judgement(verdict, payload.sha256, document, follow=target, maker=MAKER)
    verdict = classify.classify(reading)
    if not verdict.accessed:
        return Judgement(verdict, payload.sha256, document, maker=MAKER)
    return _accepted_judgement(task, verdict, payload, document, accepted)


def reread(task: Task, verdict: Verdict) -> Judgement | Fault:
    """What a version that was accepted under *verdict* holds, read again by today's rules against the one before it.

    A version stays one, even where today's rules would see only noise in it. A Fault when it cannot be read any more.
    """
    answer = task.capture.answer
    payload = _unpacked(answer, task.most_bytes)
    if payload.fault is not None:
        return payload.fault
    document = _document(task.source, answer, payload, _form(answer, payload))
    if isinstance(document, Fault):
        return document
    accepted = _accepted(task, document)
    found = _accepted_judgement(task, verdict, payload, document, accepted)
    if found.changed:
        return found
    history = noise.step(_history(task, accepted), document).to_json()
    return replace(found, verdict=verdict, changed=True, packed=pack(document), history=history)


def makers(source: Source) -> tuple[str, str]:
    """What makes this source's documents today: from an answer as it comes, and from what a browser makes of it."""
    plain = f"{MAKER} {source.reader.tag}" if source.reader else MAKER
    return plain, plain + DOM


def reader_of(made_by: str) -> str:
    """The name of the source's own rule in a maker, without its version; "" where there was none."""
    ours = {token.partition("@")[0] for token in f"{MAKER}{DOM}".split()}
    return next((name for token in made_by.split() if (name := token.partition("@")[0]) not in ours), "")


def _maker(task: Task, document: Document) -> str:
    plain, rendered = makers(task.source if _reader(task.source, document) else replace(task.source, reader=None))
    return rendered if task.capture.answer.dom else plain


def _reader(source: Source, document: Document) -> str:
    """The name of the rule that this document was read by, "" where it did not apply."""
    return source.reader.name if source.reader and readers.proved(document, source.reader) else ""


def _form(answer: Exchange, payload: Payload) -> Form:
    return Form.HTML if answer.dom else sniff.sniff(payload.data, answer.media_type, answer.url)


def _unpacked(answer: Exchange, most_bytes: int) -> Payload:
    """What there is to read: the body without its coding, or what a browser made of it."""
    if answer.dom:
        return Payload(answer.dom, f"sha256:{sha256(answer.dom).hexdigest()}")
    return unpack(answer.body, answer.all_headers("content-encoding"), most_bytes=most_bytes * MOST_UNPACKED)


def _refusal(fault: Fault, payload: Payload) -> Judgement:
    return Judgement(Verdict(fault.word, fault.rule, fault.evidence), payload.sha256, maker=MAKER)


def _document(source: Source, answer: Exchange, payload: Payload, form: Form) -> Document | Fault:
    if form is Form.IMAGE:
        return _picture(source, answer, payload)
    if form is Form.BINARY:
        words = f"{answer.media_type or 'unknown type'}, {len(payload.data)} bytes, {payload.sha256}"
        return Document(Form.BINARY, title=source.title, blocks=(Block(words),), extractor="digest@1")
    return extract.extract(
        payload.data,
        form=form,
        media_type=answer.media_type,
        http_charset="utf-8" if answer.dom else charset(answer.header("content-type")),
        url=answer.url,
        select=source.select,
        ignore=source.ignore,
        reader=source.reader,
    )


def _picture(source: Source, answer: Exchange, payload: Payload) -> Document | Fault:
    """A picture's document is one line: what it is, how large, and which."""
    if answer.status >= 400:  # an error page may be a picture; its status decides
        return Document(Form.IMAGE, title=source.title, extractor=IMAGE_READER)
    facts = images.look(payload.data)
    if isinstance(facts, Fault):
        return facts
    if facts.placeholder:
        return Fault("document_broken", "image-placeholder", f"a {facts.width}×{facts.height} pixel placeholder")
    words = f"{facts.format} {facts.width} × {facts.height} px, {len(payload.data)} bytes, {payload.sha256}"
    return Document(Form.IMAGE, title=source.title, blocks=(Block(words, tag="img"),), extractor=IMAGE_READER)


def _accepted(task: Task, document: Document) -> Accepted | None:
    """What is remembered; None too where another rule read another address then: the two are not to be compared."""
    memory = task.memory
    if memory is None:
        return None
    elsewhere = not same_document(memory.final_url, task.capture.answer.url)
    if elsewhere and reader_of(memory.maker) != _reader(task.source, document):
        return None
    document = _read_again(task) or unpack_document(memory.packed)
    return Accepted(
        memory.version, memory.captured_at, memory.final_url, memory.payload_sha256, memory.media_type, document
    )


def _read_again(task: Task) -> Document | None:
    if task.before is None:
        return None
    payload = _unpacked(task.before, task.most_bytes)
    form = _form(task.before, payload)
    again = _document(task.source, task.before, payload, form)
    return None if isinstance(again, Fault) else again


def _accepted_judgement(
    task: Task, verdict: Verdict, payload: Payload, document: Document, accepted: Accepted | None
) -> Judgement:
    before = task.memory.sightings if task.memory else ()
    sightings = _sightings(task.source, document, before)
    history = _history(task, accepted)
    if accepted is None:
        change, changed = None, True
    elif (picture := _looks(task, accepted, payload, document)) and not picture.regions and _is_image(document):
        change, changed, verdict = None, False, looks.same_picture(verdict, accepted.document, document)
    else:
        change = _change(task.source, accepted.document, document, history, before, sightings)
        change = looks.with_looks(change, picture, accepted.document, document)
        changed = change is not None or _unseen(task)
    return Judgement(
        verdict=verdict,
        payload_sha256=payload.sha256,
        document=document,
        changed=changed,
        change=change,
        sightings=sightings,
        history=noise.step(history, document).to_json() if changed else "",
        packed=pack(document) if changed else b"",
        maker=_maker(task, document),
        events=_events(task, accepted, document),
        reread=accepted.document if accepted is not None and task.before is not None else None,
    )


def _looks(task: Task, accepted: Accepted, payload: Payload, document: Document) -> PictureChange | None:
    """How another file's picture, or a watched page's, looks against the accepted one; None where there are no two."""
    view = task.capture.view
    if task.shot and view is not None and view.screenshot and not _is_image(document):
        return picture_diff.compare(task.shot, view.screenshot)
    if task.seen is None or document.form is not Form.IMAGE or accepted.payload_sha256 == payload.sha256:
        return None
    old = _unpacked(task.seen, task.most_bytes)
    return None if old.fault is not None else picture_diff.compare(old.data, payload.data)


def _unseen(task: Task) -> bool:
    """Whether a page's looks are watched and the accepted version has none: the first screenshot makes a version."""
    view = task.capture.view
    return task.source.watch == "picture" and view is not None and bool(view.screenshot) and not task.shot


def _is_image(document: Document) -> bool:
    return document.form is Form.IMAGE


def _events(task: Task, accepted: Accepted | None, document: Document) -> tuple[str, ...]:
    """What an editor may want to know and no reader sees: another encoding, or another way of reading the page."""
    if accepted is None and task.memory is not None:
        now = _reader(task.source, document)
        return (f"read in another way from now on: {reader_of(task.memory.maker) or 'as it is'} → {now or 'as it is'}",)
    if accepted is None or not accepted.document.codec or accepted.document.codec == document.codec:
        return ()
    return (f"encoding: {accepted.document.codec} → {document.codec}",)


def _sightings(source: Source, document: Document, before: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """How the quotes stand. A machine reads no figures in a picture: quotes of one are for a person to verify."""
    if document.form is Form.IMAGE:
        return tuple(
            Sighting(q.key, SightingKind.UNVERIFIED, layer="figure", reason="figure-read") for q in source.quotes
        )
    page = anchor.Page(document)
    known = {s.quote: s.context for s in before}
    return tuple(_sighting(page, quote, known.get(quote.key, ("", ""))) for quote in source.quotes)


def _sighting(page: anchor.Page, quote: Quote, context: tuple[str, str]) -> Sighting:
    """A quote given as text alone is looked for where it stood when it was first found: between the same neighbours."""
    if quote.prefix or quote.suffix:
        return anchor.sight(page, quote)
    found = anchor.sight(page, replace(quote, prefix=context[0], suffix=context[1]))
    if not any(context) and found.stands and found.start is not None and found.end is not None:
        context = anchor.context(page.layer(found.layer), found.start, found.end)
    return replace(found, quote=quote.key, context=context)


def _history(task: Task, accepted: Accepted | None) -> noise.History:
    """What the noise rules remember; made anew from the kept versions when other rules had made it."""
    state = noise.History.from_json(task.memory.history) if task.memory and task.memory.history else None
    if state is not None or accepted is None:
        return state or noise.History()
    return noise.rebuild([*(unpack_document(packed) for packed in task.earlier), accepted.document])


def _change(
    source: Source,
    old: Document,
    new: Document,
    history: noise.History,
    before: Sequence[Sighting],
    after: Sequence[Sighting],
) -> Change | None:
    """The change that makes a new version, or None: what differs only in masked counters and clocks is none."""
    change = weigh.change(old, new, history, source.quotes, before, after)
    if change is None:
        return None
    if change.significance is Significance.COSMETIC and noise.same(old, new, weigh.protected(source.quotes)):
        return None
    if new.form in (Form.IMAGE, Form.BINARY):
        return replace(change, significance=Significance.FIGURES)
    return change

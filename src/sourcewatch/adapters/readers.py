"""Readers files: named rules for kinds of addresses, as data; the package ships some, a site may add its own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from ..domain.errors import ConfigError
from ..domain.reader import Example, Fact, Listed, Reader
from ..domain.source import Header
from . import toml_files
from .config_values import web_address
from .reader_models import VARIABLE, ReaderModel, ReadersFile

SHIPPED = Path(__file__).with_name("readers.toml")
MOST_BYTES = 2_000_000
CITED = "cited"  # in `read`: the whole cited address

_Found = Iterator[tuple[toml_files.Loc, str]]


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule applied to one address: what is asked, with which headers, and what of the answer counts.

    *select* and *ignore* are CSS; *delay_s* is what the host that is asked wants between two requests.
    """

    reader: Reader
    read: str
    headers: tuple[Header, ...] = ()
    select: str = ""
    ignore: tuple[str, ...] = ()
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule with its patterns compiled."""

    model: ReaderModel
    patterns: tuple[re.Pattern[str], ...]

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def hosts(self) -> set[str]:
        """The hosts of its patterns without "www."; "" where a pattern is for any host."""
        return {"" if "{" in host else host for c in self.model.cited for host in [_host(c)]}

    def match(self, url: str) -> dict[str, str] | None:
        """The parts of an address that the rule names, or None where it is not for this address."""
        plain = url.partition("#")[0]
        if self.model.any_query:
            plain = plain.partition("?")[0]
        for pattern in self.patterns:
            if found := pattern.fullmatch(plain):
                return found.groupdict() | {CITED: plain.rstrip("/")}
        return None

    def applied(self, url: str, environ: Mapping[str, str]) -> Applied | None:
        """The rule for one address, its parts filled in; None where it is not for it."""
        parts = self.match(url)
        if parts is None:
            return None
        m, said = self.model, {name: unquote(value) for name, value in parts.items()}
        headers = [Header("Accept", m.accept)] if m.accept else []
        headers += [Header(name, value) for name, value in m.headers.items()]
        if m.token is not None and (token := environ.get(m.token.variable)):
            headers.append(Header(m.token.header, m.token.value.replace("{token}", token), secret=True))
        return Applied(
            _reader(m, said), _filled(m.read, parts) or url, tuple(headers), m.select, tuple(m.ignore), m.delay
        )


class Book:
    """Rules by the hosts that they are for; the first that fits is taken, a site's own before the package's."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules: dict[str, Rule] = {}
        for rule in rules:
            self.rules.setdefault(rule.name, rule)
        self._by_host: dict[str, list[Rule]] = {}
        for rule in self.rules.values():
            if not rule.model.only_named:
                for host in rule.hosts:
                    self._by_host.setdefault(host, []).append(rule)

    def fitting(self, url: str) -> Iterator[Rule]:
        return (rule for rule in self._by_host.get(_host(url), ()) if rule.match(url) is not None)


def book(own: Path | None = None, selector_error: Callable[[str], str | None] = lambda css: None) -> Book:
    """The package's rules behind those of a site's *own* file. Raises ConfigError with every fault of that file."""
    rules = load(own, selector_error) if own is not None else []
    return Book([*rules, *load(SHIPPED, selector_error)])


def load(path: Path, selector_error: Callable[[str], str | None] = lambda css: None) -> list[Rule]:
    """The rules of a readers file. Raises ConfigError with every fault, each with file, line and key."""
    text = toml_files.text_of(path, MOST_BYTES, "this is no readers file")
    try:
        model = ReadersFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([f"{path}: not valid TOML: {error}"]) from None
    except ValidationError as error:
        found = [(e["loc"], _sentence(e)) for e in error.errors()]
        raise ConfigError(toml_files.faults(path, text, found)) from None
    if wrong := list(_wrong(model, selector_error)):
        raise ConfigError(toml_files.faults(path, text, wrong))
    return [Rule(m, tuple(_pattern(c, m.where) for c in m.cited)) for m in model.reader]


def _sentence(error: Mapping[str, object]) -> str:
    if error["type"] == "extra_forbidden":
        return "unknown key"
    if error["type"] == "missing":
        return "is missing"
    return f"{str(error['msg']).removeprefix('Value error, ')} (found {str(error.get('input'))[:60]!r})"


def _wrong(model: ReadersFile, selector_error: Callable[[str], str | None]) -> _Found:
    names: set[str] = set()
    for i, m in enumerate(model.reader):
        if m.name in names or m.name in ("auto", "none"):
            yield ("reader", i, "name"), f"{m.name!r} is used twice, or means something else"
        names.add(m.name)
        yield from ((("reader", i, key), words) for key, words in _wrong_rule(m, selector_error))


def _wrong_rule(m: ReaderModel, selector_error: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    """Faults of one rule: patterns that match nothing, names that no pattern has, secrets that would go in the open."""
    variables = [frozenset(v[0] for v in VARIABLE.findall(c)) for c in m.cited]
    everywhere = frozenset.intersection(*variables)
    for cited in m.cited:
        if not cited.startswith("https://") or not _host(cited):
            yield "cited", f"{cited!r} is no pattern of an https address; http is matched by it too"
        elif "{" in _host(cited) and not m.only_named:
            yield "cited", f"{cited!r} is for any host: then the rule must be only_named"
    for name, regex in m.where.items():
        if name not in frozenset.union(*variables):
            yield "where", f"no pattern has {{{name}}}"
        try:
            re.compile(regex)
        except re.error as error:
            yield "where", f"{name}: not a regular expression: {error}"
    if m.read:
        for name in sorted({v[0] for v in VARIABLE.findall(m.read)} - everywhere - {CITED}):
            yield "read", f"not every pattern has {{{name}}}"
        try:
            web_address(VARIABLE.sub("x", m.read.replace(f"{{{CITED}}}", "https://x")))
        except ValueError as error:
            yield "read", str(error)
    if CITED in frozenset.union(*variables):
        yield "cited", f"{{{CITED}}} is the whole address; name the part otherwise"
    if m.token is not None and not m.read.startswith("https://"):
        yield "token", "goes out only over https, to an address that the rule names in `read`"
    if any(name.lower() in ("authorization", "cookie") for name in m.headers):
        yield "headers", "a secret belongs into `token`, which takes it from the environment"
    json_only = ("proves", "gone", "title", "text", "markdown", "values", "fact")
    for key in json_only if m.form != "json" else ("select", "ignore", "must_select"):
        if getattr(m, key):
            yield key, 'is for answers of form = "json"' if m.form != "json" else 'is for pages; this is form = "json"'
    if m.form == "json" and not m.proves:
        yield "proves", "an answer that proves nothing is no access: name what must stand in it"
    if m.must_select and not m.select:
        yield "must_select", "there is no `select`"
    for key, selectors in (("select", [m.select] if m.select else []), ("ignore", m.ignore)):
        for css in selectors:
            if words := selector_error(css):
                yield key, f"{css!r} is not a CSS selector: {words}"


def _host(url: str) -> str:
    """The host of an address or pattern, without "www."."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower().removeprefix("www.")


def _pattern(cited: str, where: Mapping[str, str]) -> re.Pattern[str]:
    """A pattern as a regular expression: {name} is one segment, {name*} the rest of the path."""
    has_query = "?" in cited
    body = cited.partition("://")[2].removeprefix("www.")
    out, at = [r"(?i:https?)://(?i:www\.)?"], 0
    for found in VARIABLE.finditer(body):
        out.append(re.escape(body[at : found.start()]))
        in_query = has_query and found.start() > body.index("?")
        usual = "[^&#]+" if in_query else "[^?#]+" if found[2] else "[^/?#]+"
        out.append(f"(?P<{found[1]}>{where.get(found[1], usual)})")
        at = found.end()
    out.append(re.escape(body[at:]))
    return re.compile("".join(out) + ("" if has_query or body.endswith("/") else "/?"))


def _filled(template: str, parts: Mapping[str, str]) -> str:
    return VARIABLE.sub(lambda m: parts.get(m[1], m[0]), template)


def _reader(m: ReaderModel, parts: Mapping[str, str]) -> Reader:
    def filled(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(_filled(p, parts) for p in paths)

    proves = [(_filled(path, parts), _filled(value, parts)) for path, value in m.proves.items()]
    proves += [("", m.select)] if m.must_select else []
    return Reader(
        name=m.name,
        version=m.version,
        official=m.official,
        form=m.form,
        proves=tuple(proves),
        gone=tuple(m.gone.items()),
        title=_filled(m.title, parts),
        text=filled(m.text),
        markdown=filled(m.markdown),
        values=filled(m.values),
        facts=tuple(Fact(_filled(f.say, parts), tuple(f.when.items())) for f in m.fact),
    )


def examples(rule: Rule) -> Iterator[tuple[Example, Applied | None]]:
    """A rule's recorded answers, each with the rule as it applies to the address that is cited."""
    for e in rule.model.example:
        shows, finds = tuple(e.shows), tuple(e.finds)
        told = Example(e.cited, e.asks or "", e.status, e.type, e.body, e.verdict, e.title, shows, finds)
        yield told, rule.applied(e.cited, {})


def listed(rule: Rule) -> Listed:
    m = rule.model
    return Listed(m.name, m.version, tuple(m.cited), m.read or "{cited}", m.official, m.only_named)


def chosen(
    rules: Book, url: str, read: str | None, wanted: str, render: str, environ: Mapping[str, str]
) -> Applied | str | None:
    """The rule for a source, None where there is none, or a sentence that says what is wrong with the wish.

    *wanted* is a rule's name, "auto" or "none". A source's own *read* wins: then a rule applies only where it would
    read the same, or was named. What a browser is to read is read as it is.
    """
    if wanted == "none":
        return None
    if wanted != "auto":
        rule = rules.rules.get(wanted)
        if rule is None:
            return f"there is no reader {wanted!r}; `sourcewatch readers list` names them"
        applied = rule.applied(url, environ)
        if applied is None:
            return f"the reader {wanted!r} is not for {url}"
        if render != "never" and applied.reader.form:
            return f'the reader {wanted!r} reads an API: render must be "never"'
        if read and _host(read) != _host(applied.read):
            return f"the reader {wanted!r} reads {_host(applied.read)}, and `read` names another host"
        return replace(applied, read=read) if read else applied
    for rule in rules.fitting(url):
        applied = rule.applied(url, environ)
        if applied is None or (render != "never" and applied.read != url):
            continue
        if read is None or urlsplit(read) == urlsplit(applied.read):
            return applied
    return None

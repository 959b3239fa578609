"""Jobs of urlwatch and webchanges: a YAML document each. Read without making objects: a file is data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ..domain.errors import ConfigError
from ..domain.mention import NewSource, NotRead

MOST_NODES = 10_000  # of one job: aliases of aliases are few bytes and many values
# What sourcewatch does with every page by itself.
_COVERED = frozenset({
    "html2text", "beautify", "strip", "striplines", "strip_each_line", "strip_empty_lines", "pdf2text",
    "pretty-xml", "format-json", "format-xml", "ical2text", "csv2text",
})  # fmt: skip
_TAKEN = frozenset({
    "url", "navigate", "name", "note", "filter", "filters", "use_browser", "user_visible_url", "url_for_human",
    "kind", "enabled",
})  # fmt: skip


def read(name: str, text: str) -> Iterator[NewSource | NotRead]:
    """Rows and what they lose. Raises ConfigError for what is no YAML."""
    try:
        jobs = [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ConfigError([f"{name}:{line}: not valid YAML: {error.problem or error.context}"]) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError([f"{name}:1: not valid YAML: {error}"]) from None
    for node in jobs:
        line = node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode) and not node.value.strip():
            continue
        if not isinstance(node, yaml.MappingNode):
            yield NotRead(name, line, "no job: a mapping with `url` was expected")
            continue
        try:
            budget = [MOST_NODES]
            job, lines = _job(node, budget)
        except (OverflowError, RecursionError):
            yield NotRead(name, line, "a job with too many values; not added")
            continue
        yield from _row(name, job, lines, line)


def _job(node: yaml.MappingNode, budget: list[int]) -> tuple[dict[str, Any], dict[str, int]]:
    """A job's values and the line of each of its keys; `<<` brings those that it has not itself."""
    job: dict[str, Any] = {}
    lines: dict[str, int] = {}
    merged: list[yaml.Node] = []
    for key, value in node.value:
        if key.value == "<<":
            merged += value.value if isinstance(value, yaml.SequenceNode) else [value]
        else:
            job[str(key.value)], lines[str(key.value)] = _plain(value, budget), key.start_mark.line + 1
    for other in merged:
        if isinstance(other, yaml.MappingNode):
            more, at = _job(other, budget)
            job, lines = more | job, at | lines
    return job, lines


def _plain(node: yaml.Node, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        raise OverflowError
    if isinstance(node, yaml.SequenceNode):
        return [_plain(child, budget) for child in node.value]
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _plain(value, budget) for key, value in node.value}
    if node.tag == "tag:yaml.org,2002:null":
        return None
    if node.tag == "tag:yaml.org,2002:bool":
        return node.value.lower() in ("true", "yes", "on", "y")
    return str(node.value)


def _row(name: str, job: dict[str, Any], lines: Mapping[str, int], line: int) -> Iterator[NewSource | NotRead]:
    at = lines.get("url", lines.get("navigate", line))
    url = job.get("url") or job.get("navigate")
    if not isinstance(url, str):
        what = "a shell command is no address" if "command" in job else "a job without an address"
        yield NotRead(name, lines.get("command", line), f"{what}; not added")
        return
    if job.get("enabled") is False:
        yield NotRead(name, lines["enabled"], f"{url} is disabled there; not added")
        return
    if job.get("data") or job.get("post") or str(job.get("method") or "GET").upper() != "GET":
        yield NotRead(name, at, f"{url} is asked by POST or the like, which nobody can cite; not added")
        return
    select, ignore, lost = _filters(job.get("filter", job.get("filters")))
    shown = job.get("user_visible_url") or job.get("url_for_human")
    yield NewSource(
        url=str(shown) if shown else url,
        title=str(job.get("name") or ""),
        read=url if shown else "",
        select=select,
        ignore=ignore,
        render="always" if "navigate" in job or job.get("use_browser") else "",
        notes=str(job.get("note") or ""),
        line=at,
    )
    filter_line = lines.get("filter", lines.get("filters", line))
    yield from (NotRead(name, filter_line, f"not carried over: the filter {what}") for what in lost)
    for key, value in job.items():
        if key not in _TAKEN and value not in (None, False, "", [], {}):
            yield NotRead(name, lines.get(key, line), f"not carried over: `{key}`{_why(key)}")


def _why(key: str) -> str:
    if key in ("headers", "cookies", "http_proxy", "https_proxy"):
        return ' (it may be secret: write it into `headers`, values as "${NAME}")'
    return ""


def _filters(given: Any) -> tuple[str, tuple[str, ...], list[str]]:
    """`select`, `ignore` and what has no counterpart. urlwatch once wrote all filters in one string."""
    if isinstance(given, str):
        given = [dict([part.split(":", 1)]) if ":" in part else part for part in given.split(",")]
    if isinstance(given, dict):
        given = [{key: value} for key, value in given.items()]
    select, ignore, lost = "", [], []
    for one in given or []:
        for kind, value in one.items() if isinstance(one, dict) else [(str(one), None)]:
            css, excluded, extra = _selector(kind.strip(), value)
            if css and not select:
                select = css
            elif css:
                lost.append(f"`{kind}: {css}` (one `select` is all there is)")
            elif not excluded and kind.strip() not in _COVERED:
                lost.append(f"`{kind}`")
            ignore += [excluded] if excluded else []
            lost += [f"`{kind}.{name}`" for name in extra]
    return select, tuple(ignore), lost


def _selector(kind: str, value: Any) -> tuple[str, str, list[str]]:
    """A filter's CSS selector, what it excludes, and its options that have no counterpart."""
    options = value if isinstance(value, dict) else {}
    word = next((str(options[k]) for k in ("selector", kind.rpartition("-")[2]) if k in options), "")
    word = word if options else str(value or "").strip()
    match kind:
        case "css":
            extra = [k for k in options if k not in ("selector", "exclude") and options[k] not in ("html", None)]
            return word, str(options.get("exclude") or ""), extra
        case "element-by-id":
            return f'[id="{_quoted(word)}"]', "", []
        case "element-by-class":
            return f'[class~="{_quoted(word)}"]', "", []
        case "element-by-tag":
            return word, "", []
        case _:
            return "", "", []


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')

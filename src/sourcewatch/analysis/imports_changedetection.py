"""changedetection.io's own JSON: `url-watches.json` of a backup, or one `watch.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..domain.errors import ConfigError
from ..domain.mention import NewSource, NotRead
from .citing_text import LineNumbers

# What it remembers of its own work, and settings whose default says nothing.
_STATE = frozenset({
    "uuid", "url", "title", "tag", "tags", "include_filters", "subtractive_selectors", "css_filter",
    "time_between_check", "time_between_check_use_default", "fetch_backend", "method", "paused", "check_count",
    "consecutive_filter_failures", "content-type", "date_created", "fetch_time", "last_changed", "last_checked",
    "last_error", "last_notification_error", "last_viewed", "newest_history_key", "notification_alert_count",
    "page_title", "previous_md5", "previous_md5_before_filters", "remote_server_reply", "history",
    "has_ldjson_price_data", "browser_steps_last_error_step", "filter_failure_notification_send",
    "filter_text_added", "filter_text_removed", "filter_text_replaced", "follow_price_changes", "in_stock_only",
    "conditions_match_logic", "time_schedule_limit", "use_page_title_in_list", "extract_title_as_title",
    "viewed", "notification_format", "track_ldjson_price_data", "history_snapshot_max_length", "restock",
    "processor_config", "last_filter_config_hash",
})  # fmt: skip
_SECONDS = {"weeks": "w", "days": "d", "hours": "h", "minutes": "m", "seconds": "s"}
_BROWSERS = ("html_webdriver", "playwright", "browser")


def read(name: str, text: str, rows: Any) -> Iterator[NewSource | NotRead]:
    """Raises ConfigError where *rows* are no watches."""
    watches = rows.get("watching") if isinstance(rows, dict) else None
    if watches is None and isinstance(rows, dict) and "url" in rows:
        watches = {str(rows.get("uuid", "")): rows}
    if not isinstance(watches, dict):
        raise ConfigError([f'{name}:1: no watches of changedetection.io (there is no "watching" in it)'])
    numbers, names = LineNumbers(text), _tag_names(rows)
    for uuid, watch in watches.items():
        line = numbers.at(max(0, text.find(json.dumps(uuid))))
        if isinstance(watch, dict):
            yield from _watch(name, line, watch, names)
        else:
            yield NotRead(name, line, "a watch that is no object")


def _tag_names(rows: Mapping[str, Any]) -> dict[str, str]:
    settings = rows.get("settings")
    application = settings.get("application") if isinstance(settings, dict) else None
    tags = application.get("tags") if isinstance(application, dict) else None
    if not isinstance(tags, dict):
        return {}
    return {key: str(tag.get("title", key)) for key, tag in tags.items() if isinstance(tag, dict)}


def _watch(name: str, line: int, watch: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[NewSource | NotRead]:
    url, lost = str(watch.get("url") or "").strip(), []
    if url.startswith("source:"):
        url = url.removeprefix("source:")
        lost.append("`source:` (its HTML is not watched, its text is)")
    if watch.get("method") not in (None, "", "GET"):
        yield NotRead(name, line, f"a {str(watch['method'])[:10]} request is no address to cite; not added")
        return
    kept, others = _selectors(watch.get("include_filters") or watch.get("css_filter"))
    ignored, more = _selectors(watch.get("subtractive_selectors"))
    lost += [f"the filter {f!r} (only CSS selectors are)" for f in (*others, *more)]
    if watch.get("paused"):
        lost.append("that it is paused (a `pause` needs its end and a reason)")
    if isinstance(limit := watch.get("time_schedule_limit"), dict) and limit.get("enabled"):
        lost.append("`time_schedule_limit`")
    lost += [f"`{key}`" for key, value in watch.items() if value and key not in _STATE and not _default(key, value)]
    tags = watch.get("tags") or watch.get("tag") or []
    words = [names.get(str(t), str(t)) for t in ([tags] if isinstance(tags, str) else tags)]
    browser = str(watch.get("fetch_backend") or "").startswith(_BROWSERS)
    yield NewSource(
        url=url,
        title=str(watch.get("title") or ""),
        every="" if watch.get("time_between_check_use_default", True) else _every(watch.get("time_between_check")),
        select=", ".join(kept),
        ignore=tuple(ignored),
        render="always" if browser else "",
        notes=f"changedetection.io: {', '.join(words)}" if words else "",
        line=line,
    )
    yield from (NotRead(name, line, f"not carried over: {what}") for what in lost)


def _default(key: str, value: object) -> bool:
    return (key, value) in (("processor", "text_json_diff"), ("trim_text_whitespace", True))


def _selectors(given: object) -> tuple[list[str], list[str]]:
    """CSS selectors, and what is of another language (XPath, JSONPath, jq)."""
    listed = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    filters = [str(f).strip() for f in listed if str(f).strip()]
    foreign = [f for f in filters if f.startswith(("/", "xpath:", "xpath1:", "json:", "jq:", "jqraw:"))]
    return [f.removeprefix("css:") for f in filters if f not in foreign], foreign


def _every(given: object) -> str:
    """ "1d 6h" of {"days": 1, "hours": 6}."""
    if not isinstance(given, dict):
        return ""
    parts = [f"{given[key]}{unit}" for key, unit in _SECONDS.items() if str(given.get(key) or "").isdecimal()]
    return " ".join(p for p in parts if not p.startswith("0"))

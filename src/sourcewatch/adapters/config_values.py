"""The values that sources.toml is written in: durations, sizes, addresses, zones, schedules, as pydantic types."""

from __future__ import annotations

import ipaddress
import re
from datetime import date
from typing import Annotated
from zoneinfo import ZoneInfo

import ada_url
from pydantic import AfterValidator, BeforeValidator, Field

from . import cron

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_SIZES = {"B": 1, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)", re.I)
MOST_QUOTE_CHARS = 2_000
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_ID = r"^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$"
_DAYS = r"(?:mon|tue|wed|thu|fri|sat|sun)"
_CRON = re.compile(
    rf"^\s*[\d*,/-]+\s+[\d*,/-]+\s+[\d*,/-]+\s+[\d*,/-]+\s+(?:\*|{_DAYS}(?:-{_DAYS})?(?:,{_DAYS}(?:-{_DAYS})?)*)\s*$",
    re.I,
)


def seconds(value: object) -> float:
    """ "90s", "6h", "1h 30m" → seconds. Raises ValueError with a sentence for people."""
    if isinstance(value, str) and (found := _DURATION.findall(value)):
        rest = _DURATION.sub("", value).strip()
        units = [unit for _, unit in found]
        if not rest and len(set(units)) < len(units):
            raise ValueError(f'{value!r} names a unit twice; add them up, as in "2h"')
        total = sum(float(number) * _UNITS_S[unit] for number, unit in found)
        if not rest and 0 < total <= 3_660 * 86_400:
            return total
    raise ValueError(f'{value!r} is not a duration; write e.g. "90s", "6h", "7d"')


def _delay(value: object) -> float:
    return 0.0 if value in ("0", "0s") else seconds(value)


def _lasting(value: object) -> float | None:
    return None if value == "forever" else seconds(value)


def _clock_time(value: object) -> str:
    if isinstance(value, str) and re.fullmatch(r"(?:[01]\d|2[0-3]):[0-5]\d", value):
        return value
    raise ValueError(f'{value!r} is not a time of day; write e.g. "08:30"')


def _day(value: object) -> date:
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        day = date.min
    if not 2000 <= day.year < 2200:
        raise ValueError(f'{value!r} is not a day; write e.g. "2026-10-20"')
    return day


def _variable(value: object) -> str:
    if isinstance(value, str) and (m := re.fullmatch(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", value.strip())):
        return m[1]
    raise ValueError('is a secret: write "${NAME}" and put it into the environment')


def size_bytes(value: object) -> int:
    """ "20MB" → 20000000. Raises ValueError with a sentence for people."""
    if isinstance(value, str) and (m := _SIZE.fullmatch(value.strip())):
        total = float(m[1]) * _SIZES[m[2].upper()]
        if 0 < total <= 2_000_000_000:
            return int(total)
    raise ValueError(f'{value!r} is not a size; write e.g. "20MB"')


def web_address(value: object) -> str:
    """An absolute http(s) address as the WHATWG URL standard reads it; returned as written."""
    if not isinstance(value, str):
        raise ValueError("an address is text")
    text = value.strip()
    if not text:
        raise ValueError("an address may not be empty; leave the key out when it is not known")
    try:
        parsed = ada_url.URL(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an address") from None
    if parsed.protocol not in ("http:", "https:"):
        raise ValueError(f"{text!r} is not an http or https address")
    if parsed.username or parsed.password:
        raise ValueError("an address may not hold a user name or password; use headers with ${ENV}")
    return text


_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/(?!\.{1,2}(?:/|$))[\w.!*'()=-]+)*/?", re.ASCII)


def _storage(value: object) -> str:
    if not isinstance(value, str) or CONTROL.search(value) or ("://" in value and not _BUCKET.fullmatch(value)):
        raise ValueError("is a folder, or s3://bucket/prefix; credentials belong into the environment")
    return value


def _template(value: object) -> str:
    if not isinstance(value, str) or value.count("{url}") != 1:
        raise ValueError('is an address with {url} in it, such as "https://archive.example/timegate/{url}"')
    web_address(value.replace("{url}", "https://example.org/"))
    return value


def _network(value: object) -> str:
    try:
        return str(ipaddress.ip_network(str(value)))
    except ValueError:
        raise ValueError(f'{value!r} is not a network; write e.g. "127.0.0.0/28"') from None


def _zone(value: object) -> str:
    try:
        ZoneInfo(str(value))
    except (ValueError, OSError, KeyError):
        raise ValueError(f'{value!r} is not a time zone; write e.g. "Asia/Shanghai"') from None
    return str(value)


def _cron(value: object) -> str:
    if isinstance(value, str) and _CRON.match(value):
        try:
            fires = cron.ever_fires(value)
        except ValueError as error:
            raise ValueError(f"{value!r} is not a schedule: {error}") from None
        if not fires:
            raise ValueError(f"{value!r} is never due: no month that it names has such a day")
        return value.strip()
    raise ValueError(f'{value!r} is not a schedule; write five fields with day names, e.g. "0 9 * * mon"')


def _readable(text: str) -> str:
    """A name, a title, a sentence: line breaks may be in it, other control characters would be shown to people."""
    if found := _UNSEEN.search(text):
        raise ValueError(f"may not hold the control character {found.group()!r}")
    return text


Duration = Annotated[float, BeforeValidator(seconds, json_schema_input_type=str)]
Delay = Annotated[float, BeforeValidator(_delay, json_schema_input_type=str)]
Lasting = Annotated[float | None, BeforeValidator(_lasting, json_schema_input_type=str)]
ClockTime = Annotated[str, BeforeValidator(_clock_time, json_schema_input_type=str)]
Day = Annotated[date, BeforeValidator(_day, json_schema_input_type=str)]
Variable = Annotated[str, BeforeValidator(_variable, json_schema_input_type=str)]
Size = Annotated[int, BeforeValidator(size_bytes, json_schema_input_type=str)]
Address = Annotated[str, BeforeValidator(web_address, json_schema_input_type=str)]
Template = Annotated[str, BeforeValidator(_template, json_schema_input_type=str)]
Storage = Annotated[str, BeforeValidator(_storage, json_schema_input_type=str)]
Network = Annotated[str, BeforeValidator(_network, json_schema_input_type=str)]
Zone = Annotated[str, BeforeValidator(_zone, json_schema_input_type=str)]
Cron = Annotated[str, BeforeValidator(_cron, json_schema_input_type=str)]
Words = Annotated[str, Field(min_length=1), AfterValidator(_readable)]
Id = Annotated[str, Field(pattern=_ID, description="lower-case letters, digits and hyphens; names a folder")]


def sentence_to_find(text: str) -> str:
    """A quote that can be looked for: letters or digits in it, and no longer than a passage."""
    if not any(c.isalnum() for c in text):
        raise ValueError("has no letter and no digit to look for")
    if len(text) > MOST_QUOTE_CHARS:
        raise ValueError(f"is longer than {MOST_QUOTE_CHARS} characters; quote a sentence or two")
    return text


def one_line(text: str) -> str:
    if CONTROL.search(text):
        raise ValueError("may not hold line breaks or control characters")
    return text

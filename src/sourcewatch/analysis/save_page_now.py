"""What the Internet Archive's Save Page Now 2 says, as values. Pure.

Source: "Save Page Now 2 Public API Docs" (archive.org, V. Banos, 2025-10). Errors come with status 200, too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

MOST_WORDS = 300
HOUR_S, DAY_S = 3_600.0, 86_400.0

# What no second try changes; all else may be a bad hour of the page's host or of the archive.
FOR_GOOD = frozenset({"blocked-url", "invalid-url-syntax", "filesize-limit", "ftp-access-denied"})
WHOLE_RESTS_S = {  # limits of the account: nothing of the queue is sent meanwhile
    "user-session-limit": 300.0,
    "max-daily-bandwidth": DAY_S / 4,
    "max-daily-bandwidth-from-ip": DAY_S / 4,
    "no-browsers-available": 600.0,
    "celery": 600.0,
    "cannot-fetch": 600.0,
}
ONE_RESTS_S = {  # limits of one address or its host: only that one waits
    "too-many-daily-captures": DAY_S,
    "too-many-daily-captures-host": DAY_S,
    "max-daily-bandwidth-host": DAY_S,
    "too-many-requests": 600.0,
}


@dataclass(frozen=True, slots=True)
class Job:
    """It was taken on; *id* is asked about."""

    id: str


@dataclass(frozen=True, slots=True)
class Pending:
    """It is being done."""


@dataclass(frozen=True, slots=True)
class Saved:
    """When (UTC) and under which address it was captured, after redirects."""

    at: datetime
    original: str

    @property
    def stamp(self) -> str:
        return f"{self.at:%Y%m%d%H%M%S}"


@dataclass(frozen=True, slots=True)
class Refused:
    """It was not done. *for_good*: trying again is of no use."""

    why: str
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class Rest:
    """Not now: ask again after *seconds*. *whole*: that holds for everything, not for this address alone."""

    seconds: float
    why: str
    whole: bool = True


Heard = Job | Pending | Saved | Refused | Rest


def form(url: str, older_than_s: float) -> bytes:
    """The body of a request to capture. A capture that is younger than *older_than_s* will do."""
    fields = {"url": url, "skip_first_archive": "1", "if_not_archived_within": str(max(60, int(older_than_s)))}
    return urlencode(fields).encode()


def heard(status: int, text: str, retry_after_s: float | None = None) -> Heard:
    """What an answer says, of whichever of the two requests."""
    if status == 429:
        return Rest(retry_after_s or 600.0, "it is asked too much (429)")
    if status in (401, 403):
        return Rest(HOUR_S, f"it does not accept the token ({status})")
    if status == 503 and retry_after_s:
        return Rest(retry_after_s, "it wishes to be left alone (503)")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return Refused(f"it answered {status}, and not in JSON")
    word = str(said.get("status_ext") or "").removeprefix("error:")
    if said.get("status") == "error" or (word and not said.get("job_id")):
        return _error(word, str(said.get("message") or said.get("exception") or ""))
    if status >= 400:
        return Refused(f"it answered {status}")
    if said.get("status") == "success":
        return _saved(said)
    if said.get("status") == "pending":
        return Pending()
    job = said.get("job_id")
    if isinstance(job, str) and re.fullmatch(r"[\w-]{1,200}", job):
        return Job(job)
    return Refused(f"it answered without a job: {str(said.get('message') or '')[:MOST_WORDS]}")


def _error(word: str, message: str) -> Heard:
    why = ": ".join(filter(None, (word, " ".join(message.split())[:MOST_WORDS]))) or "an error without a word"
    if word in WHOLE_RESTS_S:
        return Rest(WHOLE_RESTS_S[word], why)
    if word in ONE_RESTS_S:
        return Rest(ONE_RESTS_S[word], why, whole=False)
    return Refused(why, word in FOR_GOOD)


def _saved(said: dict[str, object]) -> Heard:
    try:
        at = datetime.strptime(str(said.get("timestamp")), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return Refused("it says success, and not when")
    original = str(said.get("original_url") or "")
    if not original.startswith(("http://", "https://")):
        return Refused("it says success, and not of what")
    return Saved(at, original)

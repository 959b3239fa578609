"""Logs as lines for people or as JSON objects, each with the run and the source that it is about."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

from ..analysis.data_files import as_json
from ..analysis.excerpt import plain, plain_lines

OF = ("run", "source")


def set_up(*, as_json: bool) -> None:
    """Log what happens to stderr; what only developers need is left out."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if as_json else _Plain())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for chatty in ("apscheduler", "httpx", "httpcore", "uvicorn.access", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _at(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"at": _at(record), "level": record.levelname.lower(), "logger": record.name}
        line |= {key: getattr(record, key) for key in OF if hasattr(record, key)}
        line["message"] = record.getMessage()
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return as_json(line)


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        about = "".join(f" {key} {getattr(record, key)}" for key in OF if hasattr(record, key))
        line = f"{_at(record)} {record.levelname.lower()}{about}: {plain(record.getMessage())}"
        return f"{line}\n{plain_lines(self.formatException(record.exc_info))}" if record.exc_info else line

"""How a command that runs for long logs: a line per event on stderr, as text or as JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import TextIO

LEVELS = {-1: logging.WARNING, 0: logging.INFO}


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and what the event is about."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", None)
        line = {
            "time": _time(record, "milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **({name: value for name, value in fields.items() if value} if isinstance(fields, dict) else {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """``2026-11-29T14:03:12Z WARNING eu-1: no connection``, on one line each."""

    def format(self, record: logging.LogRecord) -> str:
        text = " ".join(record.getMessage().split("\n"))
        line = f"{_time(record, 'seconds')} {record.levelname} {text}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def log_to(stream: TextIO, *, verbosity: int, as_json: bool) -> None:
    """Log to this stream from now on. Other libraries are heard only when something is wrong."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if as_json else TextLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("kadm").setLevel(LEVELS.get(verbosity, logging.DEBUG))


def _time(record: logging.LogRecord, precision: str) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec=precision).replace("+00:00", "Z")

"""The log on standard error: lines for people, or one JSON object a line for programs (O-5).

Progress bars are the business of ``cli/console``. One law: one record is one line of its own kind, whatever a stranger
has put into it: the lines of a traceback are indented, or part of the object.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from enum import Enum
from typing import Final

import click

from weboid.cli.escape import plain

LOG_VARIABLE: Final = "WEBOID_LOG"

_log = logging.getLogger(__name__)
_PART: Final = "part"


class LogForm(Enum):
    """The forms of the log, by the words of ``--log``."""

    TEXT = "text"
    JSON = "json"


class TextLines(logging.Formatter):
    """``2026-11-24T03:00:00.000Z WARNING weboid.crawl.round: …``"""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and below it the traceback, indented."""
        lines = [f"{_moment(record)} {record.levelname} {record.name}: {plain(record.getMessage())}"]
        if record.exc_info:
            lines += [f"    {plain(line)}" for line in self.formatException(record.exc_info).splitlines()]
        return "\n".join(lines)


class JsonLines(logging.Formatter):
    """One object a line: `time` (ISO 8601, UTC), `level`, `part`, `logger`, `message`, and `exc` with a traceback."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part

    def format(self, record: logging.LogRecord) -> str:
        """ASCII alone: all else is escaped, so that no character can end the line or hide a part of it."""
        told = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            _PART: self._part,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["exc"] = self.formatException(record.exc_info)
        return json.dumps(told)


def open_log(form: LogForm, part: str, *, verbose: bool) -> None:
    """Sends the log of this process to standard error; `part` is the word of its command."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(part) if form is LogForm.JSON else TextLines())
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, handlers=[handler])
    logging.getLogger("weboid").setLevel(logging.DEBUG if verbose else logging.INFO)


def is_json() -> bool:
    """Whether the log of this process is made for programs."""
    return any(isinstance(handler.formatter, JsonLines) for handler in logging.getLogger().handlers)


def tell(text: str, level: int = logging.INFO) -> None:
    """Says something to whoever runs this process: a line on standard error, as it is, or an entry of the JSON log."""
    if is_json():
        _log.log(level, "%s", text)
    else:
        click.echo(plain(text), err=True)


def _moment(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1_000:03d}Z"

"""What the program says on standard error besides tables and bars: its log, in lines for people or as JSON.

One law: each line is made by a formatter here or by ``console.PartConsole``, which escape what comes from outside: it
cannot begin a line of its own, nor move the cursor (D-382).
"""

import json
import logging
import platform
import sys
import threading
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

import click

from weboid.cli.terminal.escape import plain
from weboid.errors import ConfigError

FORM_VARIABLE: Final = "WEBOID_LOG"
"""The form of the log, as --log gives it."""


class LogForm(StrEnum):
    """The form of the log."""

    TEXT = "text"
    """Lines for people."""
    JSON = "json"
    """One JSON object a line, and nothing else on standard error."""


@dataclass(slots=True)
class _Log:
    """The log of this process."""

    form: LogForm = LogForm.TEXT
    part: str = "weboid"


_LOG: Final = _Log()
_PARTS: Final = {"serve": "web"}
"""Commands whose parts have other names; ``open_part`` names the others."""
_SAID: Final = logging.getLogger("weboid.cli")
_INDENT: Final = "    "


def chosen_form(option: str | None, variable: str) -> LogForm:
    """The form that --log gives, else the variable, else lines for people; raises ConfigError."""
    try:
        return LogForm(option or variable or LogForm.TEXT)
    except ValueError:
        raise ConfigError(f"{FORM_VARIABLE} must be text or json, not {variable!r}") from None


def begin_log(form: LogForm, command: str = "", *, is_verbose: bool = False) -> None:
    """Begins the log of this process; again: in another form, or with more in it. `command`: what it does."""
    _LOG.form = form
    name_part(_PARTS.get(command, command) or "weboid")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form is LogForm.JSON else TextLines())
    root = logging.getLogger()
    if all(type(each) is logging.StreamHandler for each in root.handlers):  # others are a test's
        root.handlers = [handler]
    root.setLevel(logging.DEBUG if is_verbose else logging.WARNING)
    logging.getLogger("weboid").setLevel(logging.DEBUG if is_verbose else logging.INFO)
    if form is LogForm.JSON:
        _log_what_python_prints()


def name_part(part: str) -> None:
    """Names the part that this process is, for lines in JSON."""
    _LOG.part = part


def is_json() -> bool:
    """Whether standard error has JSON alone: no bars, no colours."""
    return _LOG.form is LogForm.JSON


def say(text: str, level: int = logging.INFO) -> None:
    """Says a line to whoever has started this command: as it is, or as a record of the log in JSON."""
    if is_json():
        _SAID.log(level, "%s", text)
    else:
        click.echo(plain(text), err=True)


def complain(text: object, level: int = logging.ERROR) -> None:
    """Says why this command cannot do, or not all of, what it was to do."""
    say(str(text) if is_json() else f"weboid: {text}", level)


class TextLines(logging.Formatter):
    """Lines for people: time in UTC, level, logger, message; what follows of a record (a trace) is indented."""

    def format(self, record: logging.LogRecord) -> str:
        lines = [f"{_time(record)} {record.levelname} {record.name}: {plain(record.getMessage())}"]
        if record.exc_info and (error := record.exc_info[1]):
            lines += (_INDENT + plain(line) for line in _trace(error))
        return "\n".join(lines)


class JsonLines(logging.Formatter):
    """One JSON object a line, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "part": _LOG.part,
            "host": platform.node(),
            "pid": record.process,
            "logger": record.name,
            "message": plain(record.getMessage()),
        }
        if record.exc_info and (error := record.exc_info[1]):
            said["error"] = {
                "type": type(error).__qualname__,
                "text": plain(error),
                "trace": "\n".join(map(plain, _trace(error))),
            }
        return json.dumps(said)


def _time(record: logging.LogRecord) -> str:
    """ISO 8601 in UTC, in milliseconds."""
    moment = datetime.fromtimestamp(record.created, UTC)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _trace(error: BaseException) -> list[str]:
    return "".join(traceback.format_exception(error)).rstrip("\n").split("\n")


def _log_what_python_prints() -> None:
    """Logs what Python itself would write to standard error: warnings, and exceptions that nobody catches."""
    logging.captureWarnings(True)
    sys.excepthook = lambda _kind, error, _trace: _SAID.critical("ended by an error of its own", exc_info=error)
    threading.excepthook = lambda given: _SAID.error("a thread ended by an error", exc_info=given.exc_value)
    sys.unraisablehook = lambda given: _SAID.error(
        "%s", given.err_msg or "an error that nobody can catch", exc_info=given.exc_value
    )

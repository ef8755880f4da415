"""Standard error besides tables and bars: the log, in lines for people or as JSON, and messages of commands.

Each line is made by a formatter here or by ``console.ProcessConsole``, which escape text from outside: it cannot begin
a line of its own, nor move the cursor (D-382).
"""

import json
import logging
import platform
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any, Final

import click

from weboid.cli.terminal.escape import plain
from weboid.errors import ConfigError

FORM_VARIABLE: Final = "WEBOID_LOG"
"""The form of the log, as --log gives it."""
FORMS: Final = ("text", "json")
"""Lines for people; or one JSON object a line, and nothing else on standard error."""
_LOG: Final = SimpleNamespace(form="text", process="weboid")
"""The log of this process."""
_NAMES: Final = {"serve": "web"}
"""Commands whose processes have other names; ``run_process`` names the others."""
_MESSAGES: Final = logging.getLogger("weboid.cli")


def begin_log(form: str, command: str = "", *, is_verbose: bool = False) -> None:
    """Begins the log of this process, which does a `command`; again: in another form, or with more in it.

    Raises ConfigError for an unknown form, which only the variable can give: click refuses one of the option.
    """
    if form not in FORMS:
        raise ConfigError(f"{FORM_VARIABLE} must be text or json, not {form!r}")
    _LOG.form = form
    name_process(_NAMES.get(command, command) or "weboid")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if is_json() else TextLines())
    root = logging.getLogger()
    if all(type(each) is logging.StreamHandler for each in root.handlers):  # others are a test's
        root.handlers = [handler]
    root.setLevel(logging.DEBUG if is_verbose else logging.WARNING)
    logging.getLogger("weboid").setLevel(logging.DEBUG if is_verbose else logging.INFO)
    if is_json():
        _log_output_of_python()


def name_process(name: str) -> None:
    """Names this process, for lines in JSON."""
    _LOG.process = name


def is_json() -> bool:
    """True if standard error has JSON alone: no bars, no colours."""
    return bool(_LOG.form == "json")


def print_message(text: str, level: int = logging.INFO) -> None:
    """Prints a line on standard error: as it is, or as a record of the log in JSON."""
    if is_json():
        _MESSAGES.log(level, "%s", text)
    else:
        click.echo(plain(text), err=True)


def print_error(text: object, level: int = logging.ERROR) -> None:
    """Prints why this command cannot do its work, or not all of it."""
    print_message(str(text) if is_json() else f"weboid: {text}", level)


class TextLines(logging.Formatter):
    """Lines for people: time in UTC, level, logger, message; what follows of a record (a trace) is indented."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        line = f"{self.formatTime(record)} {record.levelname} {record.name}: {plain(record.getMessage())}"
        return "\n    ".join([line, *self.trace(record)])

    def trace(self, record: logging.LogRecord) -> list[str]:
        """The lines of the trace of a record, if it has one."""
        if not record.exc_info or not record.exc_info[1]:
            return []
        return [plain(line) for line in self.formatException(record.exc_info).split("\n")]


class JsonLines(TextLines):
    """One JSON object a line, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "part": _LOG.process,
            "host": platform.node(),
            "pid": record.process,
            "logger": record.name,
            "message": plain(record.getMessage()),
        }
        if record.exc_info and (error := record.exc_info[1]):
            trace = "\n".join(self.trace(record))
            line["error"] = {"type": type(error).__qualname__, "text": plain(error), "trace": trace}
        return json.dumps(line)


def _log_output_of_python() -> None:
    """Logs warnings, and exceptions that are caught nowhere, which Python itself would print."""
    logging.captureWarnings(True)
    sys.excepthook = lambda _kind, error, _trace: _MESSAGES.critical("ended by an error of its own", exc_info=error)
    threading.excepthook = lambda given: _MESSAGES.error("a thread ended by an error", exc_info=given.exc_value)
    sys.unraisablehook = lambda given: _MESSAGES.error(
        "%s", given.err_msg or "an error that nobody can catch", exc_info=given.exc_value
    )

"""The formats for programs: a payload as JSON or XML (W-8), or as JavaScript that is run (W-1)."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from weboid.mechanism.slices import Steps, at_once
from weboid.web.formats import json, xml
from weboid.web.request.accept import Format
from weboid.web.request.problem import Problem

SCRIPT_TYPE: Final = "text/javascript"


class PayloadFormat(NamedTuple):
    """Writes payloads: `text` at once, `steps` in steps, as bytes; both the same."""

    content_type: str
    text: Callable[[dict[str, Any]], bytes]
    steps: Callable[[dict[str, Any]], Steps[bytes]]


def payload_format(requested: Format) -> PayloadFormat:
    """The writer of a format; raises Problem for a format that has no payloads."""
    match requested:
        case Format.JSON:
            return PayloadFormat(json.CONTENT_TYPE, json.bytes_of, json.bytes_steps)
        case Format.XML:
            return PayloadFormat(xml.CONTENT_TYPE, lambda payload: at_once(xml.bytes_steps(payload)), xml.bytes_steps)
        case Format.HTML | Format.JS | Format.CSV:
            raise Problem(400, "format", f"{Format.JSON}, {Format.XML}")


def script_steps(payload: dict[str, Any], callback: str) -> Steps[bytes]:
    """One call of `callback`, which has been checked to be a dotted identifier, with the payload, in steps.

    It begins with an empty comment, so that no program takes its first bytes for another format.
    """
    text = yield from json.bytes_steps(payload)
    return b"/**/%b(%b);\n" % (callback.encode("ascii"), text)


def problem_script(payload: dict[str, Any]) -> bytes:
    """An error, as a statement that calls nothing when it is run."""
    return b"/**/void %b;\n" % json.bytes_of(payload)

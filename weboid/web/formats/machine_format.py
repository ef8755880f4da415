"""Payloads for programs, in the format that a request wants (W-8)."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from weboid.mechanism.slices import Steps
from weboid.web.formats import json, xml
from weboid.web.request.accept import Format
from weboid.web.request.problem import Problem


class PayloadFormat(NamedTuple):
    """Writes payloads: `text` at once, `steps` in steps, as bytes; both the same."""

    content_type: str
    text: Callable[[dict[str, Any]], str | bytes]
    steps: Callable[[dict[str, Any]], Steps[bytes]]


_JSON: Final = PayloadFormat(json.CONTENT_TYPE, json.text_of, json.bytes_steps)
_XML: Final = PayloadFormat(xml.CONTENT_TYPE, xml.bytes_of, xml.bytes_steps)


def payload_format(wanted: Format) -> PayloadFormat:
    """The writer of a format; raises Problem for a format that has no payloads."""
    match wanted:
        case Format.JSON:
            return _JSON
        case Format.XML:
            return _XML
        case Format.HTML | Format.JS:
            raise Problem(400, "format", f"{Format.JSON}, {Format.XML}")

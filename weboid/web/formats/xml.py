"""XML of the same payload: elements for pages, links and entries, attributes for single values (W-8).

One law: it is well-formed whatever the values are (`test_xml_is_well_formed_whatever_comes`); characters that XML does
not allow become U+FFFD.
"""

import re
from typing import Any, Final

from lxml import etree

from weboid.mechanism.slices import Steps, at_once

CONTENT_TYPE: Final = "application/xml"
_DEPTH: Final = 2

_IMPOSSIBLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ITEMS: Final = {
    "pages": "page",
    "links": "link",
    "history": "entry",
    "given": "given",
    "missing": "missing",
    "titles": "title",
    "urls": "url",
    "changes": "change",
    "verdicts": "verdict",
    "to": "to",
    "alarms": "alarm",
    "streams": "stream",
    "wikis": "wiki",
    "spam_lists": "list",
    "lines": "line",
    "accepted": "accepted",
    "archives": "archive",
    "snapshots": "copy",
    "services": "archive",
    "parts": "part",
    "done": "done",
    "files": "file",
    "flags": "flag",
    "hints": "hint",
}
"""The name of the element for each item of a list."""


def bytes_of(payload: dict[str, Any]) -> bytes:
    """The payload as XML in UTF-8."""
    return etree.tostring(_element("weboid", payload), xml_declaration=True, encoding="utf-8")


def bytes_steps(payload: dict[str, Any]) -> Steps[bytes]:
    """`bytes_of` in steps."""
    root = yield from _element_steps("weboid", payload, _DEPTH)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")


def _element(name: str, value: Any) -> etree._Element:
    return at_once(_element_steps(name, value, 0))


def _element_steps(name: str, value: Any, depth: int) -> Steps[etree._Element]:
    """An element, in steps down to the items of lists in lists."""
    element = etree.Element(name)
    if not isinstance(value, dict):
        element.text = text_in_xml(value)
        return element
    for key, inner in value.items():
        match inner:
            case None:
                pass
            case dict():
                element.append(_element(key, inner))
            case list():
                for item in inner:
                    yield
                    if depth:
                        element.append((yield from _element_steps(_ITEMS[key], item, depth - 1)))
                    else:
                        element.append(_element(_ITEMS[key], item))
            case _:
                element.set(key, text_in_xml(inner))
    return element


def text_in_xml(value: str | int | bool) -> str:
    """The value as text that XML allows."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _IMPOSSIBLE.sub("\ufffd", str(value))

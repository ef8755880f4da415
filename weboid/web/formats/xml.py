"""XML of the same payload: elements for pages, links and entries, attributes for single values (W-8).

One law: it is well-formed whatever the values are; characters that XML does not allow become U+FFFD.
"""

import re
from typing import Any, Final

from lxml import etree

CONTENT_TYPE: Final = "application/xml"

_IMPOSSIBLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ITEMS: Final = {
    "pages": "page",
    "links": "link",
    "history": "entry",
    "given": "given",
    "missing": "missing",
    "changes": "change",
    "verdicts": "verdict",
    "alarms": "alarm",
    "streams": "stream",
    "wikis": "wiki",
    "spam_lists": "list",
    "lines": "line",
    "accepted": "accepted",
    "archives": "archive",
    "snapshots": "copy",
    "services": "archive",
    "files": "file",
}
"""The name of the element for each item of a list."""


def bytes_of(payload: dict[str, Any]) -> bytes:
    """The payload as XML in UTF-8."""
    return etree.tostring(_element("weboid", payload), xml_declaration=True, encoding="utf-8")


def _element(name: str, value: Any) -> etree._Element:
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
                element.extend([_element(_ITEMS[key], item) for item in inner])
            case _:
                element.set(key, text_in_xml(inner))
    return element


def text_in_xml(value: str | int | bool) -> str:
    """The value as text that XML allows."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _IMPOSSIBLE.sub("\ufffd", str(value))

"""XML of the same payload: elements for pages, links and entries, attributes for single values (W-8).

One law: it is well-formed whatever the values are (`test_xml_is_well_formed_whatever_comes`); characters that XML does
not allow become U+FFFD.
"""

import re
from io import BytesIO
from typing import Any, Final

from lxml import etree

from weboid.mechanism.slices import Steps

CONTENT_TYPE: Final = "application/xml"
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


def bytes_steps(payload: dict[str, Any]) -> Steps[bytes]:
    """The payload as XML in UTF-8, in steps: an item of lists in lists is one."""
    target = BytesIO()
    with etree.xmlfile(target, encoding="utf-8") as file:
        file.write_declaration()
        yield from _writing("weboid", payload, file, depth=2)
    return target.getvalue()


def _writing(name: str, value: Any, file: Any, depth: int) -> Steps[None]:
    inside = value.values() if depth and isinstance(value, dict) else ()
    if not any(isinstance(inner, dict) or (inner and isinstance(inner, list)) for inner in inside):
        file.write(_element(name, value))
        yield
        return
    single = {key: text_in_xml(inner) for key, inner in value.items() if not isinstance(inner, dict | list | None)}
    with file.element(name, single):
        for key, inner in value.items():
            if isinstance(inner, dict):
                file.write(_element(key, inner))
            elif isinstance(inner, list):
                for item in inner:
                    yield from _writing(_ITEMS[key], item, file, depth - 1)


def _element(name: str, value: Any) -> etree._Element:
    element = etree.Element(name)
    if not isinstance(value, dict):
        element.text = text_in_xml(value)
        return element
    for key, inner in value.items():
        if isinstance(inner, dict):
            element.append(_element(key, inner))
        elif isinstance(inner, list):
            element.extend([_element(_ITEMS[key], item) for item in inner])
        elif inner is not None:
            element.set(key, text_in_xml(inner))
    return element


def text_in_xml(value: str | int | bool) -> str:
    """The value as text that XML allows."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _IMPOSSIBLE.sub("\ufffd", str(value))

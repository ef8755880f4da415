"""Finds what fragments can name in a document: ids of elements, and names of ``a`` (WHATWG HTML 7.4.6.3)."""

import re
from typing import Final

from weboid.core.document.links import _ENDS, _TAG, _after, _attributes, _end_of_script

_IS_NAMED: Final = re.compile(r"\b(?:id|name)\b", re.IGNORECASE)


def anchors_of(markup: str) -> set[str]:
    """The ids and names in a document, references decoded; what a script or a comment writes is none."""
    found: set[str] = set()
    at = 0
    while (tag := _TAG.search(markup, at)) is not None:
        at = tag.end()
        if tag["name"] is None or tag["end"] or not tag["close"]:
            continue
        name = tag["name"].lower()
        if _IS_NAMED.search(tag["attributes"]):
            attributes = _attributes(tag["attributes"])
            found.add(attributes.get("id", ""))
            if name == "a":
                found.add(attributes.get("name", ""))
        if name == "script":
            at = _end_of_script(markup, at)
        elif name in _ENDS:
            at = _after(_ENDS[name], markup, at, is_kept=True)
        elif name == "plaintext":
            break
    return found - {""}

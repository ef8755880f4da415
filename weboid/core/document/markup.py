"""Names the elements of HTML that a reader of its text has to know: inline, hidden, without a text of the page."""

import re
from typing import Final

from weboid.core.document.folding import words_of

INLINE: Final = words_of(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
RAW: Final = words_of("script style title textarea noscript iframe xmp noembed noframes")
"""Elements whose content is not markup, nor text of the page."""
VOID: Final = words_of("area base br col embed frame hr img input link meta param source track wbr")
HIDING: Final = words_of("svg template select datalist canvas object")
_UNHIDABLE: Final = RAW | VOID | {"html", "body"}
"""Elements that are not left out when hidden: a hidden ``html`` or ``body`` is shown by a script later, and the others
have no content here.
"""
_NO_DISPLAY: Final = re.compile(r"display\s*+:\s*+none", re.IGNORECASE)
# Elements that a script fills in later: empty, with the id of a framework or with a name that says so.
_SHELL_IDS: Final = words_of("root app __next __nuxt ___gatsby q-app svelte main-app react-root app-root mount")
_SHELL_NAMES: Final = ("-root", "-app")


def collapsed(text: str) -> str:
    """A text as displayed: every run of white space one space, none at the ends."""
    return " ".join(text.split())


def hides(name: str, hidden: str | None, style: str | None) -> bool:
    """True if an element with these attributes hides its content."""
    if name in HIDING:
        return True
    if (hidden is None and style is None) or name in _UNHIDABLE:
        return False
    if hidden is not None and not hidden.lower().startswith("until"):
        return True
    return style is not None and _NO_DISPLAY.search(style) is not None


def awaits_script(name: str, identifier: str | None) -> bool:
    """True if an element, if it is empty, is one that a script fills in."""
    return (identifier is not None and identifier.lower() in _SHELL_IDS) or name.endswith(_SHELL_NAMES)

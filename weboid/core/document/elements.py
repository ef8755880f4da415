"""What elements of HTML do to a text: which are inline, empty, hidden, or filled in by scripts (C-11).

Shared by ``core/document/document``, which reads markup, and ``core/document/skim``, which shortens it.
"""

import re
from typing import Final

from weboid.core.document.folding import words_of

INLINE: Final = words_of(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
RAW: Final = "script|style|title|textarea|noscript|iframe|xmp|noembed|noframes"
"""Elements whose content is not markup, as a pattern."""
_HIDING: Final = frozenset({"svg", "template", "select", "datalist", "canvas", "object"})
_VOID: Final = words_of("area base br col embed frame hr img input link meta param source track wbr")
_UNHIDABLE: Final = frozenset({"html", "body", *RAW.split("|")})
"""Elements that are not left out when hidden: a hidden ``html`` or ``body`` is shown by a script later, and the others
have no content here.
"""
_HIDDEN: Final = re.compile(r"\shidden(?=[\s/=]|$)(?!=[\"']?until)|display\s*+:\s*+none", re.IGNORECASE)
# Elements that a script fills in later: empty, with the id of a framework or with a name that says so.
_SHELL_ID: Final = re.compile(
    r"\sid\s*+=\s*+[\"']?(?:root|app|__next|__nuxt|___gatsby|q-app|svelte|main-app|react-root|app-root|mount)(?![^\s\"'/])",
    re.IGNORECASE,
)
_SHELL_NAMES: Final = ("-root", "-app")


def hides(name: str, raw_attributes: str) -> bool:
    """Whether an element hides its content."""
    if name in _VOID or name in _UNHIDABLE:
        return False
    return name in _HIDING or _HIDDEN.search(raw_attributes) is not None


def awaits_script(name: str, raw_attributes: str) -> bool:
    """Whether an element, if it is empty, is one that a script fills in."""
    return name.endswith(_SHELL_NAMES) or ("id" in raw_attributes and _SHELL_ID.search(raw_attributes) is not None)

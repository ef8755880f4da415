"""Parses the markup of a document with libxml2, in bounded time and memory (C-13, D-20).

libxml2 cuts markup into tags and texts as HTML5 says, but builds a plain tree: unlike in a browser's, unclosed
formatting tags are not opened again in every paragraph, by which 64 KiB grow to gigabytes. Of 134 hostile documents the
worst took 34 ms and 6.4 MiB. What is nested deeper than 2,048 elements is left out.
"""

import re
from typing import Final, TypeAlias

from lxml import etree

from weboid.core.document.folding import words_of

Element: TypeAlias = etree._Element

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
# As in browsers, what follows them belongs to the page; libxml2 begins another tree there.
_ENDS: Final = re.compile(r"</(?:html|body)(?=[\s/>])[^>\n]*+>", re.IGNORECASE)
_NO_DISPLAY: Final = re.compile(r"display\s*+:\s*+none", re.IGNORECASE)
# Elements that a script fills in later: empty, with the id of a framework or with a name that says so.
_SHELL_IDS: Final = words_of("root app __next __nuxt ___gatsby q-app svelte main-app react-root app-root mount")
_SHELL_NAMES: Final = ("-root", "-app")


def tree_of(markup: str) -> Element | None:
    """The root of the tree; None if there is nothing in the markup."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, huge_tree=True
    )
    try:
        return etree.fromstring(_ENDS.sub(" ", markup).encode(), parser)
    except etree.XMLSyntaxError:  # an empty document
        return None


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

"""Pages that always change, of which no copy shows what was cited: front pages, live scores, the weather (A-1).

One law: a page that one address names for ever, an article or a file, is never called changing.
"""

from collections.abc import Iterable
from typing import Final

from weboid.core.archive.captures import Capture
from weboid.core.url.urls import Url

FEWEST_ROWS: Final = 20
"""Captures of one year of which is judged; fewer prove nothing."""
CHANGING_SHARE: Final = 0.6
"""More different contents than this share of the captures, and the page is always changing."""


def is_changing(captures: Iterable[Capture], url: Url) -> bool:
    """Whether the captures of a URL show that it is always changing: in some year nearly each has another content, and
    its address names a place, not a document."""
    raise NotImplementedError


def names_a_place(url: Url) -> bool:
    """Whether a URL is that of a site's front page or of a list that a query makes, so what is there may change."""
    raise NotImplementedError

"""Copies that only redirect: whether they lead, within the archive, to the page that was cited (A-1).

One law: what is accepted ends within three redirects, a day and one registrable domain, at a page that is neither the
site's front page nor a login.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from weboid.core.archive.captures import Capture
from weboid.core.archive.choice import Wish
from weboid.core.url.urls import Url

MOST_HOPS: Final = 3
WINDOW: Final = timedelta(hours=24)
"""So far from the redirect its target may have been captured."""


class StoredHop(NamedTuple):
    """One redirect of a copy: the archived URL, the moment of its copy, and where it leads, as the reply says it.

    `location` may be an address in the archive or the archived one, absolute or not.
    """

    url: Url
    taken: datetime
    location: str


class NextStep(NamedTuple):
    """What follows a redirect: the URL whose copy is to be played next, or the stable word why it ends here."""

    url: Url | None
    why: str = ""


def follow(hops: tuple[StoredHop, ...], wish: Wish) -> NextStep:
    """Where the last of the redirects leads, the first being that of the wanted URL. Never raises."""
    raise NotImplementedError


def lands(hops: tuple[StoredHop, ...], wish: Wish, *, url: Url, taken: datetime | None) -> str | None:
    """Why the copy of `url`, taken at `taken`, at which the redirects end is not what was cited; None if it may be.

    What it shows is to be judged by ``verified`` with that capture, too.
    """
    raise NotImplementedError


def redirect_copy(capture: Capture) -> bool:
    """Whether a row is that of a redirect that may be followed."""
    raise NotImplementedError

"""The kind of a page's link to a URL: an external link, or one by an interwiki prefix (L-1)."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple


class LinkKind(StrEnum):
    """The ways in which a page of a wiki links out of it."""

    EXTERNAL = "external"
    INTERWIKI = "interwiki"


class InterwikiLink(NamedTuple):
    """An interwiki link of a page: the `url` that it leads to, its prefix, and its title with spaces.

    `is_external`: the page has an external link to that URL as well. `is_local`: it leads to a wiki of the same farm.
    """

    url: str
    prefix: str
    title: str
    is_external: bool = False
    is_local: bool = False


class LinkOrigin(NamedTuple):
    """The origin of a URL in a page: the link's kind, and prefix and title where there is an interwiki link.

    A page that links to a URL both ways has the kind EXTERNAL, with prefix and title.
    """

    kind: LinkKind
    interwiki: tuple[str, str] | None = None


EXTERNAL = LinkOrigin(LinkKind.EXTERNAL)


def origin_of(given: Iterable[str], interwiki: Mapping[str, InterwikiLink]) -> LinkOrigin:
    """The origin of a link that a page has in these forms; `interwiki` are the page's interwiki links, by URL."""
    if not interwiki:
        return EXTERNAL
    links = [interwiki.get(form) for form in given]
    first = next((link for link in links if link is not None), None)
    if first is None:
        return EXTERNAL
    is_external = any(link is None or link.is_external for link in links)
    return LinkOrigin(LinkKind.EXTERNAL if is_external else LinkKind.INTERWIKI, (first.prefix, first.title))

"""Classifies links: the classes of L-3, tested in its order. Spam depends on the wiki's lists: see ``spam_lines``."""

from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from weboid.core.url.farms import Farm, owns
from weboid.core.url.hosts import InvalidReason, InvalidUrl
from weboid.core.url.urls import Url, parse, suspicious


class UrlClass(StrEnum):
    """The classes of L-3. Only WATCHED is contacted."""

    WATCHED = "watched"
    IGNORED = "ignored"
    EXAMPLE = "example"
    OWN_FARM = "own-farm"
    INVALID = "invalid"


class Classified(NamedTuple):
    """A link as given, with its class. `url` is None if it is ignored or invalid, `reason` is set if it is invalid.

    `note`: the path looks suspicious (L-5); never set without a `url` (L-8).
    """

    given: str
    kind: UrlClass
    url: Url | None = None
    reason: InvalidReason | None = None
    note: bool = False

    @property
    def why(self) -> str:
        """The reason in words for people who gave the URL, empty if there is none."""
        return self.reason or ("no http:// or https://" if self.kind is UrlClass.IGNORED else "")


_EXAMPLES: Final = (".example", ".test", ".invalid", ".localhost", ".example.com", ".example.net", ".example.org")


def is_example(host: str) -> bool:
    """True if RFC 2606 reserves a host in normal form for examples."""
    return f".{host}".endswith(_EXAMPLES)


def classify(url: str, farm: Farm | None) -> Classified:
    """The class of a link on a page of `farm` (None: no farm, so no domain is its own). Never raises."""
    try:
        form = parse(url)
    except InvalidUrl as invalid:
        if invalid.reason is InvalidReason.PROTOCOL:
            return Classified(url, UrlClass.IGNORED)
        return Classified(url, UrlClass.INVALID, reason=invalid.reason)
    return tuple.__new__(Classified, (url, class_of_host(form.host, farm), form, None, suspicious(form.path)))


@lru_cache(maxsize=65_536)
def class_of_host(host: str, farm: Farm | None) -> UrlClass:
    """The class of the valid URLs of a host in normal form."""
    if is_example(host):
        return UrlClass.EXAMPLE
    if farm is not None and owns(farm, host):
        return UrlClass.OWN_FARM
    return UrlClass.WATCHED

"""Reads Wikiwix's API (``apiresponse=1``); it names at most one copy of a URL."""

from weboid.core.archive.captures import Listing
from weboid.core.url.urls import Url


def wikiwix_of(body: bytes, url: Url) -> Listing:
    """What a reply with code 200 says."""
    raise NotImplementedError

"""Reads the Wayback Machine's availability API, single and in batches; it names at most one capture of a URL."""

from weboid.core.archive.captures import Listing
from weboid.core.url.urls import Url


def available_of(body: bytes, url: Url) -> Listing:
    """What a reply with code 200 says. Its nothing is UNKNOWN for ``empty``: its faults look the same."""
    raise NotImplementedError

"""Escaping text from outside for a terminal or a log line."""

from weboid.core.url.display import many, plain, unicode_host
from weboid.core.url.urls import Url

__all__ = ["host_line", "many", "plain"]


def host_line(url: Url | None) -> str:
    """A line of its own for the Unicode form of a host, which may run from right to left; empty if there is none."""
    shown = None if url is None else unicode_host(url.host)
    return "" if shown is None else f"\n({plain(shown)})"

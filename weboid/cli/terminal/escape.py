"""Escaping text from outside for a terminal or a log line."""

import re
from typing import Final

from weboid.core.url.display import unicode_host
from weboid.core.url.urls import Url

_HIDDEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def host_line(url: Url | None) -> str:
    """A line of its own for the Unicode form of a host, which may run from right to left; empty if there is none."""
    shown = None if url is None else unicode_host(url.host)
    return "" if shown is None else f"\n({plain(shown)})"


def plain(text: object) -> str:
    """The text with characters that are invisible or move the cursor replaced by their codes."""
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", str(text))

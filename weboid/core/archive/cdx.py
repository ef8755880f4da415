"""Reads CDX, the lists of captures, in all the ways services write them: JSON rows with a row of names (Wayback), text
(Wayback, Arquivo.pt), one JSON object a line and CDXJ (pywb), each perhaps with a key for the next page.
"""

from typing import NamedTuple

from weboid.core.archive.captures import Capture


class Rows(NamedTuple):
    """What a list of captures contains: the good rows, and how many were bad, or blocked by the service.

    `is_cut` = the end is missing. `resume_key` leads to the next page, None if there is none.
    """

    captures: tuple[Capture, ...]
    bad: int = 0
    blocked: int = 0
    is_cut: bool = False
    resume_key: str | None = None


def rows_of(body: bytes) -> Rows | None:
    """The rows of a CDX body in any of the dialects; None if it is not CDX."""
    raise NotImplementedError

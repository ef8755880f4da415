"""A page of a wiki as it was read, to be analysed and saved over just that revision."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadPage:
    """Number, title and revision of a page, and the text of that revision. A page that is not there has number 0."""

    page: int
    title: str
    revision: int
    text: str

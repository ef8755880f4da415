"""Reads link-format (RFC 6690, RFC 8288), the TimeMaps of Memento written in it (RFC 7089 §5), and Link headers."""

from typing import NamedTuple

from weboid.core.archive.captures import Capture


class TypedLink(NamedTuple):
    """One link: its target as written, the words of its `rel` in lower case, and its other attributes by lower-case
    name, the first of each name counting."""

    target: str
    relations: frozenset[str]
    attributes: dict[str, str]


class TimeMap(NamedTuple):
    """The captures of a TimeMap, with `original` None if it does not say of what; `more` are further TimeMaps."""

    captures: tuple[Capture, ...]
    original: str | None
    more: tuple[str, ...] = ()
    bad: int = 0
    is_cut: bool = False


def links_of(text: str) -> tuple[TypedLink, ...]:
    """The links of a link-format text or a Link header; what cannot be read is passed over."""
    raise NotImplementedError


def timemap_of(text: str, *, base: str, url: str) -> TimeMap | None:
    """The captures of a TimeMap; None if the text is no link-format. Relative targets are resolved at `base`; `url` is
    the original where the text names none."""
    raise NotImplementedError

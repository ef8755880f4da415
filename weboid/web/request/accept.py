"""The formats and codings of answers that a request wants: by ``format=``, else by headers (W-8; RFC 9110 §12.5)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_RANGE: Final = re.compile(r"\s*([a-z*]+/[a-z0-9.+*-]+)\s*(.*)", re.I)
_QUALITY: Final = re.compile(r";\s*q=([01](?:\.[0-9]{0,3})?)\s*(?:;|$)", re.I)
_CODING: Final = re.compile(r"\s*([a-z0-9*-]+)\s*(.*)", re.I)
_MOST_RANGES: Final = 30


class Format(StrEnum):
    """The formats of answers."""

    HTML = "html"
    JSON = "json"
    XML = "xml"
    JS = "js"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Formats:
    """The formats of an address, the default one first; `types` are the media types that Accept may choose from."""

    offered: tuple[Format, ...]
    types: tuple[tuple[str, Format], ...] = ()

    def choose(self, given: str, accept: str) -> Format:
        """The format by the parameter ``format`` or by the header Accept. Never fails, as errors need a format, too."""
        if given in self.offered:
            return Format(given)
        if not self.types:
            return self.offered[0]
        types = dict(self.types)
        return types[best_type(accept, tuple(types))]


def best_type(header: str, offered: Sequence[str]) -> str:
    """The offered type that the header prefers; the first one if it prefers none or accepts none."""
    accepted = _qualities(header, _RANGE)

    def quality(media_type: str) -> float:
        ranges = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
        return next((accepted[each] for each in ranges if each in accepted), 0.0)

    return max(offered, key=quality)


def first_coding(header: str, offered: Iterable[str]) -> str | None:
    """The first of these content codings that the header Accept-Encoding accepts; None if it accepts none of them."""
    accepted = _qualities(header, _CODING)
    return next((coding for coding in offered if accepted.get(coding, accepted.get("*", 0.0)) > 0), None)


def _qualities(header: str, item: re.Pattern[str]) -> dict[str, float]:
    """The quality of each item of the header; the first one of an item that is given again."""
    qualities: dict[str, float] = {}
    for part in header.split(",")[:_MOST_RANGES]:
        if match := item.fullmatch(part):
            given = _QUALITY.search(match[2])
            qualities.setdefault(match[1].lower(), float(given[1]) if given else 1.0)
    return qualities

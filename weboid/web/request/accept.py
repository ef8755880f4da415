"""Which of our formats an Accept header prefers (RFC 9110 §12.5.1)."""

import re
from collections.abc import Sequence
from typing import Final

_RANGE: Final = re.compile(r"\s*([a-z*]+)/([a-z0-9.+*-]+)\s*(.*)", re.I)
_QUALITY: Final = re.compile(r";\s*q=([01](?:\.[0-9]{0,3})?)\s*(?:;|$)", re.I)
_MOST_RANGES: Final = 30


def best_type(header: str, offered: Sequence[str]) -> str:
    """The offered type that the header wants most; the first one where it leaves the choice, or wants none."""
    wanted = dict(reversed([parsed for part in header.split(",")[:_MOST_RANGES] if (parsed := _range(part))]))

    def quality(kind: str) -> float:
        for known in (kind, f"{kind.partition('/')[0]}/*", "*/*"):
            if known in wanted:
                return wanted[known]
        return 0.0

    return max(offered, key=quality)


def _range(part: str) -> tuple[str, float] | None:
    match = _RANGE.fullmatch(part)
    if match is None:
        return None
    told = _QUALITY.search(match[3])
    return f"{match[1]}/{match[2]}".lower(), float(told[1]) if told else 1.0

"""What a robots.txt wants of us (RFC 9309, C-15): which URLs may be looked into, and how slowly.

Reading the rules is Protego's business. One law: nothing that stands in such a file can cost more than its length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from protego import Protego

PRODUCT: Final = "Weboid"
"""The name by which a robots.txt speaks of us."""
DELAY_LIMIT_S: Final = 86_400.0
_CONTROLS: Final = re.compile(r"[\0\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_AGENT: Final = re.compile(r"\s*user[- ]?agent\b\s*:?\s*(.*?)\s*(?:#.*)?", re.IGNORECASE)
_OTHERS: Final = "User-agent: another-robot"


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one origin. `delay_s`: the seconds it wants between two requests, None if it does not say."""

    delay_s: float | None = None
    _rules: Protego | None = field(default=None, repr=False)
    _otherwise: bool = True

    def allows(self, url: str) -> bool:
        """Whether a URL of this origin may be looked into."""
        return self._otherwise if self._rules is None else bool(self._rules.can_fetch(url, PRODUCT))


EVERYTHING: Final = Robots()
NOTHING: Final = Robots(_otherwise=False)


def robots_of(code: int | None, body: bytes) -> Robots:
    """The rules that an answer for ``/robots.txt`` stands for; `code` None = there was none (RFC 9309 §2.3.1).

    Missing means that all is allowed; whoever cannot answer allows nothing for now.
    """
    if code is None or code == 429 or 500 <= code <= 599:
        return NOTHING
    if not 200 <= code <= 299:
        return EVERYTHING
    rules = Protego.parse("\n".join(_lines(_text(body))))
    return Robots(_delay_s(rules), rules)


def _text(body: bytes) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", errors="replace")
    return body.decode("utf-8-sig", errors="replace")


def _lines(text: str) -> Iterator[str]:
    """The lines, all other robots made one: rules of a thousand names for a thousand paths would be a million."""
    before = ""
    for line in _CONTROLS.sub(" ", text).splitlines():
        given = line
        if found := _AGENT.fullmatch(line):
            name = found[1].lower()
            given = line if name == "*" or PRODUCT.lower() in name else _OTHERS
        if given != _OTHERS or before != _OTHERS:
            yield given
        if given.strip():
            before = given


def _delay_s(rules: Protego) -> float | None:
    """By ``Crawl-delay`` or, if that asks for less, ``Request-rate``; nobody can ask for more than a day."""
    asked = [float(delay)] if (delay := rules.crawl_delay(PRODUCT)) else []
    if rate := rules.request_rate(PRODUCT):
        asked.append(rate.seconds / rate.requests)
    return min(max(asked), DELAY_LIMIT_S) if asked else None

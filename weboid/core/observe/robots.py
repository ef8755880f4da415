"""Parses robots.txt (RFC 9309, C-15): which URLs we may examine, and how slowly. ``net/robots`` fetches it.

This module selects the rules for us and limits their number; the library Protego matches their patterns. Reading a file
takes time linear in its length (`test_no_file_costs_more_than_its_length`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Final

from protego import Protego

PRODUCT: Final = "Weboid"
"""The name by which a robots.txt addresses us."""
FILE_BYTES: Final = 512_000
"""Bytes of a file that are read at most; RFC 9309 (§2.5) requires at least as many."""
RULES: Final = 2_000
"""Rules for us that are kept at most; of 4,231 real files three have more."""
RULE_CHARS: Final = 131_072
"""Characters of all kept rules together."""
DELAY_LIMIT_S: Final = 86_400.0
SITEMAPS: Final = 1_000
"""Sitemaps that are taken from a file, at most."""

# Each relevant line, including the end of the line before: searched for like this, other text costs next to nothing.
# Sitemap and other lines must not end a group (RFC 9309 §2.2.4), so they are not matched at all.
_LINE: Final = re.compile(
    r"\n[ \t]*+(user[- ]?agent|allow|dis+al+ow|diasllow|disallaw|crawl[- ]delay|request[- ]rate)(?:[ \t]*+:|[ \t]++)"
    r"([^\n#]*+)",
    re.IGNORECASE | re.ASCII,
)
_SITEMAP: Final = re.compile(r"\n[ \t]*+sitemap[ \t]*+:[ \t]*+([^\n#\s][^\n]*+)", re.IGNORECASE | re.ASCII)
_FIELDS: Final = {"u": "agent", "a": "allow", "d": "disallow", "c": "delay", "r": "rate"}
_TOKEN: Final = re.compile(r"\*(?![^ ])|[a-z0-9_-]+", re.IGNORECASE | re.ASCII)
_CONTROLS: Final = re.compile(r"[\0-\x1f\x7f-\x9f\u2028\u2029]")
_DELAY: Final = re.compile(r"[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15}")
# With or without the hours of the day for which it is meant: we obey it at any hour.
_RATE: Final = re.compile(r"([0-9]{1,9}) ?/ ?([0-9]{1,9}) ?([smhd]?)(?: .*)?", re.IGNORECASE)
_UNIT_S: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_GROUP: Final = f"User-agent: {PRODUCT}\n"


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one origin. `delay_s`: the seconds that it demands between two requests, None if it names none.

    `is_reached` is False if there was no answer at all: then the origin itself has not forbidden anything.
    """

    delay_s: float | None = None
    is_reached: bool = True
    _rules: str | None = field(default="", repr=False)
    """Lines for Protego, None = nothing is allowed. As text they take a tenth of the memory of the parsed rules."""

    @property
    def chars(self) -> int:
        """The size of the kept rules in characters."""
        return len(self._rules or "")

    def allows(self, url: str) -> bool:
        """True if the document at a URL of this origin may be examined."""
        if not self._rules:
            return self._rules is not None
        return bool(_parsed(self._rules).can_fetch(url, PRODUCT))


EVERYTHING: Final = Robots()
NOTHING: Final = Robots(_rules=None)
UNREACHED: Final = Robots(is_reached=False, _rules=None)


def robots_of(code: int | None, body: bytes, *, is_cut: bool = False) -> Robots:
    """The rules by an answer for ``/robots.txt``; `code` None = there was no answer (RFC 9309 §2.3.1).

    A missing file allows everything; a server error or 429 allows nothing for now. `is_cut` says that the body is
    incomplete: its last line is then dropped, since half a line may mean the opposite of the whole.
    """
    if code is None:
        return UNREACHED
    if code == 429 or 500 <= code <= 599:
        return NOTHING
    if not 200 <= code <= 299:
        return EVERYTHING
    text = _text(body[:FILE_BYTES])
    if is_cut or len(body) > FILE_BYTES:
        text = text.rpartition("\n")[0]
    ours = _ours(text)
    return Robots(ours.delay_s, _rules=_GROUP + "".join(ours.lines) if ours.lines else "")


def named_delay_of(body: bytes) -> float | None:
    """The seconds between two requests that a file demands of us by name; None if it does not."""
    return _groups(_text(body[:FILE_BYTES]))[0].delay_s


def sitemaps_of(body: bytes) -> tuple[str, ...]:
    """The first sitemaps that a file names for all robots, as written (sitemaps.org)."""
    text = _text(body[:FILE_BYTES])
    return tuple(dict.fromkeys(found[1].strip() for found in islice(_SITEMAP.finditer(text), SITEMAPS)))


def _text(body: bytes) -> str:
    """The text with a line feed before each line, whatever line endings and encoding the file has."""
    codec = "utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return "\n" + body.decode(codec, errors="replace").replace("\r\n", "\n").replace("\r", "\n")


@dataclass(slots=True, eq=False)
class _Group:
    """The rules for one robot, from all groups that name it."""

    lines: list[str] = field(default_factory=list)
    chars: int = 0
    delay_s: float | None = None

    def take(self, name: str, value: str) -> None:
        """Adds one line. Of several delays the longest counts; an invalid number is ignored."""
        if name in ("delay", "rate"):
            pause_s = _delay_s(value) if name == "delay" else _pause_s(value)
            self.delay_s = max(pause_s, self.delay_s or 0.0) or None
        elif value and len(self.lines) < RULES and self.chars + len(value) <= RULE_CHARS:
            self.lines.append(f"{name}: {value}\n")
            self.chars += len(value)


def _ours(text: str) -> _Group:
    """The groups for us by name or, if there are none, those for all (RFC 9309 §2.2.1)."""
    named, all_robots, is_named = _groups(text)
    return named if is_named else all_robots


def _groups(text: str) -> tuple[_Group, _Group, bool]:
    """The groups for us by name and those for all robots, and whether there are any for us."""
    named, all_robots = _Group(), _Group()
    is_named = is_heading = False
    meant: list[_Group] = []
    for name, value in _lines(text):
        if name == "agent":
            if not is_heading:
                meant = []
            token = found[0].lower() if (found := _TOKEN.match(value)) else ""
            group = {PRODUCT.lower(): named, "*": all_robots}.get(token)
            if group and group not in meant:
                meant.append(group)
            is_named = is_named or group is named
        for group in () if name == "agent" else meant:
            group.take(name, value)
        is_heading = name == "agent"
    return named, all_robots, is_named


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in _LINE.finditer(text):
        value = line[2].strip()
        yield _FIELDS[line[1][0].lower()], value if value.isprintable() else _CONTROLS.sub(" ", value).strip()


def _delay_s(value: str) -> float:
    return min(float(value), DELAY_LIMIT_S) if _DELAY.fullmatch(value) else 0.0


def _pause_s(value: str) -> float:
    """The seconds between two requests at a rate like ``1/5`` or ``10/1m``."""
    found = _RATE.fullmatch(value)
    if not found or not (requests := int(found[1])):
        return 0.0
    return min(int(found[2]) * _UNIT_S[found[3].lower()] / requests, DELAY_LIMIT_S)


# Few, because a visit needs one origin at a time, and the parsed rules of a large file take a megabyte.
@lru_cache(maxsize=64)
def _parsed(rules: str) -> Protego:
    return Protego.parse(rules)

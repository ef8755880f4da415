"""What others do against dead links, replayed at their own pace and with their own reading of what they find.

What is known of them, and where it was filled in, stands in ``docs/worlds.md``.
One law: a peer sees nothing but its own looks; none has any knowledge of the world.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit

from benchmarks.verdicts.looks import BROWSER, Look, Looks, Visitor
from weboid.core.record.reasons import Reason
from weboid.demo.life import DAY_HOURS


@dataclass(frozen=True, slots=True)
class Telling:
    """A URL is called dead: on a day, after a row of failures that began on another, until a day (excluded)."""

    day: int
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Peer:
    """A rule with its own looks: `fails` is its reading of one look at a URL on a day at an hour.

    It looks every `every` days, after a failure every `again` days; dead after so many `strikes` in a row, at least
    `span` days after the first of them, until a look does not fail.
    """

    name: str
    fails: Callable[[Looks, str, int, int], bool]
    every: int
    again: int
    strikes: int
    span: int = 0

    def tellings(self, looks: Looks, url: str, since: int, days: int) -> Iterator[Telling]:
        """When it calls a URL dead that it knows from a day on."""
        chance = int.from_bytes(blake2b(f"{self.name} {url}".encode(), digest_size=8).digest(), "big")
        day = since + chance % self.every
        strikes, first, reported, number = 0, 0, -1, 0
        while day < days:
            number += 1
            if self.fails(looks, url, day, (chance // 7 + 5 * number) % DAY_HOURS):
                strikes, first = strikes + 1, first if strikes else day
                if reported < 0 and strikes >= self.strikes and day - first >= self.span:
                    reported = day
                day += self.again
            else:
                if reported >= 0:
                    yield Telling(reported, first, day)
                strikes, reported = 0, -1
                day += self.every
        if reported >= 0:
            yield Telling(reported, first, days)


_CURL: Final = Visitor(BROWSER, 30.0, verifies=False)
_CURL_WHOLE: Final = Visitor(BROWSER, 60.0, verifies=False)
_STRICT_CURL: Final = Visitor(BROWSER, 30.0)
_SCRIPT: Final = Visitor(answer_s=30.0)
_PATIENT: Final = Visitor()
_QUICK: Final = Visitor(answer_s=20.0, redirects=5)
_CLOSED: Final = frozenset({401, 402, 403, 407, 429, 451})


def _iabot(looks: Looks, url: str, day: int, hour: int) -> bool:
    head = looks.look(url, day, hour, _CURL, "HEAD")
    if head.fault is None and not head.fails:
        return _is_root_of(url, head) or _has_wrong_name(looks, url, day, hour)
    if head.fault is not None:
        return True
    whole = looks.look(url, day, hour, _CURL_WHOLE)
    return whole.fails or _is_root_of(url, whole)


def _is_root_of(url: str, look: Look) -> bool:
    end, begun = urlsplit(look.end), urlsplit(url)
    return look.end != url and end.hostname == begun.hostname and end.path in ("", "/") and begun.path != "/"


def _has_wrong_name(looks: Looks, url: str, day: int, hour: int) -> bool:
    """Its curl does not ask who signed a certificate, but still for whom."""
    if not url.startswith("https:"):
        return False
    return looks.look(url, day, hour, _STRICT_CURL, "HEAD").fault is Reason.CERTIFICATE_WRONG_HOST


def _script(looks: Looks, url: str, day: int, hour: int) -> bool:
    return looks.look(url, day, hour, _SCRIPT).code != 200


def _giftbot(looks: Looks, url: str, day: int, hour: int) -> bool:
    look = looks.look(url, day, hour, _PATIENT)
    return look.fails and look.code not in _CLOSED


def _one_shot(looks: Looks, url: str, day: int, hour: int) -> bool:
    look = looks.look(url, day, hour, _QUICK)
    return look.fails and look.code != 429


PEERS: Final = (
    Peer("IABot", _iabot, 7, 3, 3),
    Peer("German rule", _giftbot, 14, 14, 3),
    Peer("weblinkchecker", _script, 7, 7, 2, span=7),
    Peer("one shot", _one_shot, 7, 7, 1),
)

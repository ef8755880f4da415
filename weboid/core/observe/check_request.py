"""What a check is to do: a URL, and how to check it by what is known beforehand (C-1, C-6, C-11).

``checking/checker`` follows the request alone; what it finds out about the host is reported in the observation.
"""

from dataclasses import dataclass
from typing import Final

from weboid.core.document.likeness import Portrait
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome
from weboid.core.record.record import UrlRecord
from weboid.core.record.specials import Sights, Special

LOOK_DAYS: Final = 14
"""Once in so many days the document itself is examined, not only headers: nothing else shows a soft 404 (C-11)."""
_SAMPLE: Final = 16
"""Of one in so many URLs a portrait is kept."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """One check of a URL in normal form.

    `needs` are the specials to rely on. `looks`: the document itself is examined. `thorough`: all other ways are tried
    before a failure is reported. `sampled`: a portrait is wanted if there is a document; `earlier` is the stored one.
    `follows`: other URLs of its host have just answered.
    """

    url: str
    needs: frozenset[Special] = frozenset()
    looks: bool = False
    thorough: bool = False
    sampled: bool = False
    earlier: Portrait | None = None
    follows: bool = False


def is_sampled(url_key: int) -> bool:
    """Whether a URL belongs to the sample for which portraits are kept."""
    return url_key % _SAMPLE == 0


def looks(record: UrlRecord, url_key: int, day: int) -> bool:
    """Whether the document itself is examined: always if the last check was not plainly working, else now and then.

    Never at the first check.
    """
    if record.reason is None:
        return False
    return record.reason.outcome is not Outcome.WORKING or _is_turn(record, url_key, day)


def is_thorough(record: UrlRecord, url_key: int, day: int, dead_strikes: int) -> bool:
    """Whether other ways are tried, too: now and then, and always if one more failure may make the URL dead."""
    return _is_turn(record, url_key, day) or record.streak.strikes + 1 >= dead_strikes


def disproved(sights: Sights, question: CheckRequest, seen: Observation) -> frozenset[Special]:
    """Specials that were known but not relied on, and that the URL turned out not to need (C-6)."""
    if not sights or seen.outcome is not Outcome.WORKING:
        return frozenset()
    scheme = question.url.partition(":")[0]
    tried = {
        Special.NEEDS_GET: not question.looks,
        Special.NEEDS_HTTPS: scheme == "http",
        Special.NEEDS_HTTP: scheme == "https",
        Special.NEEDS_REFERRER: True,
    }
    return frozenset(kind for kind in sights.keys() - question.needs - seen.needs if tried.get(kind))


def _is_turn(record: UrlRecord, url_key: int, day: int) -> bool:
    """Whether the URL's day of the fortnight is after its newest check, up to `day`. Nothing is stored for it."""
    phase = url_key % LOOK_DAYS
    return record.checked is None or (day + phase) // LOOK_DAYS > (record.checked + phase) // LOOK_DAYS

"""What a check asks: a URL, and how it is to be asked by all that is known before (C-1, C-6, C-11).

One law: whoever asks goes by the question alone; what it finds out besides is said in the observation.
"""

from dataclasses import dataclass
from typing import Final

from weboid.core.document.likeness import Portrait
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome
from weboid.core.record.record import UrlRecord
from weboid.core.record.specials import Sights, Special

LOOK_DAYS: Final = 14
"""The page itself is looked at once in so many days, not only its headers: nothing else shows a soft 404 (C-11)."""
_SAMPLE: Final = 16
"""Of so many URLs one is known by its portrait."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """One check of a URL in normal form.

    `needs` are the specials to go by. `looks`: the page itself is wanted. `thorough`: every other way is tried before
    a failure is told. `sampled`: a portrait is wanted if there is a page; `earlier` is the one known so far.
    `follows`: others of its host have answered just before.
    """

    url: str
    needs: frozenset[Special] = frozenset()
    looks: bool = False
    thorough: bool = False
    sampled: bool = False
    earlier: Portrait | None = None
    follows: bool = False


def is_sampled(url_key: int) -> bool:
    """Whether a URL belongs to the sample of which portraits are kept."""
    return url_key % _SAMPLE == 0


def looks(record: UrlRecord, url_key: int, day: int) -> bool:
    """Whether the page itself is looked at: whatever did not just work before is suspicious, others have their turn."""
    if record.reason is None:
        return False
    return record.reason.outcome is not Outcome.WORKING or _is_turn(record, url_key, day)


def is_thorough(record: UrlRecord, url_key: int, day: int, dead_strikes: int) -> bool:
    """Whether other ways are tried, too: now and then, and always where one more failure may be the last."""
    return _is_turn(record, url_key, day) or record.streak.strikes + 1 >= dead_strikes


def disproved(sights: Sights, question: CheckRequest, seen: Observation) -> frozenset[Special]:
    """Specials that were known and not gone by, and that the URL turned out not to need (C-6)."""
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
    """Whether the URL's day of the fortnight lies between its newest check and `day`: nothing is stored for it."""
    phase = url_key % LOOK_DAYS
    return record.checked is None or (day + phase) // LOOK_DAYS > (record.checked + phase) // LOOK_DAYS

"""Records by chance, for tests that compare how SQL and Python judge.

One law: whatever the columns can hold may come, whether or not the judge would ever write it.
"""

import random

from msgspec.structs import replace

from weboid.core.record.history import Entry
from weboid.core.record.reasons import Reason
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.record.status import Status
from weboid.core.record.streak import NO_EVIDENCE, WIDEST, WIDEST_MISSING, Evidence, Streak

WHOLE = Evidence(WIDEST, WIDEST_MISSING + 1)
"""All evidence that there can be."""


def random_record(chance: random.Random) -> UrlRecord:
    """Any record that the columns can hold, whether or not the judge would ever write it."""
    entry = Entry(chance.choice(list(Status)), chance.randrange(100), 100 + chance.randrange(50))
    since = chance.choice([None, chance.randrange(200)])
    until = None if since is None else since + chance.choice([0, 13, 14, 40])
    reason = chance.choice(
        [None, *[Reason.MAINTENANCE] * 4, *(reason for reason in Reason if reason is not Reason.REPORTED)]
    )
    # Without a first day there is no strike that could be evidence.
    evidence = NO_EVIDENCE if since is None else _evidence(chance)
    return UrlRecord(
        (entry,),
        Streak(chance.choice([0, 2, 3, 9]), since, until, evidence),
        reason,
        state_since=chance.choice([None, 7]),
    )


def random_host_record(chance: random.Random) -> HostRecord:
    """The same for a host; no contact with a host says that a page is missing."""
    record = random_record(chance)
    return HostRecord(replace(record.streak, evidence=record.streak.evidence._replace(missing=0)), record.reason)


def _evidence(chance: random.Random) -> Evidence:
    """Any evidence, often one that only just is a proof or just not."""
    return Evidence(
        width=chance.choice([0, 34, 35, 41, 42, 69, 70, 83, 84, WIDEST, chance.randrange(WIDEST)]),
        missing=chance.choice([0, 1, 14, 15, 21, 28, 29, WIDEST_MISSING + 1, chance.randrange(WIDEST_MISSING)]),
        longer=chance.random() < 0.5,
        relapse=chance.random() < 0.3,
        held=chance.random() < 0.3,
    )

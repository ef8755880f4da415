"""The order in which a visit asks the due URLs of a host, and which of them it asks if it cannot ask all (C-3)."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from weboid.core.observe.failing_codes import may_refuse
from weboid.core.record.moment import shuffled
from weboid.core.record.status import HOST_FAILURES
from weboid.core.verdict.newcomers import jump_of
from weboid.store.db.rows import StoredUrl

_WITNESSES: Final = 3
"""URLs that show whether the host is down: as many as must fail before it counts as failing (C-5)."""


def portioned(urls: Sequence[StoredUrl], day: int, most: int) -> list[StoredUrl]:
    """The URLs of a host in the order in which they are asked, of which only the first `most` will be.

    These are `_WITNESSES` and others by chance: what comes last by the order would never be asked where others are
    always due, or would be asked without any other (D-497).
    """
    ordered = sorted(urls, key=partial(_order, day))
    if len(ordered) <= most:
        return ordered
    others = sorted(ordered[_WITNESSES:], key=lambda url: shuffled(url.key.url_key, day))
    end = max(most - _WITNESSES, 0)
    return [*sorted([*ordered[:_WITNESSES], *others[:end]], key=partial(_order, day)), *others[end:]]


def _order(day: int, url: StoredUrl) -> tuple[bool, int, int]:
    """The order of a host's URLs: those that answered last first, then by the day of their own newest contact.

    Those where another document was found, or whose code may be a refusal, come later: before they say anything of the
    host, all others have been looked at. Among equals the order is another one each day (D-21).
    """
    history, chance = url.record.history, shuffled(url.key.url_key, day)
    if not history or history[0].status not in HOST_FAILURES:
        return False, int(jump_of(url.portrait) is not None or may_refuse(url.record.http)), chance
    # A check without contact adds no strike; whatever answered before is an older entry of the history.
    answered = history[1].last if len(history) > 1 else 0
    return True, max(answered, url.record.streak.until or 0), chance

"""Limits (H-2) and blocks of people, as problems that pages show; and the entries in the audit log.

One law: `begin` comes first in the transaction that does something, and what is done is noted in the same transaction
(``store/people``).
"""

from typing import assert_never

from weboid.store.db.pool import Connection
from weboid.store.people.audit import NOBODY, Action, Refusal, find_refusal, record_audit
from weboid.web.identity.session import Person
from weboid.web.request.problem import Problem

_MINUTE_S = 60
_DAY_S = 3600


async def begin(conn: Connection, action: Action, person: Person | None, *, daily: int) -> None:
    """Raises Problem if this person (None = nobody has signed in) may not do this now: one a minute, `daily` over all.

    It locks: nobody else does anything until the transaction ends, so that the limits are exact.
    """
    match await find_refusal(conn, action, NOBODY if person is None else person.subject, daily=daily):
        case None:
            return
        case Refusal.BLOCKED:
            raise Problem(403, "blocked")
        case Refusal.MINUTE:
            raise Problem(429, "one-a-minute", retry_s=_MINUTE_S)
        case Refusal.DAY:
            raise Problem(429, "day-full", retry_s=_DAY_S)
        case never:
            assert_never(never)


async def note(conn: Connection, action: Action, person: Person | None, about: str, detail: str = "") -> int:
    """Notes what was done about a URL, a domain or a person in the audit log; returns the number of the entry."""
    subject, name = (NOBODY, "") if person is None else (person.subject, person.name)
    return await record_audit(conn, action, subject, name, about, detail)

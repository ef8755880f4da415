"""Reports reverts that show a probable false positive to the service, and reads what has become of that (B-6).

Each is reported once. A crash between reporting and noting only reports it again, which changes nothing there.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

from weboid_scripts.client import ServiceRefused, WeboidClient
from weboid_scripts.journal.journal import Edit, Journal, NotedRevert

RELEASED: Final = "released"
REFUSED: Final = "refused"
_ASKED_AGAIN: Final = timedelta(days=1)
"""After this long it is asked what has become of a report that was open."""
_NOT_ADMITTED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_FOR_NOW: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


@dataclass(slots=True)
class Reported:
    """The result of reports: the numbers of new and of released ones, and those that the service does not accept."""

    new: int = 0
    released: int = 0
    refused: list[tuple[Edit, NotedRevert, str]] = field(default_factory=list)


def report_reverts(journal: Journal, client: WeboidClient, wiki: str, clock: Callable[[], datetime]) -> Reported:
    """Reports all that are to be reported on this wiki; what the service has released may be done again.

    Raises WeboidError if the service does not answer or does not know the token; what was reported before is noted.
    """
    done = Reported()
    for edit, revert in journal.reverts_to_report(wiki, clock() - _ASKED_AGAIN):
        assert edit.revision is not None, "only saved edits are examined"
        try:
            statement = client.report_revert(
                wiki,
                page=edit.page,
                revision=edit.revision,
                url=revert.normal,
                reverter=revert.reverter,
                why=revert.why,
            )
        except ServiceRefused as error:
            if error.status in _NOT_ADMITTED | _FOR_NOW or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise
            journal.note_sent(edit.number, revert.normal, clock(), REFUSED)
            done.refused.append((edit, revert, str(error)))
            continue
        _note(journal, edit, revert, statement, clock(), done)
    return done


def _note(
    journal: Journal, edit: Edit, revert: NotedRevert, statement: dict[str, Any], now: datetime, done: Reported
) -> None:
    state = str(statement.get("state") or "open")
    done.new += revert.sent is None
    with journal.file.writing():
        journal.note_sent(edit.number, revert.normal, now, state)
        if state == RELEASED:
            journal.release(edit.number, revert.normal, now)
            done.released += 1

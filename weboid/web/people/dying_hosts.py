"""Hosts on ``/admin`` on which much hangs and that are about to be called dead: confirming, holding, releasing (C-5).

A decision is recorded in the audit log with the host. Without one the rule goes on (``store/upkeep/big_death``).
"""

from typing import Any, Final

from weboid.store.db.pool import Connection
from weboid.store.people.audit import Action
from weboid.store.upkeep.alarm import Alarm, AlarmKind, list_alarms
from weboid.store.upkeep.big_death import WORDS, record_word
from weboid.web.identity.session import Person
from weboid.web.people.forms import record_action, require_allowed
from weboid.web.request.parameters import MOST_SHOWN, Parameters
from weboid.web.request.problem import Problem
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import visible

JUDGE: Final = "judge-host"
"""The purpose of the form."""
DECISIONS: Final[dict[str, tuple[AlarmKind | None, Action]]] = {
    "confirm": (AlarmKind.HOST_CONFIRMED, Action.CONFIRM_DEATH),
    "hold": (AlarmKind.HOST_HELD, Action.HOLD_DEATH),
    "release": (None, Action.RELEASE_DEATH),
}


async def find_dying(conn: Connection) -> list[Alarm]:
    """The alarms about such hosts."""
    return [alarm for alarm in await list_alarms(conn) if alarm.kind in WORDS]


async def judge_host(conn: Connection, given: Parameters, person: Person, day: int) -> None:
    """Carries out the decision of the form and records it; raises Problem if nothing changes."""
    if (decision := DECISIONS.get(given.get("word", ""))) is None:
        raise Problem(400, "request")
    host, (word, action) = given.get("host", ""), decision
    await require_allowed(conn, action, person, daily=0)
    if not await record_word(conn, host, word, day):
        raise Problem(409, "not-dying", host[:MOST_SHOWN])
    await record_action(conn, action, person, host)


def dying_view(alarm: Alarm, say: Messages) -> dict[str, Any]:
    """A host of the list for the template, with what may be decided of it."""
    is_open, is_held = (alarm.kind == kind for kind in (AlarmKind.HOST_DYING, AlarmKind.HOST_HELD))
    return {
        "host": alarm.subject,
        "words": say.html(f"weboid-status-alarm-{alarm.kind}", visible(alarm.subject)),
        "choices": [*(["confirm"] if is_open or is_held else []), "hold" if is_open else "release"],
    }

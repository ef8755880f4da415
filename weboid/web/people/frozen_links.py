"""Reverted repairs on ``/admin``: those that nobody has reviewed, and those whose links are kept frozen (B-6).

A decision is recorded in the audit log with the URL; a link that was kept frozen can be released.
"""

import re
from typing import Any, Final

from markupsafe import Markup

from weboid.core.url.keys import UrlKey, key_of
from weboid.core.verdict.report_json import RevertReason
from weboid.store.db.pool import Connection
from weboid.store.people.audit import Action
from weboid.store.people.revert import NEWEST, ListedRevert, RevertedPage, RevertState, list_reverts, record_reviewed
from weboid.web.formats import html
from weboid.web.identity.session import Person
from weboid.web.people.forms import address_in_language, record_action, require_allowed
from weboid.web.request.cursor import Cursor
from weboid.web.request.parameters import Parameters, url_of
from weboid.web.request.problem import Problem
from weboid.web.words import phrases
from weboid.web.words.messages import Messages

REVIEW: Final = "revert"
"""The purpose of the form."""
PART: Final = "reverts"
"""The parameter with the beginning of a page of the list."""

_LISTED: Final = 50
_AFTER: Final = Cursor(range(RevertState.RELEASED), range(1, 10**18))
"""A state, and a revert in it."""
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")
_DECISIONS: Final = {"kept": (RevertState.KEPT, Action.KEEP_FROZEN), "released": (RevertState.RELEASED, Action.RELEASE)}
_API: Final = "api.php"


async def find_reverts(conn: Connection, given: Parameters) -> tuple[list[ListedRevert], str | None]:
    """Some reverts of the given link, or of all links, newest first, those to be reviewed before those that were; and
    the cursor of the next ones, None at the end. Raises Problem.
    """
    key = key_of(url_of(given)) if "url" in given else None
    after = _AFTER.parts_in(given, PART)
    first, before = (RevertState.OPEN, NEWEST) if after is None else after.numbers
    found: list[ListedRevert] = []
    for state in (RevertState.OPEN, RevertState.KEPT):
        if state >= first:
            beginning, room = before if state == first else NEWEST, _LISTED + 1 - len(found)
            found += await list_reverts(conn, state, key=key, before=beginning, limit=room)
    if len(found) <= _LISTED:
        return found, None
    last = found[_LISTED - 1].revert
    return found[:_LISTED], _AFTER.text_of(last.state.value, last.revert)


async def review_revert(conn: Connection, given: Parameters, person: Person) -> UrlKey:
    """Carries out the decision of the form, and records it; returns the link. Raises Problem if nothing changes."""
    number, decision = given.get("revert", ""), _DECISIONS.get(given.get("state", ""))
    if decision is None or not _NUMBER.fullmatch(number):
        raise Problem(400, "request")
    state, action = decision
    await require_allowed(conn, action, person, daily=0)
    if (reviewed := await record_reviewed(conn, int(number), state, person.name)) is None:
        raise Problem(409, "not-frozen")
    stated = reviewed.revert.stated
    detail = f"{reviewed.page.wiki} {stated.page} {stated.revision}"
    await record_action(conn, action, person, str(reviewed.url), detail)
    return stated.key


def revert_view(listed: ListedRevert, given: Parameters, day: int, say: Messages) -> dict[str, Any]:
    """A revert for the template, with the addresses of our page about its link and of the bot's edit, if known."""
    revert, url, page = listed
    when = html.time_html(revert.day, day, say)
    reverter, client = (_name(text) for text in (revert.stated.reverter, revert.stated.client))
    if revert.stated.subject:
        words = say.html("weboid-admin-repair-reported", reverter, when)
    elif revert.state is RevertState.OPEN:
        words = say.html("weboid-admin-revert-open", reverter, when, client)
    else:
        words = say.html("weboid-admin-revert-kept", reverter, when, client, _name(revert.reviewer or ""))
    return {
        "revert": revert.revert,
        "url": str(url),
        "about": address_in_language("url", given, url=str(url)),
        "diff": _diff(page, revert.stated.revision),
        "page": phrases.visible(page.title) if page.title else str(revert.stated.page),
        "wiki": page.wiki,
        "words": words,
        "why": say.html(_why_key(revert.stated.why)),
        "is_open": revert.state is RevertState.OPEN,
    }


def _why_key(why: str) -> str:
    """The message for a reason; a word of another version of the program is as good as none."""
    known = why if why in set(RevertReason) else RevertReason.UNKNOWN.value
    return f"weboid-revert-why-{known}"


def _name(text: str) -> Markup:
    return Markup("<bdi>{}</bdi>").format(phrases.visible(text))


def _diff(page: RevertedPage, revision: int) -> str | None:
    """The address of the wiki's own page about the edit: ``index.php`` is next to ``api.php``."""
    if page.api is None or not page.api.endswith(_API):
        return None
    return phrases.href(f"{page.api.removesuffix(_API)}index.php?diff={revision}")

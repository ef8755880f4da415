"""Always-changing pages on ``/admin``: the list, looking one up, and letting copies of it be chosen all the same (A-1).

A decision is recorded in the audit log with the URL, and can be taken back in the same way.
"""

from typing import Any, Final

from markupsafe import Markup

from weboid.core.url.keys import key_of
from weboid.core.url.urls import Url
from weboid.store.archives.changing_page import ChangingPage, list_changing, list_newest_changing, record_lifted
from weboid.store.archives.copy_queue import record_wanted
from weboid.store.db.pool import Connection
from weboid.store.people.audit import Action
from weboid.web.formats import html
from weboid.web.identity.session import Person
from weboid.web.people.forms import address_in_language, record_action, require_allowed
from weboid.web.request.parameters import MOST_SHOWN, Parameters, url_of
from weboid.web.request.problem import Problem
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import visible

LIFT: Final = "lift"
"""The purpose of the form."""

_LISTED: Final = 50


async def find_changing_pages(conn: Connection, given: Parameters) -> list[tuple[ChangingPage, Url]]:
    """The given page, none if it is not such a page; without one those that were found last."""
    if "url" not in given:
        return await list_newest_changing(conn, limit=_LISTED)
    url = url_of(given)
    found = (await list_changing(conn, [key_of(url)])).get(key_of(url))
    return [] if found is None else [(found, url)]


async def lift_changing(conn: Connection, given: Parameters, person: Person, day: int) -> None:
    """Carries out the decision of the form, records it, and queues the page; raises Problem if nothing changes."""
    url = url_of(given)
    if (lifted := {"0": False, "1": True}.get(given.get("lifted", ""))) is None:
        raise Problem(400, "request")
    action = Action.LIFT if lifted else Action.UNLIFT
    await require_allowed(conn, action, person, daily=0)
    if not await record_lifted(conn, key_of(url), is_lifted=lifted, subject=person.subject, name=person.name):
        raise Problem(409, "not-changing", str(url)[:MOST_SHOWN])
    await record_wanted(conn, [key_of(url)], day)
    await record_action(conn, action, person, str(url))


def changing_view(page: ChangingPage, url: Url, given: Parameters, day: int, say: Messages) -> dict[str, Any]:
    """A page of the list for the template, with the address of our page about it."""
    found = html.time_html(page.day, day, say)
    if page.is_lifted:
        name = Markup("<bdi>{}</bdi>").format(visible(page.name or ""))
        state = say.html("weboid-admin-changing-lifted", name, found)
    else:
        state = say.html("weboid-admin-changing-found", found)
    about = address_in_language("url", given, url=str(url))
    return {"url": str(url), "page": about, "state": state, "is_lifted": page.is_lifted}

"""``/admin``: the audit log, undoing all of one person's reports and suggestions, and blocking (H-4).

It is for administrators only; their actions are recorded in the same log, with their names.
"""

from datetime import UTC
from typing import Any, Final

from aiohttp import web
from markupsafe import Markup

from weboid.core.record.days import day_of
from weboid.store.db.pool import Connection
from weboid.store.people import audit
from weboid.web.formats import html
from weboid.web.http.respond import see_other
from weboid.web.people.changing_pages import LIFT, changing_view, find_changing_pages, lift_changing
from weboid.web.people.dying_hosts import JUDGE, dying_view, find_dying, judge_host
from weboid.web.people.forms import address_in_language, record_action, require_allowed
from weboid.web.people.frozen_links import PART, REVIEW, find_reverts, revert_view, review_revert
from weboid.web.request.cursor import Cursor
from weboid.web.request.parameters import Parameters, only
from weboid.web.request.problem import Problem
from weboid.web.service import ServiceHandlers, given_in, html_words
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import visible

_KEPT: Final = ("subject", "lang")
_LISTED: Final = 100
_MOST_SUBJECT: Final = 200
_MOST_REASON: Final = 500
_NUMBER: Final = Cursor(range(1, 10**18))
"""An entry of the log."""
_OF_PEOPLE: Final = frozenset({audit.Action.UNDO, audit.Action.BLOCK, audit.Action.UNBLOCK})
"""Actions on people, whose objects are subjects."""


class AdminPage(ServiceHandlers):
    async def page(self, request: web.Request) -> web.Response:
        """The log, newest first: of all people, or of one with what can be done about them."""
        service, sessions = self._service, self._service.sessions
        await sessions.require_administrator(request)
        given = given_in(request)
        say = html_words(request, given)
        subject, day = _subject_of(given) if "subject" in given else None, service.today()
        async with service.pool.connection() as conn:
            entries = await audit.list_audit(conn, subject=subject, before=_number(given, "before"), limit=_LISTED + 1)
            name = None if subject is None else await _find_name(conn, subject)
            block = None if subject is None else await audit.find_block(conn, subject)
            blocks = await audit.list_blocks(conn) if subject is None else []
            did = await _find_done(conn, given) if "did" in given else None
            changing = await find_changing_pages(conn, given) if subject is None else []
            dying = await find_dying(conn) if subject is None else []
            reverts, older = await find_reverts(conn, given) if subject is None else ([], None)
        more = entries[_LISTED - 1].audit if len(entries) > _LISTED else None
        values: dict[str, Any] = {
            "subject": subject,
            "called": None if name is None else visible(name),
            "shown": None if subject is None else visible(subject),
            "block": None if block is None else self._block_view(block, given, day, say),
            "blocks": [self._block_view(each, given, day, say) for each in blocks],
            "entries": [self._entry_view(entry, given, day, say) for entry in entries[:_LISTED]],
            "next": None if more is None else html.query({**only(given, *_KEPT), "before": _NUMBER.text_of(more)}),
            "first": html.query(only(given, *_KEPT)) if "before" in given else None,
            "all": address_in_language("admin", given),
            "did": None if did is None else _did_words(did, say),
            "changing": [changing_view(page, url, given, day, say) for page, url in changing],
            "reverts": [revert_view(each, given, day, say) for each in reverts],
            "older": None if older is None else html.query({**only(given, "url", "lang"), PART: older}),
            "newest": html.query(only(given, "url", "lang")) if PART in given else None,
            "dying": [dying_view(each, say) for each in dying],
            "judge_token": await sessions.form_token(request, JUDGE),
            "review_token": await sessions.form_token(request, REVIEW),
            "lift_token": await sessions.form_token(request, LIFT),
            "tokens": {purpose: await sessions.form_token(request, purpose) for purpose in ("undo", "block", "unblock")}
            if subject
            else {},
        }
        return await service.form_html(request, "admin.html", given, say, **values)

    async def undo(self, request: web.Request) -> web.Response:
        """Deletes all claims of one person at once."""
        given = await self._service.posted(request, "undo")
        person = await self._service.sessions.require_administrator(request)
        subject = _subject_of(given)
        async with self._service.pool.connection() as conn:
            await require_allowed(conn, audit.Action.UNDO, person, daily=0)
            undone = await audit.delete_claims(conn, subject, self._service.today())
            detail = f"{undone.reports} {undone.domains} {undone.replacements} {undone.assumptions} {undone.repairs}"
            done = await record_action(conn, audit.Action.UNDO, person, subject, detail)
        self._service.kept.drop_all()
        return see_other(_address(given, subject, done))

    async def block(self, request: web.Request) -> web.Response:
        """Blocks a person from doing anything."""
        given = await self._service.posted(request, "block")
        person = await self._service.sessions.require_administrator(request)
        subject, reason = _subject_of(given), given.get("reason", "")[:_MOST_REASON]
        if self._service.sessions.is_administrator(subject):
            # Administrators could unblock themselves or block all others: the configuration decides who administers.
            raise Problem(409, "block-administrator")
        async with self._service.pool.connection() as conn:
            await require_allowed(conn, audit.Action.BLOCK, person, daily=0)
            name = await _find_name(conn, subject)
            day = self._service.today()
            await audit.record_block(conn, subject, name, day, blocker=person.subject, reason=reason)
            done = await record_action(conn, audit.Action.BLOCK, person, subject, reason)
        return see_other(_address(given, subject, done))

    async def unblock(self, request: web.Request) -> web.Response:
        """Ends the block of a person."""
        given = await self._service.posted(request, "unblock")
        person = await self._service.sessions.require_administrator(request)
        subject = _subject_of(given)
        async with self._service.pool.connection() as conn:
            await require_allowed(conn, audit.Action.UNBLOCK, person, daily=0)
            if not await audit.delete_block(conn, subject):
                raise Problem(409, "not-blocked")
            done = await record_action(conn, audit.Action.UNBLOCK, person, subject)
        return see_other(_address(given, subject, done))

    async def lift(self, request: web.Request) -> web.Response:
        """Lets copies of an always-changing page be chosen, or no longer."""
        given = await self._service.posted(request, LIFT)
        person = await self._service.sessions.require_administrator(request)
        async with self._service.pool.connection() as conn:
            await lift_changing(conn, given, person, self._service.today())
        return see_other(address_in_language("admin", given, url=given["url"]))

    async def review(self, request: web.Request) -> web.Response:
        """Releases the link of a reverted repair, or keeps it frozen."""
        given = await self._service.posted(request, REVIEW)
        person = await self._service.sessions.require_administrator(request)
        async with self._service.pool.connection() as conn:
            key = await review_revert(conn, given, person)
        await self._service.kept.drop([key])
        return see_other(address_in_language("admin", given, **only(given, PART)))

    async def judge(self, request: web.Request) -> web.Response:
        """Confirms or holds the death of a host on which much hangs, or lets the rule go on."""
        given = await self._service.posted(request, JUDGE)
        person = await self._service.sessions.require_administrator(request)
        async with self._service.pool.connection() as conn:
            await judge_host(conn, given, person, self._service.today())
        return see_other(address_in_language("admin", given))

    def _entry_view(self, entry: audit.AuditEntry, given: Parameters, day: int, say: Messages) -> dict[str, Any]:
        action = audit.Action(entry.action)
        return {
            "when": html.time_html(day_of(entry.moment), day, say),
            "clock": f"{entry.moment.astimezone(UTC):%H:%M}",
            "name": visible(entry.name) if entry.name else say.html("weboid-admin-nobody"),
            "about_person": _address(given, entry.subject) if entry.subject != audit.NOBODY else None,
            "words": say.html(f"weboid-admin-action-{action}"),
            "object": visible(entry.object),
            "object_page": _address(given, entry.object) if action in _OF_PEOPLE else None,
            "detail": _undone_words(entry.detail, say) if action is audit.Action.UNDO else visible(entry.detail),
        }

    def _block_view(self, block: audit.Block, given: Parameters, day: int, say: Messages) -> dict[str, Any]:
        return {
            "name": visible(block.name or block.subject),
            "page": _address(given, block.subject),
            "words": say.html("weboid-admin-block-line", html.time_html(block.day, day, say), visible(block.blocker)),
            "reason": visible(block.reason),
        }


async def _find_name(conn: Connection, subject: str) -> str:
    """The name of a person when they last did something, else when they were blocked; perhaps empty."""
    if entries := await audit.list_audit(conn, subject=subject, limit=1):
        return entries[0].name
    block = await audit.find_block(conn, subject)
    return "" if block is None else block.name


async def _find_done(conn: Connection, given: Parameters) -> audit.AuditEntry | None:
    """The log entry of the last action of an administrator on the person that is shown."""
    number = _number(given, "did")
    found = await audit.list_audit(conn, before=number + 1, limit=1)
    is_so = found and found[0].audit == number and found[0].object == given.get("subject")
    return found[0] if is_so and found[0].action in _OF_PEOPLE else None


def _did_words(entry: audit.AuditEntry, say: Messages) -> Markup:
    if entry.action == audit.Action.UNDO:
        return _undone_words(entry.detail, say)
    return say.html("weboid-admin-did-block" if entry.action == audit.Action.BLOCK else "weboid-admin-did-unblock")


def _undone_words(detail: str, say: Messages) -> Markup:
    removed = [*map(int, detail.split()), 0]  # entries of older versions have one number less
    return say.html("weboid-admin-undone", *removed[:5])


def _subject_of(given: Parameters) -> str:
    """The person that is given; raises Problem, also for none: people who have not signed in cannot be blocked."""
    subject = given.get("subject", "")
    if not 0 < len(subject) <= _MOST_SUBJECT or not subject.isprintable():
        raise Problem(400, "no-subject")
    return subject


def _number(given: Parameters, name: str) -> int:
    parts = _NUMBER.parts_in(given, name)
    return audit.NEWEST if parts is None else parts.numbers[0]


def _address(given: Parameters, subject: str, done: int | None = None) -> str:
    """The address of the page of one person, with the entry of what was just `done` about them."""
    return address_in_language("admin", given, subject=subject, did=None if done is None else _NUMBER.text_of(done))

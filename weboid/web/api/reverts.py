"""``POST /api/reverts``: operators of bots state that a person has undone a repair of theirs (B-6).

It is for trusted clients only; a statement freezes one link on one wiki, and changes no verdict.
"""

import re
from typing import Any, Final

from aiohttp import web

from weboid.core.url.keys import key_of
from weboid.core.verdict.report_json import RevertReason
from weboid.store.people.audit import NOBODY, Action, find_refusal, record_audit
from weboid.store.people.revert import Revert, StatedRevert, record_revert
from weboid.web.http.tokens import client_of
from weboid.web.request.cursor import PAGES
from weboid.web.request.parameters import MOST_SHOWN, Parameters, page_query_of, url_of
from weboid.web.request.problem import Problem
from weboid.web.service import ServiceHandlers, given_or_sent, machine_words

_MOST_NAME: Final = 255
"""Characters of a user's name: MediaWiki allows as many bytes."""
_UNFIT_NAME: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Reverts(ServiceHandlers):
    async def state(self, request: web.Request) -> web.Response:
        """Takes a revert: 201, or 200 with the first one if that of the same link and revision is known."""
        if (client := client_of(request)) is None:
            raise Problem(403, "trusted-revert")
        given = await self._service.named(await given_or_sent(request))
        say, url = machine_words(given), url_of(given)
        page, revision = _edit_of(given)
        why, reverter = _reason_of(given), _reverter_of(given)
        name, wiki = await self._service.find_wiki(given)
        day = self._service.today()
        stated = StatedRevert(key_of(url), wiki.wiki, page, revision, why.value, reverter, client)
        async with self._service.pool.connection() as conn:
            # Nobody is refused: it takes the lock under which everything that people do is written.
            await find_refusal(conn, Action.REVERT, NOBODY, daily=0)
            if (found := await record_revert(conn, stated, day)) is None:
                raise Problem(404, "not-watched", str(url)[:MOST_SHOWN], str(name))
            revert, is_new = found
            if is_new:
                detail = f"{name} {page} {revision} {why.value}: {reverter}"
                await record_audit(conn, Action.REVERT, NOBODY, client, str(url), detail)
        # Other processes see it in the log; here the bot gets the new state at once.
        await self._service.kept.drop([stated.key])
        payload = {**self._service.head(day, say), "revert": _revert_as_json(revert, str(name), str(url))}
        return self._service.send_payload(request, payload, http=201 if is_new else 200, cache="no-store")


def _revert_as_json(revert: Revert, wiki: str, normal: str) -> dict[str, Any]:
    return {
        "id": revert.revert,
        "wiki": wiki,
        "page": revert.stated.page,
        "revision": revert.stated.revision,
        "normal": normal,
        "state": revert.state.word,
    }


def _edit_of(given: Parameters) -> tuple[int, int]:
    """The one page, and the bot's revision of it; raises Problem."""
    query = page_query_of(given)
    if query.revision is None:
        raise Problem(400, "revid")
    if query.ids[0] not in PAGES:
        raise Problem(404, "unknown-page", str(query.ids[0]), str(query.wiki))
    return query.ids[0], query.revision


def _reason_of(given: Parameters) -> RevertReason:
    try:
        return RevertReason(given.get("why", ""))
    except ValueError:
        raise Problem(400, "revert-why", ", ".join(RevertReason)) from None


def _reverter_of(given: Parameters) -> str:
    """The name of the user who did it, or an address; raises Problem."""
    name = given.get("reverter", "")
    if not name or _UNFIT_NAME.search(name) or len(name) > _MOST_NAME:
        raise Problem(400, "reverter", _MOST_NAME)
    return name

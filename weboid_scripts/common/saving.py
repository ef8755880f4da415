"""Saves one edit of a page: at a bounded rate, as the bot's own account, and only over the text that was read (B-7).

Throttle, maxlag and the renewal of tokens are pywikibot's.
An edit is saved, or a stable word says why not, or the run ends; nothing is forced past a filter.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import md5
from typing import Any, Final

from pywikibot.exceptions import APIError, Error
from requests.exceptions import RequestException

from weboid_scripts.common.read_page import ReadPage
from weboid_scripts.common.run_page import RunStopped
from weboid_scripts.common.wiki_query import WikiSilent, brief

CONFLICT: Final = "edit-conflict"
NO_CHANGE: Final = "no-change"
REFUSED: Final = "refused"
_WORDS: Final = {
    "articleexists": CONFLICT,
    "cascadeprotected": "protected",
    "contenttoobig": "too-long",
    "editconflict": CONFLICT,
    "hookaborted": "abuse-filter",
    "missingtitle": "deleted",
    "no-direct-editing": "no-wikitext",
    "nosuchpageid": "deleted",
    "pagecannotexist": "deleted",
    "pagedeleted": "deleted",
    "protectednamespace": "protected",
    "protectednamespace-interface": "protected",
    "protectedpage": "protected",
    "protectedtitle": "protected",
    "spamblacklist": "spam-blacklist",
    "tpt-target-page": "protected",
}
"""Errors of the API that concern this page only, and the stable words for them."""
_PREFIXES: Final = (
    ("abusefilter-blocked-domain", "spam-blacklist"),
    ("abusefilter-", "abuse-filter"),
    ("titleblacklist", "title-blacklist"),
)
_ENDS: Final = frozenset(
    {
        "assertbotfailed", "assertnameduserfailed", "assertuserfailed", "autoblocked", "badtoken", "blocked",
        "globalblocking-blockedtext-user", "noapiwrite", "noedit", "permissiondenied-edit", "ratelimited", "readonly",
        "writeapidenied",
    }
)  # fmt: skip
"""Errors that the next page would meet, too."""
_MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Saved:
    """The new revision and its moment in UTC."""

    revision: int
    moment: datetime


@dataclass(frozen=True, slots=True)
class NotSaved:
    """The reason why an edit was not saved: a stable word, and the wiki's `message`."""

    why: str
    message: str = ""


class Saver:
    """Edits pages of one wiki under one account, at most `rate` a minute (0 = as pywikibot's throttle alone says)."""

    def __init__(
        self,
        site: Any,
        account: str,
        *,
        rate: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._site = site
        self._account = account
        self._pause_s = _MINUTE_S / rate if rate else 0.0
        self._clock = clock
        self._wait = wait
        self._next_s: float | None = None

    def save(self, read: ReadPage, text: str, summary: str) -> Saved | NotSaved:
        """Saves the new text of a page; one whose number is 0 is made, by its title. `wait_for_turn` comes before.

        Raises RunStopped, and WikiSilent if it is not known whether it was saved (D-280).
        """
        where: dict[str, Any] = {"pageid": read.page, "baserevid": read.revision, "nocreate": True}
        if read.page == 0:
            where = {"title": read.title, "createonly": True}
        try:
            answer = self._site.simple_request(
                action="edit",
                formatversion=2,
                text=text,
                md5=md5(text.encode(), usedforsecurity=False).hexdigest(),
                summary=summary,
                bot=self._site.has_right("bot"),
                watchlist="nochange",
                assertuser=self._account,
                token=self._site.tokens["csrf"],
                **where,
            ).submit()
        except APIError as error:
            return self._refused(error)
        except (Error, RequestException, OSError) as error:
            raise WikiSilent(
                f"{self._site} did not answer to an edit of {read.title}: {brief(error)}. Start again later; what "
                "became of that edit is looked up then."
            ) from None
        return self._read(answer)

    def wait_for_turn(self) -> None:
        """Waits as long as the rate and pywikibot's throttle want before an edit, so that little comes after it."""
        now_s = self._clock()
        pause_s = max((self._next_s or now_s) - now_s, self._site.throttle.waittime(write=True))
        if pause_s > 0:
            self._wait(pause_s)
        self._next_s = max(now_s, self._next_s or now_s) + self._pause_s

    def _refused(self, error: APIError) -> NotSaved:
        code, message = str(error.code), brief(error.info)
        block = error.other.get("blockinfo")
        if code == "blocked" and isinstance(block, dict) and block.get("blockpartial"):
            return NotSaved("blocked-here", f"{code}: {message}")
        if code in _ENDS:
            raise RunStopped(f"{self._site} no longer lets {self._account} edit ({code}): {message}")
        word = _WORDS.get(code) or next((word for prefix, word in _PREFIXES if code.startswith(prefix)), REFUSED)
        return NotSaved(word, f"{code}: {message}")

    def _read(self, answer: Any) -> Saved | NotSaved:
        edit = answer.get("edit") if isinstance(answer, dict) else None
        if not isinstance(edit, dict):
            raise WikiSilent(f"{self._site} does not say what became of an edit. Start again later.")
        if "captcha" in edit:
            raise RunStopped(
                f"{self._site} wants {self._account} to solve a captcha. Ask there for the right skipcaptcha."
            )
        if edit.get("result") != "Success":
            message = " ".join(str(edit.get(key, "")) for key in ("code", "info", "spamblacklist"))
            return NotSaved("spam-blacklist" if "spamblacklist" in edit else REFUSED, brief(message))
        revision = edit.get("newrevid")
        if not isinstance(revision, int):
            return NotSaved(NO_CHANGE)
        return Saved(revision, _moment(edit.get("newtimestamp")))


def _moment(given: Any) -> datetime:
    try:
        return datetime.fromisoformat(str(given)).astimezone(UTC)
    except ValueError:
        raise WikiSilent("The wiki gives an edit a time that cannot be read.") from None

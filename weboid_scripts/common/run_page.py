"""What lets people stop the bot: its run page, new messages on its talk page, a block (B-7).

One law: all three are read in one request, before the first edit and again before every tenth.
"""

from typing import Any, Final

from weboid.errors import WeboidError
from weboid_scripts.common.wiki_query import ask, brief, newest_revision, pages_of, person_of

EDITS_BETWEEN: Final = 10
GO: Final = "run"
"""The text of a run page that lets the bot run; a page that says anything else stops it."""


class RunStopped(WeboidError):
    """Somebody wants the bot to stop, or it can no longer edit; the text says who and what to do."""


class RunPage:
    """The run page of a bot on a wiki. A page that was never there does not stop it."""

    def __init__(self, site: Any, title: str, account: str) -> None:
        self.title: Final = title
        self._site = site
        self._account = account
        self._edits = 0
        self._was_there = False

    def before_edit(self) -> None:
        """To be called before each edit, on talk pages, too. Raises RunStopped, WikiSilent."""
        if self._edits % EDITS_BETWEEN == 0:
            self.check()
        self._edits += 1

    def check(self) -> None:
        """Reads all that could stop the bot. Raises RunStopped, WikiSilent."""
        answer = ask(
            self._site,
            meta="userinfo",
            uiprop="hasmsg|blockinfo",
            prop="revisions",
            titles=self.title,
            rvprop="ids|content",
            rvslots="main",
        )
        person = person_of(answer)
        if person.get("name") != self._account:
            raise RunStopped(
                f"The wiki says that this is {brief(person.get('name'))}, not {self._account}. Log in anew: pwb login"
            )
        if "blockid" in person and not person.get("blockpartial"):
            raise RunStopped(
                f"{self._account} is blocked by {brief(person.get('blockedby'))}: {brief(person.get('blockreason'))}"
            )
        if person.get("messages"):
            raise RunStopped(
                f"There are new messages on the talk page of {self._account}. Read them there as that account, "
                "answer, then start again."
            )
        self._check_page(answer)

    def _check_page(self, answer: dict[str, Any]) -> None:
        for page in pages_of(answer):
            if page.get("missing") and not self._was_there:
                return
            self._was_there = True
            revision = newest_revision(page)
            if revision is not None and revision[1].strip().casefold() == GO:
                return
        raise RunStopped(
            f"The page [[{self.title}]] stops the bot. See there who wants that and why; when that is settled, make "
            f"“{GO}” its whole text, and start again."
        )

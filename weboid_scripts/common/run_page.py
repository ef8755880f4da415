"""Ways for people to stop the bot: its run page, new messages on its talk page, a block (B-7).

All three are looked at before every edit, in one small request, after all waiting for its turn; and with them
whether the page that is to be edited is still as it was read (D-317).
"""

from typing import Any, Final

from weboid.errors import WeboidError
from weboid_scripts.common.read_page import ReadPage
from weboid_scripts.common.wiki_query import ask, brief, newest_revision, pages_of, person_of

GO: Final = "run"
"""The text of a run page that lets the bot run; a page that says anything else stops it."""


class RunStopped(WeboidError):
    """Somebody wants the bot to stop, or it can no longer edit; the text says who and what to do."""


class RunPage:
    """The run page of a bot on a wiki. A page that was never there does not stop it (D-281)."""

    def __init__(self, site: Any, title: str, account: str) -> None:
        self.title: Final = title
        self._site = site
        self._account = account
        self._was_there = False
        self._lets_run: int | None = None
        """The revision of the run page that said so."""

    def before_edit(self, read: ReadPage) -> bool:
        """True if the page that is to be edited is still as it was read. Raises RunStopped, WikiSilent.

        To be called before each edit, on talk pages, too. The text of the run page is read only when it is another.
        """
        answer = ask(
            self._site,
            meta="userinfo",
            uiprop="hasmsg|blockinfo",
            prop="info",
            titles="|".join(dict.fromkeys((self.title, read.title))),
        )
        self._check_person(answer)
        others = [page for page in pages_of(answer) if page.get("title") != read.title]
        if len(others) != 1 or not self._is_known(others[0]):
            self._check_page()
        if read.page == 0:
            return any(page.get("missing") for page in pages_of(answer) if page.get("title") == read.title)
        return any(
            page.get("pageid") == read.page and page.get("lastrevid") == read.revision for page in pages_of(answer)
        )

    def _is_known(self, page: dict[str, Any]) -> bool:
        """True if the run page needs not be read: nobody has ever made it, or it is as it was when it said "run"."""
        if page.get("missing"):
            return not self._was_there
        return self._lets_run is not None and page.get("lastrevid") == self._lets_run

    def _check_person(self, answer: dict[str, Any]) -> None:
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

    def _check_page(self) -> None:
        answer = ask(self._site, prop="revisions", titles=self.title, rvprop="ids|content", rvslots="main")
        for page in pages_of(answer):
            if page.get("missing") and not self._was_there:
                return
            self._was_there = True
            revision = newest_revision(page)
            if revision is not None and revision[1].strip().casefold() == GO:
                self._lets_run = revision[0]
                return
        raise RunStopped(
            f"The page [[{self.title}]] stops the bot. See there who wants that and why; when that is settled, make "
            f"“{GO}” its whole text, and start again."
        )

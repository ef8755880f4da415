"""The loop of ``weboid_repair``: from pages with what is known of their links to edits, one a page (B-3 … B-7).

What is repaired is decided by ``weboid/bot``; how an edit is saved belongs to ``saving``. No share of dead links stops
it: what it gets are pages with dead links.
What cannot be repaired now is left alone, counted and noted, and the run goes on with the next page.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha1
from typing import Any, Final

import pywikibot
from pywikibot import config
from pywikibot.bot import BaseBot
from pywikibot.bot_choice import QuitKeyboardInterrupt

from weboid.bot.answers import FROZEN, KnownLinks, LinkAnswer, key_of
from weboid.bot.exclusion import excludes
from weboid.bot.repair import SCRIPT, LinkChange, RepairedPage, repair
from weboid.bot.reverts import EditedLink
from weboid.core.wikitext.reader import read_wikitext
from weboid_scripts.common.read_page import ReadPage
from weboid_scripts.common.run_page import RunPage, RunStopped
from weboid_scripts.common.saving import CONFLICT, NO_CHANGE, REFUSED, NotSaved, Saver
from weboid_scripts.journal.journal import Edit, Journal
from weboid_scripts.repairs.batches import AnsweredPage
from weboid_scripts.repairs.shown_edits import show_edit
from weboid_scripts.repairs.summaries import address_about, summary_of, table_of
from weboid_scripts.repairs.waiting_pages import WaitingPages
from weboid_scripts.reverts.revert_check import RevertCheck, too_many_reverts

_MOST_REFUSALS: Final = 10
"""Edits in a row that the wiki refuses for reasons of which nothing is known here; then the run ends."""
TALK: Final = "talk-instead"
DECLINED: Final = "declined"
_FAULT: Final = "fault"
_REPEATS: Final = "repeats"
"""Of a link: its repair is left out, for each run would make it again."""
_PERHAPS_SAVED: Final = frozenset({CONFLICT, NO_CHANGE})
"""What the wiki says, too, where it has saved the edit, but its answer was lost, so that pywikibot sent it again
(D-304)."""
_EDITS_BETWEEN_LOOKS: Final = 50
"""Edits after which is looked up how many of the last ones were reverted."""


@dataclass(frozen=True, slots=True)
class RepairPlace:
    """The place of repairs: wiki, account, the page on which errors are reported, and the way to both.

    Without a journal (`-simulate`) nothing is saved.
    """

    site: Any
    dbname: str
    account: str
    help_page: str
    journal: Journal | None
    saver: Saver
    run_page: RunPage
    again: Callable[[ReadPage], ReadPage | str]
    """Reads a page once more; a stable word if it is none to repair any more."""
    now: Callable[[], datetime]
    service: str
    """The address of the service, which has a page about each edit."""


class RepairBot(BaseBot):
    """Repairs the pages of its generator, which are AnsweredPage, and asks before each edit unless `always` is set.

    It ends after `most` pages that had an edit to be saved, shown or declined; None = when there are no more.
    """

    def __init__(
        self, place: RepairPlace, generator: Iterator[AnsweredPage], *, always: bool, most: int | None = None
    ) -> None:
        super().__init__(generator=generator, always=always)
        self.done: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self._place = place
        self._is_simulated = bool(config.simulate) or place.journal is None
        self._check: RevertCheck | None = None
        self._checked_by: Any = None
        self._refusals = 0
        self._edits = 0
        self._most = most
        self._offered = 0
        journal = None if self._is_simulated else place.journal
        self._waiting = None if journal is None else WaitingPages(journal.file, place.dbname)
        self._waits = False

    def skipped(self, title: str, why: str) -> None:
        """Counts a page that was left alone before it was analysed."""
        self.left[why] += 1
        pywikibot.log(f"{title}: {why}")

    def run(self) -> None:
        """Repairs all pages, and prints the table at the end, however it ends. Raises WeboidError.

        Instead of BaseBot's, which prints an error with its class, and then the seconds that all took.
        """
        try:
            for page in self.generator:
                self.counter["read"] += 1
                self.treat(page)
                if self._offered == self._most:
                    break
        except (QuitKeyboardInterrupt, KeyboardInterrupt):
            pywikibot.info("Ended by the operator.")
        finally:
            read = self.counter["read"]
            pywikibot.info(f"{read:,} {'page' if read == 1 else 'pages'} read, {self.counter['write']:,} saved.")
            pywikibot.info(table_of(self.done, self.left, is_simulated=self._is_simulated))
            if self.left[TALK]:
                pywikibot.info("This wiki wants messages on talk pages instead of edits: pwb weboid_weblinks -talk")

    def treat(self, page: AnsweredPage) -> None:
        """Repairs one page. Raises RunStopped, WikiSilent."""
        outcome = self._repair(page)
        if outcome == CONFLICT:
            pywikibot.info("It is read and analysed once more.")
            read = self._place.again(page.read)
            outcome = read if isinstance(read, str) else self._repair(replace(page, read=read))
        if outcome is not None:
            self.left[outcome] += 1
        self._offered += outcome in (None, DECLINED)
        if self._waiting is not None:
            if self._waits or outcome == CONFLICT:
                self._waiting.begin(page.read.page, self._place.now())
            else:
                self._waiting.end(page.read.page)

    def _repair(self, page: AnsweredPage) -> str | None:
        """Repairs the page as it was read; None if that is done, else the stable word why not."""
        repaired = self._repaired(page, page.known)
        self._waits = repaired is not None and bool(repaired.waiting)
        if repaired is None:
            return _FAULT
        if repaired.kept_off is not None:
            text, place = read_wikitext(page.read.text), self._place
            # People who are at work end that; {{nobots}} stays.
            self._waits = excludes(text, page.settings, bot=place.account, script=SCRIPT, by_hand=True) is None
            return "kept-off"
        if repaired.changes and not self._is_simulated:
            frozen = self._taken_back(page, repaired.changes)
            if frozen:
                repaired = self._repaired(page, _with_frozen(page.known, frozen))
        if repaired is None:
            return "nothing-to-do"
        self._note_repeating(page, repaired.repeating)
        if not repaired.changes:
            return _FAULT if repaired.repeating else "nothing-to-do"
        if repaired.text == page.read.text:
            return TALK
        summary = self._summary_of(page.read, repaired)
        self._show(page, repaired, summary)
        if self._is_simulated:
            self._count(repaired.changes)
            return None
        if not self.user_confirm("Do you want to accept these changes?"):
            return DECLINED
        return self._save(page, repaired, summary)

    def _summary_of(self, read: ReadPage, repaired: RepairedPage) -> str:
        place, actions = self._place, [each.action.value for each in repaired.changes]
        about = address_about(place.service, place.dbname, read.page, read.revision)
        return summary_of(place.site, actions, place.help_page, about)

    def _repaired(self, page: AnsweredPage, known: KnownLinks) -> RepairedPage | None:
        """None if the engine fails on the page, which must not keep the bot from all others, run after run."""
        place = self._place
        try:
            return repair(page.read.text, page.settings, known, now=place.now(), bot=place.account, script=SCRIPT)
        except Exception:
            pywikibot.exception(f"Weboid failed on the page {page.read.title}. Please report that with what follows.")
            return None

    def _note_repeating(self, page: AnsweredPage, urls: tuple[str, ...]) -> None:
        for url in urls:
            self.left[f"link-{_REPEATS}"] += 1
            self._note_skip(page, key_of(url) or url, _REPEATS)
            pywikibot.warning(
                f"{page.read.title}: the repair of {url} is left out, for each run would make it again. Please report "
                "that, with the text of the page."
            )

    def _taken_back(self, page: AnsweredPage, changes: tuple[LinkChange, ...]) -> set[str]:
        """The normal forms of links whose repair may not be made again."""
        reasons = self._check_of(page).may_repair(page.read.page, [each.url for each in changes])
        frozen = set()
        for url, why in reasons.items():
            key = key_of(url)
            if why is not None and key is not None:
                frozen.add(key)
                self.left[f"link-{why}"] += 1
                self._note_skip(page, key, why)
        return frozen

    def _check_of(self, page: AnsweredPage) -> RevertCheck:
        if self._check is None or self._checked_by is not page.settings:
            assert self._place.journal is not None, "without one nothing is saved"
            self._checked_by = page.settings
            self._check = RevertCheck(
                self._place.site,
                self._place.journal,
                wiki=self._place.dbname,
                settings=page.settings,
                bot=self._place.account,
            )
        return self._check

    def _pywikibot_page(self, page: AnsweredPage) -> Any:
        found = pywikibot.Page(self._place.site, page.read.title)
        found._pageid = page.read.page
        return found

    def _show(self, page: AnsweredPage, repaired: RepairedPage, summary: str) -> None:
        self.current_page = self._pywikibot_page(page)
        show_edit(page.read.text, repaired)
        pywikibot.info(f"Edit summary: {summary}")

    def _save(self, page: AnsweredPage, repaired: RepairedPage, summary: str) -> str | None:
        if not self._before_edit(page):
            self._note_refusal(page, repaired.changes, NotSaved(CONFLICT, "somebody has edited it since it was read"))
            return CONFLICT
        journal = self._place.journal
        assert journal is not None, "without one nothing is saved"
        number = journal.note_edit(self._edit_of(page, repaired))
        result = self._place.saver.save(page.read, repaired.text, summary)
        if isinstance(result, NotSaved):
            if result.why not in _PERHAPS_SAVED:
                journal.drop_edit(number)
            self._note_refusal(page, repaired.changes, result)
            return result.why
        journal.note_saved(number, result.revision, result.moment)
        self._refusals = 0
        self._edits += 1
        self.counter["write"] += 1
        self._count(repaired.changes)
        return None

    def _before_edit(self, page: AnsweredPage) -> bool:
        """True if the page is still as it was read.

        Raises RunStopped if somebody wants the bot to stop, or too many of its edits were reverted.
        """
        assert self._place.journal is not None, "without one nothing is saved"
        if self._edits % _EDITS_BETWEEN_LOOKS == 0:
            self._check_of(page).look_back()
        if why := too_many_reverts(self._place.journal, self._place.dbname):
            raise RunStopped(why)
        self._place.saver.wait_for_turn()
        return self._place.run_page.before_edit(page.read)

    def _edit_of(self, page: AnsweredPage, repaired: RepairedPage) -> Edit:
        links = tuple(
            EditedLink(each.url, key_of(each.url) or each.url, each.action.value, each.why) for each in repaired.changes
        )
        # The wiki takes blanks off the end of a text before it saves it.
        digest = sha1(repaired.text.rstrip().encode(), usedforsecurity=False).hexdigest()
        read = page.read
        return Edit(self._place.dbname, read.page, read.title, None, read.revision, self._place.now(), digest, links)

    def _note_refusal(self, page: AnsweredPage, changes: tuple[LinkChange, ...], result: NotSaved) -> None:
        pywikibot.info(f"{page.read.title} is not saved: {result.why} ({result.message})")
        assert self._place.journal is not None, "without one nothing is saved"
        with self._place.journal.file.writing():
            for each in changes:
                self._note_skip(page, key_of(each.url) or each.url, result.why)
        self._refusals = self._refusals + 1 if result.why == REFUSED else 0
        if self._refusals == _MOST_REFUSALS:
            raise RunStopped(
                f"The wiki has refused {_MOST_REFUSALS} edits in a row, the last one with “{result.message}”. Find out "
                "why, then start again."
            )

    def _note_skip(self, page: AnsweredPage, normal: str, why: str) -> None:
        if self._place.journal is not None:
            self._place.journal.note_skip(self._place.dbname, page.read.page, normal, why, self._place.now())

    def _count(self, changes: tuple[LinkChange, ...]) -> None:
        self.done["pages"] += 1
        self.done.update(each.action.value for each in changes)


def _with_frozen(known: KnownLinks, frozen: set[str]) -> KnownLinks:
    """The same answers, with these links left alone."""
    answers = dict(known.by_url)
    for key in frozen:
        answer = answers.get(key, LinkAnswer())
        answers[key] = replace(answer, flags=answer.flags | {FROZEN})
    return KnownLinks(answers)

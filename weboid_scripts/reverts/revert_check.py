"""Decides if a repair may be made again, and if so many were taken back that the run must stop (B-6).

A repair that was taken back is not made again before somebody has allowed it; while the wiki does not answer,
nothing that was done before is done again.
"""

from collections.abc import Iterable
from typing import Any, Final

from weboid.bot.answers import key_of
from weboid.core.wikitext.settings import WikiSettings
from weboid_scripts.common.wiki_query import WikiSilent
from weboid_scripts.journal.journal import Edit, Journal
from weboid_scripts.reverts.revert_search import ExaminedEdit, RevertSearch

REVERTED: Final = "reverted"
"""The repair was taken back, and nobody has allowed it again."""
UNKNOWN: Final = "unknown"
"""The wiki does not say what became of the repair, or hides it: not now."""
COUNTED: Final = 200
_MOST_REVERTED: Final = COUNTED // 100


class RevertCheck:
    """Decides what may be done again on one wiki (`wiki` as the journal names it), by its settings of this batch.

    `bot` is the account. What is found is noted in the journal; ``weboid_reverts`` reports it to the service.
    """

    def __init__(self, site: Any, journal: Journal, *, wiki: str, settings: WikiSettings, bot: str) -> None:
        self._search = RevertSearch(site, journal, settings, bot)
        self._journal = journal
        self._wiki = wiki

    def may_repair(self, page: int, urls: Iterable[str]) -> dict[str, str | None]:
        """By each URL as written: None if it may be repaired, else REVERTED or UNKNOWN.

        `page` is the number of the page. The wiki is asked only for links which the journal has for this page (D-301).
        """
        keys = {url: key_of(url) for url in urls}
        known = {key for key in keys.values() if key is not None}
        edits = {edit.number: edit for key in known for edit in self._undecided(page, key)}
        unknown = self._look_at([edits[each] for each in sorted(edits, reverse=True)])
        reasons = {key: REVERTED if self._is_barred(page, key) else unknown.get(key) for key in known}
        return {url: None if key is None else reasons[key] for url, key in keys.items()}

    def look_back(self) -> None:
        """Notes which of the last 200 edits were taken back, for `too_many_reverts`. Raises WikiSilent."""
        for examined in self._search.examine(self._journal.last_edits(self._wiki, COUNTED)):
            note_reverts(self._journal, examined)

    def _undecided(self, page: int, key: str) -> list[Edit]:
        """The edits of which the wiki must be asked before this link is repaired again."""
        asked = []
        for edit in self._journal.edits_of_link(self._wiki, page, key):
            noted = {revert.normal for revert in self._journal.reverts_of(edit.number)}
            if key not in noted:
                asked.append(edit)
            if edit.revision is not None:
                break
        return asked

    def _look_at(self, edits: list[Edit]) -> dict[str, str]:
        """Notes what was taken back; returns the links of which that is not known."""
        unknown: dict[str, str] = {}
        known = set()
        try:
            for examined in self._search.examine(edits):
                known.add(examined.edit.number)
                note_reverts(self._journal, examined)
                if not examined.is_known:
                    unknown |= {link.normal: UNKNOWN for link in examined.edit.links}
        except WikiSilent:
            unknown |= {link.normal: UNKNOWN for edit in edits if edit.number not in known for link in edit.links}
        return unknown

    def _is_barred(self, page: int, key: str) -> bool:
        return any(
            revert.normal == key and revert.released is None
            for edit in self._journal.edits_of_link(self._wiki, page, key)
            for revert in self._journal.reverts_of(edit.number)
        )


def note_reverts(journal: Journal, examined: ExaminedEdit) -> None:
    """Notes what was taken back of an edit."""
    with journal.file.writing():
        for found in examined.reverts:
            journal.note_revert(found.noted())


def too_many_reverts(journal: Journal, wiki: str) -> str | None:
    """Why no more pages of this wiki may be edited, and how to go on; None while few edits were reverted.

    That is so when more than 1 % of the last 200 edits were, wholly or in part. Of fewer edits the share is taken of
    200 all the same (D-299): one revert among the first ten says little, three say enough.
    """
    share = journal.reverts_among(wiki, COUNTED)
    if share.reverted <= _MOST_REVERTED:
        return None
    return (
        f"{share.reverted} of the last {share.edits} edits on {wiki} were reverted; more than {_MOST_REVERTED} of "
        f"{COUNTED} (1 %) are too many, so no more pages are edited. See which and why: pwb weboid_reverts. "
        "Then change the settings, or talk to the people who reverted; and go on with: pwb weboid_reverts -resume"
    )

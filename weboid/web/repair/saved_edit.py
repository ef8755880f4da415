"""The edit that saved a repair, as its wiki has it: found by the link in its summary, and read from its texts.

Nothing of it is kept here. Summary, user and texts are those of strangers: our link in a summary makes any edit
look like a repair, so only what its texts show is said of it.
"""

import re
from dataclasses import dataclass
from typing import Final

from weboid.core.url.farms import WikiName
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.answers import Answers
from weboid.web.repair.job import EditJob, SeenEdit
from weboid.web.repair.repairing import MOST_TEXT, Repairs, edit_address, settings_of
from weboid.web.request.problem import Problem
from weboid.wiki.source import ListedEdit, RevisionText

_NUMBER_GOES_ON: Final = r"(?![0-9])"


@dataclass(frozen=True, slots=True)
class RepairedRevision:
    """A page of a wiki, and the revision of it that was repaired."""

    name: WikiName
    wiki: StoredWiki
    page: int
    revision: int

    @property
    def address(self) -> str:
        """The address of the page about the repair on this service, which summaries show."""
        return edit_address(self.name, self.page, self.revision)


@dataclass(frozen=True, slots=True)
class SavedEdit:
    """The edit, and what its texts show."""

    edit: ListedEdit
    seen: SeenEdit


async def find_edit(answers: Answers, repairs: Repairs, place: RepairedRevision) -> SavedEdit | None:
    """The edit that saved a repair; None if there is none among the next ones. Raises Problem, StoreError."""
    listed = await answers.live.list_edits(place.wiki, place.page, place.revision)
    if listed is None:
        raise Problem(503, "wiki-silent")
    linked = re.compile(re.escape(place.address) + _NUMBER_GOES_ON)
    is_of_page = bool(listed) and listed[0].revision == place.revision
    edit = next((each for each in listed[1:] if linked.search(each.comment)), None) if is_of_page else None
    if edit is None or (settings := await settings_of(answers, place.wiki)) is None:
        return None
    texts = await answers.live.find_texts(place.wiki, (edit.parent, edit.revision))
    if texts is None:
        raise Problem(503, "wiki-silent")
    before, after = (_text_of(texts.get(number), place.page) for number in (edit.parent, edit.revision))
    if before is None or after is None:
        return None
    seen = await repairs.seen(EditJob(before, after, settings))
    return SavedEdit(edit, seen) if seen.pieces else None


def _text_of(read: RevisionText | None, page: int) -> str | None:
    """The text of a revision of the page; None if there is none, or a longer one than any page has."""
    if read is None or read.page != page or read.text is None or len(read.text) > MOST_TEXT:
        return None
    return read.text

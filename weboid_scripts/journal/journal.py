"""The record of the scripts on wikis: edits with their links, reverts, skips, and where to go on.

Nothing that was noted is forgotten when a process is killed. Wikis are named as for the service (``dewiki@WMF``),
links by their normal form, edits by a number of this journal. Moments are in UTC; naive ones are read so. One file
serves all wikis (B-6).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from weboid.bot.reverts import EditedLink
from weboid_scripts.journal.journal_file import JournalFile
from weboid_scripts.journal.journal_tables import TABLES

FILE_NAME: Final = "weboid-journal.sqlite3"
"""The name of the file in pywikibot's folder (``config.datafilepath(FILE_NAME)``)."""
_PART: Final = 500
_MOST_EDITS_OF_LINK: Final = 50
_MOST_KEPT: Final = 64
"""Edits whose links are kept in memory."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a page. `revision` is None while it is not known whether it was saved; `sha1` is of the new text.

    `parent` is the revision that was read, `number` the journal's own, 0 before the edit is noted.
    """

    wiki: str
    page: int
    title: str
    revision: int | None
    parent: int
    moment: datetime
    sha1: str
    links: tuple[EditedLink, ...]
    number: int = 0


@dataclass(frozen=True, slots=True)
class NotedRevert:
    """That a link of an edit was put back: by whom, in which revision, with which words for how and probably why.

    `sent` is the day of the report to the service, `state` its last word; `released` when somebody allowed it again.
    """

    edit: int
    normal: str
    url: str
    verdict: str
    why: str
    revision: int
    reverter: str
    moment: datetime
    is_false_positive: bool
    sent: datetime | None = None
    state: str | None = None
    released: datetime | None = None


@dataclass(frozen=True, slots=True)
class RevertShare:
    """The number of last edits (since the count began), and of those among them that were reverted."""

    edits: int
    reverted: int


class Journal:
    """An open journal; `file` is for modules with tables of their own. Raises JournalError, and
    takes `is_read_only`, as JournalFile says.

    Note an edit in two steps, so that a crash between them loses none: `note_edit` with revision None before it is
    saved, then `note_saved`. One step, with the revision, does where nothing can come between.
    """

    def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
        self.file = JournalFile(path, is_read_only=is_read_only)
        self.file.ensure(*TABLES)
        self._links_of = lru_cache(_MOST_KEPT)(self._read_links)  # They never change, and may be thousands.

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def note_edit(self, edit: Edit) -> int:
        """Notes an edit with its links; returns its number. The same revision again is the edit that is there."""
        with self.file.writing():
            if edit.revision is not None:
                there = self.file.rows(
                    "SELECT number FROM edits WHERE wiki = ? AND revision = ?", (edit.wiki, edit.revision)
                )
                if there:
                    return int(there[0][0])
            number = self.file.write(
                "INSERT INTO edits (wiki, page, title, parent, revision, moment, sha1) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (edit.wiki, edit.page, edit.title, edit.parent, edit.revision, _seconds(edit.moment), edit.sha1),
            )
            for place, link in enumerate(edit.links):
                self.file.write(
                    "INSERT INTO edited_links (edit, place, url, normal, action, why) VALUES (?, ?, ?, ?, ?, ?)",
                    (number, place, link.url, link.normal, link.action, link.why),
                )
        return number

    def note_saved(self, number: int, revision: int, moment: datetime) -> None:
        """An edit that was noted beforehand has been saved, as this revision, and no other edit has."""
        with self.file.writing():
            self.file.write(
                "UPDATE edits SET revision = NULL WHERE revision = ? AND number <> ?"
                " AND wiki = (SELECT wiki FROM edits WHERE number = ?)",
                (revision, number, number),
            )
            self.file.write(
                "UPDATE edits SET revision = ?, moment = ? WHERE number = ?", (revision, _seconds(moment), number)
            )

    def drop_edit(self, number: int) -> None:
        """An edit that was noted beforehand has not been saved; one with a revision stays."""
        self.file.write("DELETE FROM edits WHERE number = ? AND revision IS NULL", (number,))

    def edit_of_revision(self, wiki: str, revision: int) -> Edit | None:
        """The edit that made this revision; None if it is none of ours."""
        return next(iter(self._edits("wiki = ? AND revision = ?", (wiki, revision))), None)

    def unfinished_edits(self, wiki: str) -> list[Edit]:
        """Edits of which it is not known whether they were saved, as after a crash."""
        return self._edits("wiki = ? AND revision IS NULL ORDER BY number LIMIT ?", (wiki, _PART))

    def edits_of_link(self, wiki: str, page: int, normal: str) -> list[Edit]:
        """The newest edits of this page that repaired this link, newest first; also those not known to be saved."""
        return self._edits(
            "wiki = ? AND page = ? AND number IN (SELECT edit FROM edited_links WHERE normal = ? AND edit = number)"
            " ORDER BY number DESC LIMIT ?",
            (wiki, page, normal, _MOST_EDITS_OF_LINK),
        )

    def last_edits(self, wiki: str, most: int) -> list[Edit]:
        """The last edits of a wiki that were saved, newest first."""
        return self._edits("wiki = ? AND revision IS NOT NULL ORDER BY revision DESC LIMIT ?", (wiki, most))

    def edits_since(self, wiki: str, since: datetime) -> Iterator[Edit]:
        """The saved edits of a wiki from that moment on, newest first, read in parts: there may be a million."""
        before: int | None = None
        while True:
            part = self._edits(
                "wiki = ? AND revision < coalesce(?, 9223372036854775807) ORDER BY revision DESC LIMIT ?",
                (wiki, before, _PART),
            )
            for edit in part:
                if edit.moment < _in_utc(since):
                    return
                yield edit
            if len(part) < _PART:
                return
            before = part[-1].revision

    def _edits(self, condition: str, values: tuple[Any, ...]) -> list[Edit]:
        found = self.file.rows(
            "SELECT wiki, page, title, revision, parent, moment, sha1, number FROM edits WHERE "  # noqa: S608
            + condition,
            values,
        )
        edits = []
        for wiki, page, title, revision, parent, moment, sha1, number in found:
            links = self._links_of(number)
            edits.append(Edit(wiki, page, title, revision, parent, _moment(moment), sha1, links, number))
        return edits

    def _read_links(self, number: int) -> tuple[EditedLink, ...]:
        found = self.file.rows(
            "SELECT url, normal, action, why FROM edited_links WHERE edit = ? ORDER BY place", (number,)
        )
        return tuple(EditedLink(*link) for link in found)

    def note_revert(self, revert: NotedRevert) -> None:
        """Notes a revert; of one that is there already, what was sent, its state and its release stay as they are."""
        self.file.write(
            "INSERT INTO reverts (edit, normal, url, verdict, why, revision, reverter, moment, is_false_positive)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (edit, normal) DO UPDATE SET url = excluded.url,"
            " verdict = excluded.verdict, why = excluded.why, revision = excluded.revision,"
            " reverter = excluded.reverter, moment = excluded.moment, is_false_positive = excluded.is_false_positive",
            (
                revert.edit,
                revert.normal,
                revert.url,
                revert.verdict,
                revert.why,
                revert.revision,
                revert.reverter,
                _seconds(revert.moment),
                revert.is_false_positive,
            ),
        )

    def note_sent(self, edit: int, normal: str, moment: datetime, state: str) -> None:
        """Notes that a revert was reported to the service; `state` is the service's word for the report."""
        self.file.write(
            "UPDATE reverts SET sent = ?, state = ? WHERE edit = ? AND normal = ?",
            (_seconds(moment), state, edit, normal),
        )

    def release(self, edit: int, normal: str, moment: datetime) -> None:
        """Notes that somebody allowed a reverted repair again."""
        self.file.write(
            "UPDATE reverts SET released = ? WHERE edit = ? AND normal = ?", (_seconds(moment), edit, normal)
        )

    def reverts_of(self, edit: int) -> list[NotedRevert]:
        """The links of an edit that were put back."""
        found = self.file.rows(
            "SELECT edit, normal, url, verdict, why, revision, reverter, moment, is_false_positive, sent, state,"
            " released FROM reverts WHERE edit = ? ORDER BY normal",
            (edit,),
        )
        return [_revert(*row) for row in found]

    def reverts_to_report(self, wiki: str, asked_before: datetime) -> list[tuple[Edit, NotedRevert]]:
        """Probable false positives to be reported to the service, the oldest first, 500 at most.

        Also those that it kept open when it was last asked, if that was before that moment: it may have decided.
        """
        found = self.file.rows(
            "SELECT edit, normal FROM reverts JOIN edits ON number = edit WHERE wiki = ? AND is_false_positive"
            " AND released IS NULL AND reverter <> '' AND (sent IS NULL OR (state = 'open' AND sent < ?))"
            " ORDER BY sent IS NOT NULL, edit LIMIT ?",
            (wiki, _seconds(asked_before), _PART),
        )
        return [
            (edit, revert)
            for number, normal in found
            for edit in self._edits("number = ?", (number,))
            for revert in self.reverts_of(number)
            if revert.normal == normal
        ]

    def reverts_among(self, wiki: str, last: int = 200) -> RevertShare:
        """The number of the last saved edits reverted, even in part; a page restored past us does not count."""
        edits, reverted = self.file.rows(
            "SELECT count(*), coalesce(sum(EXISTS (SELECT 1 FROM reverts WHERE reverts.edit = lately.number"
            " AND reverts.why <> 'vandalism-revert')), 0) FROM (SELECT number FROM edits WHERE wiki = ?"
            " AND revision > coalesce((SELECT counted_after FROM wikis WHERE wikis.wiki = edits.wiki), 0)"
            " ORDER BY revision DESC LIMIT ?) AS lately",
            (wiki, last),
        )[0]
        return RevertShare(edits, reverted)

    def count_anew(self, wiki: str) -> None:
        """From now on `reverts_among` counts only edits after the last one: the operator has seen to its reverts."""
        self.file.write(
            "INSERT INTO wikis (wiki, counted_after)"
            " SELECT ?, coalesce(max(revision), 0) FROM edits WHERE wiki = ?"
            " ON CONFLICT (wiki) DO UPDATE SET counted_after = excluded.counted_after",
            (wiki, wiki),
        )

    def note_skip(self, wiki: str, page: int, normal: str, why: str, moment: datetime) -> None:
        """A link was left alone, for this reason; the last one of each link is kept."""
        self.file.write(
            "INSERT INTO skips (wiki, page, normal, why, moment) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (wiki, page, normal) DO UPDATE SET why = excluded.why, moment = excluded.moment",
            (wiki, page, normal, why, _seconds(moment)),
        )

    def cursor(self, wiki: str) -> str | None:
        """The place where the change feed of a wiki goes on; None at the beginning."""
        found = self.file.rows("SELECT cursor FROM wikis WHERE wiki = ?", (wiki,))
        return found[0][0] if found else None

    def set_cursor(self, wiki: str, cursor: str | None) -> None:
        """The change feed has been worked through up to here."""
        self.file.write(
            "INSERT INTO wikis (wiki, cursor) VALUES (?, ?) ON CONFLICT (wiki) DO UPDATE SET cursor = excluded.cursor",
            (wiki, cursor),
        )


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _seconds(moment: datetime) -> int:
    return int(_in_utc(moment).timestamp())


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _maybe(seconds: int | None) -> datetime | None:
    return None if seconds is None else _moment(seconds)


def _revert(
    edit: int,
    normal: str,
    url: str,
    verdict: str,
    why: str,
    revision: int,
    reverter: str,
    moment: int,
    is_false_positive: int,
    sent: int | None,
    state: str | None,
    released: int | None,
) -> NotedRevert:
    return NotedRevert(
        edit,
        normal,
        url,
        verdict,
        why,
        revision,
        reverter,
        _moment(moment),
        bool(is_false_positive),
        _maybe(sent),
        state,
        _maybe(released),
    )

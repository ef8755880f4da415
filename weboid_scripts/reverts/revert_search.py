"""Finds out, of repairs in the journal, which were taken back, by whom, in which revision (B-6).

What a text says of a link, and why it may have been changed, is for ``weboid/bot/reverts``.
Unchanged pages cost a fiftieth of a request; texts are read only where a page has changed, histories only
where a repair is no longer there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from weboid.bot.reverts import (
    EditedLink,
    LaterRevision,
    RevertFinding,
    RevertVerdict,
    RevisionSigns,
    analyse_links,
)
from weboid.core.wikitext.settings import WikiSettings
from weboid_scripts.common.revisions import AT_ONCE, RevisionFacts, RevisionLost, RevisionReader
from weboid_scripts.journal.journal import Edit, Journal, NotedRevert

_WITH_TEXTS: Final = AT_ONCE // 3
"""Edits whose three texts (before, after, newest) come in one request."""


@dataclass(frozen=True, slots=True)
class FoundRevert:
    """A repair that was taken back, and the revision that did it."""

    edit: Edit
    link: EditedLink
    finding: RevertFinding
    revision: RevisionFacts

    def noted(self) -> NotedRevert:
        """As the journal keeps it."""
        return NotedRevert(
            edit=self.edit.number,
            normal=self.link.normal,
            url=self.link.url,
            verdict=self.finding.verdict.value,
            why=self.finding.why.value if self.finding.why else "",
            revision=self.revision.revision,
            reverter=self.revision.user,
            moment=self.revision.moment,
            is_false_positive=self.finding.is_false_positive,
        )


@dataclass(frozen=True, slots=True)
class ExaminedEdit:
    """An edit, and its repairs that were taken back; `is_known` is False if the wiki hides its outcome."""

    edit: Edit
    reverts: tuple[FoundRevert, ...] = ()
    is_known: bool = True


class RevertSearch:
    """Finds the outcome of the edits of one wiki, by its settings; `bot` is its account; own edits are no reverts.

    Edits that may not have been saved are looked up and noted in the journal; else nothing is noted.
    """

    def __init__(self, site: Any, journal: Journal, settings: WikiSettings, bot: str) -> None:
        self._reader = RevisionReader(site)
        self._journal = journal
        self._settings = settings
        self._bot = bot

    def examine(self, edits: Iterable[Edit]) -> Iterator[ExaminedEdit]:
        """Each edit with its reverts, in their order, but those that were never saved. Raises WikiSilent."""
        remaining = iter(edits)
        while some := list(islice(remaining, AT_ONCE)):
            saved = [edit for each in some if (edit := self.settled(each)) is not None]
            newest = self._reader.newest(edit.page for edit in saved)
            for start in range(0, len(saved), _WITH_TEXTS):
                yield from self._examined(saved[start : start + _WITH_TEXTS], newest)

    def settled(self, edit: Edit) -> Edit | None:
        """The edit with its revision; None if the wiki has none such."""
        if edit.revision is not None:
            return edit
        try:
            history = self._reader.since(edit.page, edit.parent)
        except RevisionLost:
            return None
        for facts in history:
            # Its parent may be another: where somebody saved in between, the wiki merges both edits.
            if facts.revision != edit.parent and facts.user == self._bot and not self._is_noted(edit, facts):
                self._journal.note_saved(edit.number, facts.revision, facts.moment)
                return replace(edit, revision=facts.revision, moment=facts.moment)
        return None

    def _is_noted(self, edit: Edit, facts: RevisionFacts) -> bool:
        return self._journal.edit_of_revision(edit.wiki, facts.revision) is not None

    def _examined(self, edits: Sequence[Edit], newest: dict[int, RevisionFacts]) -> Iterator[ExaminedEdit]:
        """Edits, few enough for their texts to be read together; `newest` by page, without pages that are gone."""
        changed = [edit for edit in edits if edit.page in newest and not _is_untouched(edit, newest[edit.page])]
        needed = {number for edit in changed for number in (edit.parent, edit.revision, newest[edit.page].revision)}
        texts = self._reader.texts(number for number in needed if number) if needed else {}
        for edit in edits:
            if edit not in changed:
                yield ExaminedEdit(edit)
                continue
            last = newest[edit.page]
            assert edit.revision is not None, "settled before"
            three = [texts.get(number) for number in (edit.parent, edit.revision, last.revision)]
            before, after, now = three
            if before is None or after is None or now is None:
                yield ExaminedEdit(edit, is_known=False)
                continue
            comparison = _Comparison(self._reader, edit, before, after, self._settings, self._bot)
            try:
                yield ExaminedEdit(edit, tuple(comparison.reverts(self._own_links(edit), last, now)))
            except RevisionLost:
                yield ExaminedEdit(edit, is_known=False)

    def _own_links(self, edit: Edit) -> tuple[EditedLink, ...]:
        """The links of an edit, each once, without those that a later edit of ours has repaired again."""
        links = {link.normal: link for link in edit.links}
        return tuple(link for link in links.values() if not self._is_superseded(edit, link))

    def _is_superseded(self, edit: Edit, link: EditedLink) -> bool:
        same = self._journal.edits_of_link(edit.wiki, edit.page, link.normal)
        return any(each.number > edit.number and each.revision is not None for each in same)


def _is_untouched(edit: Edit, newest: RevisionFacts) -> bool:
    return newest.revision == edit.revision or (newest.sha1 != "" and newest.sha1 == edit.sha1)


class _Comparison:
    """One edit, compared with later revisions of its page; each text is analysed for all links together.

    A page may have thousands of links, and a text takes a second to read.
    """

    def __init__(
        self, reader: RevisionReader, edit: Edit, before: str, after: str, settings: WikiSettings, bot: str
    ) -> None:
        self._reader = reader
        self._edit = edit
        self._before = before
        self._after = after
        self._settings = settings
        self._bot = bot
        self._texts: dict[int, str | None] = {}
        self._verdicts: dict[int, dict[str, RevertVerdict]] = {}
        """Of each later revision that was analysed, by link."""

    def reverts(self, links: Sequence[EditedLink], newest: RevisionFacts, now: str) -> Iterator[FoundRevert]:
        found = [
            (link, finding.verdict)
            for link, finding in zip(links, self._findings(links, now), strict=True)
            if finding.verdict is RevertVerdict.REVERTED or finding.is_false_positive
        ]
        if not found:
            return
        assert self._edit.revision is not None
        history = self._reader.since(self._edit.page, self._edit.revision)
        tags = frozenset(tag for each in history if each.revision == self._edit.revision for tag in each.tags)
        later = [each for each in history if each.revision != self._edit.revision]
        if not later or later[-1].revision != newest.revision:
            later.append(newest)
        self._texts = {newest.revision: now}
        earlier = frozenset(each.sha1 for each in self._reader.until(self._edit.page, self._edit.parent))
        by_place: dict[int, list[EditedLink]] = {}
        for link, verdict in found:
            by_place.setdefault(self._place_of(link, verdict, later, links), []).append(link)
        for place, changed in sorted(by_place.items()):
            revision = later[place]
            if revision.user == self._bot:
                continue
            is_restored = revision.sha1 != "" and revision.sha1 in earlier
            until = later[: place + 1] if is_restored else [revision]
            signs = RevisionSigns(tags, tuple(map(_later, until)), earlier)
            findings = self._findings(changed, self._text(revision.revision) or now, signs)
            for link, finding in zip(changed, findings, strict=True):
                if finding.verdict is RevertVerdict.REVERTED or finding.is_false_positive:
                    yield FoundRevert(self._edit, link, finding, revision)

    def _place_of(
        self, link: EditedLink, verdict: RevertVerdict, later: Sequence[RevisionFacts], links: Sequence[EditedLink]
    ) -> int:
        """The place in `later` where the link, one of `links`, came into the state in which it is now, by halving."""
        before, at = -1, len(later) - 1
        while at - before > 1:
            middle = (before + at) // 2
            if self._verdicts_at(later[middle].revision, links).get(link.normal) is verdict:
                at = middle
            else:
                before = middle
        return at

    def _verdicts_at(self, revision: int, links: Sequence[EditedLink]) -> dict[str, RevertVerdict]:
        """The state of these links in a revision; nothing if its text is hidden."""
        if revision not in self._verdicts:
            text = self._text(revision)
            findings = () if text is None else self._findings(links, text)
            self._verdicts[revision] = {
                link.normal: finding.verdict for link, finding in zip(links, findings, strict=False)
            }
        return self._verdicts[revision]

    def _text(self, revision: int) -> str | None:
        if revision not in self._texts:
            self._texts[revision] = self._reader.texts([revision]).get(revision)
        return self._texts[revision]

    def _findings(
        self, links: Sequence[EditedLink], text: str, signs: RevisionSigns | None = None
    ) -> list[RevertFinding]:
        return analyse_links(links, self._before, self._after, text, self._settings, self._bot, signs)


def _later(facts: RevisionFacts) -> LaterRevision:
    return LaterRevision(facts.user, facts.comment, facts.tags, facts.sha1)

"""Repairs one page: (wikitext, the wiki's settings, answers) → (wikitext, changes with reasons) (B-4, B-5).

Outside the repairs the text stays byte for byte; a repaired page has nothing left to repair; a page without answers is
returned as it is.
"""

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Final, NamedTuple

from weboid.bot.answers import KnownCopy, KnownLinks, LinkAnswer, form_of, key_of
from weboid.bot.archived import (
    CopyStanding,
    chosen_copy,
    copy_at,
    for_readers,
    innermost,
    is_moved,
    is_same_link,
    original_in,
    standing_of,
)
from weboid.bot.decisions import COPIES_NOT_KNOWN, LinkState, RepairAction, decide
from weboid.bot.edits import copy_written, edits_for
from weboid.bot.exclusion import excludes
from weboid.bot.links import ArchiveMark, LinkForm, RepairableLink
from weboid.bot.page_links import page_links, pattern_parameters
from weboid.bot.parameters import TextEdit
from weboid.bot.pieces import EditedPiece, applied, pieces_of
from weboid.bot.rewriting import Writing, day_of_template, holds_more, is_misdated, stated_by, tagged_by
from weboid.core.archive.copies import CopyState
from weboid.core.wikitext.citations import Citation, Written
from weboid.core.wikitext.dates import day_in
from weboid.core.wikitext.nodes import Wikitext
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.settings import WikiSettings, flags_of

BOT: Final = "WeboidBot"
SCRIPT: Final = "weboid_repair"
_MOST_PASSES: Final = 5
"""A repair that another one makes possible (a revived link gets its living copy) is done in the same edit. A page is
finished if a pass finds nothing to do; at most four passes in a row follow from what was done before."""


@dataclass(frozen=True, slots=True)
class LinkChange:
    """One repair: the link as written, the action and the stable word why, the text before and after, and the copy
    that was written."""

    url: str
    action: RepairAction
    why: str
    before: str
    after: str
    copy: KnownCopy | None = None


class LeftLink(NamedTuple):
    """A link as written that was left alone, and the stable word why."""

    url: str
    why: str


@dataclass(frozen=True, slots=True)
class RepairedPage:
    """The text after the repair, and the changes; `kept_off` is the template that keeps the bot off the page.

    Where the wiki wants a message instead of the edit, `text` is unchanged and `changes` are what could be done.
    `waiting` are dead links, as written, left alone because it is not known yet whether there are copies (D13).
    `repeating` are links, as written, whose repair was left out, for it would be made again and again: a fault of this
    program. If that was not enough, the page is returned as it was. `pieces` has for each change the piece of the text
    that it is in; `left` are the links that were left alone at the first look.
    """

    text: str
    changes: tuple[LinkChange, ...] = ()
    kept_off: str | None = None
    waiting: tuple[str, ...] = ()
    repeating: tuple[str, ...] = ()
    pieces: tuple[EditedPiece, ...] = ()
    left: tuple[LeftLink, ...] = ()


_Step = tuple[LinkForm, str, RepairAction]
"""The action on a link of this form and normal form."""


@dataclass(slots=True)
class _Pass:
    """The result of one look at all links: edits, their changes with where each begins, and the links that wait, or
    are left alone for any reason."""

    edits: list[TextEdit] = field(default_factory=list)
    changes: list[LinkChange] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    left: list[LeftLink] = field(default_factory=list)
    steps: list[_Step] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


def repair(
    text: str,
    settings: WikiSettings,
    answers: KnownLinks,
    *,
    now: datetime,
    bot: str = BOT,
    script: str = SCRIPT,
    by_hand: bool = False,
) -> RepairedPage:
    """The repaired page; `now` in UTC, `bot` the name by which pages admit or exclude it.

    `by_hand`: a person looks at the edit and saves it, so it is not signed as a bot's, and no message takes its place.
    """
    if not (answers.by_url or by_hand) or not settings.options.run:
        return RepairedPage(text)
    wikitext = read_wikitext(text)
    if kept_off := excludes(wikitext, settings, bot=bot, script=script, by_hand=by_hand):
        return RepairedPage(text, kept_off=kept_off)

    def finished(start: Wikitext) -> RepairedPage:
        return _finished(Writing(start, settings, frozenset(), now, bot, is_signed=not by_hand), answers)

    page = finished(wikitext)
    if page.repeating and finished(read_wikitext(page.text)).text != page.text:
        page = RepairedPage(text, repeating=page.repeating)
    return replace(page, text=text) if settings.options.talk == "instead" and not by_hand else page


def _finished(writing: Writing, answers: KnownLinks) -> RepairedPage:
    """The page with all repairs but those that would be made again and again; without them it may be as it was."""
    page, last = _passes(writing, answers, frozenset())
    if not last.steps:
        return page
    repeating = [change.url for change in last.changes]
    page, more = _passes(writing, answers, frozenset(last.steps))
    if more.steps:
        page = RepairedPage(writing.wikitext.text)
        repeating += [change.url for change in more.changes]
    return replace(page, repeating=tuple(dict.fromkeys(repeating)))


def _passes(writing: Writing, answers: KnownLinks, left_out: frozenset[_Step]) -> tuple[RepairedPage, _Pass]:
    """The page after all passes, and the last of them, which has no edits if the page is finished."""
    passes: list[_Pass] = []
    wikitext = writing.wikitext
    for _ in range(_MOST_PASSES):
        names = frozenset(each.name for each in wikitext.templates)
        passes.append(_one_pass(replace(writing, wikitext=wikitext, templates=names), answers, left_out))
        if not passes[-1].edits:
            break
        wikitext = read_wikitext(applied(wikitext.text, passes[-1].edits))
    spans = [
        [(start, start + len(change.before)) for start, change in zip(each.starts, each.changes, strict=True)]
        for each in passes
    ]
    pieces = pieces_of(writing.wikitext.text, wikitext.text, [each.edits for each in passes], spans)
    changes = tuple(change for each in passes for change in each.changes)
    page = RepairedPage(wikitext.text, changes, waiting=tuple(passes[-1].waiting), pieces=tuple(pieces))
    return replace(page, left=tuple(passes[0].left)), passes[-1]


def _one_pass(writing: Writing, answers: KnownLinks, left_out: frozenset[_Step]) -> _Pass:
    done, written_to = _Pass(), 0
    only_references = writing.settings.options.scope == "references"
    for link in page_links(writing.wikitext, writing.settings, writing.bot):
        answer = answers.of(link.url)
        if answer is None or link.is_ignored or (only_references and link.spot.reference is None):
            why = "unknown" if answer is None else "ignored" if link.is_ignored else "outside-references"
            done.left.append(LeftLink(link.url, why))
            continue
        answer = _fitting(_flagged(answer, link.url, writing.settings), link, writing)
        if link.copy_next and answer.copies is not CopyState.FOUND:
            standing = standing_of(link.copy_next, link.url, answers, writing.now)
            link.copy_next = None if standing is CopyStanding.INVALID else link.copy_next
        state = state_of(writing, link, answers)
        decision = decide(state, answer, writing.settings.options)
        if decision.action is RepairAction.NOTHING:
            done.left.append(LeftLink(link.url, decision.why))
            if decision.why in COPIES_NOT_KNOWN:
                done.waiting.append(link.url)
            continue
        step = (link.kind, key_of(link.url) or link.url, decision.action)
        own = [] if step in left_out else edits_for(writing, link, state, answer, decision)
        if any(edit.start < written_to for edit in own):
            continue  # it stands in what is written anew; the next pass sees where
        if own and not any(_makes_parameter(writing, edit) for edit in own):
            written_to = max([written_to, *(edit.end for edit in own if edit.text and edit.start < edit.end)])
            done.edits += own
            done.steps.append(step)
            start = min(link.start, *(edit.start for edit in own))
            before = writing.text_of(start, max(link.end, *(edit.end for edit in own)))
            shifted = [TextEdit(edit.start - start, edit.end - start, edit.text) for edit in own]
            copy = copy_written(link, state, answer, decision)
            after = applied(before, shifted)
            done.changes.append(LinkChange(link.url, decision.action, decision.why, before, after, copy))
            done.starts.append(start)
        else:
            done.left.append(LeftLink(link.url, "repeats" if step in left_out else "not-writable"))
    return done


def _makes_parameter(writing: Writing, edit: TextEdit) -> bool:
    """True if a template behind a brace, such as that of ``-{``, would be read as a parameter, ``{{{``."""
    is_new = writing.wikitext.text[edit.start : edit.start + 2] != "{{"
    return is_new and edit.text.startswith("{{") and writing.text_of(edit.start - 1, edit.start) == "{"


def _flagged(answer: LinkAnswer, url: str, settings: WikiSettings) -> LinkAnswer:
    """The answer with the flags of the wiki's own lists, which answers of others lack."""
    form = form_of(url)
    own = frozenset[str]() if form is None else flags_of(form, settings)
    return replace(answer, flags=answer.flags | own) if own else answer


def _fitting(answer: LinkAnswer, link: RepairableLink, writing: Writing) -> LinkAnswer:
    """The answer with the one copy that would be written for this link; where none may be, it is UNKNOWN."""
    copy = chosen_copy(answer.snapshots, link.url, _day_near(link, writing), writing.now)
    if copy is None and answer.copies is CopyState.FOUND:
        return replace(answer, copies=CopyState.UNKNOWN, snapshots=())
    return replace(answer, snapshots=() if copy is None else (copy,))


def _day_near(link: RepairableLink, writing: Writing) -> date | None:
    """The day to which the copy is to be near: that of access, else of the copy that is there; None for neither."""
    citation, language = link.citation, writing.settings.lang
    if citation is not None:
        for given in (citation.access_date, citation.archive_date):
            if given is not None and (day := day_in(given.value, language)) is not None:
                return day
    there = link.copy_address and copy_at(link.copy_address)
    return there.taken.date() if there else None


def state_of(writing: Writing, link: RepairableLink, answers: KnownLinks) -> LinkState:
    """The state of a link in the page."""
    if link.citation is not None:
        return _state_of_citation(writing, link, link.citation, answers)
    copy, marks = CopyStanding.ABSENT, link.archives
    if link.wrapped is not None:
        copy = standing_of(link.wrapped, link.url, answers, writing.now)
    elif marks:
        copy = _standing_of_mark(link, answers, writing.now)
    elif link.copy_next is not None:
        copy = CopyStanding.GOOD  # what is to be another is replaced at its own place
    is_obsolete = bool(marks) and marks[0].obsolete is not None and link.wrapped is None
    flaw = ""
    if link.wrapped is not None:
        flaw = _flaw(writing, link.wrapped, None, is_dated=True)
    elif marks and marks[0].address and marks[0].obsolete is None:
        dated, is_dated = _day_of_mark(writing, marks[0])
        flaw = _flaw(writing, marks[0].address, dated, is_dated=is_dated)
    return LinkState(copy, tagged_by(writing, link), is_paid=link.is_paid, is_obsolete=is_obsolete, flaw=flaw)


def _day_of_mark(writing: Writing, mark: ArchiveMark) -> tuple[Written | None, bool]:
    """The parameter for the day of an archive template's copy, and whether its own address or moment says it."""
    names = pattern_parameters(writing.settings.archive_template.write)
    if "archive_url" not in names or "archive_date" not in names:
        return None, True
    return day_of_template(writing, mark.template, names["archive_date"]), False


def _flaw(writing: Writing, address: str, dated: Written | None, *, is_dated: bool) -> str:
    """The stable word for what is wrong with a copy's address, or with the day next to it; empty for nothing."""
    if not address or (copy := copy_at(address)) is None:
        return ""
    if innermost(address) != address:
        return "archive-nested"
    return "archive-date" if is_misdated(writing, copy, dated, is_needed=not is_dated) else ""


def _standing_of_mark(link: RepairableLink, answers: KnownLinks, now: datetime) -> CopyStanding:
    mark = link.archives[0]
    # It may name its copy in a way that the settings do not know; a citation can name those of all archives.
    standing = CopyStanding.GOOD if mark.address is None else standing_of(mark.address, link.url, answers, now)
    is_none = mark.is_open and (mark.address is None or link.citation is None)
    return CopyStanding.INVALID if is_none and standing is CopyStanding.GOOD else standing


def _state_of_citation(writing: Writing, link: RepairableLink, citation: Citation, answers: KnownLinks) -> LinkState:
    settings, status = writing.settings, writing.settings.cite.status
    archive_url = citation.archive_url.value if citation.archive_url is not None else ""
    wrapped = None if link.wrapped is None else standing_of(link.wrapped, link.url, answers, writing.now)
    copy, is_movable, is_obsolete, can_state = CopyStanding.ABSENT, False, False, status is not None
    if archive_url:
        copy = standing_of(archive_url, link.url, answers, writing.now)
        if copy is CopyStanding.FOREIGN and _is_of_another_link(writing, citation, archive_url):
            copy = CopyStanding.GOOD
    elif link.stamp:
        copy = CopyStanding.GOOD
    elif wrapped is not None:
        copy = wrapped
    elif link.archives:
        copy = _standing_of_mark(link, answers, writing.now)
    elif _has_unknown_copy(writing, citation, link.url, answers):
        copy = CopyStanding.GOOD
    elif link.copy_next is not None:
        copy, can_state = CopyStanding.GOOD, False
    if wrapped is not None:
        may_go = archive_url and copy is CopyStanding.GOOD and settings.options.replace_deprecated_archives
        is_movable = bool(may_go) or wrapped is CopyStanding.GOOD
    elif link.archives and not archive_url and not link.stamp:
        mark = link.archives[0]
        is_one = len(link.archives) == 1 and not holds_more(writing, mark)
        is_movable = is_one and mark.address is not None and copy_at(mark.address) is not None
        is_obsolete = mark.address is None and mark.obsolete is not None
    return LinkState(
        copy=copy,
        tagged=tagged_by(writing, link),
        stated=stated_by(writing.wikitext, settings, citation)[0],
        is_paid=link.is_paid,
        is_movable=is_movable,
        is_obsolete=is_obsolete,
        # Where citations may name a copy by its moment alone, its day is no need.
        flaw=_flaw(writing, archive_url, citation.archive_date, is_dated=bool(settings.cite.archive_stamp)),
        is_untidy=bool(archive_url) and for_readers(archive_url) != archive_url,
        is_citation=True,
        can_state=can_state,
        implies_dead=status is not None and status.default_with_archive == status.dead,
        tags_by_stating=settings.dead_tag.place == "swallow",
    )


def _has_unknown_copy(writing: Writing, citation: Citation, url: str, answers: KnownLinks) -> bool:
    """True if a parameter that the settings do not know, such as that of another wiki, holds a copy of the link."""
    given = [writing.wikitext.value_of(each) for each in citation.template.parameters]
    return any(
        copy_at(value) is not None and standing_of(value, url, answers, writing.now) is CopyStanding.GOOD
        for value in given
        if "//" in value and value != url
    )


def _is_of_another_link(writing: Writing, citation: Citation, address: str) -> bool:
    """True if a copy is that of another address in the citation, such as the chapter's, or the link's new one."""
    original = original_in(address)
    given = (writing.wikitext.value_of(each) for each in citation.template.parameters)
    is_given = original is not None and any(is_same_link(original, value) for value in given if form_of(value))
    return is_given or is_moved(address, citation.url.value)

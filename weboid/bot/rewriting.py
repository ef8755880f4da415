"""Writes citations and marks, as edits of the text (B-5).

Titles, access dates and everything else that nobody has looked up are never written. Where something cannot be written
safely, there are no edits, and the caller leaves the link alone.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from weboid.bot.answers import KnownCopy, form_of
from weboid.bot.archived import copy_at, for_readers
from weboid.bot.decisions import Stated, Tagged
from weboid.bot.links import ArchiveMark, LinkForm, RepairableLink, blanks_before
from weboid.bot.page_links import pattern_parameters
from weboid.bot.parameters import TemplateEditor, TextEdit
from weboid.core.wikitext.citations import Citation, Written, name_key, name_keys, name_to_write, written
from weboid.core.wikitext.dates import day_in
from weboid.core.wikitext.nodes import PIPE, TemplateNode, Wikitext
from weboid.core.wikitext.settings import WikiSettings, placeholders
from weboid.core.wikitext.templates import common_values, date_text, substituted, url_value

PLAIN_URL: Final = re.compile(r"[^\s\[\]{}<>\"]+")
"""A URL that can stand in a parameter, but for its pipes."""

_STAMP: Final = re.compile(r"[0-9]{8}(?:[0-9]{6})?")
"""A moment as archives write it, which no citation shows as a day."""
_NUMBER: Final = re.compile(r"\d+")

_HOLDING: Final = (("<small>", "</small>"), ("(", ")"), ("<small>", "</small>"), ("<sup>", "</sup>"))  # from the inside


@dataclass(frozen=True, slots=True)
class Writing:
    """The page and the moment of writing; `templates` are the names of the page's templates. `is_signed`: the bot puts
    its name where the wiki wants that."""

    wikitext: Wikitext
    settings: WikiSettings
    templates: frozenset[str]
    now: datetime
    bot: str
    is_signed: bool = True

    def values(self, like: Iterable[str] = ()) -> dict[str, str | None]:
        """The values of placeholders that do not depend on the link; the day is written like the first of some days."""
        return {
            **common_values(self.settings, self.now, self.bot if self.is_signed else None),
            "date": self.day(self.now, like),
        }

    def day(self, moment: datetime, like: Iterable[str] = ()) -> str:
        """The day of a moment, written like the first of some days, or as this page writes days."""
        return date_text(self.settings, moment.astimezone(UTC).date(), self.templates, like)

    def text_of(self, start: int, end: int) -> str:
        """The text between two offsets."""
        return self.wikitext.text[start:end]


def in_parameter(url: str) -> str:
    """A URL as the value of a parameter, which a pipe would end."""
    return url.replace("|", PIPE)


def cited(writing: Writing, link: RepairableLink, copy: KnownCopy, *, is_dead: bool) -> list[TextEdit]:
    """The citation with a copy in its parameters, and the statement if the link is dead."""
    citation, cite = link.citation, writing.settings.cite
    address = url_value(for_readers(copy.address))
    if citation is None or address is None or not PLAIN_URL.fullmatch(link.url):
        return []
    status = cite.status
    if not is_dead and status is not None and status.live is None and status.default_with_archive is not None:
        return []
    editor = TemplateEditor(writing.wikitext.text, citation.template)
    named = partial(name_to_write, template=citation.template, cite=cite)
    fits = link.wrapped is None or editor.set(citation.url.parameter, in_parameter(link.url))
    if link.wrapped is not None and citation.archive_url is not None and citation.archive_url.value:
        fits = fits and tidied(writing, citation, editor)
    else:
        day = writing.day(copy.taken, _days(writing, citation))
        fits = fits and put(editor, citation.archive_url, named(cite.archive_url), address)
        fits = fits and put(editor, citation.archive_date, named(cite.archive_date), day)
        fits = fits and (citation.archive_date is None or _may_go(citation.archive_date.value))
        if cite.bot_mark is not None and writing.is_signed:
            names = (cite.bot_mark.param, *cite.bot_mark.others)
            mark = written(writing.wikitext, citation.template, names)
            signature = substituted(cite.bot_mark.value, writing.values())
            fits = fits and signature is not None and put(editor, mark, named(names), signature)
    fits = fits and put_state(writing, citation, editor, is_dead=is_dead)
    marks = [*removable(writing, link), *(mark.template for mark in link.archives)] if is_dead else []
    if not fits or any(holds_more(writing, mark) for mark in link.archives):
        return []
    return [*editor.edits(), *(cut(writing, mark.start, mark.end) for mark in marks)]


def stated(writing: Writing, citation: Citation, *, is_dead: bool) -> list[TextEdit]:
    """The citation that says that its link is dead, and its copy in good order."""
    editor = TemplateEditor(writing.wikitext.text, citation.template)
    fits = tidied(writing, citation, editor)
    if is_dead:
        fits = fits and put_state(writing, citation, editor, is_dead=True)
    return list(editor.edits()) if fits else []


def tidied(writing: Writing, citation: Citation, editor: TemplateEditor) -> bool:
    """Tidies the copy that is there: its address as for readers, and the day that this address gives (D-248)."""
    old = citation.archive_url
    if old is None or not old.value:
        return True
    better = for_readers(old.value)
    fits = better == old.value or editor.set(old.parameter, in_parameter(better))
    copy, dated = copy_at(old.value), citation.archive_date
    if copy is not None and is_misdated(writing, copy, dated, is_needed=citation.archive_stamp is None):
        day = writing.day(copy.taken, _days(writing, citation))
        cite = writing.settings.cite
        fits = fits and put(editor, dated, name_to_write(cite.archive_date, citation.template, cite), day)
    return fits


def is_misdated(writing: Writing, copy: KnownCopy, dated: Written | None, *, is_needed: bool = True) -> bool:
    """True if the day of a copy is not there though it `is_needed`, or is certainly another one, by our calendar."""
    if dated is None or not dated.value:
        return is_needed
    day = day_in(dated.value, writing.settings.lang)
    if day is None:
        return _STAMP.fullmatch(dated.value) is not None
    is_gregorian = any(int(number) == day.year for number in _NUMBER.findall(dated.value))
    return is_gregorian and day != copy.taken.astimezone(UTC).date()


def day_of_template(writing: Writing, template: TemplateNode, name: str) -> Written | None:
    """The parameter with the day of an archive template, which wikis give several names, such as ``data``."""
    named = written(writing.wikitext, template, (name,))
    values = () if named else ((each, writing.wikitext.value_of(each).strip()) for each in template.parameters)
    return named or next((Written(*each) for each in values if day_in(each[1], writing.settings.lang)), None)


def _days(writing: Writing, citation: Citation) -> Iterator[str]:
    """The values of a citation that may be days, those next to the copy's first: it is to be written like them."""
    yield from (each.value for each in (citation.archive_date, citation.access_date) if each is not None)
    yield from (writing.wikitext.value_of(each) for each in citation.template.parameters if each.equals is not None)


def put_state(writing: Writing, citation: Citation, editor: TemplateEditor, *, is_dead: bool) -> bool:
    """Says by the citation's parameter if the link is dead."""
    status = writing.settings.cite.status
    if status is None:
        return True
    current, counted = stated_by(writing.wikitext, writing.settings, citation)
    value = substituted(status.dead, writing.values(_days(writing, citation))) if is_dead else status.live
    if current is Stated.KEPT:
        return True
    if value is None:
        for each in citation.statuses:
            editor.remove(each.parameter)
        return not is_dead
    if not citation.statuses:
        editor.add(status.param, value)
        return True
    first, *others = citation.statuses
    for each in others:
        if "<!--" not in writing.text_of(each.parameter.start, each.parameter.end):
            editor.remove(each.parameter)
    if first.parameter.name != status.param:
        editor.rename(first.parameter, status.param)
    is_stated = current in ((Stated.DEAD, Stated.DEAD_BY_BOT) if is_dead else (Stated.LIVE,))
    old = {word.casefold() for word in (*status.legacy_dead, *status.legacy_live)}
    value = counted.value if is_stated and counted and counted.value.casefold() not in old else value
    return first.value == value or editor.set(first.parameter, value)


def stated_by(wikitext: Wikitext, settings: WikiSettings, citation: Citation) -> tuple[Stated, Written | None]:
    """The statement of a citation about its link, and the parameter with it."""
    status, mark = settings.cite.status, settings.cite.bot_mark
    if name_key(citation.template.name) in name_keys(settings.dead_tag.names):
        return Stated.KEPT, None
    if status is None:
        return Stated.NOTHING, None
    for each in (given for given in citation.statuses if given.value):
        value = each.value.casefold()
        is_present = each.parameter.name == status.param
        if value in {kept.casefold() for kept in status.keep}:
            return Stated.KEPT, each
        if value in {live.casefold() for live in (*status.legacy_live, *([status.live] if status.live else []))}:
            return Stated.LIVE, each
        dead = {word.casefold() for word in (status.dead, *status.legacy_dead)}
        is_day = placeholders(status.dead) and re.search(r"\d{4}", value)  # {{date}} holds days, too
        if value in dead or is_day or (is_present and status.live is None):
            marked = mark is not None and written(wikitext, citation.template, (mark.param, *mark.others))
            return Stated.DEAD_BY_BOT if marked and marked.value else Stated.DEAD, each
        if is_present:
            return Stated.KEPT, each
    return Stated.NOTHING, None


def put(editor: TemplateEditor, old: Written | None, name: str, value: str) -> bool:
    """Gives a parameter a value, where it stands or behind the others. False if it cannot be written."""
    if old is not None:
        return editor.set(old.parameter, value)
    editor.add(name, value)
    return True


def _is_by_bot(writing: Writing, tag: TemplateNode) -> bool:
    """True if a bot has set a dead tag: the parameter for that has a value."""
    names = pattern_parameters(writing.settings.dead_tag.write)
    found = written(writing.wikitext, tag, (names["bot"],)) if "bot" in names else None
    return found is not None and bool(found.value)


def tagged_by(writing: Writing, link: RepairableLink) -> Tagged:
    """The author of a link's dead tags."""
    tags = [*link.dead_tags, *([link.template] if link.kind is LinkForm.DEAD_TAG and link.template else [])]
    if not tags:
        return Tagged.NOBODY
    return Tagged.BOT if all(_is_by_bot(writing, tag) for tag in tags) else Tagged.PERSON


def removable(writing: Writing, link: RepairableLink) -> Iterator[TemplateNode]:
    """The link's dead tags, but for those with a URL that would be lost, such as another spelling of the link's."""
    for tag in link.dead_tags:
        values = {writing.wikitext.value_of(each) for each in tag.parameters}
        if all(value == link.url or _may_go(value) for value in values):
            yield tag


def holds_more(writing: Writing, mark: ArchiveMark) -> bool:
    """True if more would be lost with an archive template than its copy, such as links in its text."""
    own = {mark.address, mark.url}
    values = {writing.wikitext.value_of(each) for each in mark.template.parameters}
    return not all(value in own or _may_go(value) for value in values)


def _may_go(value: str) -> bool:
    """True if nothing is lost with a value: no address, and no reference that others may use."""
    return form_of(value) is None and "//" not in value and "<ref" not in value.casefold()


def removed(writing: Writing, link: RepairableLink, *, bots_only: bool) -> list[TextEdit]:
    """The link without its dead tags, or without those of bots."""
    tags = [tag for tag in removable(writing, link) if not bots_only or _is_by_bot(writing, tag)]
    return [cut(writing, tag.start, tag.end, is_glued=link.kind is LinkForm.BARE) for tag in tags]


def cut(writing: Writing, start: int, end: int, *, is_glued: bool = False) -> TextEdit:
    """A mark taken out with the blanks, the comma, the parentheses or the tags that held it; behind a bare URL a blank
    stays where text would become part of it."""
    text = writing.wikitext.text
    start = blanks_before(text, start)
    for opened, closed in _HOLDING:
        if text.endswith(opened, 0, start) and text.startswith(closed, end):
            start, end = blanks_before(text, start - len(opened)), end + len(closed)
    if text[start - 1 : start] in (",", ";") and (end == len(text) or text[end] in "\n<.,;)"):
        start -= 1
    if text[start - 1 : start] == "\n" and text.startswith(("\n", "</"), end):
        start -= 1  # it had the line for itself
    would_join = is_glued and end < len(text) and (text[end].isalnum() or text[end] in "/?#&=%_~+-")
    return TextEdit(start, end, " " if would_join else "")

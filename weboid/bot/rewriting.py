"""How each action is written, for each kind of link, as edits of the text (B-5).

Titles, access dates and everything else that nobody has looked up are never written.
One law: what cannot be written safely gives no edits; the caller then leaves the link alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from weboid.bot.answers import KnownCopy, LinkAnswer, form_of
from weboid.bot.archived import copy_at, for_readers, is_wayback
from weboid.bot.decisions import Decision, LinkState, RepairAction, Stated, Tagged
from weboid.bot.page_links import ArchiveMark, LinkForm, RepairableLink, pattern_parameters
from weboid.bot.parameters import TemplateEditor, TextEdit
from weboid.core.archive.addresses import stamp_of
from weboid.core.wikitext.citations import Citation, Written, written
from weboid.core.wikitext.nodes import ParameterNode, TemplateNode, Wikitext
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.settings import WikiSettings, placeholders
from weboid.core.wikitext.templates import common_values, date_text, filled_pattern, substituted, url_value

_ASIDE: Final = frozenset({"date", "bot", "archivebot", "archiv-bot", "fix-attempted", "checked", "inline"})
"""Parameters of a dead tag that say something of the tag, not of the document."""
_PLAIN_TITLE: Final = re.compile(r"[^\[\]{}|<>=\n]+")
_PLAIN_URL: Final = re.compile(r"[^\s\[\]{}|<>\"]+")


@dataclass(frozen=True, slots=True)
class Writing:
    """What the page and the moment say about how to write: `templates` are the names of the page's templates."""

    wikitext: Wikitext
    settings: WikiSettings
    templates: frozenset[str]
    now: datetime
    bot: str

    def values(self) -> dict[str, str | None]:
        """The values of placeholders that do not depend on the link."""
        return {**common_values(self.settings, self.now, self.bot), "date": self.day(self.now)}

    def day(self, moment: datetime) -> str:
        """The day of a moment, as this page writes it."""
        return date_text(self.settings, moment.astimezone(UTC).date(), self.templates)

    def text_of(self, start: int, end: int) -> str:
        """The text between two offsets."""
        return self.wikitext.text[start:end]


def edits_for(
    writing: Writing, link: RepairableLink, state: LinkState, answer: LinkAnswer, decision: Decision
) -> list[TextEdit]:
    """The edits that carry out an action; none if it cannot be written."""
    action, own = decision.action, _copy_in_page(link, state)
    copy = own if action in _KEEPS_COPY and own is not None else next(iter(answer.snapshots), None)
    match action:
        case RepairAction.UNTAG:
            return _removed(writing, link, bots_only=False)
        case RepairAction.REVIVE:
            return _revived(writing, link, state)
        case RepairAction.TAG:
            return _tagged(writing, link)
        case RepairAction.STATE_DEAD | RepairAction.TIDY if link.citation is not None:
            edits = _stated(writing, link.citation, is_dead=action is RepairAction.STATE_DEAD)
            return [*edits, *_removed(writing, link, bots_only=action is RepairAction.TIDY)] if edits else []
    if copy is None:
        return []
    match link.kind:
        case LinkForm.CITATION:
            is_living = action is RepairAction.ADD_LIVING_COPY
            is_dead = False if is_living else True if decision.counts_as_dead else None
            return _cited(writing, link, copy, is_dead=is_dead)
        case LinkForm.BRACKETED | LinkForm.BARE:
            return _plain(writing, link, copy)
        case LinkForm.DEAD_TAG:
            return _untagged_copy(writing, link, copy)
        case LinkForm.COPY:
            return _rewritten(writing, link.archives[0], link.url, copy)


_KEEPS_COPY: Final = frozenset({RepairAction.ADD_COPY, RepairAction.CONVERT})


def _copy_in_page(link: RepairableLink, state: LinkState) -> KnownCopy | None:
    """The good copy that stands beside the link, or in the place of its URL."""
    if not (state.is_movable or state.is_obsolete):
        return None
    address = link.wrapped or (link.archives[0].address if link.archives else None)
    return None if address is None else copy_at(address)


# Citations.


def _cited(writing: Writing, link: RepairableLink, copy: KnownCopy, *, is_dead: bool | None) -> list[TextEdit]:
    """The citation with a copy in its parameters; `is_dead` None = what it says of the link stays."""
    citation, cite = link.citation, writing.settings.cite
    address = url_value(for_readers(copy.address))
    if citation is None or address is None or not _PLAIN_URL.fullmatch(link.url):
        return []
    status = cite.status
    if is_dead is False and status is not None and status.live is None and status.default_with_archive is not None:
        return []
    editor = TemplateEditor(writing.wikitext.text, citation.template)
    fits = True
    if link.wrapped is not None:
        fits = editor.set(citation.url.parameter, link.url)
    is_kept = link.wrapped is not None and citation.archive_url is not None and citation.archive_url.value
    if is_kept and citation.archive_url is not None:
        fits = fits and _tidied(writing, citation, editor)
    else:
        for old, name, value in (
            (citation.archive_url, cite.archive_url[0], address),
            (citation.archive_date, cite.archive_date[0], writing.day(copy.taken)),
        ):
            fits = fits and _put(editor, old, name, value)
        if cite.bot_mark is not None:
            mark = written(writing.wikitext, citation.template, (cite.bot_mark.param,))
            signature = substituted(cite.bot_mark.value, writing.values())
            fits = fits and signature is not None and _put(editor, mark, cite.bot_mark.param, signature)
    if is_dead is not None:
        fits = fits and _state(writing, citation, editor, is_dead=is_dead)
    if not fits:
        return []
    marks = [*_removable(writing, link), *(mark.template for mark in link.archives)] if is_dead else []
    return [*editor.edits(), *(_cut(writing, mark.start, mark.end) for mark in marks)]


def _stated(writing: Writing, citation: Citation, *, is_dead: bool) -> list[TextEdit]:
    """The citation that says that its link is dead, and its copy in good order."""
    editor = TemplateEditor(writing.wikitext.text, citation.template)
    fits = _tidied(writing, citation, editor)
    if is_dead:
        fits = fits and _state(writing, citation, editor, is_dead=True)
    return list(editor.edits()) if fits else []


def _tidied(writing: Writing, citation: Citation, editor: TemplateEditor) -> bool:
    """What is done alongside a repair: https, and the date that the copy's address gives if there is none."""
    old = citation.archive_url
    if old is None or not old.value:
        return True
    better = for_readers(old.value)
    fits = better == old.value or editor.set(old.parameter, better)
    copy, dated = copy_at(old.value), citation.archive_date
    is_dated = (dated is not None and dated.value) or citation.archive_stamp is not None
    if copy is not None and not is_dated:
        fits = fits and _put(editor, dated, writing.settings.cite.archive_date[0], writing.day(copy.taken))
    return fits


def _state(writing: Writing, citation: Citation, editor: TemplateEditor, *, is_dead: bool) -> bool:
    """Says by the citation's parameter whether the link is dead."""
    status = writing.settings.cite.status
    if status is None:
        return True
    said = stated_by(writing.wikitext, writing.settings, citation)
    wanted = substituted(status.dead, writing.values()) if is_dead else status.live
    present = next((each for each in citation.statuses if each.parameter.name == status.param), None)
    older = [each for each in citation.statuses if each.parameter.name != status.param]
    if said is Stated.KEPT:
        return True
    if wanted is None:
        for each in citation.statuses:
            editor.remove(each.parameter)
        return not is_dead
    is_said = said in ((Stated.DEAD, Stated.DEAD_BY_BOT) if is_dead else (Stated.LIVE,))
    if present is not None:
        for each in older:
            editor.remove(each.parameter)
        return (is_said and bool(present.value)) or editor.set(present.parameter, wanted)
    if older:
        editor.rename(older[0].parameter, status.param)
        for each in older[1:]:
            editor.remove(each.parameter)
        return editor.set(older[0].parameter, wanted)
    editor.add(status.param, wanted)
    return True


def stated_by(wikitext: Wikitext, settings: WikiSettings, citation: Citation) -> Stated:
    """What a citation says of its link."""
    status, mark = settings.cite.status, settings.cite.bot_mark
    if status is None:
        return Stated.NOTHING
    for each in citation.statuses:
        value = each.value.casefold()
        if not value:
            continue
        is_present = each.parameter.name == status.param
        if is_present and value in {kept.casefold() for kept in status.keep}:
            return Stated.KEPT
        if value in {live.casefold() for live in (*status.legacy_live, *([status.live] if status.live else []))}:
            return Stated.LIVE
        dead = {word.casefold() for word in (status.dead, *status.legacy_dead)}
        if value in dead or (is_present and (status.live is None or placeholders(status.dead))):
            marked = mark is not None and written(wikitext, citation.template, (mark.param,))
            return Stated.DEAD_BY_BOT if marked and marked.value else Stated.DEAD
        if is_present:
            return Stated.KEPT
    return Stated.NOTHING


def _put(editor: TemplateEditor, old: Written | None, name: str, value: str) -> bool:
    if old is not None:
        return editor.set(old.parameter, value)
    editor.add(name, value)
    return True


# Links that are no citations.


def _plain(writing: Writing, link: RepairableLink, copy: KnownCopy) -> list[TextEdit]:
    """A bracketed or bare link with its copy beside it, or around it."""
    node, archive = link.node, writing.settings.archive_template
    if node is None:
        return []
    if link.wrapped is not None:
        # The link leads to a copy, and only that is replaced.
        address = url_value(for_readers(copy.address))
        start = writing.wikitext.text.index(node.url, node.start)
        return [] if address is None else [TextEdit(start, start + len(node.url), address)]
    if link.archives:
        return [
            *_rewritten(writing, link.archives[0], link.url, copy),
            *(_cut(writing, tag.start, tag.end) for tag in _removable(writing, link)),
        ]
    label = node.label or ""
    if (template := _as_citation(writing, link, copy)) is None:
        template = _archive_template(writing, link.url, label, copy)
    if template is None:
        return []
    if archive.place == "after" and not template.startswith("{{" + writing.settings.cite.names[0] + "|"):
        edits = [TextEdit(link.end, link.end, f" {template}")]
    else:
        edits = [TextEdit(link.start, link.end, template)]
    return [*edits, *(_cut(writing, tag.start, tag.end) for tag in _removable(writing, link))]


def _as_citation(writing: Writing, link: RepairableLink, copy: KnownCopy) -> str | None:
    """The citation of a reference that has nothing but this link, with its title; None where that is not safe, or not
    wanted (B-5)."""
    cite, reference = writing.settings.cite, link.spot.reference
    label = link.node.label if link.node is not None else None
    if not writing.settings.options.convert_bare_refs or reference is None or not label or not cite.title:
        return None
    rest = writing.text_of(reference.inner_start, link.start) + writing.text_of(link.end, reference.inner_end)
    tags = "".join(writing.text_of(tag.start, tag.end) for tag in link.dead_tags)
    address = url_value(for_readers(copy.address))
    is_safe = rest.strip() == tags and _PLAIN_TITLE.fullmatch(label) and _PLAIN_URL.fullmatch(link.url)
    if not is_safe or address is None or "''" in label:
        return None
    pairs = {
        cite.url[0]: link.url,
        cite.title[0]: label,
        cite.archive_url[0]: address,
        cite.archive_date[0]: writing.day(copy.taken),
    }
    values = writing.values()
    if cite.status is not None and (dead := substituted(cite.status.dead, values)) is not None:
        pairs[cite.status.param] = dead
    if cite.bot_mark is not None and (mark := substituted(cite.bot_mark.value, values)) is not None:
        pairs[cite.bot_mark.param] = mark
    return "{{" + "|".join([cite.names[0], *(f"{name}={value}" for name, value in pairs.items())]) + "}}"


def _tagged(writing: Writing, link: RepairableLink) -> list[TextEdit]:
    """The link marked as dead: by the citation's parameter where tags take the place of links, else by the tag."""
    tag, cite = writing.settings.dead_tag, writing.settings.cite
    if link.citation is not None and tag.place == "swallow":
        if cite.status is None:
            return []
        return _stated(writing, link.citation, is_dead=True)
    label = link.node.label if link.node is not None else None
    template = _filled(writing, tag.write, link.url, label or "", {})
    if template is None:
        return []
    if tag.place == "swallow":
        return [TextEdit(link.start, link.end, template)]
    gap = "" if link.kind is LinkForm.CITATION else " "
    return [TextEdit(link.end, link.end, gap + template)]


def _revived(writing: Writing, link: RepairableLink, state: LinkState) -> list[TextEdit]:
    """The link without what says that it is dead."""
    trusts = writing.settings.options.trust_tags
    if link.kind is LinkForm.DEAD_TAG:
        plain = _link_in_tag(writing, link)
        return [] if plain is None else [TextEdit(link.start, link.end, plain)]
    edits = _removed(writing, link, bots_only=trusts)
    is_by_hand = state.stated is Stated.DEAD and not trusts
    if link.citation is not None and (is_by_hand or state.stated is Stated.DEAD_BY_BOT):
        editor = TemplateEditor(writing.wikitext.text, link.citation.template)
        if _tidied(writing, link.citation, editor) and _state(writing, link.citation, editor, is_dead=False):
            edits += editor.edits()
    return edits


def _untagged_copy(writing: Writing, link: RepairableLink, copy: KnownCopy) -> list[TextEdit]:
    """A dead tag that stands in the link's place gives way to the copy."""
    template, tag = link.template, writing.settings.dead_tag
    if template is None:
        return []
    held = set(pattern_parameters(tag.write).values()) | set(tag.url) | set(tag.text) | set(tag.permanent) | _ASIDE
    others = [each for each in template.parameters if each.name not in held and writing.wikitext.value_of(each)]
    text = written(writing.wikitext, template, tag.text)
    archive = _archive_template(writing, link.url, text.value if text is not None else "", copy)
    if others or archive is None:
        return []
    if writing.settings.archive_template.place == "after":
        plain = _link_in_tag(writing, link)
        archive = None if plain is None else f"{plain} {archive}"
    return [] if archive is None else [TextEdit(link.start, link.end, archive)]


def _link_in_tag(writing: Writing, link: RepairableLink) -> str | None:
    """The link as it was before a dead tag took its place."""
    text = None if link.template is None else written(writing.wikitext, link.template, writing.settings.dead_tag.text)
    plain = f"[{link.url} {text.value}]" if text is not None and text.value else link.url
    read = read_wikitext(plain).links
    return plain if len(read) == 1 and (read[0].url, read[0].end) == (link.url, len(plain)) else None


def _rewritten(writing: Writing, mark: ArchiveMark, url: str, copy: KnownCopy) -> list[TextEdit]:
    """An archive template with another copy, or in another template."""
    settings, wikitext, node = writing.settings, writing.wikitext, mark.template
    names = pattern_parameters(settings.archive_template.write)
    if mark.obsolete is not None:
        held = {*mark.obsolete.url, *mark.obsolete.stamp}
        if any(each.name not in held and wikitext.value_of(each) for each in node.parameters):
            return []
        text = ""
    elif "archive_url" in names:
        editor = TemplateEditor(wikitext.text, node)
        address = url_value(for_readers(copy.address))
        values = {"archive_url": address, "archive_date": writing.day(copy.taken)}
        for placeholder in ("archive_url", "archive_date"):
            value, name = values[placeholder], names.get(placeholder)
            if value is None or (name and not _put(editor, written(wikitext, node, (name,)), name, value)):
                return []
        return list(editor.edits())
    elif mark.renamed is not None:
        return _renamed(writing, mark, mark.renamed, copy)
    else:
        label = written(wikitext, node, settings.archive_template.text)
        text = label.value if label is not None else ""
    template = _archive_template(writing, url, text, copy)
    return [] if template is None else [TextEdit(node.start, node.end, template)]


def _renamed(writing: Writing, mark: ArchiveMark, parameter: ParameterNode, copy: KnownCopy) -> list[TextEdit]:
    """An archive template that names a copy of the Wayback Machine instead of another service's."""
    if not is_wayback(copy.address):
        return []
    editor = TemplateEditor(writing.wikitext.text, mark.template)
    editor.rename(parameter, pattern_parameters(writing.settings.archive_template.write)["stamp"])
    return list(editor.edits()) if editor.set(parameter, f"{stamp_of(copy.taken):014}") else []


def _archive_template(writing: Writing, url: str, text: str, copy: KnownCopy) -> str | None:
    """The wiki's archive template; None if it cannot name this copy."""
    pattern = writing.settings.archive_template.write
    if "archive_url" not in placeholders(pattern) and not is_wayback(copy.address):
        return None
    values = {
        "archive_url": url_value(for_readers(copy.address)),
        "archive_date": writing.day(copy.taken),
        "stamp": f"{stamp_of(copy.taken):014}",
    }
    return _filled(writing, pattern, url, text, values)


def _filled(writing: Writing, pattern: str, url: str, text: str, values: dict[str, str | None]) -> str | None:
    """A pattern with a link as it is written in the page; None unless it reads as one template with these values."""
    if not _PLAIN_URL.fullmatch(url):
        return None
    label = _in_parameter(text)
    template = filled_pattern(pattern, {**writing.values(), **values, "url": url, "text": label or None})
    if template is None:
        return None
    read = read_wikitext(template)
    outer = [each for each in read.templates if (each.start, each.end) == (0, len(template))]
    names = pattern_parameters(pattern)
    held = {"url": url, "text": label}
    return (
        template
        if len(outer) == 1
        and all(
            template[each.value_start : each.end].strip() == held[placeholder]
            for placeholder in held.keys() & names.keys()
            for each in outer[0].parameters
            if each.name == names[placeholder]
        )
        else None
    )


def _in_parameter(text: str) -> str:
    """A label as the value of a parameter: pipes that are its own would end that."""
    probe = read_wikitext("{{x|" + text + "}}")
    outer = next((each for each in probe.templates if each.start == 0), None)
    pipes = [] if outer is None else [each.start - len("{{x|") for each in outer.parameters[1:]]
    for place in reversed(pipes):
        text = f"{text[:place]}&#124;{text[place + 1 :]}"
    return text


# Marks.


def _is_by_bot(writing: Writing, tag: TemplateNode) -> bool:
    """Whether a bot has set a dead tag: the parameter for that has a value."""
    names = pattern_parameters(writing.settings.dead_tag.write)
    found = written(writing.wikitext, tag, (names["bot"],)) if "bot" in names else None
    return found is not None and bool(found.value)


def tagged_by(writing: Writing, link: RepairableLink) -> Tagged:
    """Who has tagged a link as dead."""
    tags = list(link.dead_tags)
    if link.kind is LinkForm.DEAD_TAG and link.template is not None:
        tags.append(link.template)
    if not tags:
        return Tagged.NOBODY
    return Tagged.BOT if all(_is_by_bot(writing, tag) for tag in tags) else Tagged.PERSON


def _removable(writing: Writing, link: RepairableLink) -> Iterator[TemplateNode]:
    """The link's dead tags, but for those with a URL that would be lost, such as another spelling of the link's."""
    for tag in link.dead_tags:
        values = {writing.wikitext.value_of(each) for each in tag.parameters}
        if all(value == link.url or form_of(value) is None for value in values):
            yield tag


def _removed(writing: Writing, link: RepairableLink, *, bots_only: bool) -> list[TextEdit]:
    tags = [tag for tag in _removable(writing, link) if not bots_only or _is_by_bot(writing, tag)]
    return [_cut(writing, tag.start, tag.end, is_glued=link.kind is LinkForm.BARE) for tag in tags]


def _cut(writing: Writing, start: int, end: int, *, is_glued: bool = False) -> TextEdit:
    """A mark taken out with the blanks before it; behind a bare URL one stays where text would become part of it."""
    text = writing.wikitext.text
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    if text[start - 1 : start] == "\n" and text.startswith(("\n", "</"), end):
        start -= 1  # it had the line for itself
    would_join = is_glued and end < len(text) and (text[end].isalnum() or text[end] in "/?#&=%_~+-")
    return TextEdit(start, end, " " if would_join else "")

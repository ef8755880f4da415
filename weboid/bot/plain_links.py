"""Writes links that are no citations with their copies, as edits of the text (B-5); in doubt there are no edits."""

import re
from typing import Final

from weboid.bot.answers import KnownCopy
from weboid.bot.archived import for_readers, is_wayback
from weboid.bot.links import ArchiveMark, RepairableLink
from weboid.bot.page_links import deprecated_service, pattern_parameters, says_more
from weboid.bot.parameters import TemplateEditor, TextEdit
from weboid.bot.rewriting import PLAIN_URL, Writing, cut, day_of_template, in_parameter, put, removable
from weboid.core.archive.addresses import stamp_of
from weboid.core.wikitext.citations import written
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.settings import ObsoleteTemplate, placeholders
from weboid.core.wikitext.templates import filled_pattern, substituted, url_value

_DATE_FORM: Final = "df"
"""The parameter of archive templates for how a date is shown; it is now written as the page writes dates."""
_PLAIN_TITLE: Final = re.compile(r"(?:(?!//)[^\[\]{}|<>=\n])+")


def with_copy(writing: Writing, link: RepairableLink, copy: KnownCopy) -> list[TextEdit]:
    """A bracketed or bare link with its copy next to it, or around it."""
    node, archive = link.node, writing.settings.archive_template
    if node is None:
        return []
    if link.wrapped is not None:
        # The link leads to a copy, and only that is replaced.
        address = url_value(for_readers(copy.address))
        start = writing.wikitext.text.index(node.url, node.start)
        return [] if address is None else [TextEdit(start, start + len(node.url), address)]
    tags = list(removable(writing, link))
    cuts = [cut(writing, tag.start, tag.end) for tag in tags]
    if link.archives:
        return [*rewritten(writing, link.archives[0], link.url, copy), *cuts]
    label = node.label or ""
    for tag in tags:
        if tag.end < link.end:
            label = label.replace(writing.text_of(tag.start, tag.end), "").rstrip()
    template = _as_citation(writing, link, copy) or _archive_template(writing, link.url, label, copy)
    if template is None:
        return []
    if archive.place == "after" and not template.startswith("{{" + writing.settings.cite.names[0] + "|"):
        return [TextEdit(link.end, link.end, f" {template}"), *cuts]
    return [TextEdit(link.start, link.end, template), *cuts]


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
    is_safe = rest.strip() == tags and _PLAIN_TITLE.fullmatch(label) and PLAIN_URL.fullmatch(link.url)
    if not is_safe or address is None or "''" in label:
        return None
    pairs = {
        cite.url[0]: in_parameter(link.url),
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


def untagged_copy(writing: Writing, link: RepairableLink, copy: KnownCopy) -> list[TextEdit]:
    """A dead tag that stands in the link's place gives way to the copy."""
    template = link.template
    if template is None or says_more(writing.wikitext, template, writing.settings.dead_tag):
        return []
    if (held := _held_in_tag(writing, link)) is not None:
        return [TextEdit(link.start, link.end, held)]  # the next pass gives it its copy
    text = written(writing.wikitext, template, writing.settings.dead_tag.text)
    archive = _archive_template(writing, link.url, text.value if text is not None else "", copy)
    if archive is not None and writing.settings.archive_template.place == "after":
        plain = link_in_tag(writing, link)
        archive = None if plain is None else f"{plain} {archive}"
    return [] if archive is None else [TextEdit(link.start, link.end, archive)]


def link_in_tag(writing: Writing, link: RepairableLink) -> str | None:
    """The link as it was before a dead tag took its place; None if that says more."""
    if link.template is None or says_more(writing.wikitext, link.template, writing.settings.dead_tag):
        return None
    if (held := _held_in_tag(writing, link)) is not None:
        return held
    text = written(writing.wikitext, link.template, writing.settings.dead_tag.text)
    label = "" if text is None else text.value
    if any(not each.spot.reference and "//" in label[each.start : each.end] for each in read_wikitext(label).templates):
        return None  # it is around a citation of another link
    plain = f"[{link.url} {label}]" if label else link.url
    read = read_wikitext(plain).links
    return plain if len(read) == 1 and (read[0].url, read[0].end) == (link.url, len(plain)) else None


def _held_in_tag(writing: Writing, link: RepairableLink) -> str | None:
    """The text of a dead tag, if that is around a whole citation, or around another link with the same URL."""
    text = None if link.template is None else written(writing.wikitext, link.template, writing.settings.dead_tag.text)
    if text is None or not text.value:
        return None
    read = read_wikitext(text.value)
    inside = [each.url for each in read.links]
    inside += [read.value_of(each).strip() for template in read.templates for each in template.parameters]
    return text.value if link.url in inside else None


def rewritten(writing: Writing, mark: ArchiveMark, url: str, copy: KnownCopy) -> list[TextEdit]:
    """An archive template with another copy, or in another template."""
    settings, wikitext, node = writing.settings, writing.wikitext, mark.template
    names = pattern_parameters(settings.archive_template.write)
    if mark.obsolete is not None:
        return _converted(writing, mark, mark.obsolete, url, copy)
    if "archive_url" in names:
        editor = TemplateEditor(wikitext.text, node)
        dated = day_of_template(writing, node, names["archive_date"]) if "archive_date" in names else None
        day = writing.day(copy.taken, [dated.value] if dated else ())
        values = {"archive_url": url_value(for_readers(copy.address)), "archive_date": day}
        for placeholder, value in values.items():
            name = names.get(placeholder)
            old = dated if placeholder == "archive_date" else name and written(wikitext, node, (name,))
            if value is None or (name and not put(editor, old or None, name, value)):
                return []
        return list(editor.edits())
    return _restamped(writing, mark, names["stamp"], copy)


def _converted(
    writing: Writing, mark: ArchiveMark, obsolete: ObsoleteTemplate, url: str, copy: KnownCopy
) -> list[TextEdit]:
    """The wiki's archive template for an obsolete one, with what else this says, but how dates are to be written."""
    wikitext, node = writing.wikitext, mark.template
    known, repeated = {*obsolete.stamp, _DATE_FORM}, {"", mark.url, mark.address}
    others = [each for each in node.parameters if each.name not in known and wikitext.value_of(each) not in repeated]
    if (template := _archive_template(writing, url, "", copy)) is None:
        return []
    used = {each.name for each in read_wikitext(template).templates[0].parameters}
    if any(each.equals is None or each.name.isdecimal() or each.name in used for each in others):
        return []
    kept = "".join(f"|{writing.text_of(each.start + 1, each.end).strip()}" for each in others)
    return [TextEdit(node.start, node.end, f"{template[:-2]}{kept}}}}}")]


def _restamped(writing: Writing, mark: ArchiveMark, name: str, copy: KnownCopy) -> list[TextEdit]:
    """An archive template that names another copy of the Wayback Machine, also in the place of another service's."""
    if not is_wayback(copy.address):
        return []
    editor, stamp = TemplateEditor(writing.wikitext.text, mark.template), f"{stamp_of(copy.taken):014}"
    own = [each for each in mark.template.parameters if writing.wikitext.value_of(each) == mark.address]
    if mark.url is not None and not all(editor.set(each, in_parameter(mark.url)) for each in own):
        return []
    if mark.renamed is None:
        old = written(writing.wikitext, mark.template, (name,))
        return list(editor.edits()) if put(editor, old, name, stamp) else []
    for each in mark.template.parameters:
        if each.start != mark.renamed.start and deprecated_service(each) is not None:
            editor.remove(each)
    editor.rename(mark.renamed, name)
    return list(editor.edits()) if editor.set(mark.renamed, stamp) else []


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
    return filled(writing, pattern, url, text, values)


def filled(writing: Writing, pattern: str, url: str, text: str, values: dict[str, str | None]) -> str | None:
    """A pattern with a link as it is written in the page; None unless it reads as one template with these values."""
    is_half = url.startswith("//") and "url" in placeholders(pattern)
    if is_half or not PLAIN_URL.fullmatch(url):
        return None
    label, address = _label(text), in_parameter(url)
    template = filled_pattern(pattern, {**writing.values(), **values, "url": address, "text": label or None})
    if template is None:
        return None
    read = read_wikitext(template)
    outer = [each for each in read.templates if (each.start, each.end) == (0, len(template))]
    names, expected = pattern_parameters(pattern), {"url": address, "text": label}
    is_faithful = len(outer) == 1 and all(
        template[each.value_start : each.end].strip() == expected[placeholder]
        for placeholder in expected.keys() & names.keys()
        for each in outer[0].parameters
        if each.name == names[placeholder]
    )
    return template if is_faithful else None


def _label(text: str) -> str:
    """A label as the value of a parameter: pipes that are its own would end that."""
    probe = read_wikitext("{{x|" + text + "}}")
    outer = next((each for each in probe.templates if each.start == 0), None)
    pipes = [] if outer is None else [each.start - len("{{x|") for each in outer.parameters[1:]]
    for place in reversed(pipes):
        text = f"{text[:place]}&#124;{text[place + 1 :]}"
    return text

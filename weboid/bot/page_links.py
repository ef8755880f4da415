"""Finds the links of a page that may be repaired, each with the marks that belong to it (B-2).

A mark (a dead tag, an archive template, a paywall mark, ``{{cbignore}}``) belongs to the link that ends nearest before
it on its line, or in its reference; directly after ``</ref>``, to the only link of that reference; in a citation, to
that.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

from weboid.bot.answers import form_of
from weboid.bot.archived import is_same_link, is_wayback, original_in, wayback_copy
from weboid.bot.exclusion import is_ignored
from weboid.bot.links import ArchiveMark, LinkForm, MarkOwners, RepairableLink
from weboid.core.wikitext.citations import Citation, citations_of, name_key, name_keys, written
from weboid.core.wikitext.nodes import Enclosure, LinkNode, ParameterNode, TemplateNode, Wikitext
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.settings import DeadTag, ObsoleteTemplate, WikiSettings

_DEPRECATED: Final = {
    "archiveis": "archive.today",
    "archivetoday": "archive.today",
    "webcite": "www.webcitation.org",
    "webciteid": "www.webcitation.org",
}
"""Parameters of archive templates, letters only, for services to which nobody may be sent (A-2)."""
_IN_ADDRESS: Final = re.compile(r"://|\[//")
"""In templates that are no citations here, ``|url=`` makes a link, too, which the reader takes for an option."""
_GOES_ON: Final = re.compile(r"(?:\w/|\[(?:<!--(?:(?!-->).)*+-->)++)$", re.DOTALL)
"""Before an address that ends another one without a scheme, or that is in brackets which hold a comment, too."""
_LONGEST_COMMENT: Final = 300
_LONGEST_TEXT: Final = 1_000
_FARTHEST: Final = 8  # links back to the one that a mark names
_ASIDE: Final = frozenset({"bot", "archivebot", "archiv-bot", "fix-attempted", "checked", "inline"})
"""Parameters of a dead tag that say something of the tag, not of the document."""
_MARKS: Final = frozenset({LinkForm.COPY, LinkForm.DEAD_TAG})
EDITABLE: Final = frozenset({Enclosure.TEXT, Enclosure.CAPTION})


def page_links(wikitext: Wikitext, settings: WikiSettings, bot: str) -> list[RepairableLink]:
    """The links of a page that may be repaired, in the order of the text."""
    return _LinkFinder(wikitext, settings, bot).links()


class _LinkFinder:
    def __init__(self, wikitext: Wikitext, settings: WikiSettings, bot: str) -> None:
        self._wikitext = wikitext
        self._settings = settings
        self._bot = bot
        self._dead = name_keys(settings.dead_tag.names)
        self._archive = name_keys(settings.archive_template.names)
        self._obsolete = {name_key(name): what for name, what in settings.archive_template.obsolete.items()}
        self._ignore = name_keys(settings.ignore)
        self._paid = name_keys(settings.paywall_tags)
        self._cited = {each.template.start: each for each in citations_of(wikitext, settings)}
        self._addresses = [found.start() for found in _IN_ADDRESS.finditer(wikitext.text)]
        self._template_starts = {each.start: each for each in wikitext.templates}
        self._owners = MarkOwners(wikitext)
        self._found: list[RepairableLink] = []

    def links(self) -> list[RepairableLink]:
        nodes: list[LinkNode | TemplateNode] = [*self._wikitext.links, *self._wikitext.templates]
        for node in sorted(nodes, key=lambda each: each.start):
            if isinstance(node, LinkNode):
                self._add(node, self._plain_link(node))
            else:
                self._template(node)
        return self._found

    def _add(self, node: LinkNode | TemplateNode, link: RepairableLink | None) -> None:
        self._owners.add(node, link)
        if link is not None:
            self._found.append(link)

    def _plain_link(self, node: LinkNode) -> RepairableLink | None:
        glued = self._template_starts.get(node.url_end)
        is_whole = node.is_whole and (glued is None or (node.label is None and self._is_mark(glued)))
        before = self._wikitext.text[max(node.start - _LONGEST_COMMENT, 0) : node.start]
        if not is_whole or node.spot.enclosure not in EDITABLE or _GOES_ON.search(before):
            return None
        kind = LinkForm.BARE if node.label is None else LinkForm.BRACKETED
        original = original_in(node.url)
        link = RepairableLink(
            kind, node.start, node.end, original or node.url, node.spot, node=node, wrapped=original and node.url
        )
        self._note_copy(link)
        return link

    def _note_copy(self, link: RepairableLink) -> None:
        """Notes of two links in a row, one to a copy of what the other leads to, that this needs no other mark."""
        last = self._owners.before(link.start, link.spot)
        if last is not None and (last.node or last.citation) and is_same_link(link.url, last.url):
            for one, other in ((last, link), (link, last)):
                one.copy_next = one.copy_next or (None if one.wrapped else other.wrapped)

    def _template(self, node: TemplateNode) -> None:
        key = name_key(node.name)
        citation = self._cited.get(node.start)
        if citation is not None and (key not in self._dead or says_more(self._wikitext, node, self._settings.dead_tag)):
            self._add(node, self._cited_link(citation))
        elif key in self._dead:
            self._dead_tag(node)
        elif key in self._archive or key in self._obsolete:
            self._archive_template(node, self._obsolete.get(key))
        elif key in self._ignore:
            if is_ignored(self._wikitext, node, self._bot):
                for link in (self._owners.around(node), self._owners.owner(node)):
                    if link is not None:
                        link.is_ignored = True
        elif key in self._paid:
            if (link := self._owner(node)) is not None:
                link.is_paid = True
        elif self._has_links(node):
            self._add(node, None)

    def _cited_link(self, citation: Citation) -> RepairableLink | None:
        url, template = citation.url.value, citation.template
        if citation.part_url is not None and citation.part_url.value:
            return None
        if "{{" in url:
            url = self._without_dead_tags(citation.url.parameter, url)
        original = original_in(url)
        link = RepairableLink(LinkForm.CITATION, template.start, template.end, original or url, template.spot, citation)
        link.template, link.wrapped, link.is_paid = template, original and url, citation.is_paid
        return link

    def _without_dead_tags(self, parameter: ParameterNode, value: str) -> str:
        """The value of a parameter without the dead tags in it."""
        for node in self._wikitext.templates:
            if parameter.start < node.start < parameter.end and name_key(node.name) in self._dead:
                value = value.replace(self._wikitext.text[node.start : node.end], "")
        return value.strip()

    def _dead_tag(self, node: TemplateNode) -> None:
        tag = self._settings.dead_tag
        text = _value(self._wikitext, node, tag.text)
        url = _value(self._wikitext, node, tag.url) or _only_link(text)
        is_mark = not text and not says_more(self._wikitext, node, tag)
        owner = self._named(url, node) if is_mark else self._owner(node)
        is_mark = owner is not None and owner.kind is not LinkForm.DEAD_TAG and is_same_link(url, owner.url)
        if is_mark and owner is not None and owner.kind is LinkForm.COPY:
            is_mark = not text  # with a label it is a link, too
        if not url or is_mark:
            if owner is not None:
                owner.dead_tags.append(node)
            return
        link = RepairableLink(LinkForm.DEAD_TAG, node.start, node.end, url, node.spot, template=node)
        self._add(node, link if node.spot.enclosure in EDITABLE else None)

    def _archive_template(self, node: TemplateNode, obsolete: ObsoleteTemplate | None) -> None:
        mark = _archive_mark(self._wikitext, node, self._settings, obsolete)
        owner = self._named(mark.url or "", node) if self._says_no_more(mark) else self._owner(node)
        if owner is not None and self._belongs(mark, owner):
            # The first that says which copy it means comes first.
            is_first = mark.address is not None and all(each.address is None for each in owner.archives)
            owner.archives.insert(0 if is_first else len(owner.archives), mark)
            return
        link = RepairableLink(LinkForm.COPY, node.start, node.end, mark.url or "", node.spot, None, None, node)
        link.archives.append(mark)
        self._add(node, link if mark.url is not None and node.spot.enclosure in EDITABLE else None)

    def _named(self, url: str, mark: TemplateNode) -> RepairableLink | None:
        """The last link to this URL before a mark, on its line or in its reference, also with others behind it; else
        the link to which the mark belongs by its place."""
        owner = self._owner(mark)
        if form_of(url) is None or (owner is not None and is_same_link(url, owner.url)):
            return owner
        for link in reversed(self._found[-_FARTHEST:]):
            is_near = link.spot.home == mark.spot.home and (
                mark.spot.reference or link.spot.last_line == mark.spot.line
            )
            if is_near and link.kind not in _MARKS and form_of(link.url) and is_same_link(url, link.url):
                return link
        return owner

    def _says_no_more(self, mark: ArchiveMark) -> bool:
        """True if an archive template has nothing but its link, its copy and the day of that."""
        settings, obsolete = self._settings.archive_template, mark.obsolete or ObsoleteTemplate()
        names = pattern_parameters(settings.write)
        known = {*names.values(), *settings.url, *obsolete.url, *obsolete.stamp, *_ASIDE}
        return {each.name for each in mark.template.parameters} <= known - {*settings.text, names.get("text")}

    def _belongs(self, mark: ArchiveMark, owner: RepairableLink) -> bool:
        """True if an archive template is about the link before it, and not one of its own."""
        names = pattern_parameters(self._settings.archive_template.write)
        names_link = mark.obsolete is not None or "archive_url" not in names
        if owner.kind is LinkForm.COPY:
            return False
        if names_link and mark.url is not None:
            return is_same_link(mark.url, owner.url)
        gap = self._wikitext.text[owner.end : mark.template.start]
        tagged = "".join(self._wikitext.text[tag.start : tag.end] for tag in owner.dead_tags)
        return gap.strip() in ("", tagged) or (mark.url is not None and is_same_link(mark.url, owner.url))

    def _owner(self, mark: TemplateNode) -> RepairableLink | None:
        return self._owners.owner(mark) or self._owners.around(mark)

    def _has_links(self, node: TemplateNode) -> bool:
        at = bisect_left(self._addresses, node.start)
        return at < len(self._addresses) and self._addresses[at] < node.end

    def _is_mark(self, template: TemplateNode) -> bool:
        key = name_key(template.name)
        return key in self._dead | self._archive | self._ignore | self._paid or key in self._obsolete


def _archive_mark(
    wikitext: Wikitext, node: TemplateNode, settings: WikiSettings, obsolete: ObsoleteTemplate | None
) -> ArchiveMark:
    """An archive template as a mark, by the names of the parameters in the wiki's own pattern."""
    names = pattern_parameters(settings.archive_template.write)
    if obsolete is None and "archive_url" in names:
        address = _value(wikitext, node, (names["archive_url"],))
        return ArchiveMark(node, address or None, original_in(address))
    if obsolete is not None:
        url, stamp = _value(wikitext, node, obsolete.url), _value(wikitext, node, obsolete.stamp)
    else:
        url = _value(wikitext, node, (names["url"], *settings.archive_template.url))
        stamp = _value(wikitext, node, (names["stamp"],))
    if (inner := original_in(url)) is not None:
        return ArchiveMark(node, url, inner, obsolete, is_open=obsolete is None and not is_wayback(url))
    copy = wayback_copy(stamp, url)
    if copy is None and obsolete is None and not stamp:
        for parameter in node.parameters:
            service = deprecated_service(parameter)
            if service is not None and (name := wikitext.value_of(parameter)):
                return ArchiveMark(node, f"https://{service}/{name}", url or None, renamed=parameter)
    is_open = obsolete is None and copy is None and _names_no_copy(wikitext, node, settings, names)
    return ArchiveMark(node, copy.address if copy else None, url or None, obsolete, is_open=is_open)


def _names_no_copy(wikitext: Wikitext, node: TemplateNode, settings: WikiSettings, names: Mapping[str, str]) -> bool:
    """True if an archive template leaves open which copy it means, and no other parameter may say it."""
    stamp = written(wikitext, node, (names["stamp"],))
    known = {*names.values(), *settings.archive_template.url, *settings.archive_template.text}
    others = [each for each in node.parameters if each.name not in known and wikitext.value_of(each)]
    return stamp is not None and (stamp.value == "*" or (not stamp.value and not others))


def says_more(wikitext: Wikitext, node: TemplateNode, tag: DeadTag) -> bool:
    """True if a dead tag says more of the document than its address and its title."""
    names = pattern_parameters(tag.write)
    known = {*names.values(), names.get("date", "date"), *tag.url, *tag.text, *tag.permanent, *_ASIDE}
    return any(each.name not in known and wikitext.value_of(each) for each in node.parameters)


def deprecated_service(parameter: ParameterNode) -> str | None:
    """The host of the service that is deprecated, whose copy a parameter of an archive template names."""
    return _DEPRECATED.get(re.sub(r"[^a-z]", "", parameter.name.casefold()))


def _only_link(text: str) -> str:
    """The URL of the one link in the text of a dead tag; empty if there are others, or none."""
    # Each of nested tags has the text of all within; templates may have links, and comments would be lost.
    is_plain = len(text) < _LONGEST_TEXT and "{{" not in text and "<!--" not in text
    urls = {each.url for each in read_wikitext(text).links} if is_plain and "//" in text else set()
    return urls.pop() if len(urls) == 1 else ""


def _value(wikitext: Wikitext, node: TemplateNode, names: tuple[str, ...]) -> str:
    found = written(wikitext, node, names)
    return "" if found is None else found.value


def pattern_parameters(pattern: str) -> dict[str, str]:
    """The names of a pattern's parameters, by the placeholder that each one's value contains."""
    names: dict[str, str] = {}
    place = 0
    for parameter in pattern[2:-2].split("|")[1:]:
        key, equals, value = parameter.partition("=")
        if not equals:
            place += 1
            key, value = str(place), parameter
        for part in value.split("{")[1:]:
            names.setdefault(part.partition("}")[0], key.strip())
    return names

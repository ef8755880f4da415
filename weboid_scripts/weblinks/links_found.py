"""The links of a page as a list of dead links needs them: each once, with what the page and the wiki say of it (B-3).

Links in parameters of other templates count, too, for nobody changes them here; addresses of archived copies do not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from weboid.bot.answers import KnownLinks
from weboid.bot.archived import CopyStanding, original_in
from weboid.bot.decisions import LinkState, Stated, Tagged
from weboid.bot.page_links import page_links
from weboid.bot.repair import state_of
from weboid.bot.rewriting import Writing
from weboid.core.url.archives import is_archive_host
from weboid.core.url.classify import Classified, UrlClass, classify
from weboid.core.url.farms import Farm
from weboid.core.wikitext.link_lists import PERMADEAD, PERMALIVE, SUBSCRIPTION
from weboid.core.wikitext.nodes import Wikitext
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.settings import WikiSettings, flags_of

_URL: Final = re.compile(r"(?:https?|ftp)://[^\s\[\]{}<>|]+", re.IGNORECASE)
"""A parameter's value that is nothing but a URL."""


@dataclass(frozen=True, slots=True)
class FoundLink:
    """One link of a page: `url` as it is first written, `normal` its normal form, `link` its class.

    `flags` are permalive, permadead, subscription, by the wiki's lists or the page. `is_tagged`: somebody has marked it
    as dead by hand, and the wiki trusts that. `has_copy`: a good archived copy stands everywhere where the link does.
    """

    url: str
    normal: str
    link: Classified
    flags: frozenset[str] = frozenset()
    is_tagged: bool = False
    has_copy: bool = False

    @property
    def is_decided(self) -> bool:
        """True if the wiki itself decides on the link, so that it is neither looked up nor scanned."""
        return bool(self.flags & {PERMALIVE, PERMADEAD, SUBSCRIPTION})


def links_found(text: str, settings: WikiSettings, farm: Farm | None, *, now: datetime, bot: str) -> list[FoundLink]:
    """The links of a page that can be dead, those that fill parameters of other templates last.

    Those that `bot` is to ignore are not among them.
    """
    found: dict[str, FoundLink] = {}
    ignored = set()
    for link, is_ignored in _written(text, settings, farm, now, bot):
        if is_ignored:
            ignored.add(link.normal)
        elif (known := found.get(link.normal)) is None:
            found[link.normal] = link
        else:
            found[link.normal] = replace(
                known,
                flags=known.flags | link.flags,
                is_tagged=known.is_tagged or link.is_tagged,
                has_copy=known.has_copy and link.has_copy,
            )
    return [link for normal, link in found.items() if normal not in ignored]


def _written(
    text: str, settings: WikiSettings, farm: Farm | None, now: datetime, bot: str
) -> Iterator[tuple[FoundLink, bool]]:
    """Each link as often as it is written, and whether it is to be ignored there."""
    wikitext = read_wikitext(text)
    writing = Writing(wikitext, settings, frozenset(), now, bot)
    seen = []
    for link in page_links(wikitext, settings, bot):
        seen.append((link.start, link.end))
        if (found := _found(link.url, settings, farm)) is not None:
            yield _marked(found, state_of(writing, link, KnownLinks()), settings), link.is_ignored
    templates = {template.start for template in wikitext.templates}
    spans = iter(seen)
    span = next(spans, None)
    for node in wikitext.links:
        while span is not None and span[1] <= node.start:
            span = next(spans, None)
        # Where a template goes on with the URL, nobody here knows the whole of it.
        is_known = node.is_whole and node.url_end not in templates
        is_new = is_known and (span is None or node.start < span[0])
        if is_new and original_in(node.url) is None and (found := _found(node.url, settings, farm)) is not None:
            yield found, False
    for url in _values(wikitext, {start for start, _ in seen}):
        if original_in(url) is None and (found := _found(url, settings, farm)) is not None:
            yield found, False


def _values(wikitext: Wikitext, known: set[int]) -> Iterator[str]:
    """The URLs that are whole values of named parameters; not of templates that begin where those `known` do."""
    for template in wikitext.templates:
        if template.start in known:
            continue
        for parameter in template.parameters:
            if parameter.equals is not None and _URL.fullmatch(value := wikitext.value_of(parameter)):
                yield value


def _found(url: str, settings: WikiSettings, farm: Farm | None) -> FoundLink | None:
    link = classify(url, farm)
    if link.kind is not UrlClass.WATCHED or link.url is None or is_archive_host(link.url.host):
        return None
    return FoundLink(url, str(link.url), link, flags_of(link.url, settings))


def _marked(found: FoundLink, state: LinkState, settings: WikiSettings) -> FoundLink:
    is_tagged = state.tagged is Tagged.PERSON or state.stated is Stated.DEAD
    return replace(
        found,
        flags=found.flags | {SUBSCRIPTION} if state.is_paid else found.flags,
        is_tagged=is_tagged and settings.options.trust_tags,
        has_copy=state.copy is CopyStanding.GOOD,
    )

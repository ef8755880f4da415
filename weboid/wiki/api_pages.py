"""Combines the answers of an Action API page by page; the queries belong to ``wiki/api``.

Malformed or incomplete entries are skipped, and no text comes out that cannot be stored.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from weboid.core.wikitext.titles import Namespace
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.source import (
    WIKITEXT,
    ListedEdit,
    PageLinks,
    PageState,
    RevisionText,
    all_links,
    clean_text,
    with_scheme,
)

MOST_TITLES: Final = 10
_LONGEST_TITLE: Final = 300
PAGE_IDS: Final = range(1, 1 << 32)
_NAMESPACES: Final = range(1 << 31)
_REVISION_IDS: Final = range(1 << 63)
_MOST_STEPS: Final = 5
"""A title is normalised, and MediaWiki follows one redirect, at most a second one that a move has left."""
_MOST_NAMES: Final = 1_000
_MOST_LISTED: Final = 4 * _MOST_NAMES
"""Entries that are read: 200,000 would take seconds, in which no other request is answered."""
_LONGEST_NAME: Final = 200
_UNFIT_NAME: Final = re.compile("[:#<>\\[\\]{}|\x7f\ufffd]")
"""The characters that no title contains, and the colon that ends a prefix."""
_MOMENT: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z", re.ASCII)


@dataclass(slots=True)
class ApiPage:
    """A page about which each answer may add something; without a model until its info has come."""

    namespace: int = 0
    title: str = ""
    missing: bool = False
    latest: int = 0
    model: str = ""
    mark: int | None = None
    redirect: bool = False
    urls: set[str] = field(default_factory=set)
    interwikis: set[tuple[str, str]] = field(default_factory=set)

    @property
    def weight(self) -> int:
        """The number of things held in memory: the page and its links."""
        return 1 + len(self.urls) + len(self.interwikis)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Adds what one answer contains about the page: each link once, the rest from any answer that has it."""
        match entry:
            case {"contentmodel": str(model), "lastrevid": int(latest)} if latest in _REVISION_IDS:
                self.model, self.latest = clean_text(model), latest
                self.mark, self.redirect = _mark(entry.get("touched")), entry.get("redirect") is True
        for link in _listed(entry.get("extlinks")):
            match link:
                case {"url": str(url)}:
                    self.urls.add(clean_text(with_scheme(url)))
                case _:
                    pass
        for link in _listed(entry.get("iwlinks")):
            match link:
                case {"prefix": str(prefix), "title": str(title)}:
                    self.interwikis.add((prefix, title))
                case _:
                    pass

    def page_links(self, page: int, interwiki: InterwikiMap | None) -> PageLinks:
        """The page of this id with all its links; without a map interwiki links are left out."""
        # MediaWiki could give the targets too, but takes a prefix that is no longer in the map as a page of the wiki.
        links = [interwiki.link(prefix, title) for prefix, title in self.interwikis] if interwiki else ()
        urls, foreign = all_links(self.urls, [link for link in links if link])
        local = [interwiki.local_link(prefix, title) for prefix, title in self.interwikis] if interwiki else ()
        first = {
            link.url: link._replace(is_external=link.url in self.urls) for link in sorted(filter(None, local))[::-1]
        }
        rest = tuple(sorted(first.values()))
        return PageLinks(page, self.namespace, self.title, self.latest, self.mark, urls, foreign, rest)


@dataclass(slots=True)
class TitleTargets:
    """The pages that titles lead to, by the answers to one query for titles: normalised, or redirected."""

    next: dict[str, str] = field(default_factory=dict)
    pages: dict[str, int] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)

    def add(self, query: Mapping[str, Any]) -> None:
        """Adds the normalised titles, redirects and pages of one answer."""
        for name in ("normalized", "converted", "redirects"):
            for lead in _listed(query.get(name)):
                match lead:
                    case {"from": str(before), "to": str(after), "fromencoded": True}:
                        self.next[unquote(before)] = after
                    case {"from": str(before), "to": str(after)}:
                        self.next[before] = after
                    case _:
                        pass
        for entry in _listed(query.get("pages")):
            match entry:
                case {"pageid": int(page), "title": str(title)}:
                    self.pages[title] = page
                case {"missing": True, "title": str(title), **more} if "known" not in more:
                    self.missing.add(title)
                case _:
                    pass

    def page_of(self, title: str) -> int | None:
        """The id of the page that a title leads to; None if it is not known."""
        return self.pages.get(self._end_of(title))

    def is_missing(self, title: str) -> bool:
        """True if the wiki says that there is no such page: none of its own, nor a file or text from another place."""
        return self._end_of(title) in self.missing

    def _end_of(self, title: str) -> str:
        for _ in range(_MOST_STEPS):
            if title not in self.next:
                break
            title = self.next[title]
        return title


def add_listed(gathered: dict[int, ApiPage], listed: Iterable[Any]) -> None:
    """Adds the pages that an answer lists to those gathered so far, by id."""
    for entry in listed:
        match entry:
            case {"pageid": int(page), "missing": True} if page in PAGE_IDS:
                gathered[page] = ApiPage(missing=True)
            case {"pageid": int(page), "ns": int(namespace), "title": str(title)} if (
                page in PAGE_IDS and namespace in _NAMESPACES
            ):
                gathered.setdefault(page, ApiPage(namespace, _bare_title(namespace, title))).add(entry)


def states_of(gathered: Mapping[int, ApiPage]) -> list[PageState]:
    """The states of the pages, by id; pages without info are left out."""
    return [
        PageState(page, known.namespace, known.title, known.latest, known.mark, known.model, known.redirect)
        for page, known in sorted(gathered.items())
        if known.model
    ]


def texts_of(listed: Iterable[Any]) -> dict[int, RevisionText]:
    """The revisions that an answer lists, by their ids."""
    found: dict[int, RevisionText] = {}
    for entry in listed:
        match entry:
            case {"pageid": int(page), "revisions": list(revisions)} if page in PAGE_IDS:
                found |= {each.revision: each for given in revisions if (each := _revision(page, given))}
            case _:
                pass
    return found


def titles_of(listed: list[Any]) -> list[str]:
    """The titles of a list, at most `MOST_TITLES`; what is no title of MediaWiki's length is left out."""
    titles = [each.get("title") for each in listed[:MOST_TITLES] if isinstance(each, dict)]
    return [clean_text(each) for each in titles if isinstance(each, str) and 0 < len(each) <= _LONGEST_TITLE]


def edits_of(page: int, listed: Iterable[Any]) -> list[ListedEdit]:
    """The edits of a page that an answer lists, in its order."""
    for entry in listed:
        match entry:
            case {"pageid": int(number), "revisions": list(revisions)} if number == page:
                return [edit for given in revisions if (edit := _edit(given))]
            case _:
                pass
    return []


def _edit(given: Any) -> ListedEdit | None:
    match given:
        case {"revid": int(revision), "parentid": int(parent), **more} if revision in _REVISION_IDS:
            texts = [more.get(name) for name in ("comment", "user", "timestamp")]
            return ListedEdit(revision, parent, *(clean_text(text) if isinstance(text, str) else "" for text in texts))
        case _:
            return None


def _revision(page: int, given: Any) -> RevisionText | None:
    match given:
        case {"revid": int(revision), "parentid": int(parent), **more} if revision in _REVISION_IDS:
            pass
        case _:
            return None
    match more:
        case {"slots": {"main": {"contentmodel": str(model), "content": str(text)}}} if model == WIKITEXT:
            return RevisionText(page, revision, parent, text)
        case _:
            return RevisionText(page, revision, parent, None)


def namespaces_of(listed: object, aliases: object) -> tuple[Namespace, ...]:
    """The names of the namespaces that pages are in, by siteinfo: own, canonical and other ones, each once, own first.

    At most so many as `_MOST_NAMES`; those that no title can begin with are left out.
    """
    own, others = {}, {}
    cased: set[int] = set()
    for space in islice(listed.values(), _MOST_LISTED) if isinstance(listed, dict) else ():
        match space:
            case {"id": int(number), "name": str(name), **more} if (
                not isinstance(number, bool) and number in _NAMESPACES
            ):
                own[number] = _name(name)
                cased |= {number} if more.get("case") == "case-sensitive" else set()
                others[_name(more.get("canonical"))] = number
    for alias in _listed(aliases)[:_MOST_LISTED]:
        match alias:
            case {"id": int(number), "alias": str(name)} if number in own:
                others.setdefault(_name(name), number)
    names = {name: (number, False) for number, name in own.items() if name or number == 0}
    names = {name: (number, True) for name, number in others.items() if name} | names
    found = [Namespace(number, name, alias, number in cased) for name, (number, alias) in names.items()]
    return tuple(sorted(found, key=lambda each: (each.is_alias, each))[:_MOST_NAMES])


def _name(text: object) -> str:
    """A name with spaces; empty if there is none, or no title can have it as its prefix."""
    name = " ".join(text.replace("_", " ").split()) if isinstance(text, str) else ""
    return "" if len(name) > _LONGEST_NAME or _UNFIT_NAME.search(clean_text(name)) else name


def _mark(touched: object) -> int | None:
    """2026-11-21T02:07:03Z as 20261121020703."""
    found = _MOMENT.fullmatch(touched) if isinstance(touched, str) else None
    return int("".join(found.groups())) if found else None


def _bare_title(namespace: int, title: str) -> str:
    """The title without the prefix, which has no colon of its own, of any namespace but the main one."""
    return clean_text(title if namespace == 0 else title.partition(":")[2] or title)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []

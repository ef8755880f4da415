"""The parameters of a request: which pages of which wiki, how much of them, in which language (W-3, W-4, W-8).

Every parameter is given at most once and is either usable or a Problem: 400 for a value of the wrong form, 404 for the
name of what cannot be there, 409 for values that do not go together. OpenAPI describes forms and nothing else, so what
our description allows is no 400. Parameters that a route does not take (``web/request/route``) are ignored, as cache
busters and trackers add theirs to any address.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from weboid.core.record.days import days_from_epoch
from weboid.core.record.reasons import Reason
from weboid.core.url.farms import WikiName, parse_wiki_name
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import Url, parse
from weboid.core.verdict.link_report import COPY_WANTED, Extent, LinkReport, is_included
from weboid.core.verdict.verdict import Verdict
from weboid.errors import ConfigError
from weboid.web.request.problem import Problem

MOST_PAGES: Final = 50
"""Of a request. Of more pages the stored links are served: no wiki reads so many at a time."""
MOST_SENT: Final = 500
"""Pages of a form that is sent."""
MOST_QUERY: Final = 4_000
"""Characters of a query string."""

MOST_SHOWN: Final = 200
"""Characters of a URL or pattern in an error message."""

_BLANKS: Final = "".join(char for char in map(chr, range(0x3001)) if char.isspace() and not "\x1c" <= char <= "\x1f")
"""What keyboards and copying leave around a value; separators of files and records are none of it."""
_ID: Final = re.compile(r"[1-9][0-9]{0,9}")
_UNFIT_TITLE: Final = re.compile("[\x00-\x1f\x7f#<>\\[\\]{}|\ud800-\udfff\ufffd]")
_MOST_TITLE: Final = 300
"""Bytes: MediaWiki's 255 and a namespace prefix."""
_REVISION: Final = re.compile(r"[1-9][0-9]{0,17}")
_BOOKMARK: Final = re.compile(r"([0-9]{1,3})\.([0-9]{1,7})\.([0-9]{1,18})\.([0-9a-f]{1,8})")
FILTERED: Final = (Verdict.DEAD, Verdict.DOUBTFUL, Verdict.WORKING)
"""The verdicts by which links are filtered."""
_VERDICTS: Final = {verdict.word: verdict for verdict in FILTERED}
_EXTENTS: Final = frozenset(extent.value for extent in Extent)
_COPIED: Final = {"with": True, "without": False}
_REPAIRED: Final = {"yes": True, "no": False}
_REASONS: Final = {reason.word: reason for reason in Reason}
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CALLBACK: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)*")
_MOST_CALLBACK: Final = 64
_NAMESPACE: Final = re.compile(r"[0-9]{1,9}")
_CATEGORY: Final = "category:"
_DEFAULT_CALLBACK: Final = "weboid.externalLinkProblem"

_FILTERS: Final = frozenset({"verdict", "reason", "copy", "repaired"})
LANGUAGE: Final = frozenset({"lang", "uselang"})
PAGE_NAMES: Final = LANGUAGE | {
    *("dbname", "pageid", "curid", "title", "revid"),
    *("all", "extent", "verdict", "reason", "copy", "repaired", "at", "format", "callback", "continue"),
}
"""The parameters of a request for the links of pages."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The place where an answer continues (``continue``): a link of a page, by the page's place in the query from 0 on.

    `offset` counts the page's links in their own order; `revision` and `check` are those of the page when it was cut.
    """

    index: int
    offset: int = 0
    revision: int = 0
    check: str = "0"

    def __str__(self) -> str:
        """The value as answers give it, and `_bookmark` reads it."""
        return f"{self.index}.{self.offset}.{self.revision}.{self.check}"


BEGIN: Final = Bookmark(0)


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Pages of one wiki, by ids or titles, each once. `revision` is that of the one page, if it was given (W-10).

    The answer begins at `begin`. `given` are the titles as they were given, of which some may be one with spaces.
    """

    wiki: WikiName
    ids: tuple[int, ...]
    titles: tuple[str, ...]
    revision: int | None = None
    begin: Bookmark = BEGIN
    given: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[int | str, ...]:
        """The names of its pages, in the order of the request."""
        return (*self.ids, *self.titles)

    @property
    def is_for_store(self) -> bool:
        """True if it names so many pages that their stored links are served, without their wiki being read."""
        return len(self.ids) + len(self.titles) > MOST_PAGES


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """The links of an answer to be shown: those of the extent that have one of the verdicts, if any are given, that
    reason, and need a copy and have one (`copied`), or have none, also on the page (`repaired`); None = whether they do
    or not (W-4)."""

    extent: Extent
    verdicts: frozenset[Verdict] = frozenset()
    copied: bool | None = None
    reason: Reason | None = None
    repaired: bool | None = None

    @property
    def is_all(self) -> bool:
        """True if all links are to be shown, in any case."""
        return self == LinkFilter(Extent.ALL)

    def fits(self, link: LinkReport) -> bool:
        """True if the link is to be shown."""
        if not is_included(link, self.extent) or (self.verdicts and link.finding.verdict not in self.verdicts):
            return False
        if self.reason is not None and self.reason not in (link.finding.reason, link.finest_reason):
            return False
        if self.repaired is not None and (
            link.finding.verdict not in COPY_WANTED or link.is_repaired is not self.repaired
        ):
            return False
        return self.copied is None or (link.copies is not None and bool(link.copies.snapshots) is self.copied)


Parameters = Mapping[str, str]


def parameters_of(query: Iterable[tuple[str, str]], length: int, names: Collection[str]) -> Parameters:
    """The parameters of these names that are not empty; `length` is that of the query string. Raises Problem."""
    if length > MOST_QUERY:
        raise Problem(414, "too-long")
    given: dict[str, str] = {}
    for name, value in query:
        text = value.strip(_BLANKS)
        if name not in names or not text:
            continue
        if name in given:
            raise Problem(400, "twice", name)
        given[name] = text
    return given


def only(given: Parameters, *names: str) -> dict[str, str]:
    """The parameters of these names that are given, in the order of the names."""
    return {name: given[name] for name in names if name in given}


def without(given: Parameters, *names: str) -> dict[str, str]:
    """The parameters of all other names."""
    return {name: value for name, value in given.items() if name not in names}


def page_query_of(given: Parameters, most: int = MOST_PAGES) -> PageQuery:
    """The `PageQuery` in the parameters of a request, of at most so many pages; raises Problem.

    An id counts more than a title, as in MediaWiki's own addresses.
    """
    wiki = wiki_of(given)
    named = {name: given[name].split("|") for name in ("pageid", "curid", "title") if name in given}
    if not named:
        raise Problem(404, "no-page")
    if any(len(parts) > most for parts in named.values()):
        raise Problem(400, "too-many", most)
    # A wrong value is wrong, whether it counts or not.
    ids = next(iter([_ids(parts) for name, parts in named.items() if name != "title"]), ())
    as_given = () if ids else tuple(dict.fromkeys(part.strip() for part in named["title"]))
    titles = tuple(dict.fromkeys(map(title_of, as_given)))
    count = len(ids) + len(titles)
    return PageQuery(wiki, ids, titles, _revision(given, count), _bookmark(given, count), as_given)


def wiki_of(given: Parameters) -> WikiName:
    """The wiki that is given; raises Problem."""
    if "dbname" not in given:
        raise Problem(400, "no-wiki")
    try:
        return parse_wiki_name(given["dbname"])
    except ConfigError:
        raise Problem(400, "wiki", given["dbname"][:100]) from None


def url_of(given: Parameters) -> Url:
    """The URL that is given, in its normal form; raises Problem."""
    if "url" not in given:
        raise Problem(400, "no-url")
    try:
        return parse(given["url"])
    except InvalidUrl:
        raise Problem(404, "url", given["url"][:MOST_SHOWN]) from None


def page_of(given: Parameters, name: str) -> int | None:
    """The id of the one page that a parameter names, None if it is not given; raises Problem."""
    if name not in given:
        return None
    if not _ID.fullmatch(given[name]):
        raise Problem(400, "page-id")
    return int(given[name])


def verdicts_of(given: Parameters, name: str = "verdict") -> frozenset[Verdict]:
    """The verdicts in a parameter by which something is filtered (W-4); none = it is not. Raises Problem."""
    words = given[name].split("|") if name in given else []
    if not _VERDICTS.keys() >= set(words):
        raise Problem(400, "verdicts", name)
    return frozenset(_VERDICTS[word] for word in words)


def copied_of(given: Parameters) -> bool | None:
    """True for links with an archived copy only, False for those without; None = both. Raises Problem."""
    if "copy" not in given:
        return None
    if given["copy"] not in _COPIED:
        raise Problem(400, "copy")
    return _COPIED[given["copy"]]


def reason_of(given: Parameters) -> Reason | None:
    """The reason of the links that are to be shown, None = any; raises Problem."""
    if "reason" not in given:
        return None
    if given["reason"] not in _REASONS:
        raise Problem(404, "reason")
    return _REASONS[given["reason"]]


def repaired_of(given: Parameters) -> bool | None:
    """True for links whose page offers a copy already, False for those without (L-10); None = both. Raises Problem."""
    if given.get("repaired", "no") not in _REPAIRED:
        raise Problem(400, "repaired")
    return _REPAIRED[given["repaired"]] if "repaired" in given else None


def at_of(given: Parameters) -> int | None:
    """The day of the citation that is given, negative before 2017; raises Problem."""
    if "at" not in given:
        return None
    try:
        if not _DATE.fullmatch(given["at"]):
            raise ValueError(given["at"])
        return days_from_epoch(date.fromisoformat(given["at"]))
    except ValueError:
        raise Problem(400, "at", given["at"][:MOST_SHOWN]) from None


def extent_of(given: Parameters, otherwise: Extent) -> Extent:
    """The extent that is given, whatever `all` says; else all links if they are requested or filtered, else that of the
    format. Raises Problem.
    """
    if given.get("all", "0") not in ("0", "1"):
        raise Problem(400, "all")
    if "extent" not in given:
        return Extent.ALL if given.get("all") == "1" or not _FILTERS.isdisjoint(given) else otherwise
    if given["extent"] not in _EXTENTS:
        raise Problem(400, "page-extent")
    return Extent(given["extent"])


def link_filter_of(given: Parameters, otherwise: Extent) -> LinkFilter:
    """The filter that is given; `otherwise` as in `extent_of`. Raises Problem."""
    extent = extent_of(given, otherwise)
    return LinkFilter(extent, verdicts_of(given), copied_of(given), reason_of(given), repaired_of(given))


def callback_of(given: Parameters) -> str:
    """The function to call, a dotted identifier in ASCII (W-1); raises Problem."""
    name = given.get("callback", _DEFAULT_CALLBACK)
    if len(name) > _MOST_CALLBACK or not _CALLBACK.fullmatch(name):
        raise Problem(400, "callback", _MOST_CALLBACK)
    return name


def namespace_of(given: Parameters) -> int | None:
    """The number of the namespace that is given, None if none is; raises Problem."""
    if "namespace" not in given:
        return None
    if not _NAMESPACE.fullmatch(given["namespace"]):
        raise Problem(400, "namespace")
    return int(given["namespace"])


def category_of(given: Parameters) -> str:
    """The category that is given, without the prefix ``Category:`` if it has one; raises Problem."""
    try:
        category = title_of(given["category"])
        return title_of(category[len(_CATEGORY) :]) if category.lower().startswith(_CATEGORY) else category
    except Problem:
        raise Problem(404, "category") from None


def _ids(parts: Sequence[str]) -> tuple[int, ...]:
    if not all(_ID.fullmatch(part) for part in parts):
        raise Problem(400, "page-id")
    return tuple(dict.fromkeys(map(int, parts)))


def _revision(given: Parameters, pages: int) -> int | None:
    """The revision of the one page; of several it is ignored, as it only says what may be kept. Raises Problem."""
    if not _REVISION.fullmatch(given.get("revid", "1")):
        raise Problem(400, "revid")
    return int(given["revid"]) if "revid" in given and pages == 1 else None


def _bookmark(given: Parameters, pages: int) -> Bookmark:
    """The place where a query continues that names so many pages; raises Problem."""
    if "continue" not in given:
        return BEGIN
    if (match := _BOOKMARK.fullmatch(given["continue"])) is None:
        raise Problem(400, "continue")
    if int(match[1]) >= pages:
        raise Problem(404, "continue")
    return Bookmark(int(match[1]), int(match[2]), int(match[3]), match[4])


def title_of(text: str) -> str:
    """The title with spaces; raises Problem for a title that MediaWiki cannot have, so that it never reaches SQL."""
    if not text.strip("_ ") or len(text.encode("utf-8", "replace")) > _MOST_TITLE or _UNFIT_TITLE.search(text):
        raise Problem(404, "title")
    return text.replace("_", " ").strip()

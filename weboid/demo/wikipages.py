"""The pages of the little wiki and its answers to Action API queries, as MediaWiki gives them (formatversion 2).

Pure; HTTP and HTML belong to ``littlewiki``. An answer has the same continuations as MediaWiki's, with any limits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

Answer = dict[str, Any]
"""One answer, ready for JSON."""

NAMESPACES: Final = {0: "", 1: "Talk", 2: "User", 4: "Project", 8: "MediaWiki", 10: "Template", 14: "Category"}

_MOST_IDS: Final = 50
_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_PROPS: Final = ("extlinks", "iwlinks", "info")


class WikiLink(NamedTuple):
    """An external link and its caption."""

    url: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class WikiPage:
    """A page. `title` has its namespace's prefix and spaces; `interwiki` are pairs of prefix and title.

    A redirect names the title it leads to.
    """

    page: int
    title: str
    links: tuple[WikiLink, ...] = ()
    text: str = ""
    revision: int = 1
    namespace: int = 0
    model: str = "wikitext"
    interwiki: tuple[tuple[str, str], ...] = ()
    redirect: str | None = None


class InterwikiEntry(NamedTuple):
    """One entry of the interwiki map; the URL has ``$1`` in place of the title."""

    prefix: str
    url: str
    local: bool = False


@dataclass(slots=True)
class Site:
    """A wiki: what it states about itself, its pages by title, and the limits of its answers."""

    pages: dict[str, WikiPage]
    dbname: str = "demowiki"
    farm: str = "wmflabs"
    name: str = "The little wiki"
    server: str = "http://127.0.0.1"
    lang: str = "en"
    interwiki: Sequence[InterwikiEntry] = ()
    pages_at_once: int = 5
    links_at_once: int = 20


class _Refused(Exception):
    """A query that MediaWiki answers with an error: its code and text."""


def answer_of(site: Site, question: Mapping[str, str]) -> Answer:
    """The answer to one query; errors are answers too, as in MediaWiki."""
    try:
        if question.get("action") != "query" or question.get("formatversion") != "2":
            raise _Refused("badvalue", "This little wiki knows action=query with formatversion=2 only.")
        if question.get("meta") == "siteinfo":
            return {"batchcomplete": True, "query": _siteinfo(site)}
        return _query(site, question)
    except _Refused as refused:
        code, words = refused.args
        return {"error": {"code": code, "info": words}}


def _siteinfo(site: Site) -> Answer:
    general = {
        "mainpage": "Main Page",
        "base": f"{site.server}/",
        "sitename": site.name,
        "generator": "MediaWiki 1.45.0 (a made-up one)",
        "lang": site.lang,
        "articlepath": "/wiki/$1",
        "scriptpath": "/w",
        "script": "/w/index.php",
        "server": site.server,
        "wikiid": site.dbname,
        "maxarticlesize": 2_097_152,
    }
    namespaces = {
        str(number): {"id": number, "case": "first-letter", "name": name, "content": number == 0}
        for number, name in NAMESPACES.items()
    }
    interwiki = [
        {"prefix": each.prefix, "url": each.url, "protorel": False} | ({"local": True} if each.local else {})
        for each in site.interwiki
    ]
    return {"general": general, "namespaces": namespaces, "interwikimap": interwiki}


def _query(site: Site, question: Mapping[str, str]) -> Answer:
    query: Answer = {}
    following = None
    if question.get("list") == "prefixsearch":
        return {"batchcomplete": True, "query": {"prefixsearch": _beginning(site, question.get("pssearch", ""))}}
    if question.get("list") == "categorymembers":
        return {"batchcomplete": True, "query": {"categorymembers": []}}  # it has no categories
    if question.get("generator") == "allpages":
        batch, following = _walk(site, question)
    elif "revids" in question:
        wanted = _ids(question["revids"])  # only the newest of each page is kept
        batch = [(_head(page), page) for page in site.pages.values() if page.revision in wanted]
    elif "pageids" in question:
        batch = [_listed_by_id(site, page) for page in _ids(question["pageids"])]
    elif "titles" in question:
        batch = _listed_by_title(site, question["titles"].split("|"), query, follow="redirects" in question)
    else:
        raise _Refused("nosuchquery", "Nothing was requested.")
    going_on = _add_props(site, question, batch)
    query["pages"] = [entry for entry, _ in batch]
    if going_on:
        return {"continue": going_on, "query": query}
    answer: Answer = {"batchcomplete": True, "query": query}
    if following is not None:
        answer["continue"] = {"gapcontinue": following, "continue": "gapcontinue||"}
    return answer


_Listed = tuple[Answer, WikiPage | None]
"""A page's entry in the answer, and the page, or None if it is missing."""


def _walk(site: Site, question: Mapping[str, str]) -> tuple[list[_Listed], str | None]:
    """One batch of `generator=allpages`, and the title at which the next begins."""
    namespace = _number(question.get("gapnamespace", "0"))
    begin = question.get("gapcontinue", "")
    kinds = {"all": (False, True), "nonredirects": (False,), "redirects": (True,)}
    wanted = kinds.get(question.get("gapfilterredir", "all"), (False, True))
    pages = sorted(
        (page for page in site.pages.values() if page.namespace == namespace and (page.redirect is not None) in wanted),
        key=lambda page: _key(page.title),
    )
    left = [page for page in pages if _key(page.title) >= begin]
    size = max(1, min(_number(question.get("gaplimit", "10")), site.pages_at_once))
    following = _key(left[size].title) if len(left) > size else None
    # MediaWiki lists a batch by page id, though it walks by title.
    return [(_head(page), page) for page in sorted(left[:size], key=lambda page: page.page)], following


def _beginning(site: Site, text: str) -> list[Answer]:
    """The pages whose titles begin so, in any case, as ``prefixsearch`` lists them."""
    found = sorted(title for title in site.pages if title.casefold().startswith(text.casefold()))
    return [
        {"ns": site.pages[title].namespace, "title": title, "pageid": site.pages[title].page} for title in found[:10]
    ]


def _listed_by_id(site: Site, page_id: int) -> _Listed:
    found = next((page for page in site.pages.values() if page.page == page_id), None)
    return (_head(found), found) if found else ({"pageid": page_id, "missing": True}, None)


def _listed_by_title(site: Site, titles: Iterable[str], query: Answer, *, follow: bool) -> list[_Listed]:
    listed: list[_Listed] = []
    for given in titles:
        title = _normal(given)
        if title != given:
            query.setdefault("normalized", []).append({"fromencoded": False, "from": given, "to": title})
        page = site.pages.get(title)
        if page and page.redirect is not None and follow:
            query.setdefault("redirects", []).append({"from": page.title, "to": page.redirect})
            title, page = page.redirect, site.pages.get(page.redirect)
        listed.append((_head(page), page) if page else ({"ns": 0, "title": title, "missing": True}, None))
    if len(listed) > _MOST_IDS:
        raise _Refused("toomanyvalues", f"At most {_MOST_IDS} titles at once.")
    return listed


def _add_props(site: Site, question: Mapping[str, str], batch: list[_Listed]) -> dict[str, str]:
    """Adds the requested properties to the entries of the pages; returns the continuation if not all of it fitted."""
    finished = question.get("continue", "||").partition("||")[2].split("|")
    wanted = [prop for prop in question.get("prop", "").split("|") if prop in _PROPS and prop not in finished]
    going_on: dict[str, str] = {}
    if "extlinks" in wanted:
        urls = [(entry, {"url": link.url}) for entry, page in batch if page for link in page.links]
        going_on |= _add_some(site, question, "extlinks", "el", urls)
    if "iwlinks" in wanted:
        links = [
            (entry, {"prefix": prefix, "title": title})
            for entry, page in batch
            if page
            for prefix, title in page.interwiki
        ]
        going_on |= _add_some(site, question, "iwlinks", "iw", links)
    if "info" in wanted:
        for entry, page in batch:
            entry.update(_info(site, page) if page else {})
    if "revisions" in question.get("prop", "").split("|"):
        for entry, page in batch:
            entry.update({"revisions": [_revision(page)]} if page else {})
    if going_on:
        begun = {"elcontinue": "extlinks", "iwcontinue": "iwlinks"}
        open_props = {begun[name] for name in going_on}
        # A walk stays at its batch until all its properties were listed; `continue` names those that are complete.
        walk = {"gapcontinue": question["gapcontinue"]} if "gapcontinue" in question else {}
        over = "|".join(prop for prop in _PROPS if prop not in open_props)
        return {**going_on, **walk, "continue": f"{'gapcontinue' if walk else ''}||{over}"}
    return {}


def _add_some(
    site: Site, question: Mapping[str, str], prop: str, prefix: str, listed: list[tuple[Answer, Answer]]
) -> dict[str, str]:
    """Adds the links from the end of the last answer on, as many as fit; returns the continuation for the next one."""
    begin = _number(question.get(f"{prefix}continue", "0"))
    size = max(1, min(_number(question.get(f"{prefix}limit", "10")), site.links_at_once))
    for entry, link in listed[begin : begin + size]:
        entry.setdefault(prop, []).append(link)
    return {f"{prefix}continue": str(begin + size)} if begin + size < len(listed) else {}


def _head(page: WikiPage) -> Answer:
    return {"pageid": page.page, "ns": page.namespace, "title": page.title}


def _revision(page: WikiPage) -> Answer:
    return {
        "revid": page.revision,
        "parentid": 0,
        "slots": {"main": {"contentmodel": page.model, "content": page.text}},
    }


def _info(site: Site, page: WikiPage) -> Answer:
    info = {
        "contentmodel": page.model,
        "pagelanguage": site.lang,
        "pagelanguagehtmlcode": site.lang,
        "pagelanguagedir": "ltr",
        # Revisions are numbered through the wiki: each edit is a second later than the last.
        "touched": f"{_BEGIN + timedelta(seconds=page.revision):%Y-%m-%dT%H:%M:%SZ}",
        "lastrevid": page.revision,
        "length": len(page.text.encode()),
    }
    return info | ({"redirect": True} if page.redirect is not None else {})


def _ids(text: str) -> list[int]:
    ids = [_number(part) for part in text.split("|")]
    if len(ids) > _MOST_IDS:
        raise _Refused("toomanyvalues", f"At most {_MOST_IDS} page ids at once.")
    return list(dict.fromkeys(ids))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise _Refused("badinteger", "That is not a number.")
    return int(text)


def _key(title: str) -> str:
    return title.replace(" ", "_")


def _normal(title: str) -> str:
    spaced = title.replace("_", " ").strip(" ")
    return spaced[:1].upper() + spaced[1:]

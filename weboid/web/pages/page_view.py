"""The HTML of an answer about pages of a wiki: their links, and the form again (W-3, W-4)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from weboid.core.verdict.link_report import COPY_WANTED, PageReport
from weboid.core.verdict.verdict import Verdict
from weboid.mechanism.slices import Steps
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.report import PageAnswer
from weboid.web.formats.html import query, render_steps, time_html
from weboid.web.pages.link_table import choices_of, table_steps
from weboid.web.request.parameters import FILTERED, LinkFilter, Parameters, without
from weboid.web.request.route import address_of
from weboid.web.words import phrases
from weboid.web.words.messages import Messages

_MAIN: Final = 0
_FILTERS: Final = ("extent", "verdict", "reason", "copy", "repaired")
_COUNTED: Final = (
    *(Verdict.DEAD, Verdict.DOUBTFUL, Verdict.SPAM),
    *(Verdict.INVALID, Verdict.WORKING, Verdict.UNKNOWN),
)


def html_steps(
    answer: PageAnswer, shown: LinkFilter, wikis: Sequence[str], given: Parameters, say: Messages, source: str
) -> Steps[bytes]:
    """The HTML with the lists of links of the pages in an answer, and the form again; made in steps."""
    pages = []
    for page in answer.pages:
        view = yield from _page_view(page, answer, shown, given, say)
        pages.append(view)
    beginning = without(given, "continue")
    return (
        yield from render_steps(
            "answer.html",
            say,
            given,
            source,
            wikis,
            missing=answer.missing,
            pages=pages,
            first=query(beginning) if "continue" in given else None,
            next=None if answer.next is None else query({**beginning, "continue": str(answer.next)}),
            is_all=shown.is_all,
            hidden=without(given, "continue", "reason", "copy", "repaired", "sort"),
            may_copy=shown.verdicts <= COPY_WANTED,
            is_filtered=any(name in given for name in _FILTERS),
            switch=query({**without(given, *_FILTERS, "continue"), "all": "0" if shown.is_all else "1"}),
        )
    )


def _page_view(
    page: PageReport, answer: PageAnswer, shown: LinkFilter, given: Parameters, say: Messages
) -> Steps[dict[str, Any]]:
    counts = Counter([link.finding.verdict for link in page.links])
    repaired = Counter([link.finding.verdict for link in page.links if link.is_repaired])
    listed = page.links if shown.is_all else tuple(filter(shown.fits, page.links))
    table = yield from table_steps(page, answer, listed, given, say)
    name = phrases.visible(page.title)
    title = Markup("<bdi>{}</bdi>").format(name)
    if address := page_address(page, answer.wiki):
        title = Markup('<a href="{}">{}</a>').format(address, title)
    return {
        "name": name,
        "heading": say.html("weboid-page-heading", title),
        "read": None if page.live else say.html("weboid-page-read", time_html(page.read, answer.day, say)),
        "total": len(page.links),
        "shown": None
        if len(listed) == len(page.links)
        else say.text("weboid-page-shown", len(listed), len(page.links)),
        "counts": [
            (
                verdict.word,
                count_words(verdict, counts[verdict], repaired[verdict], say),
                _verdict_query(verdict, given),
            )
            for verdict in _COUNTED
            if counts[verdict]
        ],
        "choices": choices_of(page.links, say),
        "part": None
        if (part := page.part) is None
        else say.text("weboid-page-part", part.first + 1, part.end, part.total),
        "repair": _repair_of(page, answer, given) if counts[Verdict.DEAD] > repaired[Verdict.DEAD] else None,
        "listed": table if listed else None,
    }


def _verdict_query(verdict: Verdict, given: Parameters) -> str | None:
    """The query of the links with this verdict, or of those with any if it is chosen; None if it cannot be chosen."""
    if verdict not in FILTERED:
        return None
    others = without(given, "continue", "extent", "all", "verdict", *(() if verdict in COPY_WANTED else ("copy",)))
    return query(others if given.get("verdict") == verdict.word else {**others, "verdict": verdict.word})


def _repair_of(page: PageReport, answer: PageAnswer, given: Parameters) -> dict[str, str | None] | None:
    """The addresses by which a page is repaired: on its wiki, where the gadget begins when it sees the parameter, and
    here; None where it is not known how the wiki writes, or which revision the page has."""
    if answer.settings is None or not page.live:
        return None
    place = {"dbname": str(page.wiki), "pageid": str(page.page), "revid": str(page.revision)}
    index = index_address(answer.wiki)
    return {
        "wiki": None if index is None else f"{index}?curid={page.page}&weboidrepair=1",
        "text": address_of("repair", **place, lang=given.get("lang")),
    }


def count_words(verdict: Verdict, count: int, repaired: int, say: Messages) -> Markup:
    """The number of a page's links with a verdict in words, and the number of those that are repaired."""
    words = say.html(f"weboid-count-{verdict.word}", count)
    return say.html("weboid-count-repaired", words, repaired) if repaired else words


def page_address(page: PageReport, wiki: StoredWiki) -> str | None:
    """The URL of the page on its wiki, by id, as ids survive moves; None if the wiki's address is not known."""
    if index := index_address(wiki):
        return f"{index}?curid={page.page}"
    if wiki.article and page.namespace == _MAIN and (article := phrases.href(wiki.article)):
        return article + quote(page.title.replace(" ", "_"), safe="/:")
    return None


def index_address(wiki: StoredWiki) -> str | None:
    """The URL of the wiki's ``index.php``, which is next to ``api.php``; None if that is not known."""
    if not wiki.api or not wiki.api.endswith("/api.php") or (index := phrases.href(wiki.api)) is None:
        return None
    return f"{index.removesuffix('api.php')}index.php"

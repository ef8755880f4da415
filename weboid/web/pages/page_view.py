"""The HTML of an answer about pages of a wiki: their links, and the form again (W-3, W-4)."""

from collections.abc import Collection, Sequence
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from weboid.core.verdict.link_report import Extent, PageReport, is_told
from weboid.core.verdict.verdict import Verdict
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.answers import PageAnswer
from weboid.web.answer.payload import fits
from weboid.web.formats.html import query, render, time_html
from weboid.web.formats.link_view import link_view
from weboid.web.request.parameters import Parameters, copied_of, extent_of, verdicts_of
from weboid.web.words import phrases
from weboid.web.words.messages import Messages

_MAIN: Final = 0
_COUNTED: Final = (
    Verdict.DEAD,
    Verdict.DOUBTFUL,
    Verdict.SPAM,
    Verdict.INVALID,
    Verdict.WORKING,
    Verdict.UNKNOWN,
)


def answer_html(answer: PageAnswer, wikis: Sequence[str], given: Parameters, say: Messages, source: str) -> str:
    """The HTML with the lists of links of the pages in an answer, and the form again."""
    extent, verdicts, copied = extent_of(given, Extent.FINDINGS), verdicts_of(given), copied_of(given)
    is_all = extent is Extent.ALL and not verdicts and copied is None
    return render(
        "answer.html",
        say,
        given,
        source,
        wikis,
        answer=answer,
        pages=[_page_view(page, answer, extent, (verdicts, copied), say) for page in answer.pages],
        is_all=is_all,
        switch=query({**_without(given, "verdict", "copy"), "all": "0" if is_all else "1"}),
    )


def _without(given: Parameters, *names: str) -> Parameters:
    return {other: value for other, value in given.items() if other not in names}


def _page_view(
    page: PageReport,
    answer: PageAnswer,
    extent: Extent,
    wanted: tuple[Collection[Verdict], bool | None],
    say: Messages,
) -> dict[str, Any]:
    counts = dict.fromkeys(Verdict, 0)
    for link in page.links:
        counts[link.finding.verdict] += 1
    name = phrases.visible(page.title)
    title = Markup("<bdi>{}</bdi>").format(name)
    if address := page_address(page, answer.wiki):
        title = Markup('<a href="{}">{}</a>').format(address, title)
    return {
        "name": name,
        "heading": say.html("weboid-page-heading", title),
        "read": None if page.live else say.html("weboid-page-read", time_html(page.read, answer.day, say)),
        "total": len(page.links),
        "counts": [
            (verdict.word, say.html(f"weboid-count-{verdict.word}", counts[verdict]))
            for verdict in _COUNTED
            if counts[verdict]
        ],
        "links": [
            link_view(link, answer.day, say) for link in page.links if is_told(link, extent) and fits(link, *wanted)
        ],
    }


def page_address(page: PageReport, wiki: StoredWiki) -> str | None:
    """The URL of the page on its wiki, by id, as ids survive moves; None if the wiki's address is not known."""
    if wiki.api and wiki.api.endswith("/api.php") and (index := phrases.href(wiki.api)):
        return f"{index.removesuffix('api.php')}index.php?curid={page.page}"
    if wiki.article and page.namespace == _MAIN and (article := phrases.href(wiki.article)):
        return article + quote(page.title.replace(" ", "_"), safe="/:")
    return None

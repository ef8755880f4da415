"""HTML for people, from templates (W-3, W-4). What is said of a link stands in ``wording``.

One law: templates escape by themselves and get no HTML made elsewhere but that of ``Messages.html``; every address
they link to was made by `wording.href` or here.
"""

from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from weboid import __version__
from weboid.core.days import iso
from weboid.core.report import Extent, LinkReport, PageReport, is_told
from weboid.core.verdict import Verdict
from weboid.store.wiki import StoredWiki
from weboid.web import wording
from weboid.web.answers import Answer
from weboid.web.document import fits
from weboid.web.files import icon, style
from weboid.web.language import Language, offered_languages
from weboid.web.messages import Messages
from weboid.web.problem import Problem
from weboid.web.question import Parameters, extent_of, verdicts_of

CONTENT_TYPE: Final = "text/html"
_MAIN: Final = 0
_KEPT: Final = 4_096
_COUNTED: Final = (
    Verdict.DEAD,
    Verdict.DOUBTFUL,
    Verdict.SPAM,
    Verdict.INVALID,
    Verdict.WORKING,
    Verdict.UNKNOWN,
)


def answer_html(answer: Answer, wikis: Sequence[str], given: Parameters, say: Messages, source: str) -> str:
    """The lists of links of the pages asked for, and the form again."""
    extent, verdicts = extent_of(given, Extent.FINDINGS), verdicts_of(given)
    is_all = extent is Extent.ALL and not verdicts
    return render(
        "answer.html",
        say,
        given,
        source,
        wikis,
        answer=answer,
        pages=[_page_view(page, answer, extent, verdicts, say) for page in answer.pages],
        is_all=is_all,
        switch=query({**_without(given, "verdict"), "all": "0" if is_all else "1"}),
    )


def problem_html(problem: Problem, wikis: Sequence[str], given: Parameters, say: Messages, source: str) -> str:
    """What is wrong, and the form to mend it."""
    return render("problem.html", say, given, source, wikis, told=problem_words(problem, say))


def problem_words(problem: Problem, say: Messages) -> Markup:
    """What is wrong, to be told on the page whose form was sent."""
    told = [wording.visible(value) if isinstance(value, str) else value for value in problem.parameters]
    return say.html(problem.key, *told)


def _without(given: Parameters, name: str) -> Parameters:
    return {other: value for other, value in given.items() if other != name}


def _page_view(
    page: PageReport, answer: Answer, extent: Extent, verdicts: Collection[Verdict], say: Messages
) -> dict[str, Any]:
    counts = dict.fromkeys(Verdict, 0)
    for link in page.links:
        counts[link.finding.verdict] += 1
    name = wording.visible(page.title)
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
            link_view(link, answer.day, say) for link in page.links if is_told(link, extent) and fits(link, verdicts)
        ],
    }


class LinkView(NamedTuple):
    """What the template of a link shows of it; not a dictionary, as templates look for attributes first."""

    verdict: str
    words: str
    url: str
    normal: str | None
    href: str | None
    reason: str | None
    suspicious: bool
    told: Sequence[str]
    """The target, the file, what people said."""
    asked: Markup | None
    status: str | None
    history: Sequence[str]
    forms: Sequence[str]


def link_view(link: LinkReport, day: int, say: Messages) -> LinkView:
    """What the template of a link shows of it."""
    record = link.record
    told = [
        None if record.target is None else say.html("weboid-target", address_html(record.target)),
        wording.file_words(link, say),
        wording.report_words(link, day, say),
    ]
    return LinkView(
        verdict=link.finding.verdict.word,
        words=wording.verdict_words(link, day, say),
        url=wording.shown_url(link),
        normal=link.normal,
        href=wording.href_of(link),
        reason=wording.reason_words(link, say),
        suspicious=link.suspicious,
        told=[*filter(None, told), *_instead(link, say)],
        asked=None if record.asked is None else _asked_html(record.asked, day, say),
        status=wording.status_words(link.status, say) if record.history else None,
        history=[wording.entry_words(entry, say) for entry in record.history],
        forms=wording.other_forms(link),
    )


@lru_cache(_KEPT)
def _asked_html(asked: int, day: int, say: Messages) -> Markup:
    return say.html("weboid-asked", time_html(asked, day, say))


def _instead(link: LinkReport, say: Messages) -> list[Markup]:
    """What can stand in for a dead link, under reserve (A-4)."""
    if link.finding.verdict is not Verdict.DEAD:
        return []
    told = [say.html("weboid-note-archive", address_html(address)) for address in link.notes.archives]
    if link.notes.replacement:
        told.append(say.html("weboid-note-replacement", address_html(link.notes.replacement)))
    return told


def page_address(page: PageReport, wiki: StoredWiki) -> str | None:
    """Where the page can be read on its wiki, by id, which survives moves; None if the wiki's address is not known."""
    if wiki.api and wiki.api.endswith("/api.php") and (index := wording.href(wiki.api)):
        return f"{index.removesuffix('api.php')}index.php?curid={page.page}"
    if wiki.article and page.namespace == _MAIN and (article := wording.href(wiki.article)):
        return article + quote(page.title.replace(" ", "_"), safe="/:")
    return None


def time_html(moment: int, day: int, say: Messages) -> Markup:
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        iso(moment), say.date(moment), say.distance(moment - day)
    )


def address_html(text: str) -> Markup:
    """An address that somebody's server gave: a link if it may be one."""
    shown = Markup("<bdi>{}</bdi>").format(wording.visible(text))
    if (href := wording.href(text)) is None:
        return shown
    return Markup('<a href="{}" rel="nofollow noopener noreferrer">{}</a>').format(href, shown)


def query(given: Parameters) -> str:
    """The query of the same page of ours with these parameters."""
    return "?" + urlencode({name: value for name, value in given.items() if name not in ("format", "callback")})


def render(name: str, say: Messages, given: Parameters, source: str, wikis: Sequence[str], **values: Any) -> str:
    """A template with what all of them need, and these values."""
    language = say.language
    chosen = {"lang": given["lang"]} if "lang" in given else {}

    @cache
    def behind_url(wiki: str) -> str:
        return urlencode({"dbname": wiki, **chosen})

    return _template(name).render(
        say=say.html,
        language=language,
        language_options=_language_options(language),
        given=given,
        wikis=wikis,
        lang_query=query({"lang": given["lang"]}) if "lang" in given else "",
        page_query=lambda wiki, page: query(
            {"dbname": wiki, "pageid": str(page), **({"lang": given["lang"]} if "lang" in given else {})}
        ),
        wiki_query=lambda wiki: query({"dbname": wiki, **({"lang": given["lang"]} if "lang" in given else {})}),
        # For hundreds of links of one page; what may stand in a query as it is makes the quicker way.
        url_query=lambda wiki, url: f"?url={quote(url, safe='/:')}&{behind_url(wiki)}",
        visible=wording.visible,
        style=style().name,
        icon=icon().name,
        source=source,
        version=__version__,
        **values,
    )


@lru_cache(16)
def _language_options(chosen: Language) -> Markup:
    """The hundreds of languages of the form, kept: they are most of a page with few links."""
    option = Markup('<option value="{}" lang="{}" dir="{}"{}>{}</option>')
    selected = Markup(" selected")
    return Markup("\n").join(
        option.format(other.code, other.bcp47, other.direction, selected if other == chosen else "", other.autonym)
        for other in offered_languages(chosen)
    )


@cache
def _template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "templates"
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )

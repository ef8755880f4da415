"""The one payload that JSON, JavaScript and XML carry: pages with links, each link with its summary (W-1, W-8).

One law: the formats differ in their syntax only; their content is made here. ``docs/api.md`` describes it.
"""

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from weboid import __version__
from weboid.core.record.days import iso
from weboid.core.verdict.link_report import Extent, LinkReport, PageReport, has_copy, is_included
from weboid.core.verdict.offered_wikitext import offered_wikitext
from weboid.core.verdict.report_json import VERSION, link_as_json, page_as_json
from weboid.core.verdict.verdict import Verdict
from weboid.core.wikitext.settings import WikiSettings
from weboid.mechanism.slices import Steps
from weboid.web.answer.answers import PageAnswer
from weboid.web.request.problem import Problem
from weboid.web.words.copies import copy_summary
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import explanation, sentence


def payload_steps(
    answer: PageAnswer,
    extent: Extent,
    say: Messages,
    source: str,
    verdicts: Collection[Verdict] = (),
    copied: bool | None = None,
) -> Steps[dict[str, Any]]:
    """The payload of an answer, in steps.

    If `verdicts` are given, links of the extent with other verdicts are left out (W-4); if `copied` is given, those
    that need no copy, and those without or with one.
    """
    pages = []
    for page in answer.pages:
        shown = yield from _page(page, answer, extent, (verdicts, copied), say)
        pages.append(shown)
        yield
    return {
        "version": VERSION,
        "generator": f"Weboid {__version__}",
        "source": source,
        "lang": say.language.code,
        "day": iso(answer.day),
        "extent": extent.value,
        "verdicts": words_of(verdicts),
        "policy": asdict(answer.policy),
        "pages": pages,
        "titles": _titles(answer),
        "missing": list(answer.missing),
        "continue": None if answer.next is None else str(answer.next),
    }


def problem_payload(problem: Problem, say: Messages) -> dict[str, Any]:
    """The payload of a problem: its key, and what is wrong in words."""
    text = say.text(problem.key, *problem.parameters)
    return {"version": VERSION, "error": {"key": problem.key, "text": text}}


def words_of(verdicts: Collection[Verdict]) -> list[str]:
    """Their words, in the order of the verdicts."""
    return [verdict.word for verdict in sorted(verdicts, key=lambda verdict: verdict.value)]


def fits(link: LinkReport, verdicts: Collection[Verdict], copied: bool | None = None) -> bool:
    """Whether the link has one of these verdicts, needs a copy and has one or not; what is not given always fits."""
    if verdicts and link.finding.verdict not in verdicts:
        return False
    return copied is None or (link.copies is not None and has_copy(link) is copied)


def link_payload(link: LinkReport, day: int, say: Messages, settings: WikiSettings | None) -> dict[str, Any]:
    """A link as all payloads have it: with its words for people, and what a wiki with these settings would write."""
    return {
        **link_as_json(link, settings),
        "wikitext": offered._asdict() if (offered := offered_wikitext(link, settings, day)) else None,
        "summary": sentence(link, day, say),
        "explanation": explanation(link, day, say),
        "copy_summary": copy_summary(link, day, say),
    }


def _titles(answer: PageAnswer) -> list[dict[str, Any]]:
    """To which pages the titles led by which they were requested."""
    names = {page.page: page.prefixed_title for page in answer.pages}
    return [{"given": given, "title": names[page], "page": page} for given, page in answer.titles.items()]


def _page(
    page: PageReport,
    answer: PageAnswer,
    extent: Extent,
    wanted: tuple[Collection[Verdict], bool | None],
    say: Messages,
) -> Steps[dict[str, Any]]:
    shown = page_as_json(page)
    links = shown["links"] = []
    tells_all = extent is Extent.ALL and wanted == ((), None)
    for link in page.links:
        if tells_all or (is_included(link, extent) and fits(link, *wanted)):
            links.append(link_payload(link, answer.day, say, answer.settings))
            yield
    return shown

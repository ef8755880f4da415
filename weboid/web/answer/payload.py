"""The one payload that JSON, JavaScript and XML carry: pages with links, each link with its summary (W-1, W-8).

One law: the formats differ in their syntax only; their content is made here. ``docs/api.md`` describes it.
"""

from collections.abc import Collection
from typing import Any

from weboid import __version__
from weboid.core.record.days import iso
from weboid.core.verdict.link_report import VERSION, Extent, LinkReport, PageReport, has_copy, is_told, page_as_json
from weboid.core.verdict.verdict import Verdict
from weboid.web.answer.answers import PageAnswer
from weboid.web.request.problem import Problem
from weboid.web.words.copies import copy_summary
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import explanation, sentence


def payload_of(
    answer: PageAnswer,
    extent: Extent,
    say: Messages,
    source: str,
    verdicts: Collection[Verdict] = (),
    copied: bool | None = None,
) -> dict[str, Any]:
    """The payload of an answer; `source` is the URL of the source code of this version (W-2).

    If `verdicts` are given, links of the extent with other verdicts are left out (W-4); if `copied` is given, those
    that need no copy, and those without or with one.
    """
    return {
        "version": VERSION,
        "generator": f"Weboid {__version__}",
        "source": source,
        "lang": say.language.code,
        "day": iso(answer.day),
        "extent": extent.value,
        "verdicts": [verdict.word for verdict in sorted(verdicts, key=lambda verdict: verdict.value)],
        "pages": [_page(page, extent, (verdicts, copied), answer.day, say) for page in answer.pages],
        "missing": list(answer.missing),
    }


def problem_payload(problem: Problem, say: Messages) -> dict[str, Any]:
    """The payload of a problem: its key, and what is wrong in words."""
    text = say.text(problem.key, *problem.parameters)
    return {"version": VERSION, "error": {"key": problem.key, "text": text}}


def fits(link: LinkReport, verdicts: Collection[Verdict], copied: bool | None = None) -> bool:
    """Whether the link has one of these verdicts, needs a copy and has one or not; what is not given always fits."""
    if verdicts and link.finding.verdict not in verdicts:
        return False
    return copied is None or (link.copies is not None and has_copy(link) is copied)


def link_words(link: LinkReport, day: int, say: Messages) -> dict[str, str | None]:
    """The words about a link, for programs that show them to people."""
    return {
        "summary": sentence(link, day, say),
        "explanation": explanation(link, day, say),
        "copy_summary": copy_summary(link, day, say),
    }


def _page(
    page: PageReport, extent: Extent, wanted: tuple[Collection[Verdict], bool | None], day: int, say: Messages
) -> dict[str, Any]:
    reports = [link for link in page.links if is_told(link, extent)]
    shown = page_as_json(page, extent)
    pairs = [(link, report) for link, report in zip(shown["links"], reports, strict=True) if fits(report, *wanted)]
    for link, report in pairs:
        link.update(link_words(report, day, say))
    shown["links"] = [link for link, _ in pairs]
    return shown

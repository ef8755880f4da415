"""The one document that JSON, JavaScript and XML carry: pages with links, each link with its summary (W-1, W-8).

One law: the formats differ in their syntax only; what they say is made here. ``docs/api.md`` describes it.
"""

from collections.abc import Collection
from typing import Any

from weboid import __version__
from weboid.core.record.days import iso
from weboid.core.verdict.link_report import VERSION, Extent, LinkReport, PageReport, is_told, page_as_json
from weboid.core.verdict.verdict import Verdict
from weboid.web.answer.answers import PageAnswer
from weboid.web.request.problem import Problem
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import sentence


def document(
    answer: PageAnswer, extent: Extent, say: Messages, source: str, verdicts: Collection[Verdict] = ()
) -> dict[str, Any]:
    """The answer; `source` is where the code of this very version is (W-2).

    If there are `verdicts`, links of the extent with other ones are left out (W-4).
    """
    return {
        "version": VERSION,
        "generator": f"Weboid {__version__}",
        "source": source,
        "lang": say.language.code,
        "day": iso(answer.day),
        "extent": extent.value,
        "verdicts": [verdict.word for verdict in sorted(verdicts, key=lambda verdict: verdict.value)],
        "pages": [_page(page, extent, verdicts, answer.day, say) for page in answer.pages],
        "missing": list(answer.missing),
    }


def problem_document(problem: Problem, say: Messages) -> dict[str, Any]:
    """What is wrong, as a key and in words."""
    text = say.text(problem.key, *problem.parameters)
    return {"version": VERSION, "error": {"key": problem.key, "text": text}}


def fits(link: LinkReport, verdicts: Collection[Verdict]) -> bool:
    """Whether a filter lets the link pass; none lets all."""
    return not verdicts or link.finding.verdict in verdicts


def _page(page: PageReport, extent: Extent, verdicts: Collection[Verdict], day: int, say: Messages) -> dict[str, Any]:
    told = [link for link in page.links if is_told(link, extent)]
    shown = page_as_json(page, extent)
    pairs = [(link, report) for link, report in zip(shown["links"], told, strict=True) if fits(report, verdicts)]
    for link, report in pairs:
        link["summary"] = sentence(report, day, say)
    shown["links"] = [link for link, _ in pairs]
    return shown

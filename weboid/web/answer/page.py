"""Stage 5: the payload of an answer, pages with links and their summaries, for all formats of programs (W-1, W-8).

The formats differ in their syntax only. ``docs/api.md`` describes it.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from weboid import __version__
from weboid.core.record.days import iso
from weboid.core.verdict.link_report import LinkReport, PageReport
from weboid.core.verdict.offered_wikitext import offered_wikitext
from weboid.core.verdict.report_json import VERSION, link_as_json, page_as_json
from weboid.core.verdict.verdict import Verdict
from weboid.core.wikitext.settings import WikiSettings
from weboid.mechanism.slices import Steps, batches
from weboid.web.answer.report import PageAnswer
from weboid.web.request.parameters import LinkFilter
from weboid.web.words.copies import copy_summary
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import in_words

_SOME: Final = 20
"""Links of which the payloads are made at a time: a fraction of a millisecond."""


def payload_steps(answer: PageAnswer, shown: LinkFilter, say: Messages, source: str) -> Steps[dict[str, Any]]:
    """The payload of an answer with the links that are to be shown, in steps."""
    pages: list[dict[str, Any]] = []
    for page in answer.pages:
        pages.append((yield from _page_payload(page, answer, shown, say)))
        yield
    return {
        **payload_head(source, answer.day, say),
        "extent": shown.extent.value,
        "verdicts": words_of(shown.verdicts),
        "policy": asdict(answer.policy),
        "pages": pages,
        "titles": _titles(answer),
        "missing": list(answer.missing),
        "continue": None if answer.next is None else str(answer.next),
    }


def payload_head(source: str, day: int, say: Messages) -> dict[str, Any]:
    """The keys with which every payload begins."""
    return {
        "version": VERSION,
        "generator": f"Weboid {__version__}",
        "source": source,
        "lang": say.language.code,
        "day": iso(day),
    }


def words_of(verdicts: Iterable[Verdict]) -> list[str]:
    """The words for these verdicts, in the order of the verdicts."""
    return [verdict.word for verdict in sorted(verdicts, key=lambda verdict: verdict.value)]


def link_payload(link: LinkReport, day: int, say: Messages, settings: WikiSettings | None) -> dict[str, Any]:
    """A link with its words for people, and with the wikitext that a wiki with these settings would write."""
    payload = link_as_json(link)
    payload["wikitext"] = offered._asdict() if (offered := offered_wikitext(link, settings, day)) else None
    payload["summary"], payload["explanation"] = in_words(link, day, say)
    payload["copy_summary"] = copy_summary(link, day, say)
    return payload


def _titles(answer: PageAnswer) -> list[dict[str, Any]]:
    """The titles that requested pages, with the pages to which they led."""
    names = {page.page: page.prefixed_title for page in answer.pages}
    return [{"given": given, "title": names[page], "page": page} for given, page in answer.titles.items()]


def _page_payload(page: PageReport, answer: PageAnswer, shown: LinkFilter, say: Messages) -> Steps[dict[str, Any]]:
    payload = page_as_json(page)
    links = payload["links"] = []
    for some in batches(list(filter(shown.fits, page.links)), _SOME):
        links += [link_payload(link, answer.day, say, answer.settings) for link in some]
        yield
    return payload

"""From a request to a repaired page: its links as the wiki and the store have them, its text, and the engine's work.

Only links that the page has, now or by its last pass, are looked up (W-5); nothing is kept or saved.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Any, Final

from weboid.bot.choices import ChoiceRefused
from weboid.bot.repair import RepairedPage
from weboid.core.record.days import date_of
from weboid.core.url.farms import WMF, WikiName
from weboid.core.verdict.link_report import Extent, LinkReport
from weboid.core.verdict.report_json import link_as_json
from weboid.core.wikitext.settings import WikiSettings
from weboid.mechanism.helper_process import HelperEnded, HelperProcess
from weboid.mechanism.slices import Steps, batches, in_slices
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.answers import Answers
from weboid.web.repair.job import EditJob, RepairJob, SeenEdit
from weboid.web.request.parameters import MOST_SHOWN, PageQuery
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of

MOST_TEXT: Final = 2 << 20
"""Bytes: MediaWiki's usual limit of a page."""
_END_OF_DAY: Final = time(23, 59, 59, tzinfo=UTC)
_TALK: Final = 1
"""Odd numbers of namespaces are those of talk pages."""
_MEDIAWIKI: Final = 8
_SOME: Final = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """A repair as it is wanted of the one page of `query`; `text` None = that of the revision which this names."""

    query: PageQuery
    revision: int
    text: str | None
    choices: Mapping[str, str]
    only_chosen: bool


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired page; `links` are those of the page by their normal form, `looked` is how many were looked up."""

    wanted: Wanted
    page: int
    text: str
    result: RepairedPage
    settings: WikiSettings
    links: Mapping[str, LinkReport]
    looked: int


class Repairs:
    """Repairs pages in a process of its own."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._helper = HelperProcess("weboid.web.repair.job")

    async def close(self) -> None:
        """Ends that process."""
        await self._helper.close()

    async def repaired(self, wanted: Wanted, day: int) -> Repaired:
        """The repaired page; raises Problem, NotFound, StoreError."""
        page, settings, links = await self._links_of(wanted.query)
        text = await self._text_of(wanted, page) if wanted.text is None else wanted.text
        now = datetime.combine(date_of(day), _END_OF_DAY)
        documents = await in_slices(_documents(links))
        job = RepairJob(text, settings, documents, wanted.choices, wanted.only_chosen, now)
        result = await self._done(job)
        if isinstance(result, ChoiceRefused):
            raise Problem(409, "choice-refused", str(result)[:MOST_SHOWN])
        by_form = {link.normal: link for link in links if link.normal is not None}
        return Repaired(wanted, page, text, result, settings, by_form, len(links))

    async def seen(self, job: EditJob) -> SeenEdit:
        """The edit as its texts show it; raises Problem."""
        seen: SeenEdit = await self._done(job)
        return seen

    async def _done(self, job: RepairJob | EditJob) -> Any:
        try:
            return pickle.loads(await self._helper.answer(pickle.dumps(job)))
        except HelperEnded:
            raise Problem(413, "too-much-to-repair") from None

    async def _links_of(self, query: PageQuery) -> tuple[int, WikiSettings, list[LinkReport]]:
        """The id of the page, the settings of its wiki, and all links of the page, in as many parts as that takes."""
        links: list[LinkReport] = []
        while True:
            selected = await self._answers.select(query)
            if not selected.pages:
                if selected.is_silent:
                    raise Problem(503, "wiki-silent")
                raise Problem(404, "unknown-page", ", ".join(selected.missing), str(query.wiki))
            page = selected.pages[0]
            if page.namespace % 2 == _TALK or page.namespace == _MEDIAWIKI:
                raise Problem(409, "no-repairs-here")
            found = await self._answers.look_up(selected)
            # Of a page without watched links nothing is looked up, so its wiki's settings are not, either.
            settings = found.settings.writes or await settings_of(self._answers, selected.wiki)
            if settings is None:
                raise Problem(409, "no-settings", str(query.wiki))
            answer = await self._answers.report(found, Extent.ALL)
            links += answer.pages[0].links
            if selected.next is None:
                return page.page, settings, links
            query = replace(query, begin=selected.next)

    async def _text_of(self, wanted: Wanted, page: int) -> str:
        wiki, _ = await self._answers.wikis.find(wanted.query.wiki)
        found = await self._answers.live.find_texts(wiki, (wanted.revision,))
        if found is None:
            raise Problem(503, "wiki-silent")
        read = found.get(wanted.revision)
        if read is None or read.page != page:
            raise Problem(409, "no-revision", wanted.revision)
        if read.text is None:
            raise Problem(409, "revision-hidden", wanted.revision)
        if len(read.text.encode("utf-8", "replace")) > MOST_TEXT:
            raise Problem(413, "form-too-long")
        return read.text


async def settings_of(answers: Answers, wiki: StoredWiki) -> WikiSettings | None:
    """The settings by which a wiki writes; None if nobody knows them. Raises StoreError."""
    async with answers.pool.reading() as conn:
        return (await find_settings(conn, wiki.wiki)).writes


def edit_address(wiki: WikiName, page: int, revision: int) -> str:
    """The address of the page about the edit that saves a repair of this revision: readable, for summaries."""
    name = wiki.dbname if wiki.farm == WMF.name else str(wiki)
    return address_of("repaired", wiki=name, page=str(page), revision=str(revision))


def _documents(links: list[LinkReport]) -> Steps[list[dict[str, Any]]]:
    documents: list[dict[str, Any]] = []
    for some in batches(links, _SOME):
        documents += [link_as_json(link) for link in some]
        yield
    return documents

"""Stage 4: reports on the pages of an answer, made of what was looked up."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from weboid.core.record.policy import Policy
from weboid.core.verdict.kept_copies import Services
from weboid.core.verdict.link_report import Extent, PageReport, cited_on, keyed_reports
from weboid.core.verdict.wiki_rules import WikiRules, rules_of
from weboid.core.wikitext.settings import WikiSettings
from weboid.mechanism.slices import Steps, in_slices
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.lookup import LookedUp
from weboid.web.answer.query import SelectedPage
from weboid.web.request.parameters import Bookmark


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """Reports on the pages that were found, in the order of the query; `missing` names the others. Made on `day`.

    `titles` has the ids of pages by the titles that requested them, as they were given; `next` is where the query
    continues, None at its end. `settings` are those of the wiki, None where it has none; `policy` gave the verdicts.
    """

    wiki: StoredWiki
    pages: tuple[PageReport, ...]
    missing: tuple[str, ...]
    day: int
    titles: Mapping[str, int]
    next: Bookmark | None
    settings: WikiSettings | None
    policy: Policy

    def cited_on(self, day: int) -> "PageAnswer":
        """The same with the distances of copies to a citation on that day."""
        pages = [replace(page, links=tuple(cited_on(link, day) for link in page.links)) for page in self.pages]
        return replace(self, pages=tuple(pages))


async def report(found: LookedUp, policy: Policy, services: Services, extent: Extent) -> PageAnswer:
    """The answer; `services` make the addresses of archived copies."""
    chosen = found.selected
    rules = rules_of(found.settings, policy)
    pages = [await in_slices(_page_report(found, page, rules, services, extent)) for page in chosen.pages]
    writes, policy = found.settings.writes, rules.policy
    return PageAnswer(chosen.wiki, tuple(pages), chosen.missing, chosen.day, chosen.titles, chosen.next, writes, policy)


def _page_report(
    found: LookedUp, page: SelectedPage, rules: WikiRules, services: Services, extent: Extent
) -> Steps[PageReport]:
    links = yield from keyed_reports(
        found.links[page.page],
        found.known,
        rules,
        spam=found.spam[page.page],
        services=services,
        extent=extent,
        interwiki={link.url: link for link in page.interwiki} if page.is_live else None,
        hints=found.hints,
        copies=found.copies.get(page.page, ()),
        working=found.working,
    )
    part = page.part
    return PageReport(
        wiki=found.selected.name,
        page=page.page,
        namespace=page.namespace,
        title=page.title,
        revision=page.revision,
        links=links,
        read=page.read,
        live=page.is_live,
        prefixed_title=found.names.prefixed(page.namespace, page.title),
        part=None if part.first == 0 and part.end == part.total else part,
    )

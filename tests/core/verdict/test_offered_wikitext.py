"""The wikitext that an editor is offered for a link: never more than is known of it."""

from datetime import UTC, datetime

from weboid.assets import asset
from weboid.core.archive.copies import Copies, CopyOrigin, CopyState, ShownSnapshot
from weboid.core.record.days import days_from_epoch
from weboid.core.url.archives import ARCHIVES
from weboid.core.url.classify import classify
from weboid.core.verdict.link_report import LinkReport, link_report
from weboid.core.verdict.offered_wikitext import OfferedWikitext, offered_wikitext
from weboid.core.verdict.verdict import Finding, Verdict
from weboid.core.wikitext.settings import WikiSettings, parse_settings

_URL = "http://a.demo/x"
_DAY = days_from_epoch(datetime(2026, 11, 22, tzinfo=UTC))
_TAKEN = datetime(2016, 5, 3, 12, tzinfo=UTC)
_WAYBACK = f"https://web.archive.org/web/20160503120000/{_URL}"
_TODAY = f"https://archive.today/20160503120000/{_URL}"
_ARCHIVES = {archive.name: archive for archive in ARCHIVES}


def settings(wiki: str) -> WikiSettings:
    return parse_settings((asset("wikis") / f"{wiki}.json").read_text(encoding="utf-8"))


def shown(archive: str, address: str, taken: datetime | None = _TAKEN) -> ShownSnapshot:
    return ShownSnapshot(_ARCHIVES[archive], address, _URL, taken, CopyOrigin.CHOSEN)


def link(verdict: Verdict, *snapshots: ShownSnapshot, state: CopyState = CopyState.FOUND) -> LinkReport:
    return link_report(classify(_URL, None))._replace(finding=Finding(verdict), copies=Copies(state, snapshots))


def test_of_a_dead_link_with_a_copy_template_and_parameters_are_offered_and_no_mark() -> None:
    dead = link(Verdict.DEAD, shown("wayback", _WAYBACK), shown("archive.today", _TODAY))
    assert offered_wikitext(dead, settings("enwiki"), _DAY) == OfferedWikitext(
        f"{{{{webarchive|url={_WAYBACK}|date=3 May 2016}}}}",
        f"|archive-url={_WAYBACK} |archive-date=3 May 2016 |url-status=dead",
    )


def test_a_doubtful_link_is_not_called_dead_and_a_template_names_the_first_copy_or_none() -> None:
    doubtful = link(Verdict.DOUBTFUL, shown("wayback", _WAYBACK))
    offered = offered_wikitext(doubtful, settings("enwiki"), _DAY)
    assert offered
    assert offered.parameters == f"|archive-url={_WAYBACK} |archive-date=3 May 2016 |url-status=live"
    # Where a living link has no such parameter, none is written.
    offered = offered_wikitext(doubtful, settings("dewiki"), _DAY)
    assert offered
    assert offered.parameters == f"|archiv-url={_WAYBACK} |archiv-datum=2016-05-03"
    dead = link(Verdict.DEAD, shown("archive.today", _TODAY))
    parameters = f"|archiv-url={_TODAY} |archiv-datum=2016-05-03 |offline=ja"
    assert offered_wikitext(dead, settings("dewiki"), _DAY) == OfferedWikitext(parameters=parameters)


def test_a_mark_is_offered_of_dead_links_without_a_copy_and_nothing_without_settings() -> None:
    for state in [state for state in CopyState if state is not CopyState.FOUND]:
        is_certain = state.value in ("none", "unsuitable", "excluded", "withdrawn")
        mark = OfferedWikitext(dead=f"{{{{Toter Link|url={_URL}|date=2026-11-22}}}}")
        dead, doubtful = link(Verdict.DEAD, state=state), link(Verdict.DOUBTFUL, state=state)
        assert offered_wikitext(dead, settings("dewiki"), _DAY) == (mark if is_certain else None), state
        assert offered_wikitext(doubtful, settings("dewiki"), _DAY) is None, state
    dead = link(Verdict.DEAD, shown("wayback", _WAYBACK))
    assert offered_wikitext(dead, None, _DAY) is None
    assert offered_wikitext(link(Verdict.DEAD, shown("wayback", _WAYBACK, None)), settings("enwiki"), _DAY) is None
    assert offered_wikitext(dead._replace(copies=None), settings("enwiki"), _DAY) is None

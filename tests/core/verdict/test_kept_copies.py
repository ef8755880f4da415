"""The shown ones of stored copies: their order and state, and what is never shown (A-1, A-2, W-8)."""

from dataclasses import replace
from datetime import date

from support.reports import Stored

from weboid.core.archive.copies import CopyState
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.record.days import EPOCH, days_from_epoch
from weboid.core.record.history import Entry
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UrlRecord
from weboid.core.record.status import Status
from weboid.core.url.archives import ARCHIVES, Standing
from weboid.core.url.classify import classify
from weboid.core.url.urls import parse
from weboid.core.verdict.kept_copies import (
    DEFAULT_SERVICES,
    NOTHING,
    KeptCopies,
    KeptLookup,
    KeptSnapshot,
    services_of,
    shown_copies,
)
from weboid.core.verdict.link_report import LinkReport, cited_on, link_report
from weboid.core.verdict.report_json import link_as_json
from weboid.core.verdict.verdict import NO_CLAIMS, Claims, Verdict

URL = parse("http://a.demo/x?y=1")
NUMBERS = {archive.name: archive.number for archive in ARCHIVES}
WAYBACK, ARQUIVO = NUMBERS["wayback"], NUMBERS["arquivo"]
MAY_3 = KeptSnapshot(WAYBACK, 20160503120000, 110, 1, days_from_epoch(date(2016, 5, 5)))
FAILING = UrlRecord((Entry(Status.NOT_FOUND, 100, 120),), reason=Reason.NOT_FOUND)
FINE = UrlRecord((Entry(Status.FINE, 100, 120),), reason=Reason.OK)


def lookup(outcome: LookupOutcome, archive: int = WAYBACK, passed: str = "") -> KeptLookup:
    return KeptLookup(archive, outcome, 118, 125, passed)


def report(
    kept: KeptCopies, url: str = str(URL), record: UrlRecord = FAILING, claims: Claims = NO_CLAIMS
) -> LinkReport:
    return link_report(classify(url, None), Stored(record, kept=kept, claims=claims))


def test_a_snapshot_is_reported_with_its_moment_its_service_and_its_distance() -> None:
    document = link_as_json(report(KeptCopies((MAY_3,))))
    address = "https://web.archive.org/web/20160503120000/http://a.demo/x?y=1"
    assert (document["archived"], document["archives"]) == ("found", [address])
    assert document["snapshots"] == [
        {
            "service": "wayback", "title": "Wayback Machine", "snapshot": address, "original": "http://a.demo/x?y=1",
            "stamp": "20160503120000", "taken": "2016-05-03T12:00:00Z", "distance_days": -2,
            "distance_to": "first-seen", "origin": "chosen", "checked": "2017-04-21", "verified": True,
            "preview": None, "note": None,
        }
    ]  # fmt: skip


def test_a_snapshot_is_verified_if_its_newest_visit_played_it_or_people_chose_it() -> None:
    for asked, strikes, is_verified in [(None, 0, False), (110, 0, True), (110, 1, False), (None, 2, False)]:
        (shown,) = shown_copies(KeptCopies((MAY_3._replace(asked=asked, strikes=strikes),)), URL).snapshots
        assert shown.is_verified is is_verified, asked
    chosen = "https://web.archive.org/web/20150101000000/http://a.demo/x?y=1"
    (shown,) = shown_copies(NOTHING, URL, [chosen]).snapshots
    assert shown.is_verified


def test_why_there_is_no_copy_is_kept_apart_and_none_never_said_where_a_service_was_silent() -> None:
    for lookups, state in [
        ((), "pending"), ((LookupOutcome.NONE,), "none"), ((LookupOutcome.NONE, LookupOutcome.ERROR), "error"),
        ((LookupOutcome.NONE, LookupOutcome.UNKNOWN), "unknown"),
        ((LookupOutcome.NONE, LookupOutcome.EXCLUDED), "excluded"),
        ((LookupOutcome.UNSUITABLE, LookupOutcome.EXCLUDED), "unsuitable"),
        ((LookupOutcome.UNSUITABLE, LookupOutcome.ERROR), "error"), ((LookupOutcome.FOUND,), "pending"),
    ]:  # fmt: skip
        kept = KeptCopies((), tuple(lookup(outcome, number) for number, outcome in enumerate(lookups, 4)))
        assert link_as_json(report(kept))["archived"] == state, lookups
    silent = (LookupOutcome.ERROR, LookupOutcome.UNKNOWN)
    for outcome in LookupOutcome:
        for quiet in silent:
            copies = shown_copies(KeptCopies((), (lookup(outcome), lookup(quiet, ARQUIVO))), URL)
            assert copies.state is not CopyState.NONE


def test_a_withdrawn_copy_is_reported_and_not_shown() -> None:
    gone = lookup(LookupOutcome.EXCLUDED, passed="withdrawn 20160503120000")
    copies = shown_copies(KeptCopies((), (gone, lookup(LookupOutcome.NONE, ARQUIVO))), URL)
    assert (copies.state, copies.snapshots) == (CopyState.WITHDRAWN, ())
    assert copies.withdrawn is not None
    assert copies.withdrawn.isoformat() == "2016-05-03T12:00:00+00:00"
    other = shown_copies(KeptCopies((MAY_3._replace(archive=ARQUIVO),), (gone,)), URL)
    assert (other.state, other.withdrawn, len(other.snapshots)) == (CopyState.FOUND, None, 1)


def test_only_readable_addresses_of_offered_archives_are_shown() -> None:
    for archive in [archive for archive in ARCHIVES if archive.standing is not Standing.OFFERED]:
        address = "https://archive.ph/20160503120000/http://a.demo/x?y=1"
        kept = KeptCopies((MAY_3._replace(archive=archive.number, address=address),))
        copies = shown_copies(kept, URL, [address])
        assert (copies.snapshots, copies.state) == ((), CopyState.PENDING), archive
    for archive in [archive for archive in ARCHIVES if archive.is_offered]:
        for shown in shown_copies(KeptCopies((MAY_3._replace(archive=archive.number),)), URL).snapshots:
            assert shown.address.startswith("https://"), archive
            assert "20160503120000/http://a.demo/x?y=1" in shown.address, archive
            assert "id_" not in shown.address, archive
    assert shown_copies(KeptCopies((MAY_3._replace(stamp=20160231120000),)), URL).snapshots == ()


def test_what_somebody_chose_comes_first_and_takes_the_place_of_its_service() -> None:
    chosen = "https://web.archive.org/web/20150101000000/http://a.demo/x?y=1"
    kept = KeptCopies((MAY_3, MAY_3._replace(archive=ARQUIVO, origin=0)))
    document = link_as_json(report(kept, claims=Claims(archives=(chosen,))))
    assert [each["origin"] for each in document["snapshots"]] == ["suggested", "cited"]
    assert document["archives"] == [chosen, "https://arquivo.pt/wayback/20160503120000/http://a.demo/x?y=1"]


def test_working_links_and_copies_themselves_need_no_copy() -> None:
    assert report(KeptCopies((MAY_3,)), record=FINE).copies is None
    copy = "https://web.archive.org/web/20160503120000/http://a.demo/"
    gone = report(NOTHING, copy)
    assert gone.finding.verdict is Verdict.DOUBTFUL
    document = link_as_json(gone)
    assert (document["archived"], document["snapshots"]) == (None, [])
    assert document["copy_of"] == {"service": "wayback", "original": "http://a.demo/", "stamp": "20160503120000"}


def test_the_distance_is_to_the_day_given_and_a_configured_service_gives_its_own_addresses() -> None:
    near = cited_on(report(KeptCopies((MAY_3,))), days_from_epoch(date(2016, 5, 3)))
    (document,) = link_as_json(near)["snapshots"]
    assert (document["distance_days"], document["distance_to"]) == (0, "citation")
    assert days_from_epoch(EPOCH) == 0
    here = replace(DEFAULT_SERVICES[WAYBACK], public="http://127.0.0.1:8097")
    (shown,) = shown_copies(KeptCopies((MAY_3,)), URL, services=services_of([here])).snapshots
    assert shown.address == "http://127.0.0.1:8097/web/20160503120000/http://a.demo/x?y=1"

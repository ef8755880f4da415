"""Reports in a real store: what they are of, what deletes them, what follows from many (H-1, H-3, H-4)."""

import asyncio
from collections.abc import Iterable

import pytest
from support.observations import FINE, LOST, SILENT, WALL
from support.stored import WikiInStore, key, open_wiki

from weboid.core.url.classify import UrlClass
from weboid.core.url.keys import bucket as bucket_of
from weboid.core.verdict.verdict import NO_CLAIMS, Claims, Verdict
from weboid.core.verdict.wiki_rules import DEFAULT_RULES, wiki_finding
from weboid.errors import StoreError
from weboid.maintain.expiry import Expiry, expire, planned
from weboid.store.db.key_scheme import record_scheme
from weboid.store.people import report
from weboid.store.people.audit import Action, Undone, delete_claims, find_refusal
from weboid.store.upkeep.expiry import expire_urls
from weboid.store.upkeep.rekey import begin_rekey

DEAD, OTHER, FRESH = "http://dead.demo/a", "http://dead.demo/b", "http://fresh.demo/"
DAYS = (100, 103, 107, 110, 114, 115, 116)
TODAY = 120


async def kill(stored: WikiInStore, days: Iterable[int] = DAYS) -> None:
    for day in days:
        await stored.round(day, lambda url, day: LOST)


async def say(stored: WikiInStore, url: str, day: int = TODAY, subject: str = "7") -> bool:
    async with stored.pool.connection() as conn:
        known = await report.find_locked_url(conn, key(url))
        assert known is not None
        return await report.record_report(conn, known, day, subject, "Name")


async def report_of(stored: WikiInStore, url: str, day: int = TODAY) -> report.Report | None:
    return await stored.do(report.find_report, key(url), day)


async def reported_of_domain(stored: WikiInStore, domain: str, day: int = TODAY) -> report.Report | None:
    return await stored.do(report.find_domain_report, domain, day)


async def test_a_report_is_reported_with_its_url_and_renewed_by_the_next_one(database: str) -> None:
    async with open_wiki(database, {1: [DEAD, OTHER]}) as stored:
        await kill(stored, [100])
        assert not await say(stored, DEAD)
        assert await report_of(stored, DEAD) == report.Report(TODAY, "7", "Name")
        assert await report_of(stored, OTHER) is None
        assert (await stored.known(DEAD)).claims.reported == TODAY
        await say(stored, DEAD, TODAY + 50, "8")
        assert await report_of(stored, DEAD, TODAY + 50) == report.Report(TODAY + 50, "8", "Name")
        assert await report_of(stored, DEAD, TODAY + 50 + report.KEPT_DAYS - 1) is not None
        assert await report_of(stored, DEAD, TODAY + 50 + report.KEPT_DAYS) is None


async def test_a_report_on_the_domain_is_reported_of_all_its_failing_urls_and_of_two_reports_the_newer_day(
    database: str,
) -> None:
    async with open_wiki(database, {1: [DEAD, FRESH]}) as stored:
        await stored.round(100, lambda url, day: LOST if url == DEAD else FINE)
        assert (await stored.known(DEAD)).claims is NO_CLAIMS, "without anything said there are no notes"
        for domain in ("dead.demo", "fresh.demo"):
            await stored.do(report.record_domain_report, domain, TODAY, "7", "Ann")
        assert (await stored.known(DEAD)).claims == Claims(reported=TODAY)
        assert (await stored.known(FRESH)).claims is NO_CLAIMS
        await say(stored, DEAD, TODAY + 2)
        assert (await stored.known(DEAD)).claims.reported == TODAY + 2


async def test_what_no_page_uses_cannot_be_reported_and_is_not_brought_in(database: str) -> None:
    async with open_wiki(database, {1: [DEAD], 2: [OTHER]}) as stored:
        await stored.take_in({1: []}, 118, latest=2)
        async with stored.pool.connection() as conn:
            assert await report.find_locked_url(conn, key(FRESH)) is None
            assert await report.find_locked_url(conn, key(DEAD)) is None
            assert await report.find_locked_url(conn, key(OTHER)) is not None
        assert len(await stored.rows("SELECT FROM url")) == 2


async def test_a_regular_answer_deletes_the_report_of_its_url_at_once_and_nothing_else_does(database: str) -> None:
    async with open_wiki(database, {1: [DEAD, OTHER]}) as stored:
        for url in (DEAD, OTHER):
            await say(stored, url)
        await stored.do(report.record_domain_report, "dead.demo", TODAY, "7", "Name")
        for day, answer in ((150, LOST), (170, WALL), (190, SILENT), (210, FINE)):
            await stored.round(day, lambda url, day, now=answer: now if url == DEAD else LOST)  # type: ignore[misc]
            assert (await stored.known(DEAD)).record.checked == day
            assert (await report_of(stored, DEAD) is None) is (answer is FINE)
        assert await report_of(stored, OTHER) is not None
        assert await reported_of_domain(stored, "dead.demo") is not None


async def test_a_report_waits_for_the_check_that_is_being_written(database: str) -> None:
    """Whichever is first: a URL that works has no report afterwards."""
    async with open_wiki(database, {1: [DEAD]}) as stored:
        await kill(stored, [100])
        async with stored.pool.connection() as conn:
            known = await report.find_locked_url(conn, key(DEAD))
            assert known is not None
            running = asyncio.create_task(stored.new_round(150, lambda url, day: FINE).run())
            await stored.until_locked_out()
            await report.record_report(conn, known, 150, "7", "Name")
        await running
        assert await report_of(stored, DEAD, 150) is None


async def test_reports_are_deleted_after_six_months(database: str) -> None:
    async with open_wiki(database, {1: [DEAD, OTHER]}) as stored:
        await say(stored, DEAD, 120)
        await say(stored, OTHER, 121)
        await stored.do(report.record_domain_report, "dead.demo", 120, "7", "Name")
        for day, gone in [(302, 0), (303, 2), (304, 1), (305, 0)]:
            plan = await stored.do(planned, day)
            assert await expire(stored.pool, plan, day, batch=1) == Expiry(reports=gone)


async def test_a_url_that_goes_takes_what_was_said_of_it_with_it_and_reports_can_be_removed(database: str) -> None:
    async with open_wiki(database, {1: [DEAD, OTHER]}) as stored:
        for url in (DEAD, OTHER):
            await say(stored, url)
        await stored.take_in({1: [OTHER]}, 121, latest=2)
        assert (await stored.do(expire_urls, [key(DEAD)], 121)).urls == 1
        assert await report_of(stored, DEAD) is None
        await stored.do(report.record_domain_report, "dead.demo", TODAY, "7", "Name")
        async with stored.pool.connection() as conn:
            assert await report.delete_reports(conn, [key(OTHER), key(FRESH)]) == 1
            assert await report.delete_reports(conn, [key(OTHER)]) == await report.delete_reports(conn, []) == 0
            assert await report.delete_domain_report(conn, "dead.demo")
            assert not await report.delete_domain_report(conn, "dead.demo")


@pytest.mark.parametrize(("urls", "reports", "expected"), [(4, 4, False), (10, 5, True), (11, 5, False)])
async def test_a_domain_counts_as_reachable_when_half_of_it_is_reported(
    database: str, urls: int, reports: int, expected: bool
) -> None:
    # Two hosts of one domain; one of a domain whose name only ends alike, and a host that is used no more.
    own = [f"http://{'www.' if number % 2 else ''}dead.demo/{number}" for number in range(urls)]
    foreign = [f"http://notdead.demo/{number}" for number in range(8)]
    unused = [f"http://old.dead.demo/{number}" for number in range(8)]
    async with open_wiki(database, {1: [*own, *foreign], 2: unused}) as stored:
        await kill(stored)
        await stored.take_in({2: []}, 118, latest=2)
        said = [await say(stored, url, subject=url) for url in (*foreign[:4], *own[:reports])]
        assert not any(said[:-1])
        assert said[-1] is expected
        assert await reported_of_domain(stored, "dead.demo") == (report.Report(TODAY, None, None) if expected else None)
        known = await stored.known(own[-1])
        found = [
            wiki_finding(UrlClass.WATCHED, DEFAULT_RULES, record=known.record, host=known.host, claims=claims).verdict
            for claims in (NO_CLAIMS, known.claims)
        ]
        assert found == [Verdict.DEAD, Verdict.DOUBTFUL if expected else Verdict.DEAD]
        assert (await stored.known(foreign[-1])).claims is NO_CLAIMS


async def test_domains_of_a_public_suffix_do_not_count_for_each_other(database: str) -> None:
    """Not even those that happen to lie in one bucket."""
    one, suffix = "one.github.io", "github.io"
    same = next(name for number in range(10**6) if bucket_of(name := f"x{number}.github.io") == bucket_of(one))
    bare = [f"http://{suffix}/{number}" for number in range(5)]
    of_one = [f"http://{one}/{number}" for number in range(9)]
    of_same = [f"http://{same}/{number}" for number in range(9)]
    async with open_wiki(database, {1: [*of_one, *of_same, *bare]}) as stored:
        assert not any([await say(stored, url) for url in (*of_one[:4], *of_same[:4])])
        assert await say(stored, of_one[4])
        assert [await say(stored, url) for url in bare] == [False] * 4 + [True]
        assert await reported_of_domain(stored, same) is None


async def test_suffixes_below_a_domain_do_not_count_for_it(database: str) -> None:
    """`s3.amazonaws.com` is a public suffix below the domain `amazonaws.com`: one of its domains may share a bucket."""
    domain = "amazonaws.com"
    foreign = next(
        name for number in range(10**6) if bucket_of(name := f"x{number}.s3.amazonaws.com") == bucket_of(domain)
    )
    own = [f"http://www.{domain}/{number}" for number in range(5)]
    others = [f"http://{foreign}/{number}" for number in range(20)]
    async with open_wiki(database, {1: [*own, *others]}) as stored:
        for url in others[:8]:
            await say(stored, url)
        assert [await say(stored, url) for url in own] == [False] * 4 + [True]
        assert await reported_of_domain(stored, foreign) is None


async def test_what_follows_from_many_reports_keeps_its_day_until_they_are_over(database: str) -> None:
    urls = [f"http://dead.demo/{number}" for number in range(8)]
    async with open_wiki(database, {1: urls}) as stored:
        await kill(stored, [100])
        for url in urls[:4]:
            await say(stored, url, 120)
        assert not await say(stored, urls[7], 120 + report.KEPT_DAYS), "those that are over count for nothing"
        await say(stored, urls[4], 120)
        assert await say(stored, urls[5], 140)
        assert await reported_of_domain(stored, "dead.demo", 140) == report.Report(120, None, None)
        await stored.do(report.record_domain_report, "dead.demo", 150, "7", "Name")
        assert await reported_of_domain(stored, "dead.demo", 150) == report.Report(120, None, None)
        # Regular answers delete the reports of their URLs only.
        await stored.round(200, lambda url, day: FINE)
        assert await stored.rows("SELECT FROM report") == []
        assert await reported_of_domain(stored, "dead.demo", 302) == report.Report(120, None, None)
        assert await reported_of_domain(stored, "dead.demo", 303) is None
        await stored.do(report.record_domain_report, "dead.demo", 303, "7", "Name")
        assert await reported_of_domain(stored, "dead.demo", 303) == report.Report(303, "7", "Name")


async def test_all_that_one_said_is_undone_at_once_with_what_followed_from_it(database: str) -> None:
    urls = [f"http://dead.demo/{number}" for number in range(10)]
    async with open_wiki(database, {1: [*urls, OTHER, "http://third.demo/"]}) as stored:
        for number, url in enumerate(urls[: report.LEAST + 1]):
            await say(stored, url, subject="vandal" if number % 2 else "good")
        await say(stored, "http://third.demo/", subject="vandal")
        async with stored.pool.connection() as conn:
            await report.record_domain_report(conn, "third.demo", TODAY, "vandal", "Name")
            assert await report.find_domain_report(conn, "dead.demo", TODAY)
        async with stored.pool.connection() as conn:
            assert await find_refusal(conn, Action.UNDO, "admin", daily=0) is None
            assert await delete_claims(conn, "vandal", TODAY) == Undone(4, 1, 0, 1, 0)
            assert await delete_claims(conn, "vandal", TODAY) == Undone(0, 0, 0, 0, 0)
        assert await stored.rows("SELECT DISTINCT subject FROM report") == [("good",)]
        assert await stored.rows("SELECT FROM domain_report") == []


async def test_a_url_is_due_at_once_where_somebody_asks_for_it_unless_it_was_asked_today(database: str) -> None:
    async with open_wiki(database, {1: [DEAD, FRESH]}) as stored:
        await stored.round(100, lambda url, day: FINE)
        stored.asked.clear()
        async with stored.pool.connection() as conn:
            known = await report.find_locked_url(conn, key(DEAD))
            assert known is not None
            assert known.due > 105
            assert not await report.record_check_now(conn, known, 100)
            assert await report.record_check_now(conn, known, 105)
            again = await report.find_locked_url(conn, key(DEAD))
            assert again is not None
            assert await report.record_check_now(conn, again, 105)
        assert await stored.rows("SELECT next_day FROM host WHERE next_day = 105") == [(105,)]
        await stored.round(105, lambda url, day: FINE)
        assert stored.asked == [(105, DEAD)]


async def test_while_keys_are_moved_nothing_is_said(database: str) -> None:
    async with open_wiki(database, {1: [DEAD]}) as stored:
        async with stored.pool.connection() as conn:
            await record_scheme(conn)
            await begin_rekey(conn)
        async with stored.pool.connection() as conn:
            with pytest.raises(StoreError, match="rekey"):
                await report.find_locked_url(conn, key(DEAD))

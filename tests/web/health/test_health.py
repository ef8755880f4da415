"""The state of the system (O-5): the page, its JSON, the metrics; who sees what, and what many requests cost."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from lxml import etree
from prometheus_client.parser import text_string_to_metric_families
from support.listed import answer_to, nodes
from support.stored import key
from support.webservice import DEAD, TODAY, Site

from weboid.core.record.days import iso
from weboid.core.record.reasons import Reason
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.spam_lines import parse_lines
from weboid.store.archives.copy_queue import Rank, record_wanted
from weboid.store.archives.service_limit import RequestKind, lease_request, record_rest
from weboid.store.db.pool import Pool
from weboid.store.lists.alarms import find_health
from weboid.store.pages.page_pass import PassPosition, record_end, record_place, record_start
from weboid.store.pages.spam import FARM, ListKind, record_spam_list, spam_list
from weboid.store.pages.stream import Position, record_move
from weboid.store.pages.wiki import record_wiki
from weboid.store.schedule.days import DayFigure, record_totals
from weboid.store.schedule.process import (
    BUCKETS_S,
    CrawlerFigure,
    ProcessRole,
    RunningProcess,
    bucket_figure,
    reason_figure,
    record_seen,
    take_role,
)
from weboid.store.upkeep.alarm import AlarmKind, raise_alarm
from weboid.store.upkeep.last_backup import GoodBackup, record_last_backup
from weboid.web.health.crawler_metrics import crawler_metrics

SECRET = "(secret-line-of-another-wiki"
FARMS = "(line-of-the-farm<script>alert(1)</script>"
OWN = "(line-of-our-own"
OTHER = WikiName("otherwiki", "wmflabs")


@pytest_asyncio.fixture(loop_scope="module")
async def site(own_site: Site) -> Site:
    """A service of each test's own: the state of the system is reported for some seconds as it was."""
    return own_site


async def document(site: Site, query: str = "") -> Any:
    return await answer_to(site, f"/status?format=json{query}")


async def samples(site: Site) -> dict[tuple[str, tuple[str, ...]], float]:
    status, body, response = await site.fetch("/metrics")
    assert status == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(body)
        for sample in family.samples
    }


def text_of(body: str) -> str:
    return " ".join(" ".join(nodes(body, "//text()")).split()).replace(" .", ".").replace(" ,", ",")


async def bring_trouble(site: Site) -> None:
    """Alarms, a lag, passes, spam lists of the farm, of the wiki and of another one."""
    async with site.wiki.pool.connection() as conn:
        await record_wiki(conn, WMFLABS, OTHER)
        for dbname, line in ((FARM, FARMS), ("testwiki", OWN), ("otherwiki", SECRET)):
            lines = parse_lines(f"good\n{line}")
            await record_spam_list(conn, spam_list(WMFLABS.code, dbname, ListKind.BLACK, TODAY - 2, lines))
        white = spam_list(WMFLABS.code, "testwiki", ListKind.WHITE, TODAY - 2, parse_lines("exception"))
        await record_spam_list(conn, white)
        await raise_alarm(conn, AlarmKind.SPAM_LINES, "otherwiki@wmflabs black", TODAY - 2, f"1 line, {SECRET}")
        await raise_alarm(conn, AlarmKind.PASS_SLOW, "testwiki@wmflabs", TODAY - 3, "<b>40 days</b>")
        await raise_alarm(conn, "unheard-of", "<i>", TODAY, "not for everybody")
        await record_move(conn, None, Position("recentchange<i>", "[]", datetime.now(UTC) - timedelta(hours=3)))
        await record_start(conn, site.wiki.wiki.wiki, "", TODAY - 9)
        await record_end(conn, site.wiki.wiki.wiki, TODAY - 9, TODAY - 7)
        await record_start(conn, site.wiki.wiki.wiki, "", TODAY - 1)
        await record_place(conn, site.wiki.wiki.wiki, PassPosition(), PassPosition(3, ""))


async def test_the_page_tells_wikis_rounds_and_verdicts_in_words(site: Site) -> None:
    status, body, response = await site.fetch("/status?lang=en")
    text = text_of(body)
    assert (status, response.content_type) == (200, "text/html")
    assert "No alarms." in text
    assert "testwiki@wmflabs" in text
    assert "Known links 6" in text
    assert "dead (most on one day: 1)" in text
    assert "Systemstatus" in text_of(await site.text("/status", Accept_Language="de"))


async def test_trouble_is_reported_in_words_and_safely(site: Site) -> None:
    await bring_trouble(site)
    body = await site.text("/status?lang=en")
    text = text_of(body)
    words = "Reading the pages of testwiki@wmflabs takes more than four weeks. Raised 3 days ago."
    assert f"{words} (pass-slow: <b>40 days</b>)" in text
    assert "Something else: unheard-of. Raised today. (unheard-of)" in text
    assert "recentchange<i> 3 hours" in text
    assert "last week" not in text
    assert "started yesterday, step 3" in text
    assert "<i>" not in body
    assert "<b>" not in body
    assert "<script" not in body


async def test_programs_get_the_same_as_json(site: Site) -> None:
    await bring_trouble(site)
    reply = await document(site)
    assert (reply["day"], reply["version"]) == ("2017-05-01", 2)
    assert reply["urls"] == {"value": 6, "exactness": "exact"}
    assert {alarm["kind"] for alarm in reply["alarms"]} == {"spam-lines", "pass-slow", "stream-behind", "unheard-of"}
    (ours,) = [wiki for wiki in reply["wikis"] if wiki["wiki"] == "testwiki@wmflabs"]
    assert (ours["passed"], ours["pass_days"], ours["started"], ours["step"]) == ("2017-04-24", 2, "2017-04-30", 3)
    assert ours["pages"] == {"value": 2, "exactness": "exact"}
    (stream,) = reply["streams"]
    assert 10_800 <= stream["lag_s"] < 11_000
    assert len(reply["changes"]) == 30
    assert reply["changes"][-2]["verdicts"]["dead"] == {"value": 1, "exactness": "exact"}


async def test_a_line_of_a_wikis_own_spam_list_is_reported_of_that_wiki_only(site: Site) -> None:
    await bring_trouble(site)
    for query in ("", "&dbname=testwiki@wmflabs"):
        for path in (f"/status?format=json{query}", f"/status?format=html{query}"):
            body = await site.text(path)
            assert "secret" not in body, path
            assert "line-of-the-farm" in body
            assert ("line-of-our-own" in body) is bool(query), path
    lists = {each["list"]: each for each in (await document(site))["spam_lists"]}
    assert (lists["otherwiki@wmflabs"]["unusable"]["value"], lists["otherwiki@wmflabs"]["lines"]) == (1, None)
    assert (await document(site, "&dbname=otherwiki@wmflabs"))["spam_lists"][-1]["lines"][0].startswith(SECRET)
    body = await site.text("/metrics")
    assert "secret" not in body
    assert "line-of" not in body


async def test_every_kind_of_alarm_has_its_metric(site: Site) -> None:
    kinds = {values[0] for name, values in await samples(site) if name == "weboid_alarms"}
    assert kinds == set(AlarmKind)


async def test_metrics_tell_how_old_and_how_much(site: Site) -> None:
    await bring_trouble(site)
    backup = GoodBackup(100, datetime.now(UTC) - timedelta(hours=3), 12_345, "/a")
    await site.wiki.do(record_last_backup, backup)
    reply = await samples(site)
    wiki = ("testwiki@wmflabs",)
    assert (reply["weboid_store_up", ()], reply["weboid_pass_age_days", wiki]) == (1, 7)
    assert reply["weboid_pass_running_days", wiki] == 1
    assert 0 <= reply["weboid_pass_seconds", wiki] < 100
    assert (reply["weboid_pages", wiki], reply["weboid_pending_pages", wiki]) == (2, 0)
    assert 10_800 <= reply["weboid_stream_lag_seconds", ("recentchange<i>",)] < 11_000
    assert reply["weboid_due_urls", ()] == reply["weboid_overdue_days", ()] == 0
    assert reply["weboid_verdict_changes", ("dead",)] == 1
    assert reply["weboid_alarms", ("pass-slow",)] == reply["weboid_alarms", ("unheard-of",)] == 1
    assert reply["weboid_alarms", ("round-slow",)] == 0
    assert reply["weboid_spam_lines_unusable", ("black", "wmflabs")] == 1
    assert ("weboid_pass_age_days", ("otherwiki@wmflabs",)) not in reply
    assert 10_800 <= reply["weboid_backup_age_seconds", ()] < 11_000
    assert reply["weboid_backup_bytes", ()] == 12_345


async def bring_parts(site: Site) -> None:
    """A crawler that runs, one that ended without a word, and a feeder."""
    async with site.wiki.pool.connection() as conn:
        for role, name, silent_s in (
            (ProcessRole.CRAWL, "lively", 5),
            (ProcessRole.CRAWL, "gone", 1_000),
            (ProcessRole.FEED, "only", 20),
        ):
            part = RunningProcess(role, name, "secret-host", "secret-machine", 4_321_987, "1.2<b>")
            await take_role(conn, part)
            await record_seen(conn, part, "<b>checking</b>", {})
            await conn.execute(
                "UPDATE part SET seen = now() - make_interval(secs => %s), since = now() - interval '1 day'"
                " WHERE name = %s",
                (silent_s, name),
            )


async def test_the_parts_are_reported_without_hosts_and_processes(site: Site) -> None:
    await bring_parts(site)
    reply = await document(site)
    assert sorted((part["role"], part["state"]) for part in reply["parts"]) == [
        ("crawl", "missing"),
        ("crawl", "running"),
        ("feed", "running"),
    ]
    assert {(part["doing"], part["version"]) for part in reply["parts"]} == {("<b>checking</b>", "1.2<b>")}
    assert sorted(part["seen_s"] // 5 for part in reply["parts"]) == [1, 4, 200]
    (alarm,) = reply["alarms"]
    assert (alarm["kind"], alarm["subject"]) == ("part-gone", "crawl")
    assert alarm["detail"].startswith("1 ended without a word")
    text = text_of(await site.text("/status?lang=en"))
    assert "crawl (checking links) missing (<b>checking</b>)" in text
    assert "feed (reading pages) running (<b>checking</b>)" in text
    assert "A program of this service ( crawl ) has stopped without a word" in text
    assert "(part-gone: 1 ended without a word" in text
    assert "What the people who run this service can do about each: docs/operating.md" in text
    assert len(etree.fromstring((await site.text("/status?format=xml")).encode()).findall("part")) == 3
    for path in ("/status?format=json", "/status", "/metrics", "/status?format=xml", "/healthz/alarms"):
        shown = (await site.fetch(path))[1]
        assert "secret" not in shown
        assert "4321987" not in shown  # ports and sizes may have four such digits
    assert (await document(site, "&dbname=testwiki@wmflabs"))["parts"] == []


async def bring_work(site: Site) -> None:
    """Eight weeks with more and more checks, and a pass each week."""
    totals = {(TODAY - 56, DayFigure.WORKING): 1}
    for ago in range(56):
        day = TODAY - ago
        totals |= {(day, DayFigure.WORKING): 1_000 - 10 * ago, (day, DayFigure.FAILING): 50 + ago % 7}
        totals |= {(day, DayFigure.ROUNDS): 20, (day, DayFigure.ROUND_SECONDS): 3_600 + 60 * ago}
        if ago % 7 == 0:
            totals |= {(day, DayFigure.PASSES): 2, (day, DayFigure.PASS_SECONDS): 14_400}
    await site.wiki.do(record_totals, totals)


async def test_what_was_done_is_shown_in_pictures_and_numbers(site: Site) -> None:
    await bring_work(site)
    reply = (await document(site))["done"]
    assert (len(reply), reply[-1]["day"], reply[-1]["working"], reply[-1]["pass_seconds"]) == (
        *(56, "2017-05-01", 1_000, 14_400),
    )
    body = await site.text("/status?lang=en")
    text = text_of(body)
    assert "Checks of links (most on one day: 1,050)" in text
    assert "Time that a pass took (most on one day: 2 hours)" in text
    pictures = nodes(body, '//figure[figcaption/strong[.="Checks of links"]]//*[name()="rect"]')
    assert len(pictures) == 56
    assert float(pictures[-1].get("height")) == 48
    passes = nodes(body, '//figure[figcaption/strong[.="Time that a pass took"]]//*[name()="rect"]')
    assert len(passes) == 8
    assert len(nodes(body, '//details[summary[.="What was done, as a table"]]//tbody/tr')) == 56
    assert "Checks of links" not in text_of(await site.text("/status?dbname=testwiki@wmflabs&lang=en"))


async def test_metrics_tell_of_each_crawler_by_itself_what_it_does(site: Site) -> None:
    figures = {
        reason_figure(Reason.OK): 7,
        reason_figure(Reason.TIMEOUT): 2,
        bucket_figure(0): 3,
        bucket_figure(len(BUCKETS_S)): 1,
        CrawlerFigure.SECONDS: 140.5,
        CrawlerFigure.SEATS: 20,
        CrawlerFigure.HELD: 1,
        "of-a-newer-version": 5,
    }
    crawlers = [RunningProcess(ProcessRole.CRAWL, f"4321-{name}", "host", "machine", 4_321, "1") for name in "ab"]
    async with site.wiki.pool.connection() as conn:
        for crawler in crawlers:
            await take_role(conn, crawler)
        await record_seen(conn, crawlers[0], "", figures)
    reply = await samples(site)
    (label,) = {labels[0] for (name, labels) in reply if name == "weboid_crawler_checks_total"}
    other = ({labels[0] for (name, labels) in reply if name == "weboid_crawler_seats"} - {label}).pop()
    assert reply["weboid_crawler_checks_total", (label, "working", "ok")] == 7
    assert reply["weboid_crawler_checks_total", (label, "failing", "timeout")] == 2
    buckets = [reply["weboid_crawler_check_seconds_bucket", (label, bound)] for bound in ("0.1", "120.0", "+Inf")]
    assert buckets == [3, 3, 4]
    assert reply["weboid_crawler_check_seconds_count", (label,)] == 4
    assert reply["weboid_crawler_check_seconds_sum", (label,)] == 140.5
    assert [reply["weboid_crawler_seats", (each,)] for each in (label, other)] == [20, 0]
    assert reply["weboid_crawler_held_total", (label,)] == 1
    assert "4321" not in label + other
    await site.wiki.execute("UPDATE part SET seen = now() - interval '2 minutes'")
    status = await site.wiki.do(find_health, TODAY, patience_s=20)
    assert len(status.processes) == 2
    assert not [each for family in crawler_metrics(status) for each in family.samples]


async def test_a_monitor_is_reported_which_alarms_there_are(site: Site) -> None:
    await site.wiki.do(raise_alarm, "unheard-of", "a\nb\u202e", TODAY, "not for everybody")
    await bring_parts(site)
    status, body, _ = await site.fetch("/healthz/alarms")
    assert status == 503
    assert body.splitlines()[0] == "part-gone crawl"
    assert body.splitlines()[1].startswith("unheard-of a")
    assert len(body.splitlines()) == 2
    assert "\u202e" not in body
    assert "not for everybody" not in body
    assert (await site.fetch("/healthz"))[:2] == (200, "ok\n")


async def test_a_flood_costs_one_look_into_the_database(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    lent = 0
    connection = Pool.connection

    def counted(pool: Pool, timeout: float | None = None) -> Any:
        nonlocal lent
        lent += 1
        return connection(pool, timeout)

    monkeypatch.setattr(Pool, "connection", counted)
    paths = [
        "/status",
        "/status?format=json",
        "/metrics",
        "/status?dbname=testwiki@wmflabs",
        "/status?dbname=no@wmflabs",
    ]
    await asyncio.gather(*[site.fetch(path) for path in paths * 20])
    assert lent == 1


async def test_a_database_that_is_gone_is_reported_with_a_key_and_no_trace(site: Site) -> None:
    await site.wiki.pool.close()
    for path, words in (
        ("/status?lang=en", "The database does not answer"),
        ("/status?format=json", "weboid-error-store"),
        ("/api/page?dbname=testwiki@wmflabs&pageid=1", "weboid-error-store"),
        ("/?lang=en", "The database does not answer"),
        ("/healthz", "database"),
    ):
        status, body, response = await site.fetch(path)
        assert (status, response.headers["Retry-After"]) == (503, "30")
        assert words in body
        assert "Traceback" not in body
        assert "psycopg" not in body
    reported_samples = await samples(site)
    assert reported_samples["weboid_store_up", ()] == 0
    assert not any(name == "weboid_urls" for name, _ in reported_samples)


async def test_health_is_503_when_the_database_does_not_answer_within_a_second(site: Site) -> None:
    assert (await site.fetch("/healthz"))[:2] == (200, "ok\n")
    async with AsyncExitStack() as lent:
        for _ in range(4):
            await lent.enter_async_context(site.wiki.pool.connection())
        status, body, _ = await site.fetch("/healthz")
        assert status == 503, body
    assert (await site.fetch("/healthz"))[0] == 200


async def test_archives_are_reported_with_their_requests_rests_and_queue(site: Site) -> None:
    async with site.wiki.pool.connection() as conn:
        await lease_request(conn, 1, RequestKind.INDEX, 0, TODAY)
        await lease_request(conn, 6, RequestKind.REPLAY, 0, TODAY - 1)
        await record_rest(conn, 1, 600, "rate-limited")
        await record_wanted(conn, [key(DEAD)], TODAY - 3, Rank.DEAD)
    reply = await document(site)
    rows = {(each["service"], each["kind"]): each for each in reply["services"]}
    index = rows["wayback", "index"]
    assert (index["requests"], index["budget"], index["why"]) == (1, 24 * 60 * 24, "rate-limited")
    assert 590 <= index["resting_s"] <= 600
    replay = rows["arquivo", "replay"]
    assert (replay["requests"], replay["resting_s"], replay["why"]) == (0, 0, None)
    assert reply["copy_queue"]["dead"] == {"waiting": {"value": 1, "exactness": "exact"}, "oldest": iso(TODAY - 3)}
    body = (await site.fetch("/status?lang=en"))[1]
    assert "paused for 10 minutes: rate-limited" in body
    assert "34,560" in body
    assert "1, the longest since" in body
    measured = await samples(site)
    assert measured["weboid_archive_requests_today", ("index", "wayback")] == 1
    assert measured["weboid_archive_rest_seconds", ("replay", "arquivo")] == 0
    assert measured["weboid_copy_queue", ("dead",)] == 1
    assert measured["weboid_copy_queue_days", ("dead",)] == 3
    assert (await site.fetch("/status?dbname=testwiki@wmflabs&format=json"))[1].count('"services":[]') == 1

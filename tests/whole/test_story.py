"""The whole story once: from a wiki's links over weeks of rounds to what is known of each."""

import pytest
from support.demo_truth import ground_truth
from support.store_reads import list_changes
from support.stored import do

from weboid.config import load_config
from weboid.core.archive.visits import withdrawn_stamp
from weboid.core.url.classify import classify
from weboid.core.url.farms import WMFLABS, parse_wiki_name
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.demo.play import Stage, feed_story, open_stage, play_story
from weboid.demo.story import EXPECTED, WIKI
from weboid.store.archives.copy_queue import count_queue
from weboid.store.archives.lookup import list_lookups
from weboid.store.archives.snapshot import list_snapshots
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.pool import Pool, open_pool
from weboid.store.lists.alarms import AlarmBounds, find_health
from weboid.store.pages.wiki import find_wiki
from weboid.store.results.record import Tally
from weboid.store.urls.url import find_urls

LAST_DAY = 3_600


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_ten_weeks_of_a_little_web_are_judged_as_they_were_written(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All servers are this process, which a busy machine makes late: what answers late would fail before its day.
    monkeypatch.setattr("weboid.demo.play.ANSWER_S", 1.0)
    tallies: list[Tally] = []
    async with open_pool(database, size=4, part="test") as pool, open_stage(load_config(None, {}), LAST_DAY) as stage:
        intake = (await feed_story(stage, pool)).intake
        assert intake.links_new == intake.links > 50
        async with pool.connection() as conn:
            wiki = await find_wiki(conn, WMFLABS, parse_wiki_name(WIKI))
            assert wiki is not None
            assert await find_settings(conn, wiki.wiki) is not None
        await play_story(stage, pool, lambda day, tally: tallies.append(tally))
        health = await do(pool, find_health, LAST_DAY, patience_s=20, alarms=AlarmBounds.of(stage.config))
        assert health.alarms == ()
        assert sum(sum(done.values()) for done in health.totals.values()) > 0
        assert (await feed_story(stage, pool)).intake.pages == 0
        assert sum(tally.lost for tally in tallies) == 0
        wrong = []
        for url, truth in ground_truth(stage.web.located).items():
            if not truth.is_checked:
                continue
            link = classify(url, WMFLABS)
            assert link.url
            key = key_of(link.url)
            async with pool.connection() as conn:
                known = (await find_urls(conn, [key]))[key]
                log = await list_changes(conn, key)
            finding = finding_of(known.record, known.host)
            was_dead = any(change.after is Verdict.DEAD for change in log)
            reason = finding.reason.word if finding.reason else ""
            right = finding.verdict is truth.verdict and reason in truth.reasons
            if not right or was_dead != (truth.was_dead or truth.verdict is Verdict.DEAD):
                wrong.append((url, truth, finding, was_dead))
        assert not wrong
        assert await _copies(pool, stage) == EXPECTED
        lengths = await do(pool, count_queue)
        assert sum(length.count for length in lengths.values()) == list(EXPECTED.values()).count("pending")


async def _copies(pool: Pool, stage: Stage) -> dict[str, str]:
    """What is known of copies of the links for which the story says so."""
    answer = {}
    for url in EXPECTED:
        key = key_of(parse(stage.web.located(url)))
        async with pool.connection() as conn:
            snapshots = (await list_snapshots(conn, [key])).get(key, ())
            lookups = (await list_lookups(conn, [key])).get(key, ())
        if snapshots or not lookups:
            answer[url] = "found" if snapshots else "pending"
        else:
            (lookup,) = lookups
            answer[url] = "withdrawn" if withdrawn_stamp(lookup.passed) else lookup.outcome.word
    return answer

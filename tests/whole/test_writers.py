"""All that writes pages, URLs, hosts, links and dead links, in two real sessions that meet: nothing is lost, nothing
waits for ever, and the store never contradicts itself.
"""

import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import pytest
from support.intakes import record_pages, release_pages
from support.meeting import Writer, meet
from support.observations import FINE, LOST, SILENT
from support.stored import WikiInStore, do, key, open_wiki

from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.observe.observation import Observation
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.policy import DEFAULT
from weboid.core.record.record import HostRecord
from weboid.core.url.farms import WMFLABS
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import parse
from weboid.core.verdict.judge import is_host_failure, judge, judge_host
from weboid.feed.intake import page_urls
from weboid.maintain.consistency import check_store
from weboid.store.archives.copy_queue import follow_changes, record_done, record_wanted
from weboid.store.archives.known_copies import KnownCopiesPlace, record_known_copies
from weboid.store.archives.lookup import StoredLookup, record_lookups
from weboid.store.archives.snapshot import (
    Origin,
    StoredSnapshot,
    Withdrawn,
    delete_snapshot,
    find_withdrawn,
    list_snapshots,
    record_snapshots,
    record_withdrawn,
)
from weboid.store.db.pool import Connection, Pool, open_pool
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.pages.page import PageChanges, record_intake
from weboid.store.pages.page_pass import record_exclusions, record_touches
from weboid.store.pages.pending import record_asked
from weboid.store.pages.spam import record_reclassified
from weboid.store.people.report import find_locked_url, record_check_now, record_report
from weboid.store.results.record import Checked, record_batch, record_copy_check
from weboid.store.upkeep.expiry import expire_urls
from weboid.store.upkeep.invariant import Breach, Share, confirm, find_stretch, repair
from weboid.store.urls.check import record_next_days
from weboid.store.urls.lock import lock_hosts
from weboid.store.urls.url import find_urls
from weboid.wiki.source import PageLinks, PageState

DAYS: Final = tuple(range(100, 100 + DEFAULT.dead_span + 3, 3))
NOW: Final = DAYS[-1] + 7


class Corner:
    """A part of the store that is like all others: three hosts, and pages from a number on.

    `lost` is dead, `down` is dead by its host, `idle` has had no use for long. Page 1 uses all but `idle`, page 2 uses
    `lost` and `b`, page 3 will be released, page 4 is there for what comes.
    """

    def __init__(self, wiki: int, number: int) -> None:
        self.wiki, self.number = wiki, number
        self.up, self.down = f"https://up{number}.demo", f"https://down{number}.demo/"
        self.a, self.b, self.lost, self.idle = (f"{self.up}/{name}" for name in ("a", "b", "lost", "idle"))
        self.silent = f"{self.down}silent"
        self.copy = f"https://web.archive.org/web/20160102030405/{self.a}"
        """A cited copy of `a`, on a host of its own bucket, which all corners share."""
        self.old_copy = f"https://arquivo.pt/wayback/20160102030405/{self.a}"
        """A cited copy that has had no use for long."""
        uses = ([self.a, self.b, self.lost, self.down], [self.lost, self.b], [self.b, self.silent], [self.a, self.copy])
        self.pages = {self.page(page): urls for page, urls in enumerate(uses, start=1)}

    def page(self, number: int) -> int:
        return 10 * self.number + number


def answer(url: str, day: int) -> Observation:
    return LOST if url.endswith("lost") else SILENT if "down" in url else FINE


async def take_in(conn: Connection, corner: Corner, pages: Mapping[int, list[str]]) -> None:
    links = [
        PageLinks(corner.page(page), 0, f"Page {page}", next(_revisions), None, tuple(urls))
        for page, urls in pages.items()
    ]
    await record_pages(conn, corner.wiki, [page_urls(link, WMFLABS) for link in links], NOW)


_revisions = itertools.count(2)


async def record_visit(
    conn: Connection, urls: list[str], answers: Callable[[str, int], Observation], day: int = NOW
) -> None:
    """A batch of a crawler: what it found at these URLs, orphans apart, judged by the records as they are now."""
    found = await find_urls(conn, [key(url) for url in urls])
    known = [each for each in found.values() if each.orphaned is None and each.due != NEVER_DUE]
    states: dict[HostKey, HostRecord] = {}
    batch = []
    for each in known:
        host = HostKey(*each.key[:2])
        seen = answers(str(each.url), day)
        before = states.get(host, each.host)
        after = judge_host(before, seen, day, DEFAULT)
        states[host] = after if is_host_failure(seen) or not after.streak.strikes else before
        record, due = judge(each.record, seen, day, DEFAULT, states[host], host_key=host.host_key)
        stored = StoredUrl(each.key, each.url, each.record)
        batch.append(
            Checked(stored, StoredHost(host, each.url.host, each.host), day, seen, record, due, before, states[host])
        )
    await record_batch(conn, "", batch, {each.url.key.bucket: 0 for each in batch}, DEFAULT)


async def check_now(conn: Connection, url: str, day: int = NOW) -> None:
    if known := await find_locked_url(conn, key(url)):
        await record_check_now(conn, known, day)


async def report(conn: Connection, url: str) -> None:
    if known := await find_locked_url(conn, key(url)):
        await record_report(conn, known, NOW, "1", "Ann")


async def look_up(conn: Connection, corner: Corner) -> None:
    keys = sorted(map(key, [corner.lost, corner.down, corner.a, corner.idle]))
    await record_snapshots(conn, [StoredSnapshot(each, 1, 20150102030405, Origin.CHOSEN, NOW) for each in keys])
    await record_lookups(conn, [StoredLookup(each, 1, LookupOutcome.FOUND, NOW, NOW + 90) for each in keys])
    await record_wanted(conn, keys, NOW)
    await record_done(conn, dict.fromkeys(keys, NOW + 90))


async def withdraw(conn: Connection, corner: Corner) -> None:
    """What a visit of a snapshot does that its service no longer has: it is counted, dropped, and looked up again.

    One in a transaction, as the program does it: places that are added one by one are in no order with others'.
    """
    snapshots = await list_snapshots(conn, map(key, [corner.lost, corner.a, corner.down]))
    counted = await find_withdrawn(conn, 1) or Withdrawn(1, NOW, 100, 0)
    for each in [each for url in sorted(snapshots) for each in snapshots[url]][:1]:
        if await delete_snapshot(conn, each):
            await record_lookups(conn, [StoredLookup(each.key, each.archive, LookupOutcome.EXCLUDED, NOW, NOW + 90)])
            await record_wanted(conn, [each.key], NOW)
    await record_withdrawn(conn, replace(counted, dropped=counted.dropped + 1))


async def follow_again(conn: Connection) -> None:
    """Follows the whole log of changes anew, as an older store brought over does."""
    await conn.execute(b"UPDATE copy_queue_position SET change = 0")
    await follow_changes(conn)


async def bring_over(conn: Connection) -> None:
    """What `weboid archive` does first: it looks for copies among the URLs of archives."""
    place: KnownCopiesPlace | None = KnownCopiesPlace()
    while place is not None:
        place = await record_known_copies(conn, place, NOW)


async def visit_copies(conn: Connection, corner: Corner, seen: Observation, day: int = NOW) -> None:
    known = (await find_urls(conn, [key(corner.copy)])).get(key(corner.copy))
    if known:
        record, _ = judge(known.record, seen, day, DEFAULT, known.host, host_key=1)
        await record_copy_check(conn, known, record, day=day, due=day + 91)


async def repair_all(conn: Connection, walk: str, keys: list[UrlKey], invariant: str) -> None:
    if stretch := await find_stretch(conn, walk, Share(), None, 10_000):
        found = await confirm(conn, stretch, [Breach(invariant, each) for each in keys], DEFAULT)
        await repair(conn, walk, found, NOW, DEFAULT)


async def next_days(conn: Connection, corner: Corner) -> None:
    """What a crawler does for hosts that are due without a due URL."""
    hosts = sorted({HostKey(*key(url)[:2]) for url in (corner.up, corner.down)})
    await lock_hosts(conn, hosts)
    await record_next_days(conn, hosts)


def writers(corner: Corner) -> dict[str, Writer]:
    """Everything that writes, each with what it does in a corner."""
    page, wiki = corner.page, corner.wiki
    everything = sorted({url for urls in corner.pages.values() for url in urls})
    new, lost = f"{corner.up}/new", corner.lost
    return {
        "intake of a new URL": lambda conn: take_in(conn, corner, {4: [corner.a, new, f"{corner.down}new"]}),
        "intake of new uses": lambda conn: take_in(conn, corner, {4: [corner.a, new, lost, corner.down, corner.idle]}),
        "intake of uses that went": lambda conn: take_in(conn, corner, {1: [corner.b], 2: []}),
        "an edit": lambda conn: record_intake(
            conn,
            {
                wiki: PageChanges(
                    added={page(4): ({key(url): parse(url) for url in (new, lost, corner.idle, corner.silent)}, {})}
                )
            },
            NOW,
        ),
        "a release": lambda conn: release_pages(conn, wiki, [page(3), page(1)], NOW),
        "several changes": lambda conn: record_intake(
            conn,
            {
                wiki: PageChanges(
                    read=[page_urls(PageLinks(page(2), 0, "Two", next(_revisions), None, (corner.a, new)), WMFLABS)],
                    added={page(4): ({key(corner.down): parse(corner.down)}, {})},
                    gone=[page(3)],
                )
            },
            NOW,
        ),
        "spam": lambda conn: record_reclassified(
            conn, wiki, {page(1): {key(corner.b): corner.b, key(lost): lost}}, {}, NOW
        ),
        "touches": lambda conn: record_touches(
            conn, wiki, [PageState(page(number), 0, f"Page {number}", 1, None) for number in (1, 2, 4, 5)], NOW
        ),
        "exclusions": lambda conn: record_exclusions(conn, wiki, [page(4), page(2), page(1)]),
        "a request": lambda conn: record_asked(conn, wiki, [page(4), page(3), page(2), page(1)], NOW),
        "a crawler": lambda conn: record_visit(conn, everything, answer),
        "a crawler that finds all well": lambda conn: record_visit(conn, everything, lambda url, day: FINE),
        "a crawler that finds all silent": lambda conn: record_visit(conn, everything, lambda url, day: SILENT),
        "next days": lambda conn: next_days(conn, corner),
        "check now": lambda conn: check_now(conn, corner.a),
        "a report": lambda conn: report(conn, lost),
        "expiry": lambda conn: expire_urls(
            conn, sorted(map(key, [corner.idle, corner.silent, corner.old_copy])), NOW - 1
        ),
        "intake of cited copies": lambda conn: take_in(conn, corner, {4: [corner.copy, corner.old_copy, new]}),
        "intake of cited copies that went": lambda conn: take_in(conn, corner, {4: [corner.a]}),
        "look-ups": lambda conn: look_up(conn, corner),
        "withdrawals": lambda conn: withdraw(conn, corner),
        "a visit of a cited copy": lambda conn: visit_copies(conn, corner, LOST),
        "an older store brought over": lambda conn: bring_over(conn),
        "repair of hosts": lambda conn: repair_all(
            conn, "host", [UrlKey(*key(url)[:2], 0) for url in (corner.up, corner.down)], "next-day"
        ),
        "repair of URLs": lambda conn: repair_all(conn, "url", sorted(map(key, [*everything, corner.idle])), "orphan"),
    }


CRAWLERS: Final = {"a crawler", "a crawler that finds all well", "a crawler that finds all silent"}
OF_COPIES: Final = {
    "intake of cited copies",
    "intake of cited copies that went",
    "look-ups",
    "withdrawals",
    "a visit of a cited copy",
    "an older store brought over",
}
MET_BY_COPIES: Final = {"intake of a new URL", "a release", "a crawler", "check now", "expiry", "repair of URLs"}
NAMES: Final = list(writers(Corner(1, 0)))
PAIRS: Final = [
    # A bucket has one crawler at a time.
    (one, other)
    for one in NAMES
    for other in NAMES
    if not {one, other} <= CRAWLERS
    # Who writes what is known of copies meets those who write the same URLs, or delete them.
    and (not {one, other} & OF_COPIES or {one, other} <= OF_COPIES | MET_BY_COPIES)
]


async def filled(pool: Pool, wiki: int, count: int) -> list[Corner]:
    corners = [Corner(wiki, number) for number in range(1, count + 1)]
    async with pool.connection() as conn:
        pages = {page: urls for corner in corners for page, urls in corner.pages.items()}
        pages |= {corner.page(9): [corner.idle, corner.old_copy] for corner in corners}
        links = [PageLinks(page, 0, f"Page {page}", 1, None, tuple(urls)) for page, urls in pages.items()]
        await record_pages(conn, wiki, [page_urls(link, WMFLABS) for link in links], DAYS[0])
    urls = sorted({url for urls in pages.values() for url in urls})
    failing = [url for url in urls if answer(url, DAYS[0]) is not FINE]
    for day in DAYS:
        await do(pool, record_visit, urls if day in (DAYS[0], DAYS[-1]) else failing, answer, day)
    await do(pool, release_pages, wiki, [corner.page(9) for corner in corners], DAYS[-1])
    return corners


async def assert_all_kinds_of_rows(stored: WikiInStore, corners: int) -> None:
    assert len(await stored.rows("SELECT FROM dead")) == 4 * corners
    assert len(await stored.rows("SELECT FROM url WHERE orphaned IS NOT NULL")) == 2 * corners
    assert len(await stored.rows("SELECT FROM cited_copy")) == 2 * corners
    assert len(await stored.rows("SELECT FROM snapshot")) == 2 * corners
    assert len(await stored.rows("SELECT FROM host WHERE strikes > 3")) == corners


async def assert_sound(pool: Pool) -> None:
    found = await check_store(pool, NOW)
    assert not found.found, "\n".join(found.described)


async def test_a_round_that_waits_for_an_intake_does_not_overwrite_its_next_day(database: str) -> None:
    async with open_wiki(database, {}) as stored:
        (corner,) = await filled(stored.pool, stored.wiki.wiki, 1)
        await meet(
            stored.pool,
            lambda conn: take_in(conn, corner, {4: [corner.a, f"{corner.up}/new"]}),
            lambda conn: record_visit(conn, [corner.a, corner.b, corner.lost], answer),
        )
        host = HostKey(*key(corner.up)[:2])
        due = await stored.rows("SELECT min(due) FROM url WHERE path = '/new'")
        assert due == [(NOW,)]
        rows = await stored.rows("SELECT bucket, host_key, next_day FROM host")
        assert [day for *of, day in rows if of == [*host]] in ([NOW], [NOW - 1])


@pytest.mark.parametrize("pages", [(4, "b"), (2, "a")], ids=["a to b", "b to a"])
async def test_an_intake_and_a_round_that_meet_between_any_statements_do_not_wait_for_each_other(
    database: str, pages: tuple[int, str]
) -> None:
    """An insertion of a URL that exists waits for a round that is writing it, although it has nothing to insert."""
    page, other = pages
    async with open_wiki(database, {}) as stored:
        for after, corner in enumerate(await filled(stored.pool, stored.wiki.wiki, 12), start=1):
            links = {page: [f"{corner.up}/{other}"]}
            urls = [corner.a, corner.b, corner.lost]
            await meet(
                stored.pool,
                partial(take_in, corner=corner, pages=links),
                partial(record_visit, urls=urls, answers=answer),
                after=after,
            )
        await assert_sound(stored.pool)


async def test_who_follows_the_log_and_who_looks_up_do_not_wait_for_each_other(database: str) -> None:
    async with open_wiki(database, {}) as stored:
        (corner,) = await filled(stored.pool, stored.wiki.wiki, 1)
        for after in range(1, 15):
            for of_copies in (withdraw, look_up):
                await meet(stored.pool, follow_again, partial(of_copies, corner=corner), after=after)
                await meet(stored.pool, partial(of_copies, corner=corner), follow_again, after=after)
            await meet(stored.pool, partial(look_up, corner=corner), partial(withdraw, corner=corner), after=after)
        await assert_sound(stored.pool)


async def test_a_sixth_of_all_pairs_of_writers_leave_the_store_sound_when_they_meet(database: str) -> None:
    """Another sixth each time: `make test-long` lets all of them meet."""
    print(f"seed {(seed := random.randrange(10**6))}")
    pairs = random.Random(seed).sample(PAIRS, len(PAIRS) // 6)
    async with open_pool(database, size=4, part="test") as pool, open_wiki(database, {}) as stored:
        corners = await filled(pool, stored.wiki.wiki, len(pairs))
        await assert_all_kinds_of_rows(stored, len(pairs))
        await assert_sound(pool)
        for corner, (one, other) in zip(corners, pairs, strict=True):
            await meet(pool, writers(corner)[one], writers(corner)[other])
        await assert_sound(pool)


@pytest.mark.long
async def test_any_two_writers_that_meet_between_two_statements_leave_the_store_sound(database: str) -> None:
    async with open_pool(database, size=4, part="test") as pool, open_wiki(database, {}) as stored:
        corners = await filled(pool, stored.wiki.wiki, len(PAIRS))
        chance = random.Random(seed := random.randrange(10**6))
        print(f"seed {seed}")
        for corner, (one, other) in zip(corners, PAIRS, strict=True):
            # After the last one of those that have fewer.
            await meet(pool, writers(corner)[one], writers(corner)[other], after=chance.randint(1, 12))
        await assert_sound(pool)

"""The interface of what crawlers need (O-1): the same on the store and over HTTP."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from support.observations import FINE, LOST
from support.remote import crawler_client, open_bad_network, open_server, server_config
from support.stored import NAMES_ALONE, WikiInStore, open_wiki

from weboid.checking.turns import SharedTurns
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import bucket, host_key, key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.partial_loss import Contacts, Failing, GroupKind, HostGroup
from weboid.crawl.round import Round
from weboid.errors import StoreRefuses
from weboid.maintain.consistency import check_store
from weboid.mechanism.patience import patiently
from weboid.remote.crawl.calls import CrawlerCalls, CrawlStore, local_crawl_store, remote_crawl_store
from weboid.remote.http.rpc import connected
from weboid.store.db.rows import HostKey
from weboid.store.schedule.second_look import LookState, TakenLook, delete_past_looks
from weboid.store.schedule.turn import SlotNote, WantedSlot
from weboid.store.upkeep.alarm import AlarmKind, list_alarms

URLS = [f"http://h{host}.demo/{path}" for host in range(12) for path in range(3)]
UNTIL = Moment(100)
CONFIG = server_config().crawl


@dataclass
class Scene:
    """A store with due links, and crawlers of it of one kind."""

    wiki: WikiInStore
    kind: str
    open_remote: Callable[[str], Coroutine[Any, Any, CrawlStore]]
    asked: list[str] = field(default_factory=list)
    day: int = 100
    """The day of the store."""

    async def store(self, worker: str = "one") -> CrawlStore:
        return (
            local_crawl_store(self.wiki.pool, worker, CONFIG, DEFAULT)
            if self.kind == "store"
            else await self.open_remote(worker)
        )

    def round(self, store: CrawlStore, day: int = 100) -> Round:
        """A round, in which dead.demo and its like are lost."""

        async def ask(request: CheckRequest) -> Observation:
            self.asked.append(request.url)
            await asyncio.sleep(0)
            return LOST if "h3." in request.url else FINE

        return Round(
            store.work, ask, NAMES_ALONE, now=lambda: Moment(day), config=CONFIG, connections=10, policy=DEFAULT
        )

    async def alarms(self) -> dict[str, str]:
        return {alarm.kind: alarm.detail for alarm in await self.wiki.do(list_alarms)}


@pytest.fixture(params=["store", "http"])
async def scene(request: pytest.FixtureRequest, database: str) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        wiki = await stack.enter_async_context(open_wiki(database, {1: URLS}))
        url = (
            ""
            if request.param == "store"
            else await stack.enter_async_context(open_server(wiki.pool, today=lambda: known.day))
        )
        if request.param == "bad-network":
            url, _ = await stack.enter_async_context(open_bad_network(url, seed=7, share=0.3))

        async def open_remote(worker: str) -> CrawlStore:
            return remote_crawl_store(await stack.enter_async_context(crawler_client(url, worker)))

        known = Scene(wiki, request.param, open_remote)
        yield known


@pytest.mark.parametrize("scene", ["store", "bad-network"], indirect=True)
async def test_two_workers_share_a_round_and_each_link_is_checked_and_counted_once(scene: Scene) -> None:
    stores = [await scene.store("one"), await scene.store("other")]
    rounds = [scene.round(store) for store in stores]
    async with asyncio.timeout(90):
        never = asyncio.Event()
        tallies = await asyncio.gather(*(patiently(work.run, never, stores[0].away) for work in rounds))
    assert Counter(scene.asked) == Counter(URLS)
    assert sum(tally.written for tally in tallies if tally) == len(URLS)
    assert await scene.wiki.rows("SELECT sum(urls)::int FROM checked") == [(len(URLS),)]
    assert {(await scene.wiki.known(url)).record.checked for url in URLS} == {100}
    done = await check_store(scene.wiki.pool, 100, policy=DEFAULT)
    assert not done.found


async def test_what_one_has_leased_no_other_gets_and_the_epoch_ends_with_the_lease(scene: Scene) -> None:
    one, other = await scene.store("one"), await scene.store("other")
    held = dict(await one.work.lease(UNTIL))
    assert held
    assert not await other.work.lease(UNTIL)
    assert await one.work.renew(held) == set(held)
    assert await one.work.count_due_buckets(UNTIL) == len(held)
    hosts = await one.work.list_hosts(held, until=UNTIL, but=[], limit=100)
    assert len(hosts) == 12
    left = await one.work.list_hosts(held, until=UNTIL, but=[host.key for host in hosts[:5]], limit=100)
    assert {host.key for host in left} == {host.key for host in hosts[5:]}
    urls = await one.work.list_urls([host.key for host in hosts], 100)
    assert sorted(str(url.url) for found in urls.values() for url in found) == sorted(URLS)
    share = await other.work.find_share(UNTIL)
    assert (share.most, share.free, share.own) == (-(-len(held) // 2), 0, 0)
    assert await other.work.count_due_buckets(Moment(90)) == 0  # so it wants none any more
    assert (await one.work.find_share(UNTIL)).most == len(held)
    await one.work.release(held)
    assert await one.work.renew(held) == set()
    again = dict(await other.work.lease(UNTIL))
    assert again
    assert all(again[number] != held[number] for number in again)
    assert await one.work.count_due(UNTIL, 1_000) == len(URLS)
    assert await one.work.count_due(Moment(90), 1_000) == 0
    assert (await one.work.find_paces()).of(hosts[0].key) == DEFAULT


async def test_a_host_rests_from_the_beginning_of_a_portion_on_if_the_hour_matters(scene: Scene) -> None:
    await scene.wiki.take_in({2: [f"http://h3.demo/n{n}" for n in range(9)]}, 100)
    one, other, at = await scene.store("one"), await scene.store("other"), Moment(100, 23)
    held = await one.work.lease(UNTIL)
    [host] = [host.key for host in await one.work.list_hosts(held, until=at, but=[], limit=99) if host.host[1] == "3"]
    assert await other.work.begin_portions([host], at) == {}
    for until, listed in ((UNTIL, 12), (at, 11)):
        assert await one.work.begin_portions([host], until) == {host: 6}
        assert len(await one.work.list_hosts(held, until=at, but=[], limit=99)) == listed
    assert len(await one.work.list_hosts(held, until=UNTIL, but=[], limit=99)) == 12


async def test_the_day_and_the_alarms_are_the_stores(scene: Scene) -> None:
    store = await scene.store()
    await store.alarms.raise_alarm(AlarmKind.OFFLINE, 100, "the cable")
    assert (await scene.alarms())["offline"].endswith("the cable")
    await store.alarms.lower_alarm(AlarmKind.OFFLINE)
    days = store.days
    assert abs((await days.find_moment() - datetime.now(UTC)).total_seconds()) < 30
    assert await days.find_lived() is None
    await days.refuse(3, "it has jumped")
    assert (await scene.alarms())["clock"].endswith("it has jumped")
    await days.accept(100, is_over=True)
    await days.accept(99, is_over=False)
    assert (await days.find_lived(), await scene.alarms()) == (100, {})
    if scene.kind == "store":
        await days.confirm(3)
        assert await days.find_lived() == 3
        return
    with pytest.raises(StoreRefuses, match="--confirm-day"):
        await days.confirm(99)
    assert await days.find_lived() == 100


async def test_what_workers_see_of_a_loss_adds_up(scene: Scene) -> None:
    one, other = (await scene.store("one")).losses, (await scene.store("other")).losses
    group = HostGroup(GroupKind.NETWORK, "192.0.2.0/24")
    lost, _ = await one.exchange(100, {(group, 100): Contacts(answered=1, failed=frozenset({1, 2, 3}))}, {})
    assert lost == {}
    _, stored = await other.exchange(100, {(group, 100): Contacts(failed=frozenset({3, 4, 5}))}, {})
    assert stored[group][100] == Contacts(answered=1, failed=frozenset({1, 2, 3, 4, 5}))
    lost, _ = await one.exchange(100, {}, {group: Failing(5, 6)})
    assert lost == {group: 100}


async def test_a_host_is_one_workers_at_a_time(scene: Scene) -> None:
    store = await scene.store("one")
    one, other = store.slots, (await scene.store("other")).slots
    await store.work.lease(UNTIL)
    host = HostKey(bucket("h0.demo"), host_key("h0.demo"))
    assert (await one.exchange({}, {host: WantedSlot(30.0, 7)}))[host].is_ours
    # Where answers may be lost, who asks again has it; what comes when the turn is over has it no more.
    assert (await one.exchange({}, {host: WantedSlot(30.0, 7)}))[host].is_ours is one.is_far
    state = (await other.exchange({}, {host: WantedSlot(30.0, 8)}))[host]
    assert (state.is_ours, state.is_held) == (False, one.is_far)
    await one.exchange({host: SlotNote(0.0, False, 7)}, {})
    await one.exchange({}, {host: WantedSlot(30.0, 7)})
    if one.is_far:
        await one.exchange({host: SlotNote(50.0, True, 7)}, {})
        assert (await other.exchange({}, {host: WantedSlot(30.0, 8)}))[host].is_ours
    await one.rest(host, 100.0)
    assert (await other.exchange({host: SlotNote(0.0, False, 7)}, {host: WantedSlot(30.0, 9)}))[host].free_s > 60


async def test_turns_of_near_and_far_workers_keep_the_pause(scene: Scene) -> None:
    near = SharedTurns(local_crawl_store(scene.wiki.pool, "near", CONFIG, DEFAULT).slots, 0.1)
    far = SharedTurns((await scene.store("far")).slots, 0.1)
    loop, times = asyncio.get_running_loop(), list[float]()

    async def ask(turns: SharedTurns) -> None:
        for _ in range(3):
            sending = await turns.turn("a.demo")
            assert sending
            await asyncio.sleep(0.02)
            sending.sent()
            times.append(loop.time())

    await asyncio.gather(ask(near), ask(far))
    await asyncio.gather(near.close(), far.close())
    # Before it ends, each reports its last request.
    host = HostKey(bucket("a.demo"), host_key("a.demo"))
    state = (await (await scene.store("one")).slots.exchange({}, {host: WantedSlot(1.0, 7)}))[host]
    assert state.is_ours or (not state.is_held and state.free_s < 1)
    times.sort()
    assert min(after - before for before, after in pairwise(times)) >= 0.095


async def test_a_second_look_is_wanted_by_one_place_and_made_once_by_another(scene: Scene) -> None:
    here, far = await scene.store("one"), await scene.store("two")
    other = local_crawl_store(scene.wiki.pool, "other", replace(CONFIG, place="another"), DEFAULT)
    await scene.round(here).run()
    fails, works = key_of(parse("http://h3.demo/0")), key_of(parse(URLS[0]))
    for asking, looking in ((here, other), (other, here)):
        look = uuid4()
        await scene.wiki.rows("DELETE FROM vantage_place RETURNING 1")
        assert await asking.second_looks.ask(look, fails) == LookState(is_open=False, is_alone=True)
        assert await looking.second_looks.take(0) == []
        # Only what is stored and fails is looked at for others (U-9).
        for key in (works, fails._replace(url_key=7)):
            assert await asking.second_looks.ask(uuid4(), key) == LookState(is_open=False, is_alone=False)
        for _ in range(2):
            assert (await asking.second_looks.ask(look, fails)).is_open
        # No place looks for itself, however many crawlers it has.
        assert await (far if asking is here else other).second_looks.take(9) == []
        assert await looking.second_looks.take(9) == [TakenLook(look, "http://h3.demo/0")]
        assert await looking.second_looks.take(9) == []
        await asking.second_looks.answer(look, Outcome.FAILING)
        assert (await asking.second_looks.ask(look, fails)).is_open
        for outcome in (Outcome.WORKING, Outcome.FAILING):
            await looking.second_looks.answer(look, outcome)
        assert await asking.second_looks.ask(look, fails) == LookState(False, False, Outcome.WORKING)
    await scene.wiki.rows("UPDATE second_look SET ends = now() - interval '1 day' RETURNING 1")
    await scene.wiki.do(delete_past_looks)
    assert await scene.wiki.rows("SELECT * FROM second_look") == []


async def test_a_look_that_was_taken_by_who_is_gone_is_taken_again(scene: Scene) -> None:
    here, other = (
        await scene.store(),
        local_crawl_store(scene.wiki.pool, "other", replace(CONFIG, place="another"), DEFAULT),
    )
    await scene.round(here).run()
    await other.second_looks.take(0)
    look, key = uuid4(), key_of(parse("http://h3.demo/0"))
    await here.second_looks.ask(look, key)
    await other.second_looks.take(9)
    await scene.wiki.rows("UPDATE second_look SET taken = taken - interval '1 hour' RETURNING 1")
    third = local_crawl_store(scene.wiki.pool, "third", replace(CONFIG, place="third"), DEFAULT)
    assert len(await third.second_looks.take(9)) == 1
    await other.second_looks.answer(look, Outcome.FAILING)
    await third.second_looks.answer(look, None)
    assert await here.second_looks.ask(look, key) == LookState(is_open=False, is_alone=False)
    await scene.wiki.rows("UPDATE vantage_place SET seen = seen - interval '1 hour' RETURNING 1")
    assert (await here.second_looks.ask(uuid4(), key)).is_alone


async def test_the_greeting_has_the_settings_of_all_crawlers(database: str) -> None:
    config = server_config(WEBOID_CRAWL_STOP="stop.demo", WEBOID_CRAWL_PER_HOST="7")
    async with (
        open_wiki(database, {1: URLS}) as wiki,
        open_server(wiki.pool, config) as url,
        crawler_client(url) as caller,
    ):
        greeting = await connected(CrawlerCalls, caller).greet()
        assert (greeting.policy, greeting.per_host, greeting.stop) == (DEFAULT, 7, ["stop.demo"])

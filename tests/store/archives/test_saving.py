from support.observations import FINE, LOST
from support.stored import WikiInStore, key, open_wiki

from weboid.store.archives.saving import Saving, SavingState, count_savings, lease_savings, record_savable
from weboid.store.archives.snapshot import Origin, StoredSnapshot, record_snapshots

USED, RARE, DEAD, SAVED, LEFT = (f"http://{name}.demo/" for name in ("used", "rare", "dead", "saved", "left"))
COPY = "https://web.archive.org/web/20160102030405/http://else.demo/"
WAITING, SENT = SavingState.WAITING, SavingState.SENT


async def fill(stored: WikiInStore) -> None:
    await stored.round(100, lambda url, day: LOST if url == DEAD else FINE)
    await stored.take_in({2: [USED]}, 101, latest=2)
    await stored.do(record_snapshots, [StoredSnapshot(key(SAVED), 1, 20160102030405, Origin.CHOSEN, 150)])


async def leased(stored: WikiInStore, state: SavingState = WAITING, lease_s: float = 60) -> list[Saving]:
    return await stored.do(lease_savings, state=state, limit=9, lease_s=lease_s)


async def test_living_urls_without_a_copy_are_queued_once_the_most_used_first(database: str) -> None:
    async with open_wiki(database, {1: [USED, RARE, DEAD, SAVED, COPY], 2: [USED, LEFT], 3: [USED]}) as stored:
        await fill(stored)
        async with stored.pool.connection() as conn:
            assert await record_savable(conn, 100, limit=9) == (2, None)
            assert await record_savable(conn, 100, limit=9) == (0, None)
            assert await count_savings(conn) == {**dict.fromkeys(SavingState, 0), WAITING: 2}
        found = await leased(stored)
        assert {str(each.url) for each in found} == {USED, RARE}
        assert [each.day for each in found] == [100, 100]
        assert await leased(stored) == []


async def test_a_limit_takes_the_most_used(database: str) -> None:
    async with open_wiki(database, {1: [RARE, USED], 2: [USED]}) as stored:
        await stored.round(100, lambda url, day: FINE)
        assert (await stored.do(record_savable, 100, limit=1)).queued == 1
        assert [str(each.url) for each in await leased(stored)] == [USED]

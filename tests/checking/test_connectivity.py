"""Whether our own connection is down (C-16): failures are believed only while other hosts answer."""

import asyncio

from support.observations import FINE, LOST, SILENT
from support.stored import WikiInStore, open_wiki

from weboid.checking.connectivity import SUSPECTS_ALONE
from weboid.core.observe.observation import Observation
from weboid.core.verdict.verdict import Verdict

HOSTS = [f"http://h{n}.demo/" for n in range(90)]


async def verdicts(wiki: WikiInStore) -> set[Verdict]:
    return {(await wiki.finding(url)).verdict for url in HOSTS}


async def test_an_outage_of_our_own_is_held_against_nobody_and_ends_the_round(database: str) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        await wiki.round(100, lambda url, day: FINE)
        work = wiki.new_round(108, lambda url, day: SILENT)
        tally = await work.run()
        assert (tally.written, work.is_cut_off) == (0, True)
        assert await verdicts(wiki) == {Verdict.WORKING}
        assert (await wiki.round(108, lambda url, day: FINE)).written == len(HOSTS)


async def test_many_dead_hosts_are_believed_while_a_canary_answers(database: str) -> None:
    living = HOSTS[::2]
    async with open_wiki(database, {1: HOSTS}) as wiki:
        await wiki.round(100, lambda url, day: FINE)
        for day in range(107, 138):
            await wiki.round(day, lambda url, day: FINE if url in living else SILENT)
        assert {(await wiki.finding(url)).verdict for url in living} == {Verdict.WORKING}
        assert {(await wiki.finding(url)).verdict for url in HOSTS if url not in living} == {Verdict.DEAD}


async def test_an_outage_in_the_middle_of_a_round_takes_nothing_back_that_was_answered_before(database: str) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        answered: set[str] = set()

        async def cut(url: str) -> Observation:
            await asyncio.sleep(0)
            if len(answered) >= 30:
                return SILENT
            answered.add(url)
            return LOST

        work = wiki.new_round(100, lambda url, day: cut(url))
        tally = await work.run()
        assert (tally.written, work.is_cut_off) == (30, True)
        assert {url for url in HOSTS if (await wiki.known(url)).record.history} == answered


async def test_a_small_wiki_whose_hosts_are_all_dead_is_believed(database: str) -> None:
    few = HOSTS[: SUSPECTS_ALONE - 1]
    async with open_wiki(database, {1: few}) as wiki:
        assert (await wiki.round(100, lambda url, day: SILENT)).written == len(few)

"""What failures of some URLs say about their host (C-5): round by round on a real store, over simulated days."""

from collections import Counter
from collections.abc import Iterable

import pytest
from support.observations import BROKEN, FINE, NO_NAME, SILENT
from support.stored import WikiInStore, key, open_wiki

from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict, finding_of

BAD_GATEWAY = Observation(Status.BAD_GATEWAY, Reason.SERVER_ERROR, http=502)
FRONT = "http://a.demo/"
DEAD = 100 + DEFAULT.dead_span + 2
"""A day on which a host is dead that was silent from day 100 on."""


def urls_of(count: int) -> list[str]:
    return [f"http://a.demo/{number:04}" for number in range(count)]


def contacts(wiki: WikiInStore) -> Counter[int]:
    return Counter(day for day, _ in wiki.asked)


async def verdicts(wiki: WikiInStore, urls: Iterable[str]) -> set[Verdict]:
    return {(await wiki.finding(url)).verdict for url in urls}


@pytest.mark.parametrize("front", [FINE, SILENT], ids=["the front page answers", "the front page hangs"])
async def test_urls_that_always_hang_keep_no_others_dead_once_a_host_is_back(database: str, front: Observation) -> None:
    urls = urls_of(12)
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.round(100, lambda url, day: SILENT)
        # Those that are asked first from now on are those that hang.
        hanging = {url for _, url in wiki.asked if url != FRONT}
        hanging = set(sorted(hanging)[:2])
        living = [url for url in urls if url not in hanging]

        def script(url: str, day: int) -> Observation:
            return SILENT if day < 107 or url in hanging else front if url == FRONT else FINE

        await wiki.rounds(script, range(101, 145))
        died = {UrlKey(*row) for row in await wiki.rows("SELECT bucket, host_key, url_key FROM change WHERE after = 3")}  # type: ignore[arg-type]
        assert died == {key(url) for url in hanging}
        assert await verdicts(wiki, living) == {Verdict.WORKING}
        # The others are dead by their own failures, each of which is one contact.
        assert {(await wiki.finding(url)).reason for url in hanging} == {Reason.TIMEOUT}


async def test_a_url_without_own_strike_comes_back_from_its_hosts_death_though_others_hang(database: str) -> None:
    urls = urls_of(12)
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.rounds(lambda url, day: SILENT, range(100, DEAD))
        assert await verdicts(wiki, urls) == {Verdict.DEAD}
        assert any(question.thorough for question in wiki.questions if question.url == FRONT)
        hanging = {url for url, _ in Counter(url for _, url in wiki.asked if url != FRONT).most_common(2)}
        living = [url for url in urls if url not in hanging]

        def script(url: str, day: int) -> Observation:
            return SILENT if url in hanging else FINE

        # A dead host is visited once in 29 days at least, and each visit asks others.
        await wiki.rounds(script, range(DEAD, DEAD + 30))
        assert await verdicts(wiki, living) == {Verdict.WORKING}
        assert (await wiki.known(urls[0])).host.streak.strikes == 0


async def test_no_link_is_dead_before_all_other_ways_were_tried(database: str) -> None:
    urls = urls_of(12)
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.rounds(lambda url, day: FINE if url == FRONT else SILENT, range(100, DEAD))
        died = {tuple(row) for row in await wiki.rows("SELECT url_key, day FROM change WHERE after = 3")}
        asked = zip(wiki.asked, wiki.questions, strict=True)
        proofs = [question.thorough for (day, url), question in asked if (key(url).url_key, day) in died]
        assert (len(proofs), all(proofs)) == (len(urls), True)


async def test_a_dead_host_with_more_due_urls_than_twenty_visits_take_gets_six_contacts_a_day(database: str) -> None:
    async with open_wiki(database, {1: urls_of(120)}) as wiki:
        for day in (100, 103, 106):
            assert (await wiki.round(day, lambda url, day: SILENT, per_host=6)).written == 120
        assert max(contacts(wiki).values()) <= 6
        assert len(contacts(wiki)) == 3


async def test_a_bad_gateway_on_one_path_says_nothing_about_its_host(database: str) -> None:
    urls = urls_of(5)

    def script(url: str, day: int) -> Observation:
        return BAD_GATEWAY if url == urls[2] else FINE

    async with open_wiki(database, {1: urls}) as wiki:
        for first in range(100, 150, 8):
            await wiki.rounds(script, range(first, first + 8))
            assert (await wiki.known(urls[0])).host.streak.strikes == 0
        assert await verdicts(wiki, [url for url in urls if url != urls[2]]) == {Verdict.WORKING}
        finding = await wiki.finding(urls[2])
        assert (finding.verdict, finding.reason) == (Verdict.DEAD, Reason.SERVER_ERROR)


@pytest.mark.parametrize("front", [BAD_GATEWAY, FINE])
async def test_bad_gateways_of_three_urls_and_the_front_page_stand_for_the_rest_unless_anything_answers(
    database: str, front: Observation
) -> None:
    urls = urls_of(8)
    async with open_wiki(database, {1: urls}) as wiki:
        tally = await wiki.round(100, lambda url, day: front if url == FRONT else BAD_GATEWAY)
        is_down = front is BAD_GATEWAY
        assert (tally.written, tally.inferred, len(wiki.asked)) == ((8, 5, 4) if is_down else (8, 0, 9))
        assert (await wiki.known(urls[0])).host.streak.strikes == is_down


@pytest.mark.parametrize("end", [NO_NAME, SILENT], ids=["its name goes", "it hangs"])
async def test_pages_that_failed_before_their_host_are_dead_after_their_own_days(
    database: str, end: Observation
) -> None:
    urls = urls_of(6)

    def script(url: str, day: int) -> Observation:
        return end if day >= 132 else FINE if url == FRONT else BROKEN

    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.rounds(script, range(100, 100 + DEFAULT.server_span))
        assert await verdicts(wiki, urls) == {Verdict.DOUBTFUL}
        await wiki.rounds(script, range(100 + DEFAULT.server_span, 104 + DEFAULT.server_span))
        assert await verdicts(wiki, urls) == {Verdict.DEAD}
        assert {(await wiki.finding(url)).since for url in urls} == {100}


async def test_of_many_pages_that_failed_before_their_host_eight_are_asked_a_day(database: str) -> None:
    def script(url: str, day: int) -> Observation:
        return NO_NAME if day >= 103 else FINE if url == FRONT else BROKEN

    async with open_wiki(database, {1: urls_of(30)}) as wiki:
        tallies = [await wiki.round(day, script) for day in (100, 103, 106)]
        assert [(tally.written, tally.inferred) for tally in tallies] == [(30, 0), (30, 21), (30, 21)]


async def test_a_dead_host_whose_front_page_answers_is_no_longer_dead(database: str) -> None:
    urls = urls_of(6)
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.rounds(lambda url, day: SILENT, range(100, DEAD))
        assert {(await wiki.finding(url)).reason for url in urls} >= {Reason.HOST_DOWN}
        await wiki.rounds(lambda url, day: FINE if url == FRONT else SILENT, range(DEAD, DEAD + 19))
        known = [await wiki.known(url) for url in urls]
        assert {each.host.streak.strikes for each in known} == {0}
        assert Reason.HOST_DOWN not in {finding_of(each.record, each.host).reason for each in known}


async def test_a_host_that_is_proven_dead_gets_one_contact_more(database: str) -> None:
    urls = urls_of(30)
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.rounds(lambda url, day: SILENT, range(100, DEAD - 1))
        assert set(contacts(wiki).values()) == {4}
        assert await verdicts(wiki, urls) == {Verdict.DEAD}
        wiki.asked.clear()
        day = max([(await wiki.known(url)).due for url in urls])
        await wiki.round(day, lambda url, day: SILENT)
        assert contacts(wiki) == {day: 5}


async def test_successive_visits_of_a_silent_host_ask_different_urls(database: str) -> None:
    urls = urls_of(12)
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.rounds(lambda url, day: SILENT, range(100, 110))
        visits: dict[int, set[str]] = {}
        for day, url in wiki.asked:
            if url != FRONT:
                visits.setdefault(day, set()).add(url)
        assert [len(visit) for visit in visits.values()] == [3, 3, 3, 3]
        # Nothing is asked a second time before everything was asked once.
        assert set.union(*visits.values()) == set(urls)
        wiki.asked.clear()
        await wiki.rounds(lambda url, day: SILENT, range(110, 113))
        again = {url for _, url in wiki.asked if url != FRONT}
        assert again == next(iter(visits.values()))  # those without own contact for the longest time


async def test_a_url_that_answered_the_last_time_is_asked_first(database: str) -> None:
    urls = urls_of(12)
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.round(100, lambda url, day: FINE if url in (urls[7], FRONT) else SILENT)
        wiki.asked.clear()
        due = (await wiki.known(urls[7])).due
        await wiki.round(due, lambda url, day: FINE)
        assert wiki.asked[0] == (due, urls[7])

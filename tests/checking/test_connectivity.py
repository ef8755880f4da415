"""Whether our own connection is down (C-16): failures are believed only while others answer."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from support.observations import FINE, LOST, NO_NAME, SILENT
from support.stored import CUT_OFF, NAMES_ALONE, WikiInStore, honest, open_wiki, silent

from weboid.checking.connectivity import SUSPECTS, Connectivity
from weboid.checking.online import LookUp, Online
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict
from weboid.net.dns import LookupFailed, NameAnswer

HOSTS = [f"http://h{n}.demo/" for n in range(90)]
MOVED = Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, parse("http://new.demo/"), http=200)
PRIVATE = Observation(Status.NETWORK, Reason.NOT_PUBLIC)


async def verdicts(wiki: WikiInStore) -> set[Verdict]:
    return {(await wiki.finding(url)).verdict for url in HOSTS}


async def answered(url: str) -> RawResponse:
    return RawResponse(url, url, "GET", code=200)


async def unanswered(url: str) -> RawResponse:
    return RawResponse(url, url, "GET", fault=Reason.TIMEOUT)


def always(seen: Observation) -> Callable[[CheckRequest], Awaitable[Observation]]:
    async def ask(question: CheckRequest) -> Observation:
        return seen

    return ask


WITNESSED = Online(answered, silent, canaries=["https://canary.demo/"])
DESERTED = Online(unanswered, honest, canaries=["https://canary.demo/"])
"""Name servers answer, the only canary does not."""


async def test_an_outage_of_our_own_is_held_against_nobody_and_ends_the_round(database: str) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        await wiki.round(100, lambda url, day: FINE)
        work = wiki.new_round(108, lambda url, day: SILENT, online=CUT_OFF)
        assert ((await work.run()).written, work.is_cut_off) == (0, True)
        assert "WEBOID_CRAWL_CANARIES" in work.why_cut_off
        assert await verdicts(wiki) == {Verdict.WORKING}
        assert (await wiki.round(108, lambda url, day: FINE)).written == len(HOSTS)


async def test_many_dead_hosts_are_believed_while_others_answer(database: str) -> None:
    urls = HOSTS[: 2 * SUSPECTS + 2]
    living = urls[::2]
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.round(100, lambda url, day: FINE)
        await wiki.rounds(
            lambda url, day: FINE if url in living else SILENT, range(107, 110 + DEFAULT.dead_span), online=WITNESSED
        )
        assert {(await wiki.finding(url)).verdict for url in living} == {Verdict.WORKING}
        assert {(await wiki.finding(url)).verdict for url in urls if url not in living} == {Verdict.DEAD}


async def test_an_outage_in_the_middle_of_a_round_takes_nothing_back_that_was_answered_before(database: str) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        answered: set[str] = set()

        async def cut(url: str) -> Observation:
            await asyncio.sleep(0)
            if len(answered) >= 30:
                return SILENT
            answered.add(url)
            return LOST

        work = wiki.new_round(100, lambda url, day: cut(url), online=CUT_OFF)
        assert ((await work.run()).written, work.is_cut_off) == (30, True)
        assert {url for url in HOSTS if (await wiki.known(url)).record.history} == answered


@pytest.mark.parametrize("count", [1, 5, 55])
@pytest.mark.parametrize(
    ("online", "seen", "believed"),
    [
        (NAMES_ALONE, SILENT, True),
        (NAMES_ALONE, NO_NAME, True),
        (WITNESSED, SILENT, True),
        (WITNESSED, NO_NAME, True),
        (DESERTED, NO_NAME, True),
        (DESERTED, SILENT, False),
        (CUT_OFF, SILENT, False),
        (CUT_OFF, NO_NAME, False),
        (CUT_OFF, PRIVATE, False),
    ],
)
async def test_a_store_whose_hosts_have_all_died_is_believed_as_far_as_others_prove_it(
    count: int, online: Online, seen: Observation, believed: bool
) -> None:
    connectivity = Connectivity(always(seen), online)
    connectivity.know(HOSTS[:8])
    found = await asyncio.gather(*(connectivity.check(CheckRequest(url)) for url in HOSTS[:count]))
    await connectivity.close()
    assert found == [seen if believed else None] * count
    assert connectivity.is_down is not believed


async def test_living_hosts_that_only_redirect_show_that_we_are_online() -> None:
    async def ask(question: CheckRequest) -> Observation:
        if "h1." in question.url:
            await asyncio.sleep(0.05)
            return MOVED
        await asyncio.sleep(0.01)
        return SILENT

    connectivity = Connectivity(ask, CUT_OFF)
    found = await asyncio.gather(*(connectivity.check(CheckRequest(url)) for url in HOSTS[: SUSPECTS - 1]))
    assert found.count(SILENT) == SUSPECTS - 2
    assert not connectivity.is_down


@pytest.mark.parametrize(
    ("url", "seen", "believed"),
    [
        ("http://10.0.0.1/", Observation(Status.NETWORK, Reason.NOT_PUBLIC, http=0), True),
        ("http://[fd00::1]/", Observation(Status.NETWORK, Reason.NOT_PUBLIC, http=0), True),
        ("ftp://a.demo/", Observation(Status.SYNTAX_OR_SERVER_ERROR, Reason.UNSAFE, http=0), True),
        ("http://a.demo/", Observation(Status.NETWORK, Reason.NOT_PUBLIC, http=0), False),
        ("https://a.demo/", Observation(Status.NETWORK, Reason.CERTIFICATE_WRONG_HOST, http=0), False),
    ],
)
async def test_what_a_rule_of_ours_forbids_needs_no_network(url: str, seen: Observation, believed: bool) -> None:
    assert await Connectivity(always(seen), CUT_OFF).check(CheckRequest(url)) == (seen if believed else None)


async def test_name_servers_that_cannot_be_asked_are_an_outage_of_ours() -> None:
    async def ask(question: CheckRequest) -> Observation:
        raise LookupFailed(11)

    connectivity = Connectivity(ask, CUT_OFF)
    assert await connectivity.check(CheckRequest(HOSTS[0])) is None
    assert connectivity.is_down


BY_ADDRESS = "http://192.0.2.7/"
NAMED, NUMBERED = "http://canary.demo/", "http://192.0.2.8/"


def denying(*denied: str, root: NameAnswer = NameAnswer.ADDRESSES) -> LookUp:
    """Name servers that deny some names, made-up ones among them."""

    async def look_up(name: str) -> NameAnswer:
        if name == ".":
            return root
        return NameAnswer.NO_NAME if name.removesuffix(".com") != name or name in denied else NameAnswer.ADDRESSES

    return look_up


LYING = denying("h1.demo", "canary.demo", "wiki.demo", root=NameAnswer.NO_NAME)
FILTERING = denying("h1.demo", "canary.demo", "wiki.demo")
HONEST = denying("h1.demo")


@pytest.mark.parametrize(
    ("look_up", "canaries", "apis", "believed", "down"),
    [
        # An answer by an address proves nothing of name servers; those that know neither root nor names lie.
        (LYING, [], [], False, True),
        (LYING, [NUMBERED], [], False, True),
        (HONEST, [], [], True, False),
        (HONEST, [NUMBERED], [], True, False),
        # A canary's name that is denied is a lie whatever else is known, and the round goes on.
        (LYING, [NAMED], [], False, False),
        (FILTERING, [NAMED], [], False, False),
        (FILTERING, [NUMBERED, "https://h9.demo/", NAMED], [], False, False),
        (HONEST, [NAMED], [], True, False),
        # The API of a wiki stands for canaries where there is none.
        (FILTERING, [], ["http://wiki.demo/w/api.php"], False, False),
        (FILTERING, [NUMBERED], ["http://wiki.demo/w/api.php"], False, False),
        (FILTERING, ["https://h9.demo/"], ["http://wiki.demo/w/api.php"], True, False),
        (HONEST, [], ["http://wiki.demo/w/api.php"], True, False),
    ],
)
@pytest.mark.parametrize("seen", [NO_NAME, replace(NO_NAME, not_http=True)])
async def test_a_name_that_fails_is_believed_only_of_name_servers_that_do_not_lie(
    look_up: LookUp, canaries: list[str], apis: list[str], believed: bool, down: bool, seen: Observation
) -> None:
    async def ask(question: CheckRequest) -> Observation:
        return FINE if question.url == BY_ADDRESS else seen

    connectivity = Connectivity(ask, Online(answered, look_up, canaries=canaries, apis=apis))
    urls = [BY_ADDRESS, "http://h1.demo/", "http://h1.demo/2", BY_ADDRESS]
    found = await asyncio.gather(*(connectivity.check(CheckRequest(url)) for url in urls))
    await connectivity.close()
    assert found == [FINE, *[seen if believed else None] * 2, FINE]
    assert connectivity.is_down is down
    assert bool(connectivity.why_names_are_doubted) is not (believed or down)


@pytest.mark.parametrize(
    ("url", "look_up", "canaries", "believed"),
    [
        ("http://h3.demo/", FILTERING, [NAMED], False),
        ("http://h3.demo/", HONEST, [NAMED], True),
        ("http://h3.demo/", HONEST, [], True),
        (BY_ADDRESS, LYING, [], False),
        (BY_ADDRESS, HONEST, [], True),
    ],
)
async def test_a_redirect_to_a_name_that_fails_is_believed_of_the_same_name_servers_alone(
    url: str, look_up: LookUp, canaries: list[str], believed: bool
) -> None:
    seen = replace(NO_NAME, on_other_host=True)

    connectivity = Connectivity(always(seen), Online(answered, look_up, canaries=canaries))
    assert await connectivity.check(CheckRequest(url)) == (seen if believed else None)
    await connectivity.close()


async def test_a_host_that_is_silent_is_believed_while_another_answers_by_its_address() -> None:
    async def ask(question: CheckRequest) -> Observation:
        await asyncio.sleep(0.01 * (question.url == BY_ADDRESS))
        return FINE if question.url == BY_ADDRESS else SILENT

    connectivity = Connectivity(ask, Online(unanswered, LYING))
    urls = ["http://h1.demo/", BY_ADDRESS]
    assert await asyncio.gather(*(connectivity.check(CheckRequest(url)) for url in urls)) == [SILENT, FINE]
    await connectivity.close()


async def test_while_somebody_answers_for_all_hosts_nothing_is_believed() -> None:
    captive = False

    async def everything(name: str) -> NameAnswer:
        return NameAnswer.ADDRESSES if captive else await honest(name)

    async def portal(url: str) -> RawResponse:
        return RawResponse(url, "http://login.hotel.demo/" if captive else url, "GET", code=200)

    async def ask(question: CheckRequest) -> Observation:
        at = "http://login.hotel.demo/" if captive else "http://www.h.demo/"
        return Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, parse(at), http=200)

    connectivity = Connectivity(ask, Online(portal, everything, canaries=["http://canary.demo/"]))
    assert None not in [await connectivity.check(CheckRequest(url)) for url in HOSTS[:30]]
    captive = True
    after = await asyncio.gather(*(connectivity.check(CheckRequest(url)) for url in HOSTS[30:]))
    assert sum(1 for seen in after if seen) < 4
    assert connectivity.is_down
    assert "login" in connectivity.explanation

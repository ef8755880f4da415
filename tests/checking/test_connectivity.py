"""Whether our own connection is down (C-16): failures are believed only while others answer. Who proves that we are
online (C-16): witnesses that answer as only they can, and name servers that know names. Other hosts name the day by
the Date of their answers (C-16).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace
from support.observations import FINE, LOST, NO_NAME, SILENT
from support.stored import CUT_OFF, NAMES_ALONE, WikiInStore, honest, open_wiki, silent

from weboid.checking.checker import CheckResult
from weboid.checking.connectivity import ALIKE, SUSPECTS, Connectivity, Lookalikes
from weboid.checking.date_witnesses import is_witnessed
from weboid.checking.online import CERTIFICATE, Heard, LookUp, Online, Reach, Voice, Witness, heard_of, reach_of
from weboid.checking.turns import NotAsked
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Hop, Observation, RawResponse
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


PLAIN, SECURE = Witness("http://canary.demo/"), Witness("https://canary.demo/")
API = Witness("http://wiki.demo/w/api.php?action=query", is_api=True)
PORTAL = "http://login.hotel.demo/"
SITEINFO = b'{"batchcomplete":true,"query":{"general":{"generator":"MediaWiki 1.43.0"}}}'
LONG = b'{"query":{"general":{"mainpage":"Main","generator":"MediaWiki 1.43.0","articlepath":"/wi'


def got(witness: Witness, code: int = 200, final: str = "", body: bytes = b"") -> RawResponse:
    hops = (Hop(witness.url, 302, final),) if final else ()
    return RawResponse(witness.url, final or witness.url, "GET", code=code, hops=hops, body=body)


def failed(witness: Witness, fault: Reason) -> RawResponse:
    return RawResponse(witness.url, witness.url, "GET", fault=fault)


@pytest.mark.parametrize(
    ("witness", "answer", "voice"),
    [
        (PLAIN, None, Voice.NOBODY),
        (PLAIN, failed(PLAIN, Reason.TIMEOUT), Voice.NOBODY),
        (PLAIN, got(PLAIN, 404), Voice.SOMEHOW),
        (PLAIN, got(PLAIN, final="http://www.canary.demo/"), Voice.SOMEHOW),
        (PLAIN, got(PLAIN, final=PORTAL), Voice.OTHER),
        (PLAIN, got(PLAIN, 511), Voice.OTHER),
        (SECURE, got(SECURE, 500), Voice.ITSELF),
        (SECURE, got(SECURE, final="https://other.demo/"), Voice.ITSELF),
        (SECURE, failed(SECURE, Reason.CERTIFICATE_WRONG_HOST), Voice.OTHER),
        (SECURE, failed(SECURE, Reason.CERTIFICATE_EXPIRED), Voice.NOBODY),
        (API, got(API, body=SITEINFO), Voice.ITSELF),
        (API, got(API, body=LONG), Voice.ITSELF),
        (API, got(API, 503), Voice.SOMEHOW),
        (API, got(API, body=b"<html>Log in"), Voice.SOMEHOW),
        (API, got(API, body=b"[1]"), Voice.SOMEHOW),
        (API, got(API, final=PORTAL, body=SITEINFO), Voice.OTHER),
    ],
)
def test_a_witness_is_known_by_its_own_answer(witness: Witness, answer: RawResponse | None, voice: Voice) -> None:
    assert heard_of(witness, answer).voice is voice


ITSELF, SOMEHOW = Heard(Voice.ITSELF), Heard(Voice.SOMEHOW, likeness=b"own")
AWAY = Heard(Voice.OTHER, "hotel.demo", b"login")
HERE = Heard(Voice.SOMEHOW, "", b"login")
OURS = Heard(Voice.SOMEHOW, "", b"login", is_ours=True)
OURS_AWAY = Heard(Voice.OTHER, "hotel.demo", b"login", is_ours=True)
NUMBERED_OF_ONLINE = Heard(Voice.SOMEHOW, likeness=b"own", by_name=False)
FORGED = Heard(Voice.OTHER, CERTIFICATE)
NAMES, OFFLINE = Reach.NAMES, Reach.OFFLINE


@pytest.mark.parametrize(
    ("heard", "stranger", "names", "suspected", "reach"),
    [
        ([], None, NAMES, "", Reach.NAMES),
        ([], None, OFFLINE, "", Reach.OFFLINE),
        ([Heard(Voice.NOBODY)], None, OFFLINE, "", Reach.OFFLINE),
        ([SOMEHOW], None, OFFLINE, "", Reach.ONLINE),
        ([ITSELF], None, OFFLINE, "", Reach.CONTACT),
        ([NUMBERED_OF_ONLINE], None, OFFLINE, "", Reach.ONLINE),
        # Anyone who answers as only it can is met, whatever else answers for names that nobody has.
        ([ITSELF, AWAY], AWAY, NAMES, "hotel.demo", Reach.ONLINE),
        ([SOMEHOW, AWAY], AWAY, NAMES, "hotel.demo", Reach.ONLINE),
        # A resolver that knows every name is none of ours, as long as nobody answers in place of a witness.
        ([], AWAY, NAMES, "", Reach.NAMES),
        ([SOMEHOW], HERE, NAMES, "", Reach.ONLINE), ([OURS], HERE, NAMES, "", Reach.NAMES),
        ([AWAY], None, NAMES, "", Reach.ONLINE), ([AWAY], AWAY, NAMES, "", Reach.CAPTIVE),
        ([HERE], HERE, NAMES, "", Reach.CAPTIVE), ([OURS_AWAY], AWAY, NAMES, "", Reach.CAPTIVE),
        ([FORGED], AWAY, NAMES, "", Reach.CAPTIVE), ([AWAY, AWAY], None, NAMES, "", Reach.CAPTIVE),
        ([OURS_AWAY, OURS_AWAY], None, NAMES, "", Reach.ONLINE), ([AWAY], None, NAMES, "hotel.demo", Reach.CAPTIVE),
        ([FORGED], None, NAMES, CERTIFICATE, Reach.CAPTIVE), ([], AWAY, NAMES, "hotel.demo", Reach.CAPTIVE),
        ([], None, NAMES, "hotel.demo", Reach.NAMES),
    ],
)  # fmt: skip
def test_somebody_who_answers_for_all_is_reported_from_a_resolver_that_knows_every_name(
    heard: list[Heard], stranger: Heard | None, names: Reach, suspected: str, reach: Reach
) -> None:
    assert reach_of(heard, stranger, names, suspected) is reach


@pytest.mark.parametrize(
    ("heard", "reach"),
    [
        ([NUMBERED_OF_ONLINE], Reach.CONTACT),
        ([NUMBERED_OF_ONLINE, SOMEHOW], Reach.ONLINE),
        ([ITSELF], Reach.CONTACT),
        ([], OFFLINE),
    ],
)
def test_an_answer_by_an_address_is_no_proof_of_servers_that_deny_all(heard: list[Heard], reach: Reach) -> None:
    assert reach_of(heard, None, OFFLINE, deny_all=True) is reach


@pytest.mark.parametrize(
    ("made_up", "root", "host", "reach"),
    [
        (NameAnswer.NO_NAME, NameAnswer.ADDRESSES, NameAnswer.NO_NAME, Reach.NAMES),
        (NameAnswer.NO_NAME, NameAnswer.NO_ADDRESS, NameAnswer.NO_NAME, Reach.NAMES),
        (NameAnswer.NO_NAME, NameAnswer.NO_NAME, NameAnswer.ADDRESSES, Reach.NAMES),
        (NameAnswer.ADDRESSES, NameAnswer.NO_NAME, NameAnswer.NO_NAME, Reach.NAMES),
        # Who knows no name at all, or only what it remembers, is cut off itself.
        (NameAnswer.NO_NAME, NameAnswer.NO_NAME, NameAnswer.NO_NAME, Reach.OFFLINE),
        (NameAnswer.NOTHING, NameAnswer.ADDRESSES, NameAnswer.ADDRESSES, Reach.OFFLINE),
    ],
)
async def test_name_servers_prove_something_if_they_know_names_and_not_all(
    made_up: NameAnswer, root: NameAnswer, host: NameAnswer, reach: Reach
) -> None:
    async def fetch(url: str) -> RawResponse:
        raise ConnectionRefusedError

    async def look_up(name: str) -> NameAnswer:
        return {".": root, "dead.demo": host}.get(name, made_up)

    online = Online(fetch, look_up)
    # An address is no name: asking for it shows nothing of name servers.
    assert await online.reach(["http://dead.demo/"], ["127.0.0.1", "[::1]", "dead.demo"]) is reach
    assert not await online.is_captive()


async def test_a_few_witnesses_are_asked_before_all_are() -> None:
    asked: list[str] = []

    async def fetch(url: str) -> RawResponse:
        asked.append(url)
        return RawResponse(url, url, "GET", code=200)

    async def look_up(name: str) -> NameAnswer:
        return NameAnswer.NOTHING

    online = Online(fetch, look_up, canaries=[f"https://c{number}.demo/" for number in range(30)])
    assert await online.reach([f"http://h{number}.demo/" for number in range(30)]) is Reach.ONLINE
    assert 1 <= len(asked) <= 3
    assert not any("h" in url.split("/")[2] for url in asked)


@pytest.mark.parametrize("reach", [Reach.CAPTIVE, Reach.NAMES])
async def test_an_explanation_names_witnesses_only_where_there_are_any(reach: Reach) -> None:
    async def fetch(url: str) -> RawResponse:
        raise ConnectionRefusedError

    async def look_up(name: str) -> NameAnswer:
        return NameAnswer.NOTHING

    assert " c1.demo" in Online(fetch, look_up, canaries=["https://c1.demo/"]).explanation_of(reach)
    without = Online(fetch, look_up).explanation_of(reach)
    assert not re.search(r"[ ,]{2,}[.;]| [.;]|even;|among them", without), without


def moved(target: str) -> Observation:
    return Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, parse(target), http=200)


def test_a_place_that_many_domains_lead_to_is_suspicious_until_it_is_cleared() -> None:
    lookalikes = Lookalikes()
    hosts = [f"h{number}.demo" for number in range(2 * ALIKE)]
    assert [lookalikes.suspected(host, moved(f"http://www.{host}/")) for host in hosts] == [None] * len(hosts)
    found = [lookalikes.suspected(host, moved(PORTAL)) for host in hosts[:ALIKE]]
    assert found == [None] * (ALIKE - 1) + ["hotel.demo"]
    assert lookalikes.suspected(f"www.{hosts[0]}", moved("http://other.demo/")) is None
    lookalikes.clear("hotel.demo")
    assert lookalikes.suspected(hosts[-1], moved(PORTAL)) is None


def test_one_domain_that_moves_all_its_pages_is_not_suspicious_and_a_way_out_of_the_web_no_place() -> None:
    lookalikes = Lookalikes()
    targets = [
        "mailto:a@b.demo",
        "tel:1",
        "intent://hotel.demo/#Intent;end",
        "javascript:1",
        "data:,x",
        "app://hotel.demo",
    ]
    for number, target in enumerate(targets * ALIKE):
        seen = Observation(Status.FOUND, Reason.REDIRECT_TO_SCHEME, target, http=302)
        assert lookalikes.suspected(f"h{number}.demo", seen) is None
    lookalikes = Lookalikes()
    assert {lookalikes.suspected(f"s{number}.h.demo", moved(PORTAL)) for number in range(20)} == {None}
    assert lookalikes.suspected("a.demo", Observation(Status.SYNTAX_OR_SERVER_ERROR, Reason.SERVER_ERROR, http=511))


RIGHT, EVE, WRONG = "Tue, 11 Apr 2017 12:00:00 GMT", "Mon, 10 Apr 2017 23:00:00 GMT", "Sat, 15 Apr 2017 12:00:00 GMT"
DAY = 100


@pytest.mark.parametrize(
    ("dates", "is_right"),
    [
        ([RIGHT, EVE, RIGHT], True),
        ([RIGHT, RIGHT], False),
        ([RIGHT, RIGHT, RIGHT, WRONG, WRONG], True),
        ([RIGHT, RIGHT, RIGHT, WRONG, WRONG, WRONG], False),
        ([RIGHT, RIGHT, RIGHT, None, "nonsense", "", "Tue, 11 Apr 1817 12:00:00 GMT"], True),
        ([WRONG] * 5, False),
        ([], False),
    ],
)
async def test_three_domains_and_the_majority_decide(dates: list[str | None], is_right: bool) -> None:
    urls = [f"http://h{number}.demo/" for number in range(len(dates))]

    async def check(request: CheckRequest) -> CheckResult:
        date = dates[urls.index(request.url)]
        if date is None:
            raise NotAsked(request.url)
        answer = RawResponse(request.url, request.url, "HEAD", 404, headers={"date": date})
        return CheckResult(Observation(Status.NOT_FOUND, Reason.NOT_FOUND), answer)

    assert await is_witnessed(check, urls, DAY) is is_right


async def test_hosts_of_one_domain_and_what_leads_to_one_host_are_one_witness() -> None:
    async def check(request: CheckRequest) -> CheckResult:
        final = "http://end.demo/" if "to-end" in request.url else request.url
        answer = RawResponse(request.url, final, "HEAD", 200, headers={"date": RIGHT})
        return CheckResult(Observation(Status.FINE, Reason.OK), answer)

    assert not await is_witnessed(check, [f"http://h{n}.one.demo/" for n in range(8)], DAY)
    assert not await is_witnessed(check, [f"http://h{n}.demo/to-end" for n in range(8)], DAY)

"""Who proves that we are online (C-16): witnesses that answer as only they can, and name servers that know names."""

import re

import pytest

from weboid.checking.connectivity import ALIKE, Lookalikes
from weboid.checking.online import CERTIFICATE, Heard, Online, Reach, Voice, Witness, heard_of, reach_of
from weboid.core.observe.observation import Hop, Observation, RawResponse
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.urls import parse
from weboid.net.dns import NameAnswer

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
NUMBERED = Heard(Voice.SOMEHOW, likeness=b"own", by_name=False)
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
        ([NUMBERED], None, OFFLINE, "", Reach.ONLINE),
        # Anyone who answers as only it can is met, whatever else answers for names that nobody has.
        ([ITSELF, AWAY], AWAY, NAMES, "hotel.demo", Reach.ONLINE),
        ([SOMEHOW, AWAY], AWAY, NAMES, "hotel.demo", Reach.ONLINE),
        # A resolver that knows every name is none of ours, as long as nobody answers in place of a witness.
        ([], AWAY, NAMES, "", Reach.NAMES),
        ([SOMEHOW], HERE, NAMES, "", Reach.ONLINE),
        ([OURS], HERE, NAMES, "", Reach.NAMES),
        ([AWAY], None, NAMES, "", Reach.ONLINE),
        ([AWAY], AWAY, NAMES, "", Reach.CAPTIVE),
        ([HERE], HERE, NAMES, "", Reach.CAPTIVE),
        ([OURS_AWAY], AWAY, NAMES, "", Reach.CAPTIVE),
        ([FORGED], AWAY, NAMES, "", Reach.CAPTIVE),
        ([AWAY, AWAY], None, NAMES, "", Reach.CAPTIVE),
        ([OURS_AWAY, OURS_AWAY], None, NAMES, "", Reach.ONLINE),
        ([AWAY], None, NAMES, "hotel.demo", Reach.CAPTIVE),
        ([FORGED], None, NAMES, CERTIFICATE, Reach.CAPTIVE),
        ([], AWAY, NAMES, "hotel.demo", Reach.CAPTIVE),
        ([], None, NAMES, "hotel.demo", Reach.NAMES),
    ],
)
def test_somebody_who_answers_for_all_is_reported_from_a_resolver_that_knows_every_name(
    heard: list[Heard], stranger: Heard | None, names: Reach, suspected: str, reach: Reach
) -> None:
    assert reach_of(heard, stranger, names, suspected) is reach


@pytest.mark.parametrize(
    ("heard", "reach"),
    [([NUMBERED], Reach.CONTACT), ([NUMBERED, SOMEHOW], Reach.ONLINE), ([ITSELF], Reach.CONTACT), ([], OFFLINE)],
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

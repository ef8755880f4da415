"""No page that lives fails by a limit of ours, a redirect, a document that leads on, a coding or robots.txt.

The tables are `tests/support/reported_*.py`; each row is checked once as in a round and once by hand.
"""

import asyncio
from dataclasses import replace
from ipaddress import ip_network

import pytest
from support.misbehaving import Certificates, Script, Zone, name_server, reply, serve
from support.reported_forwards import BEHIND_IS_DEAD, LEADING_ON
from support.reported_oddities import CODINGS, ROBOTS
from support.reported_servers import COOKIES, FINE, LIMITS, LIVES, PATH, REDIRECTS, REFUSES, WORKS, Row, doc, moved

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.document.face import NO_FACE
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome
from weboid.net.outbound import open_session

NET = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=60.0, answer_s=60.0)
ALL = [*LIMITS, *COOKIES, *REDIRECTS, *LEADING_ON, *BEHIND_IS_DEAD, *CODINGS, *ROBOTS]
_AT_ONCE = 20


async def seen_of(net: NetConfig, url: str, *, by_hand: bool) -> Observation:
    async with open_session(net) as session:
        checker = Checker(session, LocalTurns(0.0), CrawlConfig())
        return await checker.ask(CheckRequest(url, looks=by_hand, thorough=by_hand, face=NO_FACE if by_hand else None))


@pytest.mark.parametrize("by_hand", [True, False], ids=["by hand", "in a round"])
async def test_each_reported_server_is_what_people_see(by_hand: bool) -> None:
    places = asyncio.Semaphore(_AT_ONCE)

    async def unlike(row: Row) -> str | None:
        async with places, serve(row.script) as site:
            seen = await seen_of(NET, site.url(PATH), by_hand=by_hand)
        # A document is not read at a working URL's usual check: what it leads on to is looked at once in a fortnight.
        is_right = seen.outcome in row.outcomes or (not by_hand and row.is_read)
        return None if is_right else f"{row.slug}: {seen.outcome.value} {seen.reason.word}"

    assert [found for found in await asyncio.gather(*map(unlike, ALL)) if found] == []


NAMES: list[tuple[str, Zone, frozenset[Outcome]]] = [
    ("one-address a sibling", {"mill.demo": ["127.0.0.1"]}, WORKS),
    ("ten-addresses sabnzbd/sabnzbd#3099", {"mill.demo": [*(f"127.0.3.{n}" for n in range(9)), "127.0.0.1"]}, WORKS),
    ("thirty-addresses a sibling", {"mill.demo": [*(f"127.0.3.{n}" for n in range(29)), "127.0.0.1"]}, WORKS),
    ("broken-ipv6 xroche/httrack#418", {"mill.demo": ["100::1", "127.0.0.1"]}, WORKS),
    ("private-first a sibling", {"mill.demo": ["10.0.0.1", "127.0.0.1"]}, WORKS),
    ("cname a sibling", {"mill.demo": ["=a.demo"], "a.demo": ["127.0.0.1"]}, WORKS),
    ("cname-chain a sibling", {
        "mill.demo": ["=c1.demo"], **{f"c{n}.demo": [f"=c{n + 1}.demo"] for n in range(1, 9)}, "c9.demo": ["127.0.0.1"]
    }, WORKS),
    ("filter-sinkhole a sibling", {"mill.demo": ["0.0.0.0"]}, frozenset({Outcome.DOUBTFUL})),
    ("filter-private ooni/probe#605", {"mill.demo": ["192.168.1.1"]}, frozenset({Outcome.DOUBTFUL})),
    ("cname-to-nothing a sibling", {"mill.demo": ["=gone.demo"]}, frozenset({Outcome.FAILING})),
    ("servfail cisagov/trustymail#40", {"mill.demo": 2, "": ["@ns.demo"]}, frozenset({Outcome.FAILING})),
    ("no-name a sibling", {"": ["@ns.demo"]}, frozenset({Outcome.FAILING})),
]  # fmt: skip


@pytest.mark.parametrize(("zone", "outcomes"), [row[1:] for row in NAMES], ids=[row[0] for row in NAMES])
async def test_what_name_servers_say_of_a_living_host(zone: Zone, outcomes: frozenset[Outcome]) -> None:
    async with serve(doc(FINE)) as site, name_server(dict(zone)) as names:
        seen = await seen_of(replace(NET, dns=(names.address,)), site.url(PATH, host="mill.demo"), by_hand=True)
    assert seen.outcome in outcomes, seen.reason


async def test_certificates_and_hops_between_http_and_https(certificates: Certificates) -> None:
    good, expired = certificates.good("127.0.0.1"), certificates.expired("127.0.0.1")
    asks_for_one = certificates.good("127.0.0.1")
    asks_for_one.verify_mode = asks_for_one.verify_mode.CERT_OPTIONAL
    asks_for_one.load_verify_locations(certificates.ca_file)
    found = {}
    net = replace(NET, ca=certificates.ca_file)
    for slug, tls in [
        ("incomplete chain: Michael-F-Bryan/mdbook-linkcheck#19", certificates.foreign("127.0.0.1")),
        ("expired a sibling", expired),
        ("self-signed a sibling", certificates.self_signed("127.0.0.1")),
        ("another name a sibling", certificates.good("127.0.0.2")),
        ("a client certificate if there is one: cisagov/pshtt#153", asks_for_one),
    ]:
        async with serve(doc(FINE), tls=tls) as site:
            found[slug] = (await seen_of(net, site.url(PATH), by_hand=False)).outcome
    assert {slug: outcome for slug, outcome in found.items() if outcome not in REFUSES} == {}
    async with serve(doc(FINE)) as end:
        middle: Script = moved(end.url(PATH))
        for tls, outcomes in ((good, WORKS), (expired, LIVES)):
            async with (
                serve(middle, tls=tls) as secure,
                serve(lambda asked, to=secure: reply(301, f"Location: {to.url(PATH)}")) as first,  # type: ignore[misc]
            ):
                assert (await seen_of(net, first.url(PATH), by_hand=False)).outcome in outcomes

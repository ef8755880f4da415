"""One check with all that may belong to it, against real servers: schemes, referrers, robots.txt, pauses.

How hosts answer for made-up URLs is in ``test_faces``.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest
from support.misbehaving import Act, Asked, Certificates, HangUp, Script, Zone, head_only, name_server, reply, serve
from support.reported import page
from support.reported import site as site_of

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns, NotAsked
from weboid.config import CrawlConfig, NetConfig
from weboid.core.document.portrait import Portrait
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status
from weboid.core.url.farms import Farm
from weboid.core.url.urls import parse
from weboid.net.outbound import open_session

NET = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=30.0, answer_s=30.0)


@asynccontextmanager
async def checking(net: NetConfig = NET, delay: float = 0.0, **config: object) -> AsyncIterator[Callable[[], Checker]]:
    async with open_session(net) as session:
        checker = Checker(session, LocalTurns(delay), CrawlConfig(**config))  # type: ignore[arg-type]
        yield lambda: checker


async def ask(script: Script, path: str = "/a/page", **question: object) -> tuple[Observation, list[str]]:
    """The observation of one question to a server, and what it was asked."""
    async with serve(script) as site, checking() as checker:
        seen = await checker().ask(CheckRequest(site.url(path), **question))  # type: ignore[arg-type]
        return seen, site.lines()


# --- the other scheme (63) ---


async def switching(
    http: Script, https: Script, certificates: Certificates, scheme: str, *, expired: bool = False, **question: object
) -> tuple[Observation, list[str], list[str]]:
    tls = certificates.expired("127.0.0.1") if expired else certificates.good("127.0.0.1")
    async with serve(http) as plain, serve(https, tls=tls) as secure:
        net = replace(NET, ca=certificates.ca_file, web_ports=(plain.port, secure.port))
        site = plain if scheme == "http" else secure
        async with checking(net) as checker:
            seen = await checker().ask(CheckRequest(site.url("/a"), **question))  # type: ignore[arg-type]
            return seen, plain.lines(), secure.lines()


def hangs_up(asked: Asked) -> Act:
    return HangUp(reset=True)


FINE = site_of({"/a": reply(200, body=page("A page"))})
_FRAME = b"<title>App</title><script src=/static/app.js></script><div id=root></div>"
APPLICATION = site_of({"/": reply(200, body=_FRAME)}, reply(404, body=_FRAME))


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_what_works_by_the_other_scheme_as_a_browser_works(certificates: Certificates, scheme: str) -> None:
    def picky(asked: Asked) -> Act:
        return FINE(asked) if "text/html" in asked.headers["Accept"] else reply(404)

    scripts = (hangs_up, picky) if scheme == "http" else (picky, hangs_up)
    seen, _, _ = await switching(*scripts, certificates, scheme)
    need = Special.NEEDS_HTTPS if scheme == "http" else Special.NEEDS_HTTP
    assert (seen.status, seen.needs) == (Status.SCHEME_SWITCHED, frozenset({need, Special.NEEDS_BROWSER}))


async def test_what_is_remembered_is_asked_at_once_and_a_need_gone_is_no_failure(certificates: Certificates) -> None:
    needs = frozenset({Special.NEEDS_HTTPS})
    seen, plain, secure = await switching(hangs_up, FINE, certificates, "http", needs=needs)
    assert (seen.status, plain, secure) == (Status.SCHEME_SWITCHED, [], ["HEAD /a"])
    assert not seen.needs
    seen, _, _ = await switching(FINE, hangs_up, certificates, "http", needs=needs)
    assert (seen.status, seen.reason) == (Status.FINE, Reason.OK)


async def test_behind_a_bad_certificate_pages_are_missing_or_in_doubt(certificates: Certificates) -> None:
    seen, _, secure = await switching(hangs_up, site_of({}), certificates, "https", expired=True)
    assert (seen.reason, seen.outcome) == (Reason.NOT_FOUND, Outcome.FAILING)
    assert secure == ["HEAD /a", "GET /a", "GET /a"]
    seen, _, _ = await switching(site_of({}, reply(403)), site_of({}), certificates, "https", expired=True)
    assert seen.reason is Reason.NOT_FOUND
    for http, https in [(hangs_up, FINE), (site_of({}), FINE), (hangs_up, APPLICATION)]:
        seen, _, _ = await switching(http, https, certificates, "https", expired=True)
        assert (seen.status, seen.reason) == (Status.NETWORK, Reason.CERTIFICATE_EXPIRED)


async def test_a_missing_page_is_asked_by_https_only_as_its_last_chance(certificates: Certificates) -> None:
    seen, _, secure = await switching(site_of({}), FINE, certificates, "http")
    assert (seen.reason, secure) == (Reason.NOT_FOUND, [])
    seen, _, _ = await switching(site_of({}), FINE, certificates, "http", thorough=True)
    assert seen.reason is Reason.NEEDS_HTTPS


async def test_what_fails_under_both_schemes_fails_as_it_did_under_its_own(certificates: Certificates) -> None:
    seen, _, _ = await switching(hangs_up, site_of({}), certificates, "http", thorough=True)
    assert (seen.status, seen.reason) == (Status.NETWORK, Reason.RESET)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_host_that_refuses_or_leads_away_at_one_port_is_alive(certificates: Certificates, scheme: str) -> None:
    root = reply(302, "Location: /")
    for act, reason in [(reply(403), "forbidden"), (reply(429), "rate-limit"), (root, "redirect-to-root")]:
        wall = site_of({"/": reply(200, body=page("Home"))}, act)
        for silent, expected in [(hangs_up, reason), (site_of({}), "not-found")]:
            scripts = (silent, wall) if scheme == "http" else (wall, silent)
            for known in ({"thorough": True}, {"needs": {Special.NEEDS_HTTPS, Special.NEEDS_HTTP}}):
                seen, _, _ = await switching(*scripts, certificates, scheme, **known)
                assert seen.reason.word == expected, act


# --- a referrer ---


def wants_referrer(asked: Asked) -> Act:
    inside = asked.headers.get("Referer", "").endswith(f"{asked.headers['Host']}/")
    return head_only(asked, reply(200, body=page("A page")) if inside else reply(403, body=b"no"))


async def test_a_site_that_lets_in_only_who_comes_from_itself_works_and_one_that_lets_nobody_in_refuses() -> None:
    seen, _ = await ask(wants_referrer, thorough=True)
    assert (seen.status, seen.reason) == (Status.CORRECTED, Reason.NEEDS_REFERRER)
    assert seen.needs == {Special.NEEDS_REFERRER}
    seen, asked = await ask(wants_referrer, needs=frozenset({Special.NEEDS_REFERRER}))
    assert (seen.reason, asked) == (Reason.OK, ["HEAD /a/page"])
    seen, _ = await ask(APPLICATION, needs=frozenset({Special.NEEDS_REFERRER}))
    assert seen.reason is Reason.SOFT_404
    seen, _ = await ask(site_of({"/a/page": reply(403, body=b"no")}), thorough=True)
    assert seen.reason is Reason.FORBIDDEN


# --- the page itself ---


async def test_where_robots_are_not_wanted_nothing_is_probed_judged_by_its_text_or_portrayed() -> None:
    robots = reply(200, body=b"User-agent: *\nDisallow: /a/", kind="text/plain")
    missing = page("Page not found", "Sorry, the page you are looking for could not be found.")
    seen, asked = await ask(site_of({"/robots.txt": robots, "/a/page": reply(200, body=missing)}), looks=True)
    assert (seen.reason, sorted(asked)) == (Reason.OK, ["GET /a/page", "GET /robots.txt"])
    seen, _ = await ask(site_of({"/a/page": reply(200, body=missing)}), looks=True)
    assert seen.reason is Reason.SOFT_404
    robots = reply(200, body=b"User-agent: *\nDisallow: /a/", kind="text/plain")
    site = site_of({"/a/page": reply(200, body=page("The history of bees")), "/robots.txt": robots})
    seen, _ = await ask(site, looks=True, portrays=True)
    assert seen.portrait is None


async def test_a_portrait_is_given_where_it_tells_anything_new() -> None:
    """And only then robots.txt is asked for: on a host that is honest nothing else would be."""
    first = site_of({"/a/page": reply(200, body=page("The history of bees")), "/robots.txt": reply(404)})
    seen, asked = await ask(first, looks=True, portrays=True, face=None)
    portrait = seen.portrait
    assert isinstance(portrait, Portrait)
    assert len(asked) == 2
    seen, asked = await ask(first, looks=True, earlier=portrait, face=None)
    assert (seen.reason, seen.portrait, len(asked)) == (Reason.OK, None, 1)
    seen, _ = await ask(first, looks=True, earlier=portrait, portrays=True, face=None)
    assert seen.portrait == portrait
    casino = page(
        "Best online slots", "spin win jackpot bonus poker roulette dealer bet now and win big every day " * 6
    )
    other = site_of({"/a/page": reply(200, body=casino), "/robots.txt": reply(404)})
    seen, _ = await ask(other, looks=True, earlier=portrait, face=None)
    assert seen.reason is Reason.OK
    assert seen.portrait is not None
    assert seen.portrait.in_trade
    seen, _ = await ask(other, earlier=portrait, face=None)
    assert seen.portrait is None
    short = site_of({"/a/page": reply(200, body=page("A few words", "only these"))})
    seen, asked = await ask(short, looks=True, earlier=portrait, portrays=True, face=None)
    assert (seen.portrait, len(asked)) == (None, 1)


# --- whom to leave alone ---


@pytest.mark.parametrize("url", ["https://archive.today/abcde", "http://archive.ph/2019/http://a.demo/"])
async def test_an_archive_that_attacked_others_is_never_asked(url: str) -> None:
    async with checking() as checker:
        with pytest.raises(NotAsked):
            await checker().ask(CheckRequest(url))


async def test_nothing_is_asked_of_a_host_on_the_stop_list_nor_through_a_redirect(tmp_path: Path) -> None:
    async with serve(site_of({}), ip="127.0.0.3") as stopped:
        moved = site_of({"/a": reply(301, f"Location: {stopped.url('/b')}")})
        async with serve(moved) as site, checking(stop=("127.0.0.3",)) as checker:
            with pytest.raises(NotAsked):
                await checker().ask(CheckRequest(stopped.url("/")))
            assert (await checker().ask(CheckRequest(site.url("/a")))).outcome is Outcome.DOUBTFUL
            assert stopped.connections == 0


async def test_no_redirect_leads_into_an_own_farm_though_its_wikis_are_witnesses() -> None:
    zone: Zone = {"wiki.test": ["127.0.0.3"], "m.wiki.test": ["127.0.0.3"], "site.test": ["127.0.0.4"]}
    farm = Farm(7, "own", api="http://wiki.test/api.php", domains=frozenset({"wiki.test"}))
    async with name_server(zone) as dns, serve(site_of({}), ip="127.0.0.3") as own:
        led: dict[str, Act] = {
            path: reply(302, f"Location: {own.url('/b', host='m.wiki.test')}") for path in ("/a", "/robots.txt")
        }
        async with (
            serve(site_of(led), ip="127.0.0.4") as site,
            open_session(replace(NET, dns=(dns.address,))) as session,
        ):
            checker = Checker(session, LocalTurns(0.0), CrawlConfig(), own_farms=(farm,))
            for follows in (False, True):
                seen = await checker.ask(CheckRequest(site.url("/a", host="site.test"), follows=follows, looks=True))
                assert (seen.outcome, seen.reason) == (Outcome.DOUBTFUL, Reason.NOT_PUBLIC)
            assert own.connections == 0
            assert (await checker.fetch(own.url("/c", host="wiki.test"))).code == 404


async def test_both_schemes_together_take_no_longer_than_one_check(certificates: Certificates) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n"
            await asyncio.sleep(0.1)

    script: Script = lambda _: endless()  # noqa: E731
    async with serve(script) as plain, serve(script, tls=certificates.good("127.0.0.1")) as secure:
        net = replace(NET, ca=certificates.ca_file, web_ports=(plain.port, secure.port), answer_s=1.0)
        async with checking(net) as checker:
            begun = monotonic()
            seen = await checker().ask(CheckRequest(plain.url("/a"), thorough=True))
    assert (seen.reason, len(plain.asked), len(secure.asked)) == (Reason.TIMEOUT, 2, 1)
    assert monotonic() - begun < 3.9


async def test_in_strict_mode_robots_may_forbid_the_check_and_who_cannot_be_reached_is_found_so() -> None:
    robots = reply(200, body=b"User-agent: weboid\nDisallow: /a", kind="text/plain")
    script = site_of({"/robots.txt": robots, "/b": reply(200, body=page("B"))})
    async with serve(script) as site, checking(strict=True) as checker:
        with pytest.raises(NotAsked):
            await checker().ask(CheckRequest(site.url("/a")))
        assert (await checker().ask(CheckRequest(site.url("/b")))).reason is Reason.OK
        assert site.lines() == ["GET /robots.txt", "HEAD /b"]
    async with serve(hangs_up) as site, checking(strict=True) as checker:
        assert (await checker().ask(CheckRequest(site.url("/a")))).reason is Reason.RESET


CALM = reply(200, body=b"User-agent: *\nCrawl-delay: 0.4\n", kind="text/plain")
CALM_S = 0.4


async def test_a_crawl_delay_holds_from_the_first_request_after_robots_txt_is_read() -> None:
    times: list[tuple[str, float]] = []
    pages = site_of({"/robots.txt": CALM}, reply(200, body=page("A page")))

    def script(asked: Asked) -> Act:
        times.append((asked.target, monotonic()))
        return pages(asked)

    async with serve(script) as site, checking() as checker:
        await checker().ask(CheckRequest(site.url("/1")))
        await checker().ask(CheckRequest(site.url("/2"), follows=True))
        # The rules may also be read for a look at the document, with a request for its sibling after them.
        async with checking() as other:
            await other().ask(CheckRequest(site.url("/3/page.html"), looks=True, portrays=True))
    gaps = [(target, at - before) for (_, before), (target, at) in pairwise(times)]
    after_robots = [gap for (target, gap), (before, _) in zip(gaps, times, strict=False) if before == "/robots.txt"]
    assert len(after_robots) == 2
    assert all(gap > CALM_S / 2 for gap in after_robots)


async def test_the_rules_of_a_host_that_redirects_lead_to_are_read_before_the_second_contact() -> None:
    times: list[tuple[str, float]] = []
    pages = site_of({"/robots.txt": CALM}, reply(200, body=b"%PDF-1.4", kind="application/pdf"))

    def there(asked: Asked) -> Act:
        times.append((asked.target, monotonic()))
        return pages(asked)

    async with serve(there, "127.0.0.2") as target, checking() as checker:
        moved = site_of({}, reply(301, f"Location: {target.url('/there')}"))
        async with serve(moved, "127.0.0.3") as one, serve(moved, "127.0.0.4") as other:
            for site in (one, other, other):
                assert (await checker().ask(CheckRequest(site.url("/a")))).target == parse(target.url("/there"))
    assert [line for line, _ in times] == ["/there", "/robots.txt", "/there", "/there"]
    assert all(later - earlier > CALM_S / 2 for (_, earlier), (_, later) in pairwise(times[1:]))


async def test_hosts_that_redirect_everything_to_each_other_hold_no_check_up() -> None:
    places: list[str] = []
    async with (
        serve(lambda asked: reply(302, f"Location: {places[1]}"), "127.0.0.2") as one,
        serve(lambda asked: reply(302, f"Location: {places[0]}"), "127.0.0.3") as other,
        checking() as checker,
    ):
        places += [one.url("/a"), other.url("/b")]
        async with asyncio.timeout(60):
            for _ in range(3):
                checks = (checker().ask(CheckRequest(url, follows=True)) for url in places)
                assert {seen.reason for seen in await asyncio.gather(*checks)} == {Reason.REDIRECT_LOOP}


async def test_a_host_that_asks_for_an_hour_or_a_date_by_its_own_clock_gets_it() -> None:
    async with serve(site_of({}, reply(503, "Retry-After: 3600"))) as site, checking() as checker:
        seen = await checker().ask(CheckRequest(site.url("/a")))
        assert (seen.reason, seen.retry_after_s) == (Reason.RATE_LIMIT, 3_600)
        with pytest.raises(NotAsked):
            await checker().ask(CheckRequest(site.url("/b")))
    until = ("Date: Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After: Wed, 21 Oct 2015 07:30:00 GMT")
    seen, _ = await ask(site_of({}, reply(429, *until)))
    assert seen.retry_after_s == 120


async def test_a_host_that_says_too_many_is_asked_half_as_often_each_time() -> None:
    turns = LocalTurns(0.01)
    async with serve(lambda _: reply(429)) as site, open_session(NET) as session:
        checker, pauses = Checker(session, turns, CrawlConfig()), []
        for path in "abcd":
            await checker.ask(CheckRequest(site.url(f"/{path}")))
            pauses.append(turns.delay_of("127.0.0.1"))
    assert pauses == [0.02, 0.04, 0.08, 0.16]

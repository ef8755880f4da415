"""What a host needs is tried anew now and then (C-6): with real servers, and rounds on each day that is due for months.
A retry that fails as it did before is no news: the verdict does not change. Before a failing code counts: asked once
more as a browser would, and compared with other places of the host. The behaviours are those of public reports:
`support.reported_headers` and `support.reported_refusals`, on real servers and in weeks of the crawler without any.
"""

from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

import pytest
from support.misbehaving import Act, Asked, Certificates, Script, head_only, name_server, reply, serve
from support.reported import (
    FINE,
    HOST,
    MISSING,
    PATH,
    PICTURE,
    accepts,
    everywhere,
    names_html,
    only_here,
    site,
    unless,
)
from support.reported_headers import HEADERS
from support.reported_refusals import DEAD, REFUSALS
from support.scripted_lives import FIRST_DAY, ScriptedHost
from support.store_reads import list_changes
from support.stored import WikiInStore, key, open_wiki

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status
from weboid.core.verdict.verdict import Verdict
from weboid.net.outbound import open_session

from .test_checker import NET, checking, hangs_up

BEGIN, END = 100, 200
PAGE = b"<!doctype html><html lang=en><title>A mill</title><p>" + b"The mill stands on the dam. " * 20


def fine(asked: Asked) -> Act:
    return head_only(asked, reply(200 if asked.target in ("/", "/a") else 404, body=PAGE))


def wants_referrer(asked: Asked) -> Act:
    inside = asked.headers.get("Referer", "").endswith(f"{asked.headers['Host']}/")
    return fine(asked) if inside else head_only(asked, reply(403, body=b"no"))


async def lived(wiki: WikiInStore, url: str, net: NetConfig, first: int, last: int) -> list[tuple[int, Reason | None]]:
    """Rounds with the real Checker on all days on which the URL is due; what was found on each."""
    found = []
    async with open_session(net) as session:
        checker = Checker(session, LocalTurns(0), CrawlConfig())

        def script(url: str, day: int) -> Awaitable[Observation]:
            return checker.ask(wiki.questions[-1])

        day = first
        while day < last:
            await wiki.round(day, script)
            found.append((day, (await wiki.finding(url)).reason))
            day = (await wiki.known(url)).due
    return found


async def verdicts(wiki: WikiInStore, url: str) -> list[Verdict]:
    return [change.after for change in await wiki.do(list_changes, key(url))]


def wants_browser(asked: Asked) -> Act:
    return fine(asked) if "*" not in asked.headers["Accept-Language"] else head_only(asked, reply(500, body=b"no"))


def retries(wiki: WikiInStore, special: Special) -> int:
    """In how many checks the host's need was known but tried anew."""
    return sum(special in question.known for question in wiki.questions)


@pytest.mark.parametrize(
    ("http", "https", "scheme", "need", "reasons"),
    [
        (fine, hangs_up, "https", Special.NEEDS_HTTP, {Reason.NEEDS_HTTP}),
        (hangs_up, fine, "http", Special.NEEDS_HTTPS, {Reason.NEEDS_HTTPS}),
        (wants_referrer, wants_referrer, "http", Special.NEEDS_REFERRER, {Reason.NEEDS_REFERRER, Reason.OK}),
        (wants_browser, wants_browser, "http", Special.NEEDS_BROWSER, {Reason.OK}),
    ],
    ids=["needs http", "needs https", "needs a referrer", "needs a browser"],
)
async def test_what_works_in_another_way_stays_working_when_that_is_tried_anew(
    database: str,
    certificates: Certificates,
    http: Script,
    https: Script,
    scheme: str,
    need: Special,
    reasons: set[Reason],
) -> None:
    async with serve(http) as plain, serve(https, tls=certificates.good("127.0.0.1")) as secure:
        net = replace(NET, ca=certificates.ca_file, web_ports=(plain.port, secure.port))
        url = (plain if scheme == "http" else secure).url("/a")
        async with open_wiki(database, {1: [url]}) as wiki:
            assert {each for _, each in await lived(wiki, url, net, BEGIN, END)} == reasons
            assert await verdicts(wiki, url) == [], "a first check that finds it working leaves no line"
            assert retries(wiki, need) >= 2
            # What the known special explains is an ordinary check: at most the discovery has an entry of its own.
            history = (await wiki.known(url)).record.history
            assert len(history) <= 2
            assert all(entry.first == BEGIN for entry in history[1:])


async def test_an_expired_certificate_stays_a_doubt_though_the_content_is_there_by_http(
    database: str, certificates: Certificates
) -> None:
    async with serve(fine) as plain, serve(fine, tls=certificates.expired("127.0.0.1")) as secure:
        net = replace(NET, ca=certificates.ca_file, web_ports=(plain.port, secure.port))
        url = secure.url("/a")
        async with open_wiki(database, {1: [url]}) as wiki:
            found = await lived(wiki, url, net, BEGIN, END)
            assert len(found) >= 11
            assert {each for _, each in found} == {Reason.CERTIFICATE_EXPIRED}
            assert await verdicts(wiki, url) == [Verdict.DOUBTFUL]
            assert retries(wiki, Special.NEEDS_HTTP) >= 2


async def test_a_renewed_certificate_is_seen_at_the_next_retry(database: str, certificates: Certificates) -> None:
    tls, good = certificates.expired("127.0.0.1"), certificates.good("127.0.0.1")
    async with serve(fine) as plain, serve(fine, tls=tls) as secure:
        net = replace(NET, ca=certificates.ca_file, web_ports=(plain.port, secure.port))
        url = secure.url("/a")
        async with open_wiki(database, {1: [url]}) as wiki:
            await lived(wiki, url, net, BEGIN, 150)
            tls.sni_callback = lambda connection, name, context: setattr(connection, "context", good)
            found = await lived(wiki, url, net, (await wiki.known(url)).due, END)
            assert found[-1][1] is Reason.OK
            assert await verdicts(wiki, url) == [Verdict.WORKING, Verdict.DOUBTFUL]
            assert next(day for day, reason in found if reason is Reason.OK) <= 150 + 30 + 8 + 8


LIVING = [*HEADERS, *REFUSALS]
BROWSER = frozenset({Special.NEEDS_BROWSER})
HOSTS = (HOST, "new.mill.demo", "login.mill.demo", "en.mill.demo", "any.mill.demo")
FIVE_WEEKS = 36


async def seen_of(script: Script, path: str = PATH, **request: Any) -> tuple[Observation, list[str]]:
    names = {name: ["127.0.0.1"] for name in HOSTS}
    async with (
        serve(script) as server,
        name_server(dict(names)) as dns,
        checking(replace(NET, dns=(dns.address,))) as checker,
    ):
        found = await checker().check(CheckRequest(server.url(path, HOST), **request))
        return found.seen, server.lines()


@pytest.mark.parametrize(("script", "outcomes"), [row[1:] for row in LIVING], ids=[row[0] for row in LIVING])
async def test_no_living_page_fails_by_our_headers_or_a_refusing_code(script: Script, outcomes: set[Outcome]) -> None:
    seen, _ = await seen_of(script, thorough=True, looks=True)
    assert seen.outcome in outcomes


@pytest.mark.parametrize(("script", "reason"), [row[1:] for row in DEAD], ids=[row[0] for row in DEAD])
async def test_what_is_dead_still_fails(script: Script, reason: Reason) -> None:
    seen, _ = await seen_of(script)
    assert (seen.reason, seen.outcome) == (reason, Outcome.FAILING)


@pytest.mark.parametrize(
    ("worked", "others"),
    [
        pytest.param(0, [], id="new"),
        pytest.param(10, ["/b.html", "/c/d.html"], id="worked before, with other URLs", marks=pytest.mark.long),
    ],
)
async def test_no_living_page_is_dead_within_five_weeks(worked: int, others: list[str]) -> None:
    failed: dict[str, object] = {}
    for name, script, _ in LIVING:
        host = ScriptedHost([f"http://{HOST}{path}" for path in (PATH, *others)], lambda asked: head_only(asked, FINE))
        await host.live(range(FIRST_DAY, FIRST_DAY + worked))
        host.engine.script = script
        await host.live(range(FIRST_DAY + worked, FIRST_DAY + worked + FIVE_WEEKS))
        reasons = {seen.reason for seen in host.seen[PATH] if seen.outcome is Outcome.FAILING} - {Reason.UNAVAILABLE}
        if PATH in host.dead or reasons:
            failed[name] = host.dead.get(PATH), reasons
    assert failed == {}


async def test_what_is_dead_is_found_dead() -> None:
    living = {}
    for name, script, reason in DEAD:
        host = ScriptedHost([f"http://{HOST}{PATH}"], script)
        await host.live(range(FIRST_DAY, FIRST_DAY + 2 * FIVE_WEEKS))
        if host.findings[PATH].verdict is not Verdict.DEAD and reason is not Reason.UNAVAILABLE:
            living[name] = host.findings[PATH]
    assert living == {}


@pytest.mark.parametrize(
    ("script", "request_of", "asked"),
    [
        (only_here(FINE), {}, ["HEAD"]),
        (only_here(MISSING), {}, ["HEAD", "GET", "GET"]),
        (only_here(MISSING), {"asks_again": False}, ["HEAD", "GET"]),
        (only_here(reply(503, body=b"no")), {}, ["HEAD", "GET"]),
        (unless(names_html, 404), {"needs": BROWSER}, ["HEAD"]),
        (unless(names_html, 404), {"known": BROWSER, "asks_again": False}, ["HEAD", "GET", "GET"]),
        (unless(lambda a: accepts(a) == "*/*", 406), {"needs": BROWSER}, ["HEAD", "GET", "GET"]),
    ],
    ids=["living", "missing", "within a streak", "unavailable", "as a browser", "tried anew", "plain"],
)  # fmt: skip
async def test_no_more_requests_than_it_takes(script: Script, request_of: dict[str, Any], asked: list[str]) -> None:
    _, lines = await seen_of(script, **request_of)
    assert lines == [f"{method} {PATH}" for method in asked]


async def test_a_host_that_wants_a_browser_is_remembered_and_a_431_or_a_400_of_the_front_page_a_refusal() -> None:
    seen, _ = await seen_of(unless(names_html, 404))
    assert (seen.reason, seen.needs) == (Reason.OK, BROWSER)
    seen, _ = await seen_of(everywhere(431))
    assert (seen.status, seen.reason) == (Status.HEADERS_TOO_LARGE, Reason.BOT_WALL)
    seen, asked = await seen_of(everywhere(400), "/")
    assert (seen.reason, asked) == (Reason.BOT_WALL, ["HEAD /", "GET /", "GET /"])


async def test_the_front_page_is_asked_once_for_all_urls_of_a_host_and_only_where_robots_txt_allows_it() -> None:
    async with serve(everywhere(400)) as server, checking() as checker:
        for path in "abc":
            assert (await checker().ask(CheckRequest(server.url(f"/{path}")))).reason is Reason.BOT_WALL
        assert [server.lines().count(line) for line in ("GET /", "GET /robots.txt")] == [1, 1]

    def barred(asked: Asked) -> Act:
        rules = reply(200, body=b"User-agent: *\nDisallow: /", kind="text/plain")
        return head_only(asked, rules if asked.target == "/robots.txt" else reply(400, body=b"no"))

    seen, asked = await seen_of(barred)
    assert (seen.reason, asked.count("GET /")) == (Reason.BOT_WALL, 0)


async def test_what_fails_with_a_backslash_is_asked_for_with_a_slash_as_in_browsers() -> None:
    # ArchiveTeam/wpull#377, ArchiveTeam/grab-site#199; a backslash that is meant: linkchecker/linkchecker#520.
    seen, asked = await seen_of(site({"/b/c.html?d=%5Ce": FINE}), "/a/..%5Cb%5Cc.html?d=%5Ce")
    assert (seen.reason, seen.needs, asked[-1]) == (Reason.OK, BROWSER, "GET /b/c.html?d=%5Ce")
    for needs in (frozenset[Special](), BROWSER):
        seen, asked = await seen_of(site({"/wiki/%5Cdef": FINE}), "/wiki/%5Cdef", needs=needs)
        assert (seen.reason, asked[-1].partition(" ")[2]) == (Reason.OK, "/wiki/%5Cdef")


@pytest.mark.parametrize("code", [401, 403, 406, 418])
async def test_a_document_that_comes_with_a_refusal_has_the_status_of_a_corrected_code(code: int) -> None:
    seen, _ = await seen_of(site({PATH: reply(code, body=PICTURE, kind="image/png")}))
    assert (seen.status, seen.reason) == (Status.CORRECTED, Reason.CODE_CORRECTED)


async def test_the_headers_of_the_second_asking_are_those_of_a_browser_with_an_honest_name() -> None:
    async with serve(only_here(MISSING)) as server, checking() as checker:
        await checker().ask(CheckRequest(server.url(PATH)))
        assert list(server.asked[-1].headers.items()) == [
            ("Host", f"127.0.0.1:{server.port}"),
            ("User-Agent", "test"),
            ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"),
            ("Accept-Language", "en"),
            ("Accept-Encoding", "gzip, deflate"),
        ]
    async with serve(everywhere(431)) as server, checking() as checker:
        await checker().ask(CheckRequest(server.url(PATH)))
        assert [*server.asked[2].headers] == ["Host", "User-Agent", "Accept"]

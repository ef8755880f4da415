"""What a host needs is tried anew now and then (C-6): with real servers, and rounds on each day that is due for months.

A retry that fails as it did before is no news: the verdict does not change.
"""

from collections.abc import Awaitable
from dataclasses import replace

import pytest
from support.misbehaving import Act, Asked, Certificates, Script, head_only, reply, serve
from support.store_reads import list_changes
from support.stored import WikiInStore, key, open_wiki

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.record.specials import Special
from weboid.core.verdict.verdict import Verdict
from weboid.net.outbound import open_session

from .test_checker import NET, hangs_up

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

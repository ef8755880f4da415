"""What checks over FTP and SFTP have in common: turns, seats, the guard, and how they end (C-10, C-13)."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import Protocol

import pytest
from support.ftpserver import answers, serve_ftp
from support.misbehaving import HangUp, Silence, Zone, at_once, name_server, noting

from weboid.config import NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.verdict.judge import is_host_failure
from weboid.net.fetch import Turn
from weboid.net.ftp import fetch_ftp
from weboid.net.guard import NotPublic
from weboid.net.outbound import Outbound, open_session
from weboid.net.sftp import fetch_sftp


class Fetch(Protocol):
    def __call__(self, session: Outbound, url: str, *, turn: Turn) -> Awaitable[Observation]: ...


BOTH = pytest.mark.parametrize(("scheme", "fetch"), [("ftp", fetch_ftp), ("sftp", fetch_sftp)])


async def seen_at(settings: NetConfig, fetch: Fetch, url: str) -> Observation:
    async with open_session(settings) as session:
        return await fetch(session, url, turn=at_once)


@pytest.mark.parametrize(
    ("fetch", "url"),
    [
        *((fetch, url) for fetch in (fetch_ftp, fetch_sftp) for url in ("http://site.test/", "/path")),
        (fetch_ftp, "sftp://site.test/"),
        (fetch_ftp, "ftp://localhost/"),
        (fetch_sftp, "ftp://site.test/"),
        (fetch_sftp, "sftp://localhost/"),
    ],
)
async def test_only_valid_urls_of_the_protocol_are_asked(settings: NetConfig, fetch: Fetch, url: str) -> None:
    with pytest.raises(ValueError):
        await seen_at(settings, fetch, url)


@BOTH
@pytest.mark.parametrize("path", ["/a%0D%0ADELE%20b", "/a%0Ab", "/a%0Db", "/a%00b", "/%0D%0A"])
async def test_a_path_with_controls_is_never_asked(settings: NetConfig, scheme: str, fetch: Fetch, path: str) -> None:
    hosts: list[str] = []
    async with serve_ftp(answers({})) as site, open_session(settings) as session:
        seen = await fetch(session, site.url(path, scheme), turn=noting(hosts))
    assert (seen.reason, seen.outcome) == (Reason.UNSAFE, Outcome.DOUBTFUL)
    assert (hosts, site.connections) == ([], 0)


@BOTH
async def test_each_connection_takes_its_turn_or_is_refused(settings: NetConfig, scheme: str, fetch: Fetch) -> None:
    async def never(_: str) -> None:
        raise NotPublic

    hosts: list[str] = []
    async with serve_ftp(answers({"": HangUp()})) as site, open_session(settings) as session:
        assert (await fetch(session, site.url(scheme=scheme), turn=never)).reason is Reason.NOT_PUBLIC
        assert site.connections == 0
        assert (await fetch(session, site.url(scheme=scheme), turn=noting(hosts))).reason is Reason.RESET
    assert (hosts, site.connections) == (["127.0.0.1"], 1)


@BOTH
async def test_seats_are_given_back_whatever_happens(hasty: NetConfig, scheme: str, fetch: Fetch) -> None:
    async with (
        serve_ftp(answers({"": Silence()})) as silent,
        serve_ftp(answers({"": HangUp()})) as rude,
        open_session(replace(hasty, connections=1)) as session,
    ):
        urls = [site.url(scheme=scheme) for site in (silent, rude, rude)]
        async with asyncio.timeout(60):
            await asyncio.gather(*(fetch(session, url, turn=at_once) for url in urls))
        assert session.seats.used == 0
    assert (silent.connections, rude.connections) == (1, 2)


@BOTH
async def test_a_closed_port_is_no_evidence_against_the_host(settings: NetConfig, scheme: str, fetch: Fetch) -> None:
    async with serve_ftp(answers({})) as site:
        pass
    seen = await seen_at(settings, fetch, site.url(scheme=scheme))
    assert (seen.status, seen.reason) == (Status.IP_SILENT, Reason.CONNECTION_REFUSED)
    assert not is_host_failure(seen)


@pytest.mark.parametrize(
    ("fetch", "url", "reason"),
    [
        (fetch_ftp, "ftp://10.1.2.3/", Reason.NOT_PUBLIC),
        (fetch_ftp, "ftp://[::1]/", Reason.NOT_PUBLIC),
        (fetch_ftp, "ftp://127.0.0.1:25/", Reason.BAD_PORT),
        (fetch_ftp, "ftps://127.0.0.1:22/", Reason.BAD_PORT),
        (fetch_sftp, "sftp://10.1.2.3/", Reason.NOT_PUBLIC),
        (fetch_sftp, "sftp://[::1]/", Reason.NOT_PUBLIC),
        (fetch_sftp, "sftp://127.0.0.1:21/", Reason.BAD_PORT),
        (fetch_sftp, "sftp://127.0.0.1:5432/", Reason.BAD_PORT),
    ],
)
async def test_no_inner_address_nor_port_is_asked(settings: NetConfig, fetch: Fetch, url: str, reason: Reason) -> None:
    seen = await seen_at(settings, fetch, url)
    assert (seen.reason, seen.outcome) == (reason, Outcome.DOUBTFUL)


@BOTH
async def test_names_are_looked_up_once_and_all_addresses_tried(settings: NetConfig, scheme: str, fetch: Fetch) -> None:
    zone: Zone = {
        "site.test": ["127.0.0.7"],
        "second.test": ["127.0.0.8", "127.0.0.7"],
        "inner.test": ["10.1.2.3", "192.168.1.1"],
        "refused.test": 5,
    }
    async with (
        serve_ftp(answers({"": HangUp()}), ip="127.0.0.7") as site,
        name_server(zone) as dns,
        open_session(replace(settings, dns=(dns.address,))) as session,
    ):
        for host, reason in [
            ("site.test", Reason.RESET),
            ("second.test", Reason.RESET),
            ("inner.test", Reason.NOT_PUBLIC),
            ("nobody.test", Reason.DNS_GONE),
            ("refused.test", Reason.DNS_ERROR),
        ]:
            seen = await fetch(session, site.url(scheme=scheme, host=host), turn=at_once)
            assert seen.reason is reason, host
            assert is_host_failure(seen) == (reason in (Reason.DNS_GONE, Reason.DNS_ERROR))
        assert dns.asked.count("A site.test") == 1


@BOTH
async def test_what_our_own_machine_lacks_is_raised(settings: NetConfig, scheme: str, fetch: Fetch) -> None:
    with pytest.raises(OSError):  # nobody is there: our own name servers are down
        await seen_at(replace(settings, dns=("127.0.0.1:9",)), fetch, f"{scheme}://site.test/")

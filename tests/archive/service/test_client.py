"""One request to an archive: what comes back, bounded, from servers that misbehave; and when a service rests (A-2)."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from itertools import accumulate

import pytest
from support.archives import PAGE_FOR_PEOPLE, MadeArchive, failing, open_made_archive, rate_limited
from support.misbehaving import Act, Asked, HangUp, Script, Silence, reply, serve

from weboid.archive.service.client import INDEX_BYTES, REPLAY_BYTES, ArchiveClient, Resting, open_archive_client
from weboid.archive.service.limits import FIRST_REST_S, LONGEST_REST_S, LocalLimiter, gap_s, pace_of, rest_after
from weboid.archive.service.limits_file import LONGEST_NAMED_REST_S
from weboid.config import NetConfig
from weboid.core.archive.services import ArchiveService
from weboid.store.archives.service_limit import RequestKind

NET = NetConfig(permit=(ip_network("127.0.0.1/32"),), user_agent="weboid-tests", answer_s=30.0, connect_s=30.0)
HASTY = replace(NET, answer_s=0.3)


@asynccontextmanager
async def asking(script: Script, net: NetConfig = NET) -> AsyncIterator[tuple[ArchiveClient, ArchiveService, str]]:
    """A client, a service without limits, and the address at which the script answers for it."""
    async with serve(script) as site, open_archive_client(net, LocalLimiter()) as client:
        yield client, MadeArchive({}, site).service(), site.url("/cdx")


async def test_a_reply_comes_whole_and_an_address_is_sent_with_nothing_escaped_twice() -> None:
    async with asking(lambda _: reply(404, "X-A: 1", "X-A: 2", body=b"no")) as (client, service, address):
        got = await client.index(service, address)
    assert (got.code, got.headers["x-a"], got.body, got.is_cut, got.fault) == (404, "1, 2", b"no", False, "")
    target = "/cdx?url=http%3A%2F%2Fa.example%2F%3Fq%3D%2520%26&x=a+b"
    async with serve(lambda _: reply(200)) as site, open_archive_client(NET, LocalLimiter()) as client:
        await client.index(MadeArchive({}, site).service(), site.url(target))
        assert site.lines() == [f"GET {target}"]
        assert site.asked[0].headers["User-Agent"] == "weboid-tests"


@pytest.mark.parametrize("most", [INDEX_BYTES, REPLAY_BYTES])
async def test_no_reply_takes_more_memory_than_its_bound(most: int) -> None:
    async with asking(lambda _: reply(200, body=b"x" * (most + 1))) as (client, service, address):
        got = await (client.index if most == INDEX_BYTES else client.replay)(service, address)
    assert (len(got.body), got.is_cut) == (most, True)


async def test_a_bomb_is_cut_at_the_bound_and_an_unknown_coding_never_an_empty_body() -> None:
    bomb, honest = gzip.compress(b"0" * (INDEX_BYTES << 6)), gzip.compress(b"[]")
    answers = {"/cdx": bomb, "/honest": honest, "/torn": honest[:-9]}

    def script(asked: Asked) -> Act:
        return reply(200, "Content-Encoding: gzip", body=answers[asked.target])

    async with asking(script) as (client, service, address):
        got = await client.index(service, address)
        assert (len(got.body), got.is_cut) == (INDEX_BYTES, True)
        got = await client.index(service, address.replace("/cdx", "/honest"))
        assert (got.body, got.is_cut) == (b"[]", False)
        got = await client.index(service, address.replace("/cdx", "/torn"))
        assert got.is_cut
    packed = reply(200, "Content-Encoding: br", body=b"\x0b\x02\x80[]\x03")
    async with asking(lambda _: packed) as (client, service, address):
        got = await client.index(service, address)
    assert (got.body, got.is_cut) == (b"", True)


@pytest.mark.parametrize(
    ("act", "fault"),
    [
        (Silence(), "timeout"),
        (HangUp(reset=True), "network"),
        (reply(200, "Content-Length: 999", "Connection: close", body=None) + b"[]", "network"),
    ],
    ids=["hang", "reset", "cut"],
)
async def test_what_does_not_answer_is_a_fault_and_no_answer(act: Act, fault: str) -> None:
    async with asking(lambda _: act, HASTY if fault == "timeout" else NET) as (client, service, address):
        got = await client.index(service, address)
        assert (got.code, got.fault) == (None, fault)


async def test_a_slow_drip_ends_with_the_time_of_an_answer() -> None:
    async def drip() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        for _ in range(1000):
            yield b"x"
            await asyncio.sleep(0.02)

    async with asking(lambda _: drip(), HASTY) as (client, service, address):
        got = await client.index(service, address)
    assert (got.code, got.fault) == (None, "timeout")


async def test_a_redirect_is_followed_within_the_host_only_and_not_for_ever() -> None:
    def script(asked: Asked) -> Act:
        targets = {
            "/cdx": "/other",
            "/loop": "/loop",
            "/barred": "https://archive.today/x",
            "/inner": "http://10.0.0.1/x",
            "/port": "http://127.0.0.1:1/x",
        }
        target = targets.get(asked.target)
        return reply(302, f"Location: {target}", body=b"moved") if target else reply(200, body=b"[]")

    async with asking(script) as (client, service, address):
        assert (await client.index(service, address)).body == b"[]"
        for path in ("/loop", "/barred", "/inner", "/port"):
            assert (await client.index(service, address.replace("/cdx", path))).code == 302
        assert client.sent == 2 + 3 + 1 + 1 + 1
        # A copy's redirect is for who judges copies.
        assert (await client.replay(service, address)).code == 302


async def test_no_address_passes_the_guard_and_kinds_of_requests_do_not_wait_for_each_other() -> None:
    async with open_made_archive() as archive, open_archive_client(NetConfig(), LocalLimiter()) as client:
        got = await client.index(archive.service(), archive.base + "/cdx")
        assert (got.code, got.fault) == (None, "not-public")
        assert archive.site.connections == 0
    async with open_made_archive() as archive, open_archive_client(NET, LocalLimiter()) as client:
        service = archive.service(per_minute=1, replay_per_minute=1)
        async with asyncio.timeout(60):
            await client.limiter.turn(service, RequestKind.INDEX)
            await client.replay(service, archive.base + "/web/1/x")


async def test_a_service_that_throttles_or_refuses_rests_for_all_kinds_of_requests_at_once() -> None:
    async with asking(lambda _: rate_limited()) as (client, service, address):
        assert (await client.index(service, address)).code == 429
        for send in (client.index, client.replay):
            with pytest.raises(Resting) as rests:
                await send(service, address)
            assert (rests.value.why, round(rests.value.seconds, -1)) == ("rate-limited", FIRST_REST_S)
    async with open_archive_client(NET, LocalLimiter()) as client:
        assert (await client.replay(service, address)).fault == "refused"
        with pytest.raises(Resting, match="refused"):
            await client.index(service, address)
        assert client.sent == 1


async def test_a_pause_that_the_service_names_is_heeded_and_the_status_of_a_copy_says_nothing_of_it() -> None:
    for act in (rate_limited("900"), reply(503, "Retry-After: 900")):

        def script(_: Asked, act: bytes = act) -> Act:
            return act

        async with asking(script) as (client, service, address):
            await client.index(service, address)
            with pytest.raises(Resting) as rests:
                await client.index(service, address)
            assert 890 < rests.value.seconds <= 900
    stored = reply(429, "Memento-Datetime: Sun, 05 May 2019 00:00:00 GMT", "Retry-After: 900", body=b"slow down")
    async with asking(lambda _: stored) as (client, service, address):
        for _ in range(12):
            assert (await client.replay(service, address)).code == 429


async def test_a_service_that_fails_half_the_time_rests_and_one_failure_more_is_enough_after_it() -> None:
    clock = 0.0
    fails = True

    def script(asked: Asked) -> Act:
        return failing(503) if fails and asked.count % 2 else reply(200, body=b"[]")

    async with serve(script) as site, open_archive_client(NET, LocalLimiter(now=lambda: clock)) as client:
        service, address = MadeArchive({}, site).service(), site.url("/cdx")
        for _ in range(9):
            await client.index(service, address)
        with pytest.raises(Resting, match="http-503"):
            await client.index(service, address)
        clock += FIRST_REST_S + 1
        await client.index(service, address)  # an answer: half of the last ten are good now
        await client.index(service, address)
        with pytest.raises(Resting) as rests:
            await client.index(service, address)
        assert rests.value.seconds == FIRST_REST_S
        fails, clock = False, clock + FIRST_REST_S + 1
        for _ in range(20):
            await client.index(service, address)


async def test_what_looks_like_an_answer_counts_as_a_failure_where_its_reader_says_so() -> None:
    async with asking(lambda _: PAGE_FOR_PEOPLE) as (client, service, address):
        for _ in range(5):
            await client.index(service, address)
            await client.failed(service, RequestKind.INDEX, "html")
        with pytest.raises(Resting, match="html"):
            await client.index(service, address)


def test_pauses_grow_to_hours_and_what_a_service_wishes_is_bounded() -> None:
    pauses = list(accumulate(range(12), lambda last, _: rest_after(last, None), initial=rest_after(0, None)))
    assert (pauses[:4], pauses[-1]) == ([60, 120, 240, 480], LONGEST_REST_S)
    assert rest_after(0, 5) == 5
    assert rest_after(0, 0) == 1
    assert rest_after(0, 1e12) == LONGEST_NAMED_REST_S
    # It said five seconds before, and that was in vain.
    assert rest_after(40, 5) == 80


async def test_the_first_requests_go_at_once_and_no_minute_has_more_than_the_limit() -> None:
    clock = 0.0

    async def wait(seconds: float) -> None:
        nonlocal clock
        clock += seconds

    def now() -> float:
        return clock

    for per_minute in (1, 5, 10, 24, 125, 480):
        clock, sent = 0.0, list[float]()
        limiter = LocalLimiter(now=now, wait=wait)
        service = MadeArchive({}).service(per_minute=per_minute, replay_per_minute=0)
        for _ in range(3 * per_minute):
            await limiter.turn(service, RequestKind.INDEX)
            sent.append(clock)
        at_once, _ = pace_of(service, RequestKind.INDEX)
        assert sent[at_once - 1] == 0
        for first in sent:
            assert sum(first <= one < first + 59.999 for one in sent) <= per_minute
        assert clock < 3 * 60 * 1.2
    assert pace_of(MadeArchive({}).service(per_minute=24), RequestKind.INDEX)[0] >= 2
    assert gap_s(MadeArchive({}).service(per_minute=24), RequestKind.SAVE) == 12

"""Malformed and hostile requests: a clean error, nothing of them repeated, no traceback, no address in the log."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvloop
from aiohttp import web
from support.webservice import Site, open_service

from weboid.web.http.arrivals import ARRIVALS, Arrivals
from weboid.web.http.page_script import SCRIPT
from weboid.web.http.server import Timeouts, open_site

MARK = b"<script>alert(4711)</script>"
ADDRESS = "127.0.0.1"
UNHURRIED = Timeouts()
_FORM = b"Content-Type: application/x-www-form-urlencoded"
PAGE = b"/api/page?dbname=testwiki@wmflabs&pageid=1"


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test after which a traceback, or the address of the caller, stands in the log."""
    caplog.set_level(logging.INFO)
    yield
    for record in caplog.get_records("call"):
        assert record.exc_info is None, record.getMessage()
        assert ADDRESS not in record.getMessage()


@dataclass
class Reply:
    """One answer as it came over the line; without any status if the connection ended instead."""

    status: int = 0
    head: bytes = b""
    body: bytes = b""

    def header(self, name: bytes) -> bytes | None:
        lines = [line.partition(b":") for line in self.head.split(b"\r\n")[1:]]
        return next((value.strip() for key, _, value in lines if key.lower() == name.lower()), None)


@asynccontextmanager
async def line_to(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def read_answer(reader: asyncio.StreamReader, method: bytes = b"GET") -> Reply:
    async with asyncio.timeout(30):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return Reply()
        answer = Reply(int(head.split()[1]), head, b"")
        if answer.status == 100:
            return await read_answer(reader, method)
        if method == b"HEAD" or answer.status in (204, 304):
            return answer
        length = answer.header(b"Content-Length")
        assert length is not None, head
        answer.body = await reader.readexactly(int(length))
        return answer


async def answer_to(site: Site, sent: bytes) -> Reply:
    async with line_to(site.url) as (reader, writer):
        writer.write(sent)
        with suppress(ConnectionError):
            await writer.drain()
        return await read_answer(reader, sent.split(b" ")[0])


def request(line: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    return b"\r\n".join([line, b"Host: weboid.demo", *headers, b"", body])


MALFORMED = {
    "no HTTP": b"\x00\x01\x02\xff" + MARK + b"\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9": request(b"GET / HTTP/9.9"),
    "no ASCII": request("GET /page/testwiki/Zürich HTTP/1.1".encode()),
    "words too many": request(b"GET / " + MARK + b" HTTP/1.1"),
    "a long line": request(b"GET /" + b"a" * 20_000 + MARK + b" HTTP/1.1"),
    "a header of 1 MB": request(b"GET / HTTP/1.1", b"X: " + MARK + b"a" * (1 << 20)),
    "10,000 headers": request(b"GET / HTTP/1.1", *(b"X%d: 1" % number for number in range(10_000))),
    "obs-fold": request(b"GET / HTTP/1.1", b"X: 1\r\n " + MARK),
    "NUL in a header": request(b"GET / HTTP/1.1", b"X: 1\x00" + MARK),
    "CR in a header": request(b"GET / HTTP/1.1", b"X: 1\rSet-Cookie: " + MARK),
    "a space before the colon": request(b"GET / HTTP/1.1", b"X : 1"),
    "a header without a colon": request(b"GET / HTTP/1.1", MARK),
    "two lengths": request(b"POST / HTTP/1.1", b"Content-Length: 1", b"Content-Length: 2", body=b"ab"),
    "a length below nothing": request(b"POST / HTTP/1.1", b"Content-Length: -1"),
    "an endless length": request(b"POST / HTTP/1.1", b"Content-Length: " + b"9" * 400),
    "both": request(b"GET / HTTP/1.1", b"Content-Length: 1", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "chunks in disguise": request(b"POST / HTTP/1.1", b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
    "a strange method": request(MARK + b" / HTTP/1.1"),
    "a method of 10 kB": request(b"A" * 10_000 + b" / HTTP/1.1"),
}
REFUSED = {
    "a split header": (request(b"GET /%0d%0aSet-Cookie:%20x=" + MARK.replace(b" ", b"") + b" HTTP/1.1"), {404}),
    "a split language": (request(b"GET /?lang=%0d%0aSet-Cookie:x" + MARK + b" HTTP/1.1"), {400}),
    "a split callback": (request(b"GET /externalLinkProblem?callback=a%0d%0ab:c" + MARK + b" HTTP/1.1"), {400}),
    "absolute form of another": (request(b"GET http://evil.demo/" + MARK + b" HTTP/1.1"), {400, 404}),
    "absolute form of ours": (request(b"GET http://evil.demo/healthz HTTP/1.1"), {200}),
    "CONNECT": (request(b"CONNECT evil.demo:443 HTTP/1.1"), {400, 404, 405}),
    "OPTIONS *": (request(b"OPTIONS * HTTP/1.1"), {200, 204, 400, 404, 405}),
    "TRACE": (request(b"TRACE / HTTP/1.1", b"X: " + MARK), {400, 405}),
    "a method of our own": (request(b"WEBOID / HTTP/1.1"), {400, 405}),
    "no path": (request(b"GET ? HTTP/1.1"), {200, 400, 404}),
    "a path of dots": (request(b"GET /static/../../../../etc/passwd HTTP/1.1"), {404}),
    "a NUL in a value": (request(b"GET /api/page?dbname=testwiki@wmflabs&title=%00" + MARK + b" HTTP/1.1"), {404}),
    "bad escapes": (request(b"GET /%zz%u1234%" + MARK + b" HTTP/1.1"), {400, 404}),
    "broken UTF-8": (request(b"GET /%ff%fe%c0%80?dbname=%ff%fe" + MARK + b" HTTP/1.1"), {400, 404}),
    "half a surrogate": (request(b"GET /api/page?dbname=testwiki@wmflabs&title=%ed%a0%80 HTTP/1.1"), {400, 404}),
    "a huge query": (request(b"GET /api/page?dbname=" + b"a" * 7_000 + b" HTTP/1.1"), {414}),
    "a wiki that is a script": (request(b"GET /api/page?dbname=" + MARK + b"&pageid=1 HTTP/1.1"), {400}),
    "SQL": (request(b"GET /api/page?dbname=testwiki@wmflabs'--&pageid=1 HTTP/1.1"), {400}),
    "a host that is a script": (b"GET /nothing HTTP/1.1\r\nHost: " + MARK + b"\r\n\r\n", {400, 404}),
    "HTTP/0.9": (b"GET /" + MARK + b"\r\n\r\n", {400, 404}),
    "HTTP/1.0": (b"GET /nothing HTTP/1.0\r\n\r\n", {404}),
    "an unknown expectation": (request(b"GET /nothing HTTP/1.1", b"Expect: " + MARK), {417}),
    "an upgrade": (request(b"GET /nothing HTTP/1.1", b"Upgrade: websocket", b"Connection: Upgrade"), {404}),
    "cookies without sense": (request(b"GET /nothing HTTP/1.1", b"Cookie: weboid=" + MARK + b'; "; =;;\xff'), {404}),
    "tags without sense": (request(b"GET " + PAGE + b" HTTP/1.1", b'If-None-Match: W/",",,"' + MARK), {200}),
    "senders without sense": (request(b"GET " + PAGE + b" HTTP/1.1", b"X-Forwarded-For: " + MARK * 200), {200}),
    "a token in bytes": (request(b"GET " + PAGE + b" HTTP/1.1", b"Authorization: Bearer \xff" + MARK), {401}),
    "a body for a GET": (request(b"GET /nothing HTTP/1.1", b"Content-Length: 28", body=MARK), {404}),
    "a body nobody wants": (request(b"POST /nothing HTTP/1.1", b"Content-Length: 28", body=MARK), {404}),
    "a body that is bad gzip": (
        request(b"POST /nothing HTTP/1.1", b"Content-Encoding: gzip", b"Content-Length: 28", body=MARK),
        {400, 404},
    ),
}


def check(answer: Reply, name: str = "") -> None:
    """Asserts all that holds for every answer."""
    assert answer.status, name
    assert b"default-src 'none'" in (answer.header(b"Content-Security-Policy") or b""), name
    assert answer.header(b"X-Content-Type-Options") == b"nosniff", name
    assert answer.header(b"Server") == b"Weboid", name
    assert b"\nset-cookie:x" not in answer.head.lower().replace(b" ", b""), name
    assert b"<script" not in answer.head + answer.body.replace(f"<script>{SCRIPT}</script>".encode(), b""), name
    assert not any(word in answer.body for word in (b"Traceback", b"aiohttp", b'File "')), name


async def test_what_is_no_request_gets_400_and_the_connection_ends(site: Site) -> None:
    for name, sent in MALFORMED.items():
        async with line_to(site.url) as (reader, writer):
            writer.write(sent)
            check(answer := await read_answer(reader), name)
            assert answer.status == 400, name
            assert (answer.header(b"Access-Control-Allow-Origin"), b"4711" in answer.body) == (b"*", False), name
            assert (b"--data-urlencode" in answer.body) == (b"\xc3" in sent), name
            assert (b"as a form" in answer.body) == (name in ("a long line", "a header of 1 MB")), name
            async with asyncio.timeout(30):
                with suppress(ConnectionError):
                    assert await reader.read() == b"", name


async def test_hostile_requests_get_clean_answers(site: Site) -> None:
    found = {}
    for name, (sent, _) in REFUSED.items():
        answer = await answer_to(site, sent)
        check(answer, name)
        found[name] = answer.status
    assert {name: status for name, status in found.items() if status not in REFUSED[name][1]} == {}


async def test_any_method_gets_a_clean_answer_anywhere(site: Site) -> None:
    for path in [b"/", PAGE, b"/externalLinkProblem", b"/status", b"/metrics", b"/static/x", b"/url"]:
        for method in (b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"PROPFIND"):
            answer = await answer_to(site, request(method + b" " + path + b" HTTP/1.1", b"Content-Length: 0"))
            check(answer, method.decode())
            assert answer.status in (200, 204, 400, 403, 404, 405), method


async def test_chunks_that_are_none_end_the_connection(site: Site) -> None:
    for chunks in [
        *(b"zz\r\n", b"-1\r\n", b"fffffffffffffffffffff\r\n", b"5;" + b"x" * 20_000 + b"\r\n", b"1\r\nab\r\n"),
        b"1\n\x00",
    ]:
        async with line_to(site.url) as (reader, writer):
            writer.write(request(b"POST /nothing HTTP/1.1", b"Transfer-Encoding: chunked", body=chunks))
            while (answer := await read_answer(reader)).status:
                check(answer)
                assert answer.status in (400, 404)


async def test_requests_in_a_row_get_answers_in_a_row(site: Site) -> None:
    async with line_to(site.url) as (reader, writer):
        for _ in range(40):
            writer.write(request(b"GET /healthz HTTP/1.1") + request(b"GET /nothing HTTP/1.1"))
        for _ in range(40):
            for status in (200, 404):
                check(answer := await read_answer(reader))
                assert answer.status == status
        writer.write(request(b"GET /healthz HTTP/1.1") + b"\x00" + MARK + request(b"GET /healthz HTTP/1.1"))
        found = []
        while (answer := await read_answer(reader)).status:
            check(answer)
            found.append(answer.status)
        # What comes behind bytes that are no request is not taken for one.
        assert found in ([200, 400], [400])


async def test_a_request_hidden_in_a_body_is_not_answered(site: Site) -> None:
    hidden = request(b"GET /healthz HTTP/1.1")
    async with line_to(site.url) as (reader, writer):
        length = b"Content-Length: %d" % len(hidden)
        writer.write(request(b"GET /nothing HTTP/1.1", length, b"Connection: close", body=hidden))
        assert (await read_answer(reader)).status == 404
        assert not (await read_answer(reader)).status


@dataclass
class Small:
    """A service with little patience; `/held` answers when it is released, `/large` with 64 MB."""

    url: str = ""
    begun: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def hold(self, writer: asyncio.StreamWriter, sent: bytes = b"") -> None:
        """Sends a request, by default one that is held, and waits until it is under way."""
        writer.write(sent or request(b"GET /held HTTP/1.1"))
        await self.begun.acquire()

    async def held(self, _: web.Request) -> web.Response:
        self.begun.release()
        await self.released.wait()
        return web.Response(text="at last")

    async def read(self, request: web.Request) -> web.Response:
        self.begun.release()
        return web.Response(text=f"{len(await request.read())}")

    async def large(self, _: web.Request) -> web.Response:
        return web.Response(body=bytes(1 << 26))

    async def broken(self, _: web.Request) -> web.Response:
        raise RuntimeError(MARK.decode())


@asynccontextmanager
async def small(timeouts: Timeouts = UNHURRIED, most_connections: int = 100) -> AsyncIterator[Small]:
    service = Small()
    app = web.Application()
    app.router.add_get("/held", service.held)
    app.router.add_post("/read", service.read)
    app.router.add_get("/large", service.large)
    app.router.add_get("/broken", service.broken)
    async with open_site(app, ADDRESS, 0, timeouts=timeouts, most_connections=most_connections) as service.url:
        yield service


async def is_closed_within(reader: asyncio.StreamReader, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            with suppress(ConnectionError):
                await reader.read()
            return True
    except TimeoutError:
        return False


async def test_headers_that_come_in_drops_are_not_waited_for() -> None:
    async with small(Timeouts(headers_s=0.2)) as service, line_to(service.url) as (reader, writer):

        async def drip() -> None:
            writer.write(b"GET /held HTTP/1.1\r\nX: ")
            while True:
                await asyncio.sleep(0.02)
                writer.write(b"1")

        dripping = asyncio.create_task(drip())
        assert await is_closed_within(reader, 30)
        dripping.cancel()


async def test_a_body_that_comes_in_drops_is_not_waited_for() -> None:
    async with small(Timeouts(body_s=0.2)) as service:
        async with line_to(service.url) as (reader, writer):
            await service.hold(writer, request(b"POST /read HTTP/1.1", b"Content-Length: 1000", body=b"a"))
            assert await is_closed_within(reader, 30)
        async with line_to(service.url) as (reader, writer):
            await service.hold(writer, request(b"POST /read HTTP/1.1", b"Content-Length: 2", body=b"a"))
            writer.write(b"b")
            assert (await read_answer(reader)).body == b"2"
            assert not await is_closed_within(reader, 0.5)


class Crowded(Arrivals):
    def add(self, _data: bytes, _peer: str, _read: Callable[[], None], refuse: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_soon(refuse)


UNREAD = request(b"GET /nothing HTTP/1.1", b"Connection: Keep-Alive")
READ = {
    "a form": request(b"POST /nothing HTTP/1.1", b"Content-Length: 1", body=b"a"),
    "a body": request(b"GET /nothing HTTP/1.1", b"content-length: 39", body=request(b"GET /large HTTP/1.1")),
    "chunks": request(b"GET /nothing HTTP/1.1", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "a trusted client": request(b"GET /nothing HTTP/1.1", b"Authorization: Bearer x"),
    "the last of a connection": request(b"GET /nothing HTTP/1.1", b"Connection: close"),
    "HTTP/1.0": request(b"GET /nothing HTTP/1.0"),
    "HEAD": request(b"HEAD /nothing HTTP/1.1"),
    "two at once": UNREAD + UNREAD,
}


async def test_of_a_crowd_only_whole_simple_requests_are_refused_unread_and_their_connections_go_on() -> None:
    refused, app = list[str](), web.Application()
    app[ARRIVALS] = Crowded(refused=lambda: refused.append("one"))
    async with open_site(app, ADDRESS, 0) as url:
        for name, data in READ.items():
            async with line_to(url) as (reader, writer):
                writer.write(UNREAD)
                answer = await read_answer(reader)
                assert (answer.status, answer.header(b"Retry-After") in {b"1", b"2", b"3", b"4"}) == (503, True)
                writer.write(data)
                assert (await read_answer(reader, data.split()[0])).status == 404, name
        length = b"Content-Length: %d" % len(UNREAD)
        for parts in (
            (UNREAD[:30], UNREAD[30:]),
            (b"GET /nothing HTTP/1.1\r\nX: ", UNREAD),
            (request(b"POST /nothing HTTP/1.1", length), UNREAD),
            (request(b"POST /nothing HTTP/1.1", length), UNREAD[:-1]),
        ):
            async with line_to(url) as (reader, writer):
                for part in parts:
                    writer.write(part)
                    await asyncio.sleep(0.05)
                assert (await read_answer(reader)).status == 404
                writer.write(request(b"HEAD /nothing HTTP/1.1"))
                assert (await read_answer(reader, b"HEAD")).status in {0, 404}
    assert len(refused) == len(READ)


async def test_who_says_nothing_or_nothing_more_is_not_kept() -> None:
    async with small(Timeouts(idle_s=0.3)) as service:
        async with line_to(service.url) as (reader, _):
            assert await is_closed_within(reader, 30)
        async with line_to(service.url) as (reader, writer):
            writer.write(request(b"GET /nothing HTTP/1.1"))
            assert (await read_answer(reader)).status
            assert await is_closed_within(reader, 30)


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_who_does_not_take_the_answer_is_not_waited_for_and_cut_off(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    async def stall() -> None:
        limits = Timeouts(stalled_s=0.2)
        async with small(limits, most_connections=1) as service, line_to(service.url) as (line, writer):
            writer.write(request(b"GET /large HTTP/1.1"))
            found = []
            async with asyncio.timeout(30):
                while 404 not in found:
                    await asyncio.sleep(0.02)
                    async with line_to(service.url) as (reader, other):
                        other.write(request(b"GET /nothing HTTP/1.1"))
                        found.append((await read_answer(reader)).status or 503)
                assert len(await line.read()) < 1 << 26
            assert set(found) <= {503, 404}

    run(stall())


async def test_a_connection_that_was_quiet_for_long_makes_room_and_a_busy_one_does_not() -> None:
    async with small(Timeouts(kept_s=0.3), most_connections=2) as service, AsyncExitStack() as stack:
        quiet, _ = await stack.enter_async_context(line_to(service.url))
        busy = []
        for number in range(2):
            if number:
                await asyncio.sleep(0.5)
            reader, writer = await stack.enter_async_context(line_to(service.url))
            await service.hold(writer)
            busy.append(reader)
        async with asyncio.timeout(30):
            assert await quiet.read() == b""  # closed, not reset
        service.released.set()
        for reader in busy:
            assert (await read_answer(reader)).body == b"at last"


async def test_who_comes_when_all_are_busy_has_to_come_again_after_its_request() -> None:
    async with small(most_connections=1) as service, AsyncExitStack() as stack:
        busy, writer = await stack.enter_async_context(line_to(service.url))
        await service.hold(writer)
        for body in (b"", b"a" * 100_000):
            reader, writer = await stack.enter_async_context(line_to(service.url))
            assert not await is_closed_within(reader, 0.2)
            writer.write(request(b"POST /read HTTP/1.1", b"Content-Length: %d" % len(body), body=body))
            check(answer := await read_answer(reader))
            assert (answer.status, answer.header(b"Retry-After"), answer.header(b"Connection")) == (503, b"5", b"close")
            async with asyncio.timeout(30):
                assert await reader.read() == b""  # closed, not reset
        service.released.set()
        assert (await read_answer(busy)).body == b"at last"


async def test_a_failure_outside_the_application_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with small() as service, line_to(service.url) as (reader, writer):
        writer.write(request(b"GET /broken HTTP/1.1", b"Accept: text/html"))
        check(answer := await read_answer(reader))
        assert (answer.status, answer.body) == (500, b"500 Internal Server Error\n")
    assert [record.getMessage() for record in caplog.records] == ["an answer failed"]
    caplog.clear()


async def test_a_caller_who_hangs_up_in_the_middle_leaves_no_trace(site_database: str, tmp_path: Path) -> None:
    async with open_service(site_database, tmp_path) as site:
        for sent in (
            request(b"GET " + PAGE + b" HTTP/1.1"),
            request(b"POST /url HTTP/1.1", b"Content-Length: 1000", body=b"a"),
            request(b"POST /api/ping HTTP/1.1", _FORM, b"Content-Length: 1000", body=b"a"),
            request(b"POST /api/ping HTTP/1.1", _FORM, b"Transfer-Encoding: chunked", body=b"5\r\nab"),
            request(b"POST /api/ping HTTP/1.1", _FORM, b"Transfer-Encoding: chunked", body=b"zz\r\n"),
            b"GET / HTT",
        ):
            async with line_to(site.url) as (_, writer):
                writer.write(sent)
                await writer.drain()
                writer.transport.abort()
        assert (await site.fetch("/healthz"))[0] == 200


async def test_a_request_under_way_at_the_end_is_answered_with_all_that_comes_of_its_body() -> None:
    async with AsyncExitStack() as stack:
        async with small() as service:
            idle, _ = await stack.enter_async_context(line_to(service.url))
            reader, writer = await stack.enter_async_context(line_to(service.url))
            await service.hold(writer, request(b"POST /read HTTP/1.1", b"Content-Length: 2", body=b"a"))

            async def send() -> Reply:
                assert await idle.read() == b""  # the end has begun
                writer.write(b"b")
                return await read_answer(reader)

            sending = asyncio.create_task(send())
        answer = await sending
        assert (answer.body, answer.header(b"Connection")) == (b"2", b"close")

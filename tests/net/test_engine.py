"""The engine by itself: requests, kept connections, replies (C-1, C-2, C-3, C-13)."""

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from support.misbehaving import Act, Certificates, HangUp, Silence, open_server, reply, serve

from weboid.config import NetConfig
from weboid.core.record.reasons import Reason
from weboid.net import engine as engine_module
from weboid.net.dial import tls_context
from weboid.net.dns import Resolver
from weboid.net.engine import SocketEngine
from weboid.net.exchange import Reply, Request
from weboid.net.faults import Fault, fault_of
from weboid.net.guard import Guard

HEADERS = {"User-Agent": "test"}
PAGE = b"<!doctype html><title>A page</title>"


@pytest.fixture
async def engine(settings: NetConfig, certificates: Certificates) -> AsyncIterator[SocketEngine]:
    async with open_engine(replace(settings, ca=certificates.ca_file)) as opened:
        yield opened


@asynccontextmanager
async def open_engine(settings: NetConfig) -> AsyncIterator[SocketEngine]:
    guard = Guard(settings.deny, settings.permit)
    resolver = Resolver(guard, settings.dns, settings.connect_s / 2)
    engine = SocketEngine(settings, guard, resolver, tls_context(settings.ca))
    try:
        yield engine
    finally:
        engine.close()
        await resolver.close()


async def asked(engine: SocketEngine, url: str, method: str = "GET", timeout_s: float = 60.0) -> Reply:
    return await engine.send(Request(method, url, HEADERS), timeout_s)


async def fault(engine: SocketEngine, url: str, method: str = "GET", timeout_s: float = 60.0) -> Fault | None:
    with pytest.raises(Exception) as raised:
        await asked(engine, url, method, timeout_s)
    return fault_of(raised.value)


async def test_a_request_that_is_unfit_is_our_mistake(engine: SocketEngine) -> None:
    unfit: list[tuple[str, str, dict[str, str]]] = [
        ("POST", "http://127.0.0.1/", {}),
        ("GET", "ftp://127.0.0.1/", {}),
        ("GET", "http:///path", {}),
        ("GET", "//127.0.0.1/", {}),
        ("GET", "http://127.0.0.1/a b", {}),
        ("GET", "http://127.0.0.1/a\r\nX: y", {}),
        ("GET", "http://127.0.0.1:80\\@127.0.0.2/", {}),
        ("GET", "http://127.0.0.1/", {"X": "a\r\nY: b"}),
        ("GET", "http://127.0.0.1/", {"X": "a\nY: b"}),
        ("GET", "http://127.0.0.1/", {"X\r": "a"}),
    ]
    for request in unfit:
        with pytest.raises(ValueError) as raised:
            await engine.send(Request(*request), 1)
        assert fault_of(raised.value) is None, request


async def test_user_and_fragment_are_not_sent(engine: SocketEngine) -> None:
    async with serve(lambda _: reply(200)) as site:
        assert (await asked(engine, f"http://user:pass@127.0.0.1:{site.port}?q=1#frag")).code == 200
    assert site.lines() == ["GET /?q=1"]
    assert site.asked[0].headers == {"Host": f"127.0.0.1:{site.port}", "User-Agent": "test"}


async def test_one_line_is_kept_for_each_place(engine: SocketEngine) -> None:
    async with serve(lambda _: reply(200)) as one, serve(lambda _: reply(200), ip="127.0.0.2") as two:
        for site in (one, two, one, two):
            assert (await asked(engine, site.url())).code == 200
        assert (one.connections, two.connections) == (1, 1)
        await asyncio.gather(*(asked(engine, one.url()) for _ in range(5)))
        for _ in range(5):
            await asked(engine, one.url())
        assert one.connections == 5


async def test_who_wants_the_whole_body_gets_it_and_nothing_of_other_types(engine: SocketEngine) -> None:
    page = PAGE + b"<p>word</p>" * 100_000

    async def whole(kind: str) -> bytes:
        async with serve(lambda _: reply(200, body=page, kind=kind)) as site:
            request = Request("GET", site.url("/"), HEADERS, most_bytes=lambda headers: wanted[headers["content-type"]])
            return (await engine.send(request, 60.0)).body

    wanted = {"text/html": 2**24, "text/css": 0}
    assert await whole("text/html") == page
    assert await whole("text/css") == b""


async def test_kept_lines_are_bounded_in_number_and_the_oldest_goes_first(settings: NetConfig) -> None:
    async with serve(lambda _: reply(200)) as site, open_engine(replace(settings, connections=2)) as engine:
        names = [f"127.0.0.1:{site.port}", f"user@127.0.0.1:0{site.port}", f"127.0.0.1:00{site.port}"]
        for name in names:
            await asked(engine, f"http://{name}/")
        assert site.connections == 3
        for name in reversed(names[1:]):
            await asked(engine, f"http://{name}/")
        assert site.connections == 3
        await asked(engine, f"http://{names[0]}/")
        assert site.connections == 4


async def test_kept_lines_are_bounded_in_time(engine: SocketEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "KEEP_ALIVE_S", 0.02)
    ended = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply(200))
        assert await reader.read() == b""
        ended.set()

    async with open_server(talk, "127.0.0.1", None) as port, asyncio.timeout(60):
        await asked(engine, f"http://127.0.0.1:{port}/")
        await ended.wait()


async def test_a_line_that_ended_or_brought_more_than_its_reply_is_not_used_again(engine: SocketEngine) -> None:
    async def ended() -> AsyncIterator[bytes]:
        yield reply(200)

    for method, act in (("GET", ended), ("HEAD", lambda: reply(200, body=PAGE * 1000))):
        async with serve(lambda _, act=act: act()) as site:  # type: ignore[misc]
            for _ in range(3):
                assert (await asked(engine, site.url(), method)).code == 200
                await asyncio.sleep(0.02)
            assert (site.connections, len(site.asked)) == (3, 3), method


@pytest.mark.parametrize("late", [b"<p>The body after HEAD</p>", b"HTTP/1.1 500 Not asked for\r\n\r\n"])
async def test_what_comes_late_is_not_taken_for_the_next_reply(engine: SocketEngine, late: bytes) -> None:
    is_sent = asyncio.Event()

    async def twice() -> AsyncIterator[bytes]:
        yield reply(200)
        await asyncio.sleep(0.02)
        yield late
        is_sent.set()
        await asyncio.sleep(3600)

    async with serve(lambda _: twice()) as site:
        for _ in range(3):
            assert (await asked(engine, site.url(), "HEAD")).code == 200
            await is_sent.wait()
            is_sent.clear()
            await asyncio.sleep(0.02)
    assert site.connections == 3


@pytest.mark.parametrize("act", [HangUp(), HangUp(reset=True), b"nonsense\r\n\r\n", Silence()])
async def test_a_kept_line_that_fails_or_is_silent_is_replaced_once(engine: SocketEngine, act: Act) -> None:
    timeout_s = 0.3 if isinstance(act, Silence) else 60.0
    async with serve(lambda asked: act if asked.count >= 2 else reply(200)) as site:
        assert (await asked(engine, site.url())).code == 200
        assert await fault(engine, site.url(), timeout_s=timeout_s) is not None
        assert (site.connections, len(site.asked)) == (2, 3)
    # Of a second request nothing is read: ratpack/ratpack#1575, curl/curl#987.
    async with serve(lambda asked: act if asked.count == 2 else reply(200)) as site:
        for _ in range(2):
            assert (await asked(engine, site.url(), timeout_s=timeout_s)).code == 200


async def test_when_files_run_out_kept_lines_make_room(engine: SocketEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = socket.socket
    refusals = [0]

    def scarce(*arguments: int, **others: int) -> socket.socket:
        if refusals[0] and not others:
            refusals[0] -= 1
            raise OSError(errno.EMFILE, "too many open files")
        return made(*arguments, **others)

    async with serve(lambda _: reply(200)) as one, serve(lambda _: reply(200), ip="127.0.0.2") as two:
        await asked(engine, one.url())
        with monkeypatch.context() as patched:
            patched.setattr("weboid.net.dial.socket.socket", scarce)
            refusals[0] = 1
            assert (await asked(engine, two.url())).code == 200
            refusals[0] = 2
            assert await fault(engine, "http://127.0.0.3:8080/") is None
        assert (await asked(engine, one.url())).code == 200
        assert one.connections == 2


async def test_an_early_refusal_is_heard_although_the_question_was_cut_short(engine: SocketEngine) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(reply(431, "Connection: close", body=b"no"))
        await writer.drain()
        writer.write_eof()
        await reader.read()

    async with open_server(talk, "127.0.0.1", None) as port:
        request = Request("GET", f"http://127.0.0.1:{port}/", {"X": "a" * 100_000})
        assert (await engine.send(request, 60)).code == 431


@pytest.mark.parametrize("secure", [False, True])
async def test_a_question_that_does_not_fit_at_once_goes_out_all_the_same(
    settings: NetConfig, certificates: Certificates, secure: bool
) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        writer.write(reply(200, body=str(len(await reader.readuntil(b"\r\n\r\n"))).encode()))
        writer.close()

    tls = certificates.good("127.0.0.1") if secure else None
    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=30_000_000, ssl=tls)
    async with server, open_engine(replace(settings, ca=certificates.ca_file, connect_s=60)) as engine:
        url = f"http{'s' * secure}://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        received = await engine.send(Request("GET", url, {"X": "a" * 20_000_000}), 60)
    assert int(received.body) > 20_000_000


async def test_a_line_within_tls_is_kept_as_well(engine: SocketEngine, certificates: Certificates) -> None:
    async with serve(lambda _: reply(200, body=PAGE), tls=certificates.good("127.0.0.1")) as site:
        for _ in range(4):
            assert (await asked(engine, site.url())).body == PAGE
    assert site.connections == 1


async def test_an_end_without_goodbye_within_tls_ends_a_body_that_has_no_length(
    engine: SocketEngine, certificates: Certificates
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply(200, body=None) + PAGE)
        await writer.drain()

    async with open_server(talk, "127.0.0.1", certificates.good("127.0.0.1"), aborts=True) as port:
        received = await asked(engine, f"https://127.0.0.1:{port}/")
    assert (received.code, received.body) == (200, PAGE)


@pytest.mark.parametrize(("connect_s", "timeout_s"), [(0.1, 60.0), (60.0, 0.1)])
async def test_a_handshake_that_does_not_end_is_a_timeout_before_a_connection(
    settings: NetConfig, connect_s: float, timeout_s: float
) -> None:
    async def talk(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    hasty = replace(settings, connect_s=connect_s)
    async with open_server(talk, "127.0.0.1", None) as port, open_engine(hasty) as engine:
        found = await fault(engine, f"https://127.0.0.1:{port}/", timeout_s=timeout_s)
    assert found == Fault(Reason.TIMEOUT, reached=False)


async def test_a_client_certificate_that_is_missed_after_the_handshake_is_a_login(
    engine: SocketEngine, certificates: Certificates
) -> None:
    tls = certificates.good("127.0.0.1")
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(certificates.ca_file)
    async with serve(lambda _: reply(200), tls=tls) as site:
        found = await fault(engine, site.url())
    assert found is not None
    assert found.reason in (Reason.LOGIN, Reason.RESET)


async def test_a_request_that_is_cancelled_closes_its_line(engine: SocketEngine) -> None:
    closed = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asking.cancel()
        await reader.read()
        closed.set()

    async with open_server(talk, "127.0.0.1", None) as port, asyncio.timeout(60):
        asking = asyncio.create_task(asked(engine, f"http://127.0.0.1:{port}/"))
        with pytest.raises(asyncio.CancelledError):
            await asking
        await closed.wait()

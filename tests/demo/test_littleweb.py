"""What the little web answers, seen through a plain socket; and what it writes down.

That hosts, names and certificates do as their life says, ``worlds/test_simulated`` shows: it plays all on sockets.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import NamedTuple

import pytest

from weboid.demo import world
from weboid.demo.littleweb import LittleWeb, open_littleweb

TIMEOUT_S = 5.0


def always(behaviour: world.Behaviour) -> world.Life[world.Behaviour]:
    return (world.Spell(0, behaviour),)


def host_always(behaviour: world.HostBehaviour) -> world.Life[world.HostBehaviour]:
    return (world.Spell(0, behaviour),)


WORLD = world.World(
    {
        "site.demo": world.Host(
            paths={
                "/page": always(world.Page(title="<b>Bold</b>", size_kib=3)),
                "/paper": always(world.Page("application/pdf", 48)),
                "/turns": (world.Spell(0, world.Page()), world.Spell(7, world.Code(410))),
                "/wait": always(world.Code(503, retry_after_s=120)),
                "/lie": always(world.Code(404, kind="application/pdf", size_kib=80)),
                "/moved": always(world.Redirect("http://other.demo/new", 308)),
                "/root": always(world.Redirect("/", 302)),
                "/chain": always(world.Chain(2)),
                "/loop": always(world.Loop()),
                "/no-head": always(world.NoHead(501)),
                "/hates-head": always(world.NoHead(0)),
                "/wall": always(world.BotWall()),
                "/challenge": always(world.BotWall(challenge=True)),
                "/reset": always(world.Trouble.RESET),
                "/split": always(world.Redirect("/a\r\nSet-Cookie: a=b")),
                "/rude": always(world.BotWall(how=world.Trouble.RESET)),
                "/referrer": always(world.BotWall(referrer=True)),
                "/known": always(
                    world.BotWall(code=200, page=world.Page(title="Who are you?"), inside=world.Page(title="Hello"))
                ),
                "/by-method": always(world.ByMethod(world.Page(), world.Code(404))),
                "/dead-inside": always(world.NoHead(405, inside=world.Code(410))),
                "/sold": always(world.Page(title="{host} is for sale", text="Buy {host}\n<now>", lang="de")),
                "/raw": always(world.Page(html="<!doctype html><title>As it is</title>")),
                "/lie-in-text": always(world.Code(404, page=world.Page(title="It is here"))),
                "/chain?of=two": always(world.Chain(2)),
            }
        ),
        "catch-all.demo": world.Host(others=always(world.Page(title="Everything"))),
        "guarded.demo": world.Host(host_always(world.BotWall()), {"/dead": always(world.Code(410))}),
        "other.demo": world.Host(),
    }
)


class Got(NamedTuple):
    """A reply: its code, headers with lower-case names, body."""

    code: int
    headers: Mapping[str, str]
    body: bytes


@pytest.fixture
async def web() -> AsyncIterator[LittleWeb]:
    async with open_littleweb(WORLD, day=lambda: 3) as little:
        yield little


async def sent(web: LittleWeb, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", web.http_port)
    try:
        writer.write(data)
        return await asyncio.wait_for(reader.read(), TIMEOUT_S)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def request(target: str, method: str = "GET", host: str = "site.demo", *lines: str) -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}:81", *lines, "", ""]).encode()


def reply(data: bytes) -> Got:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    return Got(int(first.split(" ")[1]), {name.lower(): value for name, value in pairs}, body)


async def got(web: LittleWeb, target: str, method: str = "GET", *lines: str) -> Got:
    return reply(await sent(web, request(target, method, "site.demo", "Connection: close", *lines)))


BROWSER = "User-Agent: Mozilla/5.0"
PDF_48, PDF_80 = b"Content-Length: %d" % (48 << 10), b"Content-Length: %d" % (80 << 10)


@pytest.mark.parametrize(
    ("asked", "line", "code", "parts"),
    [
        ("GET /page", "", 200, [b"Content-Type: text/html; charset=utf-8", b"Content-Length: 3072", b"&lt;b&gt;Bold"]),
        ("GET /paper", "", 200, [b"Content-Type: application/pdf", PDF_48, b"\r\n\r\n%PDF-"]),
        ("GET /wait", "", 503, [b"Retry-After: 120"]),
        ("GET /lie", "", 404, [b"Content-Type: application/pdf", PDF_80]),
        ("GET /unheard-of", "", 404, []),
        ("GET /root", "", 302, [b"Location: /\r\n"]),
        ("HEAD /no-head", "", 501, []),
        ("GET /no-head", "", 200, []),
        ("GET /hates-head", "", 200, []),
        ("HEAD /by-method", "", 200, []),
        ("GET /by-method", "", 404, []),
        ("HEAD /dead-inside", "", 405, []),
        ("GET /dead-inside", "", 410, []),
        ("GET /wall", "", 403, []),
        ("GET /wall", BROWSER, 200, []),
        ("GET /challenge", "", 403, [b"cf-mitigated: challenge"]),
        ("GET /rude", BROWSER, 200, []),
        ("GET /known", "", 200, [b"Who are you?"]),
        ("GET /known", BROWSER, 200, [b"Hello"]),
        ("GET /referrer", "Referer: http://other.demo/", 403, []),
        ("GET /referrer", "Referer: http://site.demo/", 200, []),
        ("GET guarded.demo/dead", "", 403, []),
        ("GET guarded.demo/dead", BROWSER, 410, []),
        ("GET /sold", "", 200, [b'lang="de"', b"<title>site.demo is for sale</title>"]),
        ("GET /sold", "", 200, [b"<p>Buy site.demo</p>\n<p>&lt;now&gt;</p>"]),
        ("GET /raw", "", 200, [b"\r\n\r\n<!doctype html><title>As it is</title>"]),
        ("GET /lie-in-text", "", 404, [b"It is here"]),
        ("GET catch-all.demo/", "", 200, [b"Everything"]),
        ("GET catch-all.demo/never/heard-of", "", 200, [b"Everything"]),
    ],
)
async def test_each_path_does_as_its_life(web: LittleWeb, asked: str, line: str, code: int, parts: list[bytes]) -> None:
    method, _, place = asked.partition(" ")
    host, _, path = place.partition("/")
    lines = [line] if line else []
    sends = request(f"/{path}", method, host or "site.demo", "Connection: close", *lines)
    whole = await sent(web, sends)
    assert whole.startswith(b"HTTP/1.1 %d " % code)
    assert [part for part in parts if part.lower() not in whole.lower()] == []
    assert await sent(web, sends) == whole, "the same request gets the same bytes"


async def test_a_life_turns_on_its_day() -> None:
    day = 6
    async with open_littleweb(WORLD, day=lambda: day) as web:
        assert (await got(web, "/turns")).code == 200
        day = 7
        assert (await got(web, "/turns")).code == 410
        assert [asked.day for asked in web.requests] == [6, 7]


async def test_redirects_lead_where_they_should_with_the_port_put_in_and_smuggle_no_header(web: LittleWeb) -> None:
    moved = await got(web, "/moved")
    assert (moved.code, moved.headers["location"]) == (308, f"http://other.demo:{web.http_port}/new")
    assert "set-cookie" not in (await got(web, "/split")).headers


async def test_a_chain_ends_and_keeps_its_query_and_a_loop_does_not_end(web: LittleWeb) -> None:
    for start, ends in (("/chain", [302, 302, 200]), ("/chain?of=two", [302, 302, 200]), ("/loop", [302, 302, 302])):
        target, codes = start, []
        for _ in range(3):
            assert target.startswith(start)
            answer = await got(web, target)
            codes.append(answer.code)
            target = answer.headers.get("location", "")
        assert codes == ends


async def test_every_request_is_written_down(web: LittleWeb) -> None:
    await got(web, "/page?a=%20b", "HEAD", "User-Agent: Weboid/0")
    with suppress(ConnectionResetError):
        await sent(web, request("/reset"))
    first, second = web.requests
    assert (first.day, first.method, first.host, first.target) == (3, "HEAD", "site.demo", "/page?a=%20b")
    assert first.headers["user-agent"] == "Weboid/0"
    assert (second.target, second.at_s >= first.at_s) == ("/reset", True)

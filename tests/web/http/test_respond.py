"""What all answers share: headers, methods, caching; static files and source."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from support.webservice import Site

import weboid.web
from weboid.web.http import source_archive
from weboid.web.http.server import open_site
from weboid.web.request.route import address_of

API = "/api/page?dbname=testwiki@wmflabs&pageid=1"
EVERYTHING = [
    *("/", "/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1"),
    *("/externalLinkProblem?dbname=testwiki@wmflabs&pageid=1", API, "/api/page", "/healthz", "/nothing"),
    "/static/nothing",
]


async def test_head_answers_as_get_without_the_body(site: Site) -> None:
    for path in [*EVERYTHING[:4], "/healthz"]:
        status, body, head = await site.fetch(path, method="HEAD")
        _, _, get = await site.fetch(path)
        assert (status, body) == (200, ""), path
        assert head.headers.get("ETag") == get.headers.get("ETag"), path
        assert head.content_type == get.content_type, path


async def test_the_style_sheet_is_kept_for_ever_and_named_by_its_content(site: Site) -> None:
    name = (await site.text("/")).partition('rel="stylesheet" href="')[2].partition('"')[0]
    status, body, response = await site.fetch(name)
    assert (status, response.content_type) == (200, "text/css")
    assert "immutable" in response.headers["Cache-Control"]
    assert sha256(body.encode()).hexdigest()[:16] in name


async def test_nothing_but_the_named_files_can_be_had(site: Site) -> None:
    for path in ["/static/../app.py", "/static/%2e%2e/app.py", "/static/weboid.css", "/source/x.zip"]:
        assert (await site.fetch(path))[0] == 404, path


def test_codex_is_as_it_was_published() -> None:
    folder = Path(weboid.web.__file__).parent / "static" / "codex"
    sums = {name: answer for answer, name in map(str.split, (folder / "SHA256SUMS").read_text().splitlines())}
    assert sums == {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.css")}


async def test_the_answer_names_the_source_and_the_service_has_it(site: Site) -> None:
    path = address_of("source", name=source_archive.NAME)
    assert f'"source":"https://weboid.demo{path}"' in await site.text(API)
    async with site.client.get(site.url + path, headers={"Accept-Encoding": "gzip"}) as response:
        assert "Content-Encoding" not in response.headers, "it is packed already"
        with closing(zipfile.ZipFile(io.BytesIO(await response.read()))) as packed:
            assert packed.read("weboid/web/app.py") == (Path(weboid.web.__file__).parent / "app.py").read_bytes()
            assert {"i18n/en.json", "sql/schema.sql", "LICENSE", "pyproject.toml"} <= set(packed.namelist())
            assert not any("__pycache__" in name for name in packed.namelist())


async def test_an_answer_is_compressed_as_its_caller_accepts(site: Site) -> None:
    for accepted, coding in [
        *(("gzip", "gzip"), ("GZIP ; q=0.5, br", "gzip"), ("deflate, gzip", "gzip"), ("gzip;q=0", None)),
        *(("deflate;q=0, gzip;q=0.001", "gzip"), ("*", "gzip"), ("deflate", "deflate"), ("identity", None)),
        *(("not-gzip", None), (";;,=", None)),
    ]:
        async with site.client.get(site.url + address_of("openapi"), headers={"Accept-Encoding": accepted}) as response:
            assert response.headers.get("Content-Encoding") == coding
            assert await response.json()


async def test_a_block_that_is_cancelled_again_while_it_ends_is_cancelled_and_nothing_else() -> None:
    serving_now, ending = asyncio.Event(), asyncio.Event()

    async def slow_to_end(_: web.Application) -> AsyncIterator[None]:
        yield
        ending.set()
        await asyncio.Event().wait()

    async def serving() -> None:
        app = web.Application()
        app.cleanup_ctx.extend([slow_to_end, slow_to_end])
        async with open_site(app, "127.0.0.1", 0):
            serving_now.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(serving())
    await serving_now.wait()
    task.cancel()
    for _ in range(2):
        await ending.wait()
        ending.clear()
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_request_that_arrives_as_its_connection_is_ended_is_answered() -> None:
    used: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        used.append(request.protocol)
        return web.Response(text="here")

    app = web.Application()
    app.router.add_get("/", answer)
    sent = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
    async with open_site(app, "127.0.0.1", 0) as url, asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(sent)
        assert (await reader.readuntil(b"here")).startswith(b"HTTP/1.1 200 ")
        (connection,) = used
        connection.data_received(sent)
        connection.end()
        answered = await reader.read()
        assert (answered.startswith(b"HTTP/1.1 200 "), b"\r\nConnection: close\r\n" in answered) == (True, True)
        writer.close()
        await writer.wait_closed()

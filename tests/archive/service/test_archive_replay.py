"""The stand-in for web archives gives what was recorded, and notes what was not."""

import aiohttp
from support.archive_replay import (
    Recorded,
    open_archive_replay,
)
from yarl import URL

CDX = Recorded("https://web.archive.org/cdx/search/cdx?url=http%3A%2F%2Fa.example%2F&output=json&limit=5", body=b"[]")
COPY = Recorded(
    "https://web.archive.org/web/20170101000000id_/http://a.example/?b=1&a=2",
    body=b"x" * 1000,
    headers={"Memento-Datetime": "Sun, 01 Jan 2017 00:00:00 GMT", "Content-Encoding": "gzip", "content-length": "7"},
)


async def test_the_recorded_answer_comes_whatever_the_host_with_its_own_length_and_no_coding() -> None:
    async with open_archive_replay([CDX, COPY]) as archive, aiohttp.ClientSession() as client:
        async with client.get(URL(archive.url + COPY.target, encoded=True)) as response:
            assert (response.status, await response.read()) == (200, COPY.body)
            assert response.headers["Memento-Datetime"] == "Sun, 01 Jan 2017 00:00:00 GMT"
            assert response.headers["Content-Length"] == "1000"
            assert "Content-Encoding" not in response.headers
        async with client.head(URL(archive.url + COPY.target, encoded=True)) as response:
            assert (response.status, await response.read()) == (200, b"")


async def test_the_order_of_the_query_does_not_matter_but_in_an_archived_address_it_does() -> None:
    async with open_archive_replay([CDX, COPY]) as archive, aiohttp.ClientSession() as client:
        assert await _status(client, archive.url + "/cdx/search/cdx?output=json&limit=5&url=http://a.example/") == 200
        assert await _status(client, archive.url + "/web/20170101000000id_/http://a.example/?a=2&b=1") == 404
        assert archive.unknown == ["GET /web/20170101000000id_/http://a.example/?a=2&b=1"]


async def test_what_was_not_recorded_is_not_found_without_a_moment() -> None:
    async with open_archive_replay([CDX, COPY]) as archive, aiohttp.ClientSession() as client:
        async with client.get(archive.url + "/web/2017id_/http://b.example/") as response:
            assert response.status == 404
            assert "Memento-Datetime" not in response.headers
        assert await _status(client, archive.url + CDX.target + "&sort=closest") == 404
        assert len(archive.unknown) == 2
    async with open_archive_replay([CDX], loose=True) as archive, aiohttp.ClientSession() as client:
        assert await _status(client, archive.url + "/cdx/search/cdx?url=a.example&sort=closest") == 200
        assert archive.unknown == []


async def test_equal_requests_get_their_answers_in_turn_and_the_last_for_ever() -> None:
    turns = [Recorded("http://a.example/save/status/1", body=body) for body in (b"pending", b"done")]
    async with open_archive_replay(turns) as archive, aiohttp.ClientSession() as client:
        told = [await _text(client, archive.url + "/save/status/1") for _ in range(3)]
        assert told == ["pending", "done", "done"]


async def _status(client: aiohttp.ClientSession, address: str) -> int:
    async with client.get(URL(address, encoded=True), allow_redirects=False) as response:
        return response.status


async def _text(client: aiohttp.ClientSession, address: str) -> str:
    async with client.get(URL(address, encoded=True)) as response:
        return await response.text()

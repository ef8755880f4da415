"""The real archive of the tests does what its kind does: what the program relies on, and what would fool it."""

import asyncio
import gzip
import json
from datetime import UTC, datetime

import aiohttp
from support.pywb import RealArchive
from support.warcs import HTML

URL = "http://gone.example:8080/page?b=2&A=1"
FIRST = datetime(2016, 3, 1, 10, 0, 0, tzinfo=UTC)
LATER = datetime(2017, 3, 1, 10, 0, 0, tzinfo=UTC)
BODY = b"<title>The article</title><p>" + b"real text " * 50


async def test_what_was_recorded_is_listed_and_played_at_its_moment(real_archive: RealArchive) -> None:
    real_archive.add(URL, FIRST, body=BODY)
    real_archive.add_revisit(URL, LATER, FIRST, body=BODY)
    real_archive.add(URL, datetime(2018, 1, 1, tzinfo=UTC), 301, {**HTML, "Location": "http://gone.example/"})
    real_archive.add("http://other.example/", FIRST, 404, HTML, b"nothing here")
    async with aiohttp.ClientSession() as client:
        rows = await _rows(client, real_archive, URL)
        assert [(row["timestamp"], row.get("status"), row["mime"]) for row in rows] == [
            ("20160301100000", "200", "text/html"),
            ("20170301100000", None, "warc/revisit"),
            ("20180101000000", "301", "text/html"),
        ]
        assert await _played(client, real_archive.url, "20160301100000", URL) == (
            200,
            "Tue, 01 Mar 2016 10:00:00 GMT",
            BODY,
        )
        assert (await _played(client, real_archive.url, "20170301100000", URL))[2] == BODY
        assert (await _played(client, real_archive.url, "20180101000000", URL))[0] == 301
        status, moment, body = await _played(client, real_archive.url, "20160301100000", "http://other.example/")
        assert (status, moment, body) == (404, "Tue, 01 Mar 2016 10:00:00 GMT", b"nothing here")
        assert await _played(client, real_archive.url, "20160301100000", "http://none.example/") == (404, None, None)
        async with client.get(f"{real_archive.url}/timemap/link/{URL}") as response:
            assert response.status == 200
            assert (await response.text()).count("datetime=") == 3
    await _logged(real_archive, 7)
    assert real_archive.log()[0].target.startswith(f"/{real_archive.name}/cdx?")


async def test_a_copy_is_depublished_and_released_at_once(real_archive: RealArchive) -> None:
    real_archive.add(URL, FIRST, body=BODY)
    async with aiohttp.ClientSession() as client:
        real_archive.block(URL)
        assert await _played(client, real_archive.url, "20160301100000", URL) == (451, None, None)
        assert [row["access"] for row in await _rows(client, real_archive, URL)] == ["block"]
        real_archive.release(URL)
        real_archive.exclude(URL)
        assert await _played(client, real_archive.url, "20160301100000", URL) == (404, None, None)
        assert await _rows(client, real_archive, URL) == []
        real_archive.release(URL)
        assert (await _played(client, real_archive.url, "20160301100000", URL))[0] == 200


async def test_frames_say_fine_for_what_was_never_there_but_raw_does_not(real_archive: RealArchive) -> None:
    real_archive.add(URL, FIRST, body=BODY)
    real_archive.block(URL)
    async with aiohttp.ClientSession() as client:
        for url in (URL, "http://none.example/"):
            async with client.get(f"{real_archive.framed}/20160301100000/{url}") as response:
                assert (response.status, "Memento-Datetime" in response.headers) == (200, True)
            status, moment, _ = await _played(client, real_archive.framed, "20160301100000", url)
            assert (status >= 400, moment) == (True, None)


async def test_each_test_has_a_collection_for_itself(real_archive: RealArchive) -> None:
    async with aiohttp.ClientSession() as client:
        assert await _rows(client, real_archive, URL) == []
    packed = (real_archive.folder / "archive" / "all.warc.gz").read_bytes()
    assert packed == b""
    real_archive.add(URL, FIRST, body=BODY)
    whole = gzip.decompress((real_archive.folder / "archive" / "all.warc.gz").read_bytes())
    assert whole.startswith(b"WARC/1.0\r\nWARC-Type: response\r\n")


async def _rows(client: aiohttp.ClientSession, archive: RealArchive, url: str) -> list[dict[str, str]]:
    async with client.get(f"{archive.url}/cdx", params={"url": url, "output": "json"}) as response:
        assert response.status == 200
        return [json.loads(line) for line in (await response.text()).splitlines()]


async def _played(
    client: aiohttp.ClientSession, base: str, stamp: str, url: str
) -> tuple[int, str | None, bytes | None]:
    """Status, moment and, if there is a moment, body of a copy played raw."""
    async with client.get(f"{base}/{stamp}id_/{url}", allow_redirects=False) as response:
        moment = response.headers.get("Memento-Datetime")
        return response.status, moment, await response.read() if moment else None


async def _logged(archive: RealArchive, requests: int) -> None:
    """Waits until so many requests are in the log: a request is logged when its answer has been sent."""
    async with asyncio.timeout(5):
        while len(archive.log()) < requests:
            await asyncio.sleep(0.02)
    assert len(archive.log()) == requests

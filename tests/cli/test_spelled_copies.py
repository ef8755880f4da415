"""``weboid archive`` and ``weboid snapshots`` at a real archive that writes ``&`` as ``&amp;`` (A-1, A-3)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from support.archives import TEXT
from support.commands import Place, open_place
from support.misbehaving import Asked, reply, serve
from support.observations import FINE, LOST
from support.pywb import RealArchive
from support.stored import WikiInStore, key, open_wiki
from yarl import URL

from weboid.core.archive.addresses import taken_of
from weboid.core.archive.visits import QUARTER_DAYS
from weboid.core.url.archives import BY_NAME
from weboid.core.verdict.verdict import Verdict
from weboid.demo.world import World
from weboid.store.archives.snapshot import Origin, StoredSnapshot, list_snapshots, record_snapshots

_LINKED = "application/link-format"
_KEPT = ("Memento-Datetime", "Location", "Link")


@asynccontextmanager
async def open_escaping_archive(archive: str) -> AsyncIterator[str]:
    """Runs it on a free port of 127.0.0.1 before the archive with this base; gives its own base."""
    parts = urlsplit(archive)
    origin = f"{parts.scheme}://{parts.netloc}"
    bases: list[str] = []

    async def passed_on(asked: Asked) -> AsyncIterator[bytes]:
        address = URL(f"{origin}{asked.target}", encoded=True)
        async with session.get(address, allow_redirects=False) as response:
            kind, body = response.content_type, await response.read()
            headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
        if "Link" in headers:
            headers["Link"] = headers["Link"].replace("&", "&amp;")
        if kind == _LINKED:
            body = body.replace(b"&", b"&amp;")
        lines = [f"{name}: {value}".replace(origin, bases[0]) for name, value in headers.items()]
        yield reply(response.status, *lines, body=body.replace(origin.encode(), bases[0].encode()), kind=kind)

    async with aiohttp.ClientSession(auto_decompress=True) as session, serve(passed_on) as site:
        bases.append(site.url(""))
        yield f"{bases[0]}{parts.path}"


DAY = 200
STAMP = 20100101000000
PUBLIC = "https://www.webarchive.org.uk/wayback/archive"
CITED, KEPT, DEAD = (f"http://www.mill.org.uk/item?id={number}&lang=en" for number in range(3))
LITERAL = "http://www.mill.org.uk/item?id=3&amp;lang=en"
PLAIN = [f"http://www.mill.org.uk/{number}" for number in range(6)]
COPIES = [f"{PUBLIC}/{STAMP}/{url}" for url in (*PLAIN, CITED, LITERAL)]


@pytest.fixture
async def place(tmp_path: Path, database: str, real_archive: RealArchive) -> AsyncIterator[Place]:
    """The archive is the only one that is asked, and escapes what it links."""
    for url in (*PLAIN, CITED, KEPT, DEAD, LITERAL):
        real_archive.add(url, taken_of(STAMP), body=TEXT + url.encode())
    async with open_place(tmp_path, World({}), {}) as place, open_escaping_archive(real_archive.url) as base:
        place.environ |= {
            "WEBOID_DATABASE": database,
            "WEBOID_NET_ANSWER_S": "30",
            "WEBOID_ARCHIVE_SERVICES": "ukwa",
            "WEBOID_ARCHIVE_UKWA_BASE": base,
            "WEBOID_ARCHIVE_UKWA_PUBLIC": PUBLIC,
            "WEBOID_ARCHIVE_UKWA_PER_MINUTE": "0",
            "WEBOID_ARCHIVE_UKWA_REPLAY_PER_MINUTE": "0",
        }
        yield place


@pytest.fixture
async def wiki(database: str) -> AsyncIterator[WikiInStore]:
    """Cited copies, one kept copy, and a link that is doubtful."""
    async with open_wiki(database, {1: [KEPT, DEAD, CITED, *COPIES]}, day=DAY - 9) as wiki:
        await wiki.round(DAY - 9, lambda url, day: FINE)
        await wiki.round(DAY, lambda url, day: LOST if url == DEAD else FINE)
        kept = StoredSnapshot(key(KEPT), BY_NAME["ukwa"].number, STAMP, Origin.CHOSEN, DAY, DAY - 91)
        await wiki.do(record_snapshots, [kept])
        yield wiki


async def snapshots(wiki: WikiInStore, url: str) -> list[tuple[int, int]]:
    """The moments and the strikes of what is kept of a URL."""
    return [(each.stamp, each.strikes) for each in (await wiki.do(list_snapshots, [key(url)])).get(key(url), ())]


@pytest.mark.long
async def test_copies_whose_urls_have_an_ampersand_play_quarter_after_quarter(
    place: Place, wiki: WikiInStore, real_archive: RealArchive
) -> None:
    for number in range(3):
        ran = await place.run("archive", "--once", "--day", str(DAY + number * QUARTER_DAYS))
        assert ran.status == 0, ran.err
        assert {(await wiki.finding(url)).verdict for url in COPIES} == {Verdict.WORKING}
        assert [await snapshots(wiki, url) for url in (KEPT, CITED, DEAD)] == [[(STAMP, 0)]] * 3
    asked = [each.target for each in real_archive.log()]
    assert [sum(target.endswith(f"id_/{url}") for target in asked) for url in (KEPT, CITED, DEAD)] == [3] * 3


async def test_a_look_up_finds_the_copy_of_a_url_with_an_ampersand(place: Place) -> None:
    ran = await place.run("snapshots", "--json", "--at", "2010-02-01", DEAD, LITERAL)
    for line, url in zip(ran.lines(), (DEAD, LITERAL), strict=True):
        assert (line["outcome"], line["stamp"], line["original"]) == ("found", str(STAMP), url)
        assert line["snapshot"] == f"{PUBLIC}/{STAMP}/{url}"

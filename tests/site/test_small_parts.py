"""Folders are served as web servers do and nothing around them; sitemaps are read within bounds (issue 33)."""

import gzip
from pathlib import Path

import pytest
from support.misbehaving import at_once, reply, serve
from support.sites import NET, linked, script_of

from weboid.checking.spot_checks import SpotChecks
from weboid.core.document.links import links_of
from weboid.net.fetch import Single, fetch_answer
from weboid.net.outbound import open_session
from weboid.site.externals import Externals
from weboid.site.folder import served
from weboid.site.listed import SitemapListing
from weboid.site.pace import HostPace
from weboid.site.rules import RulesOfOrigins
from weboid.site.sitemaps import MOST_BYTES, is_index, is_sitemap, locations_of, unpacked
from weboid.site.spill import Spill
from weboid.site.start import SiteSessions, find_start

SITEMAP = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'


async def test_a_folder_is_served_and_nothing_around_it(tmp_path: Path) -> None:
    root = tmp_path / "site"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "index.html").write_text("sub")
    (root / "a b.html").write_text("<p>a")
    (root / "style.css").write_text("p {}")
    (root / "large").write_text("word" * 500_000)
    (tmp_path / "secret").write_text("secret")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "linked").mkdir()
    (root / "linked" / "index.html").symlink_to(tmp_path / "secret")
    (root / "linked" / "index.htm").mkdir()
    async with served(root) as url:
        start = await find_start(url, {}, NET)
        assert start.is_own
        async with open_session(start.permitted(NET)) as session:

            async def code(path: str) -> tuple[int | None, str]:
                answer = await fetch_answer(session, url + path, turn=at_once, get_only=True)
                return answer.code, answer.final.removeprefix(url) if answer.hops else answer.headers["content-type"]

            assert await code("a%20b.html") == (200, "text/html")
            assert await code("style.css") == (200, "text/css")
            assert await code("sub") == (200, "sub/")
            answer = await fetch_answer(
                session, url + "large", turn=at_once, get_only=True, single=Single({}, lambda _: 10**7)
            )
            assert answer.body == b"word" * 500_000
            for path in (
                "",
                "gone",
                "out",
                "linked/",
                "linked/index.html",
                "%2e%2e/secret",
                "..%2fsecret",
                "%00",
                "style.css/",
                "//etc/hostname",
            ):
                answer = await fetch_answer(session, url + path, turn=at_once, get_only=True)
                assert (answer.code, answer.body) == (404, b""), path


def test_a_sitemap_gives_its_urls_and_no_entity_of_its_own() -> None:
    entries = "<url><loc> http://a.example/?x=1&amp;y=2\n</loc></url><url><sm:loc><![CDATA[http://a.example/c]]></sm:loc></url>"
    body = SITEMAP.format(
        entries + "<url><loc>http://a.example/&own;</loc><image:loc>http://a.example/i</image:loc></url>"
    )
    assert list(locations_of(body.encode())) == ["http://a.example/?x=1&y=2", "http://a.example/c"]
    assert is_sitemap(body.encode())
    assert not is_index(body.encode())
    assert not is_sitemap(b"<!doctype html><title>x</title>")


def test_a_packed_sitemap_is_bounded() -> None:
    body = SITEMAP.format("<url><loc>http://a.example/</loc></url>").encode()
    assert unpacked(gzip.compress(body)) == body
    assert len(unpacked(gzip.compress(bytes(2 * MOST_BYTES)))) == MOST_BYTES
    assert unpacked(b"\x1f\x8bdamaged") == b""


async def test_the_sitemaps_of_robots_txt_are_followed_through_one_index() -> None:
    pages: dict[str, str | bytes] = {}
    async with serve(lambda asked: script_of(pages)(asked)) as site:

        def locations(name: str, *paths: str) -> bytes:
            urls = [path if "://" in path else site.url(path) for path in paths]
            entries = "".join(f"<{name}><loc>{url}</loc></{name}>" for url in urls)
            return reply(200, body=f"<{name}set>{entries}</{name}set>".encode(), kind="text/xml")

        pages["/robots.txt"] = f"Sitemap: {site.url('/index.xml')}\nSitemap: /own.xml\n"
        pages["/index.xml"] = locations("url", "/a", "/b").replace(b"urlset", b"sitemapindex").replace(b"/a<", b"/m1<")
        pages["/m1"] = locations("url", "/one", "/two")
        pages["/own.xml"] = locations("url", "/two", "/three", "http://b.example/", "http://[/")
        start = await find_start(site.url("/"), {}, NET)
        async with open_session(start.permitted(NET)) as session:
            listing = SitemapListing(SiteSessions(start, session, session))
            assert await listing.read_all(RulesOfOrigins())
            found = await listing.urls()
        assert {url.removeprefix(site.url("")) for url in found} == {"/one", "/two", "/three"}
        assert listing.left_out == {"sitemap-other-server": 1, "sitemap-invalid": 1}


def test_a_pace_grows_with_signs_of_load_and_comes_back() -> None:
    pace = HostPace(1.0, 0.2)
    assert pace.pause_s == 0.2
    pace.note(0.1, is_refused=True)
    assert pace.pause_s == pytest.approx(0.4)
    pace.note(2.0, is_refused=False)
    assert pace.pause_s == pytest.approx(0.6)
    for _ in range(100):
        pace.note(0.1, is_refused=False)
    assert pace.pause_s == 0.2
    assert HostPace(1.0, is_own=True).pause_s == 0
    assert HostPace(1.0, 0.001).pause_s == 0.1


def test_what_waits_in_a_file_comes_back_as_it_was() -> None:
    spill = Spill()
    records = [(number, "x" * number, -1, None, ["a", number]) for number in range(0, 3_000, 7)]
    numbers = [spill.put(record) for record in records]
    assert [spill.get(number) for number in numbers] == records
    spill.close()


def test_anchors_are_those_of_the_document_alone() -> None:
    markup = (
        "<p ID=One name=p><a name='t&amp;wo'><textarea><p id=no></textarea><svg id=three><title/></svg><b id=four></b>"
        "<plaintext><p id=no>"
    )
    found: set[str] = set()
    list(links_of(markup + linked(), found))
    assert found == {"One", "t&wo", "three", "four"}


async def test_an_external_link_that_cannot_be_checked_costs_no_other() -> None:
    calls = 0

    async def open_checks() -> SpotChecks:
        nonlocal calls
        calls += 1
        raise OSError("no room")

    externals = Externals(open_checks)
    settled: dict[str, str] = {}
    externals.settle = lambda url, outcome: settled.update({url: outcome.reason})
    urls = ["http://a.test/1", "http://a.test/2", "http://b.test/"]
    for url in urls[:2]:
        externals.want(url)
    await externals.finish()
    externals.want(urls[2])
    await externals.finish()
    assert (settled, externals.own_faults) == (dict.fromkeys(urls, "own-fault"), 3)

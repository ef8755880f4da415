"""Copies without a raw form are played as their URL is given: by Memento-Datetime, else by status and text (A-3)."""

import asyncio

import pytest
from support.archives import TEXT, open_local_client
from support.misbehaving import Act, Asked, reply, serve

from weboid.archive.service.replays import CitedPlay, Replays
from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.configured import configured
from weboid.core.archive.replay import ReplayResult
from weboid.core.record.reasons import Reason
from weboid.core.url.archives import ARCHIVES, BY_NAME, Standing
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import parse
from weboid.store.archives.snapshot import Origin, StoredSnapshot

CODE = "https://perma.cc/ABCD-1234"
MEMENTO = "Memento-Datetime: Sun, 01 Jan 2017 00:00:00 GMT"
FINE = reply(200, body=TEXT)


async def play(url: str, *acts: Act, service: str = "perma") -> tuple[CitedPlay | None, list[str]]:
    """What the visit of a cited copy shows where the service answers so, one after the other; and what it was asked."""
    left = list(acts)

    def script(_: Asked) -> Act:
        return left.pop(0)

    async with serve(script) as site, open_local_client() as client:
        public = {"perma": "https://perma.cc", "wikiwix": "https://archive.wikiwix.com"}[service]
        table = {"base": site.url(""), "public": public, "per_minute": 0, "replay_per_minute": 0}
        async with asyncio.timeout(30):
            played = await Replays(client, configured((service,), {service: table})).play_cited(parse(url))
        return played, [each.target for each in site.asked]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (FINE, Reason.OK),
        (reply(404, MEMENTO, body=b"the page was gone then"), Reason.OK),
        (reply(404, body=b"404 page not found"), Reason.NOT_FOUND),
        (reply(410, body=b"gone"), Reason.GONE),
        (reply(451, body=b"blocked"), Reason.GONE),
        (reply(200, body=b"<html><title>Page not found</title><h1>Page not found</h1>"), Reason.SOFT_404),
        (reply(403, "Server: cloudflare", body=b"<title>Just a moment...</title>"), None),
        (reply(429, body=b"slow down"), None),
        (reply(503, body=b"later"), None),
        (reply(302, "Location: https://other.demo/"), None),
    ],
)
async def test_a_short_code_is_judged_by_moment_status_and_text(act: Act, reason: Reason | None) -> None:
    played, asked = await play(CODE, act)
    assert played
    assert (played.seen.reason if played.seen else None) is reason
    assert asked == ["/ABCD-1234"]


async def test_what_a_short_code_shows_is_what_the_archive_says_of_it_and_nothing_is_guessed() -> None:
    original = '<http://mill.demo/a>; rel="original"'
    memento = '<https://perma.cc/ABCD-1234>; rel="memento"; datetime="Sun, 04 Oct 2015 23:18:13 GMT"'
    other = memento.replace("ABCD-1234", "WXYZ-5678")
    for acts, named in [
        ([reply(200, f"Link: {original}, {memento}", body=TEXT)], ("http://mill.demo/a", 20151004231813)),
        ([reply(200, f"Link: {original}", MEMENTO, body=TEXT)], ("http://mill.demo/a", 20170101000000)),
        (
            [reply(302, "Location: https://perma.cc/warc/20160102030405/http://mill.demo/b")],
            ("http://mill.demo/b", 20160102030405),
        ),
        ([reply(200, f"Link: {memento}", body=TEXT)], None),
        ([reply(200, f"Link: {original}, {other}", body=TEXT)], None),
        ([reply(200, MEMENTO, body=TEXT)], None),
        ([reply(404, f"Link: {original}, {memento}", body=b"404 page not found")], None),
    ]:
        played, _ = await play(CODE, *acts)
        assert played
        shown = played.named and (played.named.original, stamp_of(played.named.taken))
        assert shown == named, acts


async def test_redirects_within_the_service_are_followed_but_not_for_ever() -> None:
    on = reply(302, "Location: /ABCD-1234?type=source")
    played, asked = await play(CODE, on, FINE)
    assert played
    assert played.seen
    assert played.seen.reason is Reason.OK
    assert asked == ["/ABCD-1234", "/ABCD-1234?type=source"]
    played, asked = await play(CODE, on, on, on, on)
    assert played
    assert played.seen is None or played.seen.reason is Reason.NOT_FOUND
    assert len(asked) == 3


async def test_wikiwix_without_its_database_has_said_nothing_and_a_stored_429_is_no_limit() -> None:
    cited = "https://archive.wikiwix.com/cache/?url=http://mill.demo/"
    played, asked = await play(cited, reply(200, body=b"can't connect db"), service="wikiwix")
    assert played
    assert played.seen is None
    assert asked == ["/cache/?url=http://mill.demo/"]
    async with serve(lambda _: reply(429, MEMENTO, body=b"then")) as site, open_local_client() as client:
        services = configured(("wayback",), {"wayback": {"base": site.url(""), "replay_per_minute": 0}})
        snapshot = StoredSnapshot(UrlKey(1, 2, 3), 1, 20170101000000, Origin.CHOSEN, 1)
        for _ in range(3):
            replayed = await Replays(client, services).play(snapshot, parse("http://a.demo/"))
            assert replayed
            assert (replayed.result, replayed.status) == (ReplayResult.PLAYS, 429)


async def test_no_service_is_asked_to_which_nobody_may_be_sent() -> None:
    async with open_local_client() as client:
        replays = Replays(client, ())
        for archive in ARCHIVES:
            is_asked = archive.standing is Standing.OFFERED and archive.name != "loc"
            assert (replays.service_of(archive.number) is not None) == is_asked
            assert (archive.number in replays.archives) == is_asked
        for url in ("https://archive.ph/AbCdE", "https://webarchive.loc.gov/all/20110101000000/http://a.demo/"):
            assert await replays.play_cited(parse(url)) is None
        barred = StoredSnapshot(UrlKey(1, 2, 3), BY_NAME["archive.today"].number, 20110101000000, Origin.CITED, 1)
        assert await replays.play(barred, parse("http://a.demo/")) is None
        assert client.sent == 0

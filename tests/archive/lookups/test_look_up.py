"""One URL through the services: on a real pywb, framed and unframed, and where copies redirect or are withdrawn."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import product

import pytest
from support.archives import TEXT, Copy, moved_to, open_local_client, open_made_archive, plays
from support.misbehaving import Act, Asked, reply
from support.pages import page, prose
from support.pywb import HTML, RealArchive

from weboid.archive.lookups.look_up import RESTING, look_up
from weboid.archive.lookups.look_up_result import GivenCopy, LookUpResult
from weboid.core.archive.choice import Note
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.rows.fitness import Wish
from weboid.core.archive.services import SERVICES, ArchiveService, Dialect
from weboid.core.url.urls import parse

URL = "http://gone.demo/page"
NAMES = '["timestamp","original","statuscode","mimetype","digest","length"]'
CITED = datetime(2016, 5, 1, tzinfo=UTC)
MARCH, LATER = datetime(2016, 3, 1, 10, tzinfo=UTC), datetime(2017, 3, 1, 10, tzinfo=UTC)


async def asked(
    services: Sequence[ArchiveService],
    url: str = URL,
    *,
    given: Sequence[GivenCopy] = (),
    last_alive: date | None = None,
) -> LookUpResult:
    wish = Wish(parse(url), CITED, date(2026, 11, 22), last_alive)
    async with open_local_client() as client:
        return await look_up(client, services, wish, given=given)


def pywb_at(base: str) -> ArchiveService:
    """A pywb that stands for Arquivo.pt, without limits and for every URL."""
    usual = replace(SERVICES["arquivo"], dialect=Dialect.PYWB, countries=(), languages=())
    return replace(usual, base=base, public=base, per_minute=0, replay_per_minute=0)


@pytest.fixture(params=["unframed", "framed"])
def service(request: pytest.FixtureRequest, real_archive: RealArchive) -> ArchiveService:
    """The same archive as it plays with frames and without: the look-up must not see a difference."""
    return pywb_at(real_archive.url if request.param == "unframed" else real_archive.framed)


async def test_a_real_archive_gives_the_nearest_good_copy(real_archive: RealArchive, service: ArchiveService) -> None:
    real_archive.add(URL, MARCH, body=TEXT)
    real_archive.add(URL, LATER, body=TEXT + b"<p>more")
    result = await asked([service])
    assert result.found is not None
    assert (result.outcome, result.found.stamp, result.requests) == (LookupOutcome.FOUND, 20160301100000, 2)
    assert result.found.address == f"{service.base}/20160301100000/{URL}"


async def test_a_real_archive_says_none_with_two_voices_and_never_of_an_unknown_collection(
    service: ArchiveService, real_archive: RealArchive
) -> None:
    result = await asked([service])
    assert (result.outcome, result.requests) == (LookupOutcome.NONE, 2)
    result = await asked([pywb_at(real_archive.url.rpartition("/")[0] + "/nothere")])
    assert result.outcome in (LookupOutcome.ERROR, LookupOutcome.UNKNOWN)


async def test_what_an_archive_withholds_is_never_shown(real_archive: RealArchive, service: ArchiveService) -> None:
    real_archive.add(URL, MARCH, body=TEXT)
    real_archive.block(URL)
    result = await asked([service])
    assert (result.outcome, result.found) == (LookupOutcome.EXCLUDED, None)
    real_archive.release(URL)
    real_archive.exclude(URL)
    assert (await asked([service])).found is None


async def test_a_copied_redirect_is_followed_within_it(real_archive: RealArchive, service: ArchiveService) -> None:
    target = "http://gone.demo/new/page"
    real_archive.add(URL, MARCH, 301, {**HTML, "Location": target})
    real_archive.add(target, MARCH.replace(minute=5), body=TEXT)
    for given in ([], [GivenCopy(service, MARCH, parse(URL))]):
        result = await asked([service], given=given)
        assert result.found is not None
        assert (result.found.note, result.found.stamp, result.found.original) == (Note.REDIRECTS, 20160301100000, URL)
        assert result.found.is_given is bool(given)


async def test_a_copy_in_a_coding_that_we_do_not_read_is_judged_as_the_archive_rewrites_it(
    real_archive: RealArchive, service: ArchiveService
) -> None:
    # Brotli with nothing compressed: the head, the text, the end.
    packed = ((len(TEXT) - 1) << 4 | 1 << 20).to_bytes(3, "little") + TEXT + b"\3"
    real_archive.add(URL, MARCH, 200, {**HTML, "Content-Encoding": "br"}, packed)
    result = await asked([service])
    assert (result.found and result.found.stamp) == 20160301100000
    moment = "Memento-Datetime: Tue, 01 Mar 2016 10:00:00 GMT"
    unread = reply(200, moment, "Content-Encoding: br", body=packed)
    for rewritten, outcome in [(TEXT, LookupOutcome.FOUND), (page("404 Not Found"), LookupOutcome.UNSUITABLE)]:
        read = reply(200, moment, body=rewritten)
        async with open_made_archive({URL: [Copy(20160301100000)]}, lambda *_: unread) as archive:
            archive.act = lambda asked, read=read: read if "if_/" in asked.target else None  # type: ignore[misc]
            result = await asked([archive.service()])
        assert (result.outcome, result.requests) == (outcome, 3)


async def test_a_given_copy_is_played_once_and_kept_and_one_that_never_was_is_none(
    service: ArchiveService, real_archive: RealArchive
) -> None:
    result = await asked([service], given=[GivenCopy(service, LATER, parse(URL))])
    assert (result.found, result.outcome) == (None, LookupOutcome.NONE)
    real_archive.add(URL, LATER, body=TEXT)
    real_archive.add(URL, MARCH, body=TEXT)
    result = await asked([service], given=[GivenCopy(service, LATER, parse(URL))])
    assert result.found is not None
    assert (result.found.is_given, result.found.taken, result.requests) == (True, LATER, 1)


async def test_a_loop_of_redirects_and_one_out_of_the_archive_lead_to_no_more_requests() -> None:
    copies = {URL: [Copy(20160301100000, 301, b"", "http://127.0.0.1:9/private")]}
    async with open_made_archive(copies) as archive, open_made_archive() as other:
        archive.copies[URL] = [Copy(20160301100000, 301, b"", other.base + "/page")]
        result = await asked([archive.service()])
        assert (result.found, other.site.asked) == (None, [])
        assert result.outcome is LookupOutcome.UNSUITABLE
    async with open_made_archive({URL: [Copy(20160301100000)]}, moved_to(20160301100000)) as archive:
        result = await asked([archive.service()])
        assert result.outcome in (LookupOutcome.ERROR, LookupOutcome.UNKNOWN)
        assert len(archive.site.asked) <= 5


async def test_a_capture_that_plays_as_one_of_two_days_before_is_offered_with_its_true_moment() -> None:
    for deed, stamp in [
        (moved_to(20160228080000), 20160228080000),
        (lambda _, url: plays(20160228080000, url), 20160228080000),
        (moved_to(20160201080000), None),
        (moved_to(20160304080000), None),
    ]:
        async with open_made_archive({URL: [Copy(20160301100000)]}, plays) as archive:
            archive.deeds[20160301100000] = deed
            result = await asked([archive.service()])
        assert (result.found and result.found.stamp) == stamp
        assert result.found is None or str(stamp) in result.found.address


async def test_a_front_page_or_a_beginning_gives_way_to_the_page_itself_and_is_kept_where_nothing_else_plays() -> None:
    story = page("The wheel of the old mill", body=prose(200))
    beginning = page("The wheel of the old mill", body=prose(60))
    front = page("Gone", body=prose(200))

    def script(asked: Asked) -> Act | None:
        return reply(503) if "20150301" in asked.target else None

    for nearest, older, stamp, act in [
        (front, story, 20150301100000, None),
        (beginning, story, 20150301100000, None),
        (beginning, front, 20160301100000, None),
        (story, front, 20160301100000, None),
        (front, story, 20160301100000, script),
    ]:
        copies = {URL: [Copy(20150301100000, 200, older), Copy(20160301100000, 200, nearest)]}
        async with open_made_archive(copies) as archive:
            archive.act = act or archive.act
            result = await asked([archive.service()])
        assert (result.outcome, result.found and result.found.stamp) == (LookupOutcome.FOUND, stamp)
        assert result.requests == (2 if nearest is story else 3)
        assert result.found
        assert result.found.preview == ("Gone" if act else "The wheel of the old mill")


async def test_where_the_index_is_closed_the_other_voice_finds_a_copy_or_never_none(real_archive: RealArchive) -> None:
    service = pywb_at(real_archive.url)
    async with open_made_archive() as archive:
        # A made-up archive of the other dialect: nothing is at the index's address, and the TimeMap is none.
        archive.act = lambda asked: reply(404, body=b"<html>no such page</html>")
        result = await asked([replace(service, base=archive.base, public=archive.base)])
        assert result.outcome is LookupOutcome.ERROR
        timemap = f'<{URL}>; rel="original",\n<{archive.base}/20160301100000/{URL}>; rel="memento"; '
        timemap += 'datetime="Tue, 01 Mar 2016 10:00:00 GMT"\n'

        def script(asked: Asked) -> Act | None:
            if asked.target.startswith("/timemap/"):
                return reply(200, body=timemap.encode(), kind="application/link-format")
            if asked.target.startswith("/20160301100000id_/"):
                return reply(200, "Memento-Datetime: Tue, 01 Mar 2016 10:00:00 GMT", body=TEXT)
            return reply(404, body=b"<html>no such page</html>")

        archive.act = script
        result = await asked([replace(service, base=archive.base, public=archive.base)])
        assert result.found is not None
        assert result.found.stamp == 20160301100000


async def test_a_url_with_a_session_is_asked_for_without_it_where_copies_of_other_sessions_alone_are_listed() -> None:
    other, own = f"{URL};jsessionid=9F8E7D6C5B4A", f"{URL};jsessionid=0A1B2C3D4E5F"
    for listed, status, stamp in [
        ((), 200, 20160201100000),
        ((other,), 200, 20160201100000),
        ((other, "http://gone.demo/Page"), 404, 20160201100000),
        ((own,), 404, None),
        ((other, own), 200, 20160301100000),
    ]:
        rows = [f'["20160301100000","{url}","{status}","text/html","A","5000"]' for url in listed]
        listing = reply(200, body=f"[{','.join([NAMES, *rows])}]".encode())
        async with open_made_archive({URL: [Copy(20160201100000)]}, plays) as archive:
            archive.act = lambda asked, listing=listing: (
                listing if "/cdx" in asked.target and "%3B" in asked.target else None
            )  # type: ignore[misc]
            result = await asked([archive.service()], own)
        assert (result.found and result.found.stamp) == stamp, listed
        assert result.found is None or (result.found.note is Note.SIMILAR) == (result.found.original == URL)


async def test_a_service_that_turns_us_away_whatever_is_asked_for_rests_but_not_for_what_it_says_of_one_url() -> None:
    away = [reply(403, body=b"<title>Attention Required!</title>"), reply(401), reply(302, "Location: //login.demo/")]
    blocked = reply(403, "X-Archive-Wayback-Runtime-Error: AdministrativeAccessControlException: Blocked Site Error")
    kinds = ('200","text/html', '-","warc/revisit')
    rows = (f'["20160301100000","{URL}","{kind}","ABCDEFGHIJKLMNOPQRSTUVWXYZ234567","5000"]' for kind in kinds)
    whole, bare = (reply(200, body=f"[{NAMES},{row}]".encode()) for row in rows)
    cases = product((*away, blocked, reply(400), reply(404), reply(451)), ("/cdx", "id_/"), [whole])
    for act, part, listing in (*cases, (reply(503), "id_/", whole), (reply(503), "id_/", bare)):
        async with open_made_archive({URL: [Copy(20160301100000)]}, plays) as archive, open_local_client() as client:
            archive.act = lambda asked, case=(act, part, listing): case[0 if case[1] in asked.target else 2]  # type: ignore[misc]
            wish = Wish(parse(URL), CITED, date(2026, 11, 22))
            results = [await look_up(client, [archive.service()], wish) for _ in range(6)]
        is_away = act in away[: 3 if part == "/cdx" else 1] or (act == reply(503) and listing == whole)
        assert (results[-1].tries[0].why == RESTING) is is_away, (act, part)

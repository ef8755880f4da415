from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.archives import Copy, MadeArchive, open_made_archive, rate_limited
from support.commands import Place, Ran, open_place
from support.misbehaving import Act, name_server, reply

from weboid.demo.world import World

URL = "http://gone.demo/page"
OLD, LATE = 20160401120000, 20190601120000
KEYS = ["url", "at", "outcome", "service", "stamp", "snapshot", "original", "distance_days", "tries"]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path, World({}), {}) as place:
        yield place


@asynccontextmanager
async def archive_at(
    place: Place, copies: dict[str, Sequence[Copy]] | None = None, limit: str = "0"
) -> AsyncIterator[MadeArchive]:
    """An archive that stands for the Wayback Machine, the only one that is asked."""
    async with open_made_archive(copies) as archive:
        place.environ |= {
            "WEBOID_ARCHIVE_SERVICES": "wayback",
            "WEBOID_ARCHIVE_WAYBACK_BASE": archive.base,
            "WEBOID_ARCHIVE_WAYBACK_PER_MINUTE": limit,
            "WEBOID_ARCHIVE_WAYBACK_REPLAY_PER_MINUTE": limit,
        }
        yield archive


async def json_of(place: Place, *call: str, stdin: str = "") -> Ran:
    return await place.run("snapshots", "--json", *call, stdin=stdin)


async def test_it_finds_the_copy_that_is_nearest_to_the_citation(place: Place) -> None:
    async with archive_at(place, {URL: [Copy(LATE), Copy(OLD)]}) as archive:
        ran = await json_of(place, "--at", "2016-05-01", URL)
        [line] = ran.lines()
    assert ran.status == 0
    assert list(line) == KEYS
    assert line == {
        "url": URL,
        "at": "2016-05-01",
        "outcome": "found",
        "service": "wayback",
        "stamp": str(OLD),
        "snapshot": f"https://web.archive.org/web/{OLD}/{URL}",
        "original": URL,
        "distance_days": -30,
        "tries": [{"service": "wayback", "outcome": "found", "why": ""}],
    }
    assert len(archive.site.asked) == 2
    assert "closest=20160501" in archive.site.asked[0].target


async def test_none_is_said_only_after_two_voices_and_why_copies_were_passed_over(place: Place) -> None:
    other = "http://other.demo/"
    async with archive_at(place, {other: [Copy(OLD, 404, b"no")]}) as archive:
        ran = await json_of(place, "-", stdin=f"{URL}\n\n{other}\n")
    assert [(line["url"], line["outcome"]) for line in ran.lines()] == [(URL, "none"), (other, "unsuitable")]
    assert ran.lines()[1]["tries"][0]["why"] == "gone"
    assert (archive.count("/cdx"), archive.count("/wayback/available")) == (2, 1)


async def test_a_date_that_cannot_be_is_refused_before_anything_is_asked(place: Place) -> None:
    async with archive_at(place) as archive:
        for at, output in (
            ("2999-01-01", "future"),
            ("1969-12-31", "1990"),
            ("yesterday", "2016-05-31"),
            ("2016-13-01", "no date"),
        ):
            ran = await json_of(place, "--at", at, URL)
            assert (ran.status, output in ran.err) == (2, True), ran.err
        assert archive.site.asked == []


async def test_without_a_network_that_is_said_and_the_outcome_is_an_error(place: Place) -> None:
    async with name_server({}) as names:
        place.environ |= {"WEBOID_NET_DNS": names.address, "WEBOID_ARCHIVE_SERVICES": "wayback"}
        ran = await json_of(place, URL)
    assert (ran.status, [line["outcome"] for line in ran.lines()]) == (3, ["error"])
    assert "no archive answers" in ran.err


async def test_an_unknown_service_is_named(place: Place) -> None:
    place.environ["WEBOID_ARCHIVE_SERVICES"] = "wayback,wayforward"
    ran = await json_of(place, URL)
    assert (ran.status, "wayforward" in ran.err) == (2, True), ran.err


SHELL_LOOP = tuple(f"http://gone.demo/{number}" for number in range(5))


@pytest.mark.parametrize(
    ("act", "slug"),
    [
        (rate_limited(), "ia-429-from-first"),
        (rate_limited("900"), "retry-after"),
        (reply(503, "Retry-After: 900"), "503-with-retry-after"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_limit_that_one_process_met_is_obeyed_by_the_next_which_says_until_when(
    place: Place, act: Act, slug: str
) -> None:
    async with archive_at(place) as archive:
        archive.act = lambda asked: act
        assert ((await json_of(place, SHELL_LOOP[0])).status, len(archive.site.asked)) == (0, 1)
        for url in SHELL_LOOP[1:]:
            ran = await json_of(place, url)
            assert (ran.status, ran.lines()[0]["tries"][0]["why"]) == (4, "resting")
            assert "wayback is not asked until 2" in ran.err
            assert "look up then" in ran.err
        assert len(archive.site.asked) == 1
        # Another archive is asked, by the same processes.
    async with archive_at(place, {URL: [Copy(OLD)]}):
        assert (await json_of(place, URL)).lines()[0]["outcome"] == "found"

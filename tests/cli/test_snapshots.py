"""``weboid snapshots`` against a stand-in that answers loosely, and in forms that nobody asked for."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from re import search
from typing import Any

import pytest
from support.archives import EXCLUDED, NOT_HERE, TEXT, Copy, MadeArchive, open_made_archive, rate_limited
from support.commands import Place, Ran, open_place
from support.misbehaving import Act, Asked, name_server, reply, serve

from weboid.core.archive.dialects.replies import moment_of
from weboid.demo.world import World

URL = "http://gone.demo/page"
OLD, LATE = 20160401120000, 20190601120000
KEYS = ["url", "at", "outcome", "service", "stamp", "snapshot", "original", "distance_days", "tries"]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path, World({}), {}) as place:
        yield place


@asynccontextmanager
async def archive_at(place: Place, copies: dict[str, Sequence[Copy]] | None = None) -> AsyncIterator[MadeArchive]:
    """An archive that stands for the Wayback Machine, the only one that is asked."""
    async with open_made_archive(copies) as archive:
        place.environ |= archive.environ()
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
        ran = await json_of(place, "-", stdin=f"\ufeff{URL}\r\n\n{other}\n")
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


async def test_a_limit_that_one_process_met_is_obeyed_by_the_next_which_says_until_when(place: Place) -> None:
    async with archive_at(place) as archive:
        archive.act = lambda asked: rate_limited("900")
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


URL_OF_LOOSE_ARCHIVE = "https://www.mill.example.com/wheel"
STAMP = "20171124151315"
ROW = f"com,example,mill)/wheel {STAMP} {URL_OF_LOOSE_ARCHIVE} text/html 200 ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 12000\n"
EMPTY = reply(200, body=b'{"archived_snapshots": {}, "url": "mill.example.com"}', kind="application/json")

Answer = Act | Callable[[Asked], Act]


def rows(text: str) -> bytes:
    return reply(200, body=text.encode(), kind="text/plain")


def played(asked: Asked, body: bytes = TEXT, *lines: str, status: int = 200) -> bytes:
    found = search(r"/(\d{14})id_/", asked.target)
    moment = (found and moment_of(found[1])) or datetime(1999, 1, 1, tzinfo=UTC)
    return reply(status, f"Memento-Datetime: {format_datetime(moment, usegmt=True)}", *lines, body=body)


async def looked_up(place: Place, answers: Mapping[str, Answer], *call: str) -> dict[str, Any]:
    """The line of the one URL; only Wayback's base is configured, and there is no internet.

    The archive goes by the kind of a request alone, whatever else it is asked, as replayed recordings do.
    """

    def script(asked: Asked) -> Act:
        kinds = {r"/\d{1,14}id_/": "replay", "timemap": "timemap", "available": "available", "cdx": "cdx"}
        kind = next((kind for part, kind in kinds.items() if search(part, asked.target)), "")
        answer = answers.get(kind, NOT_HERE)
        return answer(asked) if callable(answer) else answer

    async with serve(script) as site:
        place.environ |= {"WEBOID_ARCHIVE_WAYBACK_BASE": site.url("")}
        ran = await place.run("snapshots", "--json", *(call or (URL_OF_LOOSE_ARCHIVE,)))
    assert (ran.status, ran.err) == (0, "")
    [line] = ran.lines()
    return line


async def test_a_copy_whose_archive_does_not_answer_is_an_error_though_another_archive_says_none(place: Place) -> None:
    place.environ |= {"WEBOID_ARCHIVE_ARQUIVO_BASE": "http://127.0.0.1:1"}
    copy = f"https://arquivo.pt/wayback/{STAMP}/{URL_OF_LOOSE_ARCHIVE}"
    line = await looked_up(place, {"cdx": rows("[]"), "available": EMPTY}, copy)
    output = [(tried["service"], tried["outcome"]) for tried in line["tries"]]
    assert output[:2] == [("arquivo", "error"), ("wayback", "none")]
    assert line["outcome"] == "error"


async def test_a_file_of_an_ftp_server_is_found_under_its_own_url_only(place: Place) -> None:
    file = "ftp://ftp.mill.example.com/wheel.txt"
    row = ROW.replace("text/html 200", "text/plain 226")
    listed = [
        row.replace(URL_OF_LOOSE_ARCHIVE, file),
        row.replace(URL_OF_LOOSE_ARCHIVE, file.replace("ftp://", "http://")),
    ]

    def replay(asked: Asked) -> bytes:
        return played(asked, b"a wheel " * 50)

    printed = [await looked_up(place, {"cdx": rows(each), "replay": replay}, file) for each in listed]
    assert [line["outcome"] for line in printed] == ["found", "unsuitable"]


@pytest.mark.parametrize(
    ("replay", "outcome"),
    [(EXCLUDED, "excluded"), (lambda asked: played(asked, b"no", status=429), "unsuitable"), (NOT_HERE, "none")],
    ids=["excluded", "of another status", "not found"],
)
async def test_a_given_copy_that_is_there_in_some_way_is_never_none(place: Place, replay: Answer, outcome: str) -> None:
    answers: dict[str, Answer] = {"cdx": rows("[]"), "available": EMPTY, "replay": replay}
    assert (await looked_up(place, answers, f"https://web.archive.org/web/{STAMP}/{URL_OF_LOOSE_ARCHIVE}"))[
        "outcome"
    ] == outcome

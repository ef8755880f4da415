"""``weboid snapshots`` against a stand-in that answers loosely, and in forms that nobody asked for."""

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from re import search
from typing import Any

import pytest
from support.archives import EXCLUDED, NOT_HERE, TEXT
from support.commands import Place, open_place
from support.misbehaving import Act, Asked, reply, serve

from weboid.core.archive.dialects.replies import moment_of
from weboid.demo.world import World

URL = "https://www.mill.example.com/wheel"
STAMP = "20171124151315"
ROW = f"com,example,mill)/wheel {STAMP} {URL} text/html 200 ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 12000\n"
EMPTY = reply(200, body=b'{"archived_snapshots": {}, "url": "mill.example.com"}', kind="application/json")

Answer = Act | Callable[[Asked], Act]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path, World({}), {}) as place:
        yield place


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
        ran = await place.run("snapshots", "--json", *(call or (URL,)))
    assert (ran.status, ran.err) == (0, "")
    [line] = ran.lines()
    return line


async def test_one_service_at_loopback_is_enough_and_readers_get_the_real_address(place: Place) -> None:
    line = await looked_up(place, {"cdx": rows(ROW), "replay": played})
    assert (line["outcome"], line["service"], line["stamp"]) == ("found", "wayback", STAMP)
    assert line["snapshot"] == f"https://web.archive.org/web/{STAMP}/{URL}"


async def test_a_copy_whose_archive_does_not_answer_is_an_error_though_another_archive_says_none(place: Place) -> None:
    place.environ |= {"WEBOID_ARCHIVE_ARQUIVO_BASE": "http://127.0.0.1:1"}
    copy = f"https://arquivo.pt/wayback/{STAMP}/{URL}"
    line = await looked_up(place, {"cdx": rows("[]"), "available": EMPTY}, copy)
    output = [(tried["service"], tried["outcome"]) for tried in line["tries"]]
    assert output[:2] == [("arquivo", "error"), ("wayback", "none")]
    assert line["outcome"] == "error"


async def test_a_file_of_an_ftp_server_is_found_under_its_own_url_only(place: Place) -> None:
    file = "ftp://ftp.mill.example.com/wheel.txt"
    row = ROW.replace("text/html 200", "text/plain 226")
    listed = [row.replace(URL, file), row.replace(URL, file.replace("ftp://", "http://"))]

    def replay(asked: Asked) -> bytes:
        return played(asked, b"a wheel " * 50)

    printed = [await looked_up(place, {"cdx": rows(each), "replay": replay}, file) for each in listed]
    assert [line["outcome"] for line in printed] == ["found", "unsuitable"]


@pytest.mark.parametrize("given", [True, False], ids=["given", "listed as good"])
async def test_a_copy_that_redirects_is_followed_by_any_name(place: Place, given: bool) -> None:
    target = "https://www.mill.example.com/museum/wheel"

    def replay(asked: Asked) -> bytes:
        location = f"Location: https://web.archive.org/web/{STAMP}id_/{target}"
        return played(asked) if asked.target.endswith(target) else played(asked, b"", location, status=301)

    copy = f"https://web.archive.org/web/{STAMP}/{URL}"
    line = await looked_up(place, {"cdx": rows(ROW), "replay": replay}, copy if given else URL)
    assert (line["outcome"], line["snapshot"], len(line["tries"])) == ("found", copy, 1)


@pytest.mark.parametrize(
    ("replay", "outcome"),
    [(EXCLUDED, "excluded"), (lambda asked: played(asked, b"no", status=429), "unsuitable"), (NOT_HERE, "none")],
    ids=["excluded", "of another status", "not found"],
)
async def test_a_given_copy_that_is_there_in_some_way_is_never_none(place: Place, replay: Answer, outcome: str) -> None:
    answers: dict[str, Answer] = {"cdx": rows("[]"), "available": EMPTY, "replay": replay}
    assert (await looked_up(place, answers, f"https://web.archive.org/web/{STAMP}/{URL}"))["outcome"] == outcome

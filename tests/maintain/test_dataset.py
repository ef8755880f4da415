import csv
import gzip
import hashlib
import io
import re
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest
from support.observations import FINE, LOST
from support.stored import WikiInStore, open_wiki

from weboid.core.observe.observation import Observation
from weboid.maintain import dataset
from weboid.maintain.dataset import COLUMNS, KEPT_DAYS, PERIOD_DAYS, publish
from weboid.store.lists.dataset import PARTS, SetKind, find_piece, find_progress, list_files, list_pieces, record_piece

LINKS = {
    1: ["http://a.demo/1", 'http://a.demo/2,"b"', "http://b.demo/"],
    2: ["http://a.demo/1", "http://a.demo/lost", "http://lost.demo/"],
}


def answer(url: str, day: int) -> Observation:
    return LOST if "lost" in url else FINE


async def packed(wiki: WikiInStore, day: int, kind: SetKind) -> bytes:
    async with wiki.pool.connection() as conn:
        pieces = [await find_piece(conn, day, 0, kind, each) or b"" for each in await list_pieces(conn, day, 0, kind)]
    return b"".join(pieces)


async def lines(wiki: WikiInStore, day: int, kind: SetKind = SetKind.HOSTS) -> list[list[str]]:
    text = gzip.decompress(await packed(wiki, day, kind)).decode()
    return list(csv.reader(io.StringIO(text)))


async def test_the_files_count_by_wiki_host_and_status_and_list_all_urls_once_a_week(database: str) -> None:
    async with open_wiki(database, LINKS) as wiki:
        await (await wiki.another("otherwiki")).take_in({1: ["http://a.demo/1", "http://new.demo/"]}, 115)
        for day in (100, 103, 107, 110, 114, 115, 116):
            await wiki.round(day, answer)
        await wiki.execute("UPDATE url SET asked = NULL, reason = NULL, status = 0 WHERE since = 115")
        assert await publish(wiki.pool, 121)
        head, *rows = await lines(wiki, 121)
        assert tuple(head) == COLUMNS[SetKind.HOSTS]
        assert sorted(rows)[-3:] == [
            ["testwiki", "a.demo", "18", "not-found", "1", "1", "1"],
            ["testwiki", "b.demo", "1", "fine", "1", "1", "0"],
            ["testwiki", "lost.demo", "18", "not-found", "1", "1", "1"],
        ]
        head, *rows = await lines(wiki, 121, SetKind.URLS)
        assert tuple(head) == COLUMNS[SetKind.URLS]
        assert sorted(rows) == [
            ["http://a.demo/1", "working", "ok", "2017-04-11", "2017-04-25", "3", "otherwiki testwiki"],
            ["http://a.demo/2,%22b%22", "working", "ok", "2017-04-11", "2017-04-25", "1", "testwiki"],
            ["http://a.demo/lost", "dead", "not-found", "2017-04-11", "2017-04-25", "1", "testwiki"],
            ["http://b.demo/", "working", "ok", "2017-04-11", "2017-04-25", "1", "testwiki"],
            ["http://lost.demo/", "dead", "not-found", "2017-04-11", "2017-04-25", "1", "testwiki"],
            ["http://new.demo/", "unknown", "", "", "", "1", "otherwiki"],
        ]
        for listed in await wiki.do(list_files):
            whole = await packed(wiki, 121, SetKind(listed.kind))
            assert (listed.day, listed.farm_name, listed.size) == (121, "wmflabs", len(whole))
            assert listed.sha256 == hashlib.sha256(whole).digest()
            assert listed.lines == len(await lines(wiki, 121, SetKind(listed.kind))) - 1
        # They are made once a week, and old ones go.
        assert not await publish(wiki.pool, 121 + PERIOD_DAYS - 1)
        assert await publish(wiki.pool, 121 + PERIOD_DAYS)
        assert await publish(wiki.pool, 122 + KEPT_DAYS)
        assert [each.day for each in await wiki.do(list_files)] == [122 + KEPT_DAYS] * 2 + [121 + PERIOD_DAYS] * 2
        assert len(await wiki.rows("SELECT DISTINCT day FROM dataset")) == 2


@pytest.mark.parametrize("kind", SetKind)
async def test_a_killed_run_goes_on_where_it_was_and_is_listed_only_when_whole(database: str, kind: SetKind) -> None:
    async with open_wiki(database, LINKS) as wiki:
        async with wiki.pool.connection() as conn:
            head = dataset._member([], kind, has_head=True)
            await record_piece(conn, 100, 0, kind, 0, lines=0, body=head)
            assert await list_files(conn) == []
            assert await find_progress(conn, kind) == (100, 1)
        done: list[int] = []
        assert await publish(wiki.pool, 103, show=done.append)
        assert (kind * PARTS + 1 in done, done[-1]) == (False, 2 * PARTS)
        assert tuple((await lines(wiki, 100, kind))[0]) == COLUMNS[kind]
        assert {(each.day, each.kind) for each in await wiki.do(list_files)} == {(100, kind), (103, 1 - kind)}


async def test_a_host_of_many_urls_comes_in_pieces(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "URLS", 10)
    many = [f"http://a.demo/{number}" for number in range(25)]
    async with open_wiki(database, {1: many}) as wiki:
        assert await publish(wiki.pool, 121)
        assert sorted(url for url, *_ in await lines(wiki, 121, SetKind.URLS)) == [*sorted(many), "url"]
        pieces = await wiki.do(list_pieces, 121, 0, SetKind.URLS)
        assert [each.lines for each in pieces if each.lines] == [10, 10, 5]
        assert len(pieces) == PARTS + 2


async def test_the_example_in_the_documents_says_which_hosts_died_this_year(database: str, tmp_path: Path) -> None:
    api = Path(__file__).parents[2].joinpath("docs/api.md").read_text(encoding="utf-8")
    (example,) = (each for each in re.findall(r"```python\n(.*?)```", api, re.DOTALL) if "died" in each)
    async with open_wiki(database, LINKS) as wiki:
        for day in (100, 103, 107, 110, 114, 115, 116):
            await wiki.round(day, answer)
        assert await publish(wiki.pool, 121)
        file = tmp_path / "urls.csv.gz"
        file.write_bytes(await packed(wiki, 121, SetKind.URLS))
    for year, expected in (("2017", b"lost.demo 2017-04-11 1\n"), ("2018", b"")):
        ran = await create_subprocess_exec(sys.executable, "-c", example, str(file), year, stdout=PIPE)
        assert (await ran.communicate())[0] == expected

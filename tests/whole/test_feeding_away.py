"""The database goes away under commands that feed and maintain: they wait, say so once, and end as if it had not.

That each of their steps may be done twice is asked where these are tested (``support/killing``).
"""

from pathlib import Path
from typing import Final

import pytest
from support.away import AWAY, Running
from support.commands import Place, open_place
from support.database_proxy import open_database_proxy
from support.eventmaker import links_added
from support.sseserver import open_event_server

from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import Url
from weboid.demo.world import World
from weboid.store.db.key_scheme import KeyScheme
from weboid.store.db.pool import open_pool
from weboid.store.upkeep.rekey import rekey

_PAGES: Final = 500
_BETWEEN: Final = ",\n  "
_DUMP: Final = ["feed", "dump", "awiki@wmflabs", "--page", "page.sql", "--externallinks", "links.sql", "--day", "100"]


def _write_dumps(folder: Path) -> None:
    """A wiki's dumps: pages with a link each."""
    numbers, texts = (
        "page_id page_namespace page_is_redirect page_latest",
        "page_title page_links_updated page_content_model",
    )
    rows = {
        ("page", numbers, texts): "({0},0,0,1,'Page_{0}','20260102030405','wikitext')",
        ("externallinks", "el_id el_from", "el_to_domain_index el_to_path"): "({0},{0},'http://demo.h{1}.','/{0}')",
    }
    for (name, numbers, texts), row in rows.items():
        columns = [f"`{column}` int(10)" for column in numbers.split()]
        columns += [f"`{column}` varbinary(255)" for column in texts.split()]
        body = ",\n".join(row.format(page, page % 97) for page in range(1, _PAGES + 1))
        head = f"CREATE TABLE `{name}` (\n{_BETWEEN.join(columns)}\n) ENGINE=InnoDB;\n"
        (folder / f"{name.removeprefix('external')}.sql").write_text(
            f"{head}INSERT INTO `{name}` VALUES\n{body};\n", encoding="utf-8"
        )


def _sibling(url: Url) -> UrlKey:
    bucket, *rest = key_of(url)
    return UrlKey(bucket | 1, *rest)


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (_DUMP, b"COPY url"),
        (["feed", "pass", "--day", "101"], b"COPY url"),
        (["feed", "events", "--once", "--farm", "wmflabs", "--day", "101"], b"INSERT INTO stream_position"),
        (["maintain", "--day", "101"], b"INSERT INTO dataset"),
        (["check-store", "--day", "101"], b"FROM url"),
        (["rekey", "--day", "101"], b"DELETE FROM url"),
    ],
    ids=["dump", "pass", "events", "maintain", "check-store", "rekey"],
)
async def test_a_command_waits_for_a_database_that_goes_away_in_its_middle(
    database: str, tmp_path: Path, words: list[str], at: bytes
) -> None:
    _write_dumps(tmp_path)
    async with (
        open_place(tmp_path, World({}), {"Page": ["http://new.demo/"]}) as place,
        open_event_server([links_added(1, ["http://other.demo/"], 1, wiki="demowiki")]) as server,
    ):
        place.environ |= {"WEBOID_DATABASE": database, "WEBOID_FEED_STREAMS": server.url}
        if words != _DUMP:
            assert (await place.run(*_DUMP)).status == 0
        if words[0] == "rekey":
            async with open_pool(database, size=2, part="test") as pool:
                await rekey(pool, 100, KeyScheme(suffix_version="another", key=_sibling))
        with open_database_proxy(database) as proxy:
            place.environ["WEBOID_DATABASE"] = proxy.dsn
            proxy.cut_at(at, is_passed=False)
            running = Running(await place.start(*words))
            await running.until_away()
            proxy.heal()
            assert await running.ended() == 0, running.said
        assert running.count(AWAY) == 1, running.said
        place.environ["WEBOID_DATABASE"] = database
        checked = await place.run("check-store", "--day", "102")
        assert checked.status == 0, checked.err + checked.out


@pytest.mark.parametrize(
    "words", [_DUMP, ["feed", "pass"], ["maintain"], ["check-store"], ["rekey"]], ids=lambda words: words[0]
)
async def test_a_command_of_a_person_ends_at_once_if_the_database_is_away_at_its_start(
    database: str, tmp_path: Path, words: list[str]
) -> None:
    _write_dumps(tmp_path)
    place = Place(tmp_path)
    place.watch("awiki@wmflabs", "http://127.0.0.1:1/api.php")
    with open_database_proxy(database) as proxy:
        proxy.cut()
        place.environ["WEBOID_DATABASE"] = proxy.dsn
        ran = await place.run(*words)
    assert ran.status == 2
    assert "cannot reach the database" in ran.err
    assert "Traceback" not in ran.err

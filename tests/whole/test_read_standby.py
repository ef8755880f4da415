"""The webservice reads from a standby: every address answers as without, and pages when the primary is gone (O-4)."""

import asyncio
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from support.away import PAGES, URLS, WORLD, Running
from support.commands import open_place
from support.standby import open_pair

_WIKI = "dbname=demowiki@wmflabs"
_PATHS = [
    *(f"api/page?{_WIKI}&pageid=2", f"externalLinkInfo?{_WIKI}&pageid=2", f"externalLinkProblem?{_WIKI}&pageid=2"),
    *(f"api/pages?{_WIKI}&namespace=0", f"lists/dead?{_WIKI}", f"lists/spam?{_WIKI}", f"changes?{_WIKI}&since=0"),
    *(f"feeds/dead?{_WIKI}", f"feeds/spam?{_WIKI}", "wiki/demowiki@wmflabs"),
    *("wikis", "search?q=a.demo", "data", "help"),
    *(
        f"api/unrepaired?{_WIKI}&pageid=2",
        "domain/h0.demo",
        f"api/url?{_WIKI}&url={quote(URLS[0])}",
        f"url?url={quote(URLS[0])}",
    ),
    *("", "policy", "healthz", "healthz/alarms", "status", "metrics", "api/openapi.json", "account", "report", "robot"),
]

_WITH_FORMS = (f"url?url={quote(URLS[0])}", "search?q=a.demo")


@pytest.mark.long
async def test_each_address_answers_with_a_standby_as_without_and_pages_go_on_without_the_primary(
    server_folder: Path, tmp_path: Path
) -> None:
    with open_pair(server_folder / "read") as (both, running):
        async with open_place(tmp_path, WORLD, PAGES) as place:
            place.environ["WEBOID_DATABASE"] = both.primary
            assert (await place.run("feed", "pass", "--day", "100")).status == 0
            assert (await place.run("crawl", "--once", "--day", "100")).status == 0
            await both.replayed()
            plain = Running(await place.start("serve", "--port=0", "--day", "100"))
            place.environ["WEBOID_DATABASE_READ"] = both.standby
            split = Running(await place.start("serve", "--port=0", "--day", "100"))
            async with aiohttp.ClientSession() as client:
                while (await _get(client, await split.url(), "healthz/alarms"))[0] == 503:
                    await asyncio.sleep(0.1)  # until it is known how far the standby is behind
                answers = [[await _get(client, await each.url(), path) for path in _PATHS] for each in (plain, split)]
                assert [status for status, _ in answers[0]] == [status for status, _ in answers[1]]
                differ = {path for path, plainly, split_up in zip(_PATHS, *answers, strict=True) if plainly != split_up}
                assert differ <= {"status", "metrics", *_WITH_FORMS}
                running.close()
                for path, before in zip(_PATHS, answers[1], strict=True):
                    status, text = await _get(client, await split.url(), path)
                    assert (path, status) == (path, before[0])
                    assert text == before[1] or path in differ, path
            for each in (plain, split):
                await each.stop()


async def _get(client: aiohttp.ClientSession, url: str, path: str) -> tuple[int, str]:
    async with client.get(url + path) as answer:
        return answer.status, (await answer.text()).replace(url, "")

"""B-6: operators of bots state that repairs were undone; the link is frozen on that wiki, and answers tell it."""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lxml import etree
from support.stored import key
from support.webservice import DEAD, MOVED, TODAY, Site, open_service

from weboid.assets import asset
from weboid.core.verdict.report_json import RevertReason
from weboid.store.archives.wiki_settings import StoredSettings, record_settings
from weboid.store.people.audit import list_audit
from weboid.store.people.revert import RevertState, list_reverts

TRUSTED = {"Authorization": "Bearer known"}
ANSWER = "/api/page?dbname=testwiki@wmflabs&pageid=1&all=1"
FORM = {"dbname": "testwiki@wmflabs", "pageid": "1", "revid": "77", "url": DEAD, "reverter": "Ann", "why": "link-works"}


@pytest_asyncio.fixture(loop_scope="module")
async def site(site_database: str, tmp_path: Path) -> AsyncIterator[Site]:
    tokens = f"deadbot:{sha256(b'known').hexdigest()}"
    async with open_service(site_database, tmp_path, environ={"WEBOID_WEB_TOKENS": tokens}) as service:
        yield service


async def state(site: Site, expected: int = 201, token: str = "known", **changes: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with site.client.post(f"{site.url}/api/reverts", data=FORM | changes, headers=headers) as response:
        assert response.status == expected, await response.text()
        assert response.headers["Cache-Control"] == "no-store" or expected >= 400
        return await response.json()


async def flags(site: Site, path: str = ANSWER) -> dict[str, list[str]]:
    pages = json.loads((await site.fetch(path))[1])["pages"]
    return {link["normal"]: link["flags"] for page in pages for link in page["links"] if link["flags"]}


async def test_a_revert_is_kept_with_its_reverter_and_logged_with_the_clients_name(site: Site) -> None:
    shown = await state(site, reverter="Änn/192.0.2.1")
    assert shown["version"] == 2
    expected = {"wiki": "testwiki@wmflabs", "page": 1, "revision": 77, "normal": DEAD, "state": "open"}
    assert shown["revert"] == {"id": shown["revert"]["id"], **expected}
    async with site.wiki.pool.connection() as conn:
        (listed,) = await list_reverts(conn, RevertState.OPEN)
        (entry,) = await list_audit(conn)
    said = listed.revert.stated
    assert (said.key, said.page, said.revision, said.why) == (key(DEAD), 1, 77, "link-works")
    assert (said.reverter, said.client, listed.revert.day) == ("Änn/192.0.2.1", "deadbot", TODAY)
    assert (entry.action, entry.subject, entry.name, entry.object) == ("revert", "", "deadbot", DEAD)
    assert entry.detail == "testwiki@wmflabs 1 77 link-works: Änn/192.0.2.1"


async def test_it_freezes_the_link_and_changes_nothing_else_that_is_reported(site: Site) -> None:
    before = json.loads((await site.fetch(ANSWER))[1])
    await state(site)
    after = json.loads((await site.fetch(ANSWER))[1])
    (frozen,) = [link for link in after["pages"][0]["links"] if link["flags"]]
    assert (frozen["normal"], frozen["flags"], frozen["reported"]) == (DEAD, ["frozen"], None)
    frozen["flags"] = []
    assert after == before
    assert await site.wiki.rows("SELECT FROM report") == []


@pytest.mark.parametrize("path", [ANSWER, f"{ANSWER}&revid=7", f"{ANSWER}&format=html"])
async def test_an_answer_that_somebody_has_is_stale_once_a_link_is_frozen(site: Site, path: str) -> None:
    tag = (await site.fetch(path))[2].headers["ETag"]
    assert (await site.fetch(path, If_None_Match=tag))[0] == 304
    await state(site)
    assert (await site.fetch(path, If_None_Match=tag))[0] == 200


async def test_it_is_reported_live_and_as_stored_in_json_xml_and_of_one_url(site: Site) -> None:
    await state(site)
    one = f"/api/url?dbname=testwiki@wmflabs&pageid=1&url={DEAD.replace('&', '%26').replace('%22', '%2522')}"
    for site.source.silent in (True, False):
        assert await flags(site) == await flags(site, one) == {DEAD: ["frozen"]}
        tree = etree.fromstring((await site.fetch(f"{ANSWER}&format=xml"))[1].encode())
        links = {link.get("normal"): [flag.text for flag in link.iter("flag")] for link in tree.iter("link")}
        assert (links[DEAD], links[MOVED]) == (["frozen"], [])


async def test_lists_and_changes_of_the_wiki_tell_it_too(site: Site) -> None:
    await state(site)
    wiki = "dbname=testwiki@wmflabs"
    assert await flags(site, f"/lists/dead?{wiki}&format=json") == {DEAD: ["frozen"]}
    changes = json.loads((await site.fetch(f"/changes?{wiki}&since=0"))[1])["changes"]
    assert [each["link"]["flags"] for each in changes if each["link"]["normal"] == DEAD] == [["frozen"]]


async def test_what_the_wikis_settings_say_of_links_is_reported_with_it(site: Site) -> None:
    page = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    page |= {"dbname": "testwiki@wmflabs", "links": {"permadead": ["dead.demo"], "subscription": ["http://a.demo/o"]}}
    await site.wiki.do(record_settings, StoredSettings(site.wiki.wiki.wiki, TODAY, json.dumps(page)))
    await state(site)
    for site.source.silent in (True, False):
        assert await flags(site) == {DEAD: ["frozen", "permadead"], MOVED: ["subscription"]}


async def test_what_cannot_be_kept_is_refused_in_words(site: Site) -> None:
    for changes, http, error in [
        ({"url": ""}, 400, "no-url"),
        ({"url": "http://unknown.demo/"}, 404, "not-watched"),
        ({"url": "http://fine.demo/\u0000"}, 400, "request"),
        ({"url": f"http://a.demo/{'x' * 9_000}"}, 404, "url"),
        ({"dbname": "nowiki@wmflabs"}, 404, "unknown-wiki"),
        ({"pageid": "1|2"}, 400, "revid"),
        ({"revid": ""}, 400, "revid"),
        ({"revid": "9" * 19}, 400, "revid"),
        ({"reverter": ""}, 400, "reverter"),
        ({"reverter": "x" * 256}, 400, "reverter"),
        ({"reverter": "a\nb"}, 400, "reverter"),
        ({"why": ""}, 400, "revert-why"),
        ({"why": "because"}, 400, "revert-why"),
        ({"format": "exe"}, 400, "format"),
    ]:
        shown = await state(site, http, "known", **changes)
        assert shown["error"]["key"] == f"weboid-error-{error}", changes
        assert await site.wiki.rows("SELECT FROM revert") == [], changes
        assert await site.wiki.do(list_audit) == []


@pytest.mark.parametrize("reverter", ["<script>alert(1)</script>", "\u202egnp", "'; DROP TABLE revert; --", "x" * 255])
async def test_hostile_names_are_kept_as_they_are_and_every_reason_is_taken(site: Site, reverter: str) -> None:
    for number, reason in enumerate(RevertReason, start=1):
        await state(site, why=reason.value, revid=str(number), reverter=reverter)
    assert set(await site.wiki.rows("SELECT reverter FROM revert")) == {(reverter,)}


async def test_only_trusted_clients_state_reverts(site: Site) -> None:
    for token, http, error in [("", 403, "trusted-revert"), ("other", 401, "token")]:
        assert (await state(site, http, token))["error"]["key"] == f"weboid-error-{error}", token
        assert await site.wiki.rows("SELECT FROM revert") == [], token


async def test_it_is_no_address_to_be_opened(site: Site) -> None:
    status, _, response = await site.fetch("/api/reverts", **TRUSTED)
    assert (status, response.headers["Allow"]) == (405, "OPTIONS, POST")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_the_example_in_the_documents_does_it(site: Site) -> None:
    text = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^curl .*/api/reverts.*", text, re.MULTILINE)
    for written, here in (
        *(("https://…", site.url), ("dewiki@WMF", "testwiki@wmflabs"), ("http://example.net/gone", DEAD)),
        ("$WEBOID_TOKEN", "known"),
    ):
        assert written in command
        command = command.replace(written, here)
    process = await asyncio.create_subprocess_shell(
        f"{command} --silent --fail --noproxy '*'", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert json.loads(out)["revert"]["normal"] == DEAD

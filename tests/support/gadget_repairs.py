"""What tests of the gadget's repairs share: the dialog in a real wiki, how it is opened, and what was saved."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import BrowserContext, Locator, Page, expect
from support.browser import open_browser
from support.gadget import GadgetWiki, View, install_gadget
from support.gadget_article import DAY, DEAD, FIRST_DAY, record_stories
from support.matching import open_meeting
from support.mediawiki import MediaWiki


@asynccontextmanager
async def open_gadget(wiki: MediaWiki, database: str, folder: Path) -> AsyncIterator[GadgetWiki]:
    """The gadget on a wiki that is started, a Weboid that knows its links, and a browser."""
    async with open_meeting(wiki, database, folder, first_day=FIRST_DAY, day=DAY) as meeting, open_browser() as browser:
        await record_stories(database)
        await asyncio.to_thread(install_gadget, wiki, meeting.weboid)
        yield GadgetWiki(meeting, browser, {title: page for page, title in (await meeting.pages()).items()})


async def text_of(gadget: GadgetWiki, title: str) -> tuple[str, str]:
    """The newest text of a page, and the summary of its edit."""
    answer = await gadget.meeting.ask_wiki(
        action="query", prop="revisions", titles=title, rvprop="content|comment", rvslots="main"
    )
    (revision,) = answer["query"]["pages"][0]["revisions"]
    return revision["slots"]["main"]["content"], revision["comment"]


def dialog_of(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Repair dead links of this page")


async def open_from_card(page: Page, url: str = DEAD) -> Locator:
    """The dialog of one link, by keyboard."""
    await page.locator(f'#mw-content-text a[href="{url}"] + .weboid-place > .weboid-mark').first.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Repair this link").press("Enter")
    return await shown(page)


async def shown(page: Page) -> Locator:
    """The dialog, once it waits for nothing."""
    dialog = dialog_of(page)
    await expect(dialog).to_have_attribute("aria-busy", "false", timeout=30_000)
    return dialog


async def post_to_wiki(context: BrowserContext, gadget: GadgetWiki, kind: str = "csrf", **form: str) -> None:
    """Sends something to the wiki's API as the account of a session, with a token of that kind."""
    api = gadget.meeting.wiki.api
    answer = await context.request.get(f"{api}?action=query&meta=tokens&type={kind}&format=json")
    token = (await answer.json())["query"]["tokens"][f"{kind}token"]
    done = await context.request.post(api, form={**form, "token": token, "format": "json"})
    assert "error" not in await done.json(), await done.text()


async def prefer_saving(context: BrowserContext, gadget: GadgetWiki) -> None:
    """Repairs of this account are saved at once."""
    value = json.dumps({"direct": True})
    await post_to_wiki(context, gadget, action="options", optionname="userjs-weboid", optionvalue=value)


async def marks_of(view: View, url: str = DEAD) -> int:
    return [href for href, _ in await view.marks()].count(url)

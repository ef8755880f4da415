"""The second part of a card: asked for when it is opened, a stranger's words as such, who else links there (R-8)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect
from support.browser import PHONE, Colors, needs_browser, overflow_px
from support.gadget_page import DAY, DEAD, load_page

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.asyncio(loop_scope="session")]

_SERVICE = "https://weboid.toolforge.org/"
_LIVING = {**DEAD, "verdict": "working", "since": None, "snapshots": []}
_CARD: dict[str, Any] = {
    "state": "known",
    "title": "The Tower",
    "author": "Ann Lee",
    "description": "What stands there.",
    "language": "fr",
    "mime": None,
    "size_kib": 12,
    "holds": {"headings": 3, "links": 20, "pictures": 4, "whole": True},
    "click": {"download": False, "other_site": "other.demo", "other_language": True, "leaves_https": True},
}
_ANSWER: dict[str, Any] = {
    "wiki": "dewiki@WMF",
    "card": _CARD,
    "others": [
        {"wiki": "dewiki@WMF", "page": 8, "namespace": 0, "title": "Tower"},
        {"wiki": "frwiki@WMF", "page": 9, "namespace": 0, "title": "Tour"},
    ],
    "mapped": [{"url": "https://maps.demo/a", "title": "A map", "description": "Of towers."}],
}


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page that asks another server, which is the test."""
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


async def opened(
    page: Page, *answers: Any, language: str = "en", width: int = 1280, colors: Colors = "light"
) -> list[str]:
    """Opens the card of a link and presses its button; returns the addresses that were asked, one answer for each."""
    asked: list[str] = []

    async def answer(route: Route) -> None:
        asked.append(route.request.url)
        answered = answers[min(len(asked), len(answers)) - 1]
        if answered is None:
            await route.abort()
        else:
            await route.fulfill(json=answered, headers={"Access-Control-Allow-Origin": "*"})

    config = {"wgScript": "/w/index.php", "wgPageContentLanguage": "de"}
    body = "<p>Before it <a href='#1'>one</a>.</p>"
    await load_page(page, body, language=language, width=width, colors=colors, config=config, options=None)
    await page.route(f"{_SERVICE}**", answer)
    await page.evaluate("mw.storage.setObject('weboid-preferences', {cards: 'all'})")
    await page.evaluate("([links, day]) => markAll(links, day)", [[_LIVING], DAY])
    await page.locator(".weboid-mark").focus()
    await page.keyboard.press("Enter")
    assert asked == []
    await page.locator(".weboid-about-button").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".weboid-about")).to_be_visible()
    return asked


async def test_it_is_asked_for_when_it_is_opened_and_says_whose_words_are_whose(page: Page) -> None:
    asked = await opened(page, _ANSWER)
    part = page.locator(".weboid-about")
    await expect(part.locator("blockquote")).to_be_visible()
    (address,) = asked
    for piece in ("/api/card?url=http%3A%2F%2Fdead.example%2Fpage", "pageid=7", "pagelang=de", "dbname=dewiki%40WMF"):
        assert piece in address
    assert await part.locator("blockquote > p").all_inner_texts() == ["The Tower", "Ann Lee", "What stands there."]
    assert await part.locator("blockquote").get_attribute("lang") == "fr"
    text = await part.inner_text()
    for words in (
        *("The site says of itself:", "Language: French", "Headings: 3, links: 20, pictures: 4", "site: other.demo"),
        *("in another language", "not encrypted", "Tour frwiki@WMF", "Of towers."),
    ):
        assert words in text
    links = await part.locator("a").evaluate_all("links => links.map(link => link.href)")
    assert links == ["http://127.0.0.1:8000/w/index.php?curid=8", "https://maps.demo/a"]
    await page.set_viewport_size({"width": 1280, "height": 300})
    await page.set_viewport_size({"width": 1280, "height": 400})
    await expect(part.locator("blockquote")).to_be_in_viewport()
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "Tower"
    await page.keyboard.press("Escape")
    await expect(page.locator(".weboid-card")).to_have_count(0)


async def test_hostile_words_are_text_and_stay_in_their_place(page: Page) -> None:
    hostile = "<img src=x onerror=window.hacked=1>\u202egnp " + "Weboid: safe " * 200
    card = {**_CARD, "title": hostile, "author": {"a": 1}, "description": hostile, "language": "\u202e<b>"}
    mapped = [{"url": "javascript:window.hacked=1", "title": hostile, "description": 7}, None, 7]
    others = [{"wiki": "dewiki@WMF", "page": "7&x", "title": hostile}]
    answer = {**_ANSWER, "card": card, "mapped": mapped, "others": others}
    await opened(page, answer, width=PHONE)
    part = page.locator(".weboid-about")
    await expect(part.locator("blockquote")).to_be_visible()
    assert await part.locator("img, script, b").count() == 0
    assert await part.locator("a").count() == 0
    assert await page.evaluate("window.hacked") is None
    box = await part.locator("blockquote").bounding_box()
    assert box is not None
    assert box["height"] <= 160
    shown = await page.locator(".weboid-card").bounding_box()
    assert shown is not None
    assert shown["y"] <= box["y"] < shown["y"] + shown["height"]
    assert await overflow_px(page) == 0


async def test_what_is_not_known_yet_is_asked_for_again_and_not_for_ever(page: Page) -> None:
    await page.clock.install()
    pending = {**_ANSWER, "card": {**_CARD, "state": "pending", "title": None, "author": None, "description": None}}
    asked = await opened(page, pending)
    for count in (1, 2, 3, 3):
        await expect(page.locator(".weboid-about [role=status]")).to_have_text("Nothing is known of the document yet.")
        assert len(asked) == count
        await page.clock.run_for(5_000)
        await page.wait_for_timeout(200)


@pytest.mark.parametrize("answer", [None, {}, {"card": 7}, {"card": {"state": "none", "click": None}}])
async def test_without_an_answer_it_says_so(page: Page, answer: Any) -> None:
    await opened(page, answer)
    status = page.locator(".weboid-about [role=status]")
    await expect(status).to_have_text(
        "The service did not answer." if answer is None else "Nothing more is known of the document."
    )

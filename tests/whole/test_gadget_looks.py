"""How the gadget looks and behaves to readers, in all skins of a real wiki, to eyes and fingers.

What keys do and screen readers hear is in ``gadget/test_card`` and ``test_marks``, what settings bring in
``test_preferences``.
With ``WEBOID_TEST_SCREENSHOTS`` all combinations are visited and pictures of them kept.
"""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from typing import Any, Final, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect
from support.browser import DESK, PHONE, add_axe, barriers, keep_shot, needs_browser, overflow_px
from support.gadget import SETTINGS, SKINS, GadgetWiki, Skin, View
from support.gadget_article import ARTICLE, BARE, DAY, DEAD, MOVED, PDF, REPORTED, TITLE
from support.matching import started_wiki
from support.mediawiki import MediaWiki

from weboid.core.document.card import CardText
from weboid.core.url.urls import normal
from weboid.store.db.pool import open_pool
from weboid.store.urls.card import StoredCard, claim_look, record_card

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.asyncio(loop_scope="module")]


class Look(NamedTuple):
    """Under which circumstances somebody reads."""

    skin: Skin
    width: int
    language: str
    night: bool = False

    def __str__(self) -> str:
        return f"{self.skin}-{self.width}-{self.language}-{'night' if self.night else 'day'}"


_NIGHTLY: Final = ("vector-2022", "minerva")
"""The skins that have a night mode."""
_ALL: Final = [
    Look(skin, width, language, night)
    for skin, width, language, night in product(SKINS, (DESK, PHONE), ("en", "de", "ar"), (False, True))
    if skin in _NIGHTLY or not night
]
_SOME: Final = [
    Look("vector-2022", DESK, "en"),
    Look("vector-2022", PHONE, "de", night=True),
    Look("vector", DESK, "ar"),
    Look("minerva", PHONE, "ar", night=True),
    Look("monobook", DESK, "de"),
    Look("timeless", PHONE, "en"),
]
_WHOLE: Final = (_SOME[0], _SOME[3])
"""Looks in which all of the page is searched for barriers; in others just what the gadget has added to it."""
_LOOKS: Final = _ALL if os.environ.get("WEBOID_TEST_SCREENSHOTS") else _SOME
_PREFERRING: Final = "localStorage.setItem( 'weboid-preferences', JSON.stringify( %s ) )"
_HEIGHTS: Final = """() => {
    const content = document.querySelector( '#mw-content-text .mw-parser-output' );
    const height = ( shown ) => {
        for ( const each of content.querySelectorAll( '.weboid-place, .weboid-file' ) ) {
            each.style.display = shown ? '' : 'none';
        }
        return content.getBoundingClientRect().height;
    };
    content.style.whiteSpace = 'nowrap';
    return [ height( true ), height( false ), height( true ) ];
}"""
_SELECTED: Final = """() => {
    getSelection().selectAllChildren( document.querySelector( '#mw-content-text .mw-parser-output' ) );
    const text = getSelection().toString();
    getSelection().removeAllRanges();
    return text;
}"""
_SPACED: Final = """
* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
p { margin-bottom: 2em !important; }
"""
"""What readers may set (WCAG 1.4.12)."""
_OUTSIDE: Final = """() => {
    const card = document.querySelector( '.weboid-card' );
    const { left, right } = card.getBoundingClientRect();
    return [ ...card.querySelectorAll( '*' ) ].filter( ( each ) => {
        const box = each.getBoundingClientRect();
        return box.left < left || box.right > right;
    } ).map( ( each ) => each.outerHTML.slice( 0, 160 ) );
}"""
"""Parts of the card that are not within it from side to side."""
_SMALL: Final = """marks => marks.map( ( mark ) => mark.getBoundingClientRect() )
    .filter( ( { width, height } ) => width < 24 || height < 24 ).length"""
_ADDED: Final = (".weboid-card", ".weboid-summary", ".weboid-place", ".weboid-file")
_OVERFLOW_WITHOUT: Final = """() => {
    const added = [ ...document.querySelectorAll( '[class^=weboid]' ) ].map( ( each ) => [ each, each.style.display ] );
    added.forEach( ( [ each ] ) => { each.style.display = 'none'; } );
    const root = document.documentElement, wider = root.scrollWidth - root.clientWidth;
    added.forEach( ( [ each, display ] ) => { each.style.display = display; } );
    return wider;
}"""
"""By how much the page is wider than its window without what the gadget has added."""
_MOST_TABS: Final = 80


@pytest.fixture(scope="module")
def wiki() -> Iterator[MediaWiki]:
    with started_wiki({TITLE: ARTICLE}, SETTINGS) as wiki:
        yield wiki


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gadget(gadget: GadgetWiki, module_database: str) -> GadgetWiki:
    """The gadget on that wiki, and Weboid."""
    await record_texts(module_database)
    return gadget


async def record_texts(database: str) -> None:
    """Records what a look at the dead link found before it died: words that pass for ours, in another direction."""
    text = CardText("Weboid: safe \u2013 " + "برج مدينة قديمة " * 9, "Ann Lee", "word " * 50, "ar", 12, 345, 6)
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        assert await claim_look(conn, normal(DEAD), DAY, 9)
        await record_card(conn, normal(DEAD), StoredCard(text, 200, None, 64, "https://other.example/"))


@asynccontextmanager
async def article(gadget: GadgetWiki, **reader: Any) -> AsyncIterator[View]:
    """The article, marked; at the end nothing must have gone wrong in it."""
    async with gadget.view(TITLE, **reader) as view:
        await view.marked()
        yield view
        assert view.complaints + view.foreign_requests == []


def mark_of(page: Page, url: str) -> Locator:
    return page.locator(f'#mw-content-text a[href="{url}"] + .weboid-place > .weboid-mark').first


async def opened(page: Page, url: str) -> Locator:
    """The card of the first link that leads there, opened by keyboard."""
    await mark_of(page, url).focus()
    await page.keyboard.press("Enter")
    card = page.get_by_role("dialog")
    await expect(card).to_be_visible()
    await expect(card).to_be_focused()
    return card


async def barriers_but_size(page: Page, within: Sequence[str] = ()) -> set[str]:
    """Complaints of axe-core about the page, or elements of it, but for the size of targets that a line of text
    constrains (WCAG 2.5.8): a cell of a table with nothing but a link and its mark is no such line for it. How large
    marks are is asserted by itself.
    """
    return {line for line in await barriers(page, within) if not line.startswith("target-size:")}


async def tab_until(page: Page, wanted: Locator, key: str = "Tab") -> None:
    for _ in range(_MOST_TABS):
        await page.keyboard.press(key)
        if await wanted.evaluate("wanted => wanted === document.activeElement"):
            return
    await expect(wanted).to_be_focused()


async def assert_within_window(page: Page, element: Locator) -> None:
    box = await element.bounding_box()
    window = page.viewport_size
    assert box
    assert window
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= window["width"]
    assert box["y"] + box["height"] <= window["height"]


@pytest.mark.parametrize("look", _LOOKS, ids=str)
async def test_no_skin_has_barriers_overflow_or_higher_lines_by_the_gadget(gadget: GadgetWiki, look: Look) -> None:
    reader: dict[str, Any] = {"skin": look.skin, "language": look.language, "night": look.night}
    async with gadget.context(width=look.width, night=look.night) as context:
        await add_axe(context)
        await context.add_init_script(_PREFERRING % '{ "summary": true }')
        page_s_own: set[str] = set()
        if is_whole := look in _WHOLE:
            async with gadget.view(TITLE, context=context, query={"safemode": 1}, **reader) as bare:
                await bare.page.wait_for_load_state()
                page_s_own = await barriers_but_size(bare.page)
        async with article(gadget, context=context, **reader) as view:
            page = view.page
            await keep_shot(page, f"gadget-{look}-page")
            await expect(page.locator(".weboid-summary")).to_be_visible()
            await expect(page.locator("#t-weboid a")).to_have_count(1)
            assert await page.locator(".weboid-mark").evaluate_all(_SMALL) == 0
            card = await opened(page, DEAD)
            await page.wait_for_timeout(200)
            await keep_shot(page, f"gadget-{look}-card")
            assert await barriers_but_size(page, () if is_whole else _ADDED) - page_s_own == set()
            assert await overflow_px(page) <= await page.evaluate(_OVERFLOW_WITHOUT)
            assert await page.evaluate(_OUTSIDE) == []
            await assert_within_window(page, card)
            await card.locator(".weboid-about-button").press("Enter")
            await expect(card.locator("blockquote")).to_contain_text("Weboid: safe")
            await keep_shot(page, f"gadget-{look}-about")
            assert await barriers_but_size(page, (".weboid-card",)) == set()
            assert await page.evaluate(_OUTSIDE) == []
            await assert_within_window(page, card)
            await card.locator(".weboid-settings-button").press("Enter")
            settings = page.locator("dialog")
            await expect(settings).to_be_visible()
            await keep_shot(page, f"gadget-{look}-settings")
            assert await barriers_but_size(page, ("dialog",)) == set()
            await assert_within_window(page, settings)
            await page.keyboard.press("Escape")
            higher, plain, again = await page.evaluate(_HEIGHTS)
            assert higher == plain == again
            # A file is named in the reader's language and direction.
            file = page.locator(f'a[href="{PDF}"] + .weboid-file bdi').first
            await expect(file).to_have_attribute("dir", "rtl" if look.language == "ar" else "ltr")
            await expect(file).to_have_attribute("lang", look.language)


async def test_a_finger_opens_a_card_that_leaves_its_link_in_sight(gadget: GadgetWiki) -> None:
    async with article(gadget, width=PHONE, has_touch=True, is_mobile=True, skin="minerva") as view:
        page = view.page
        card = page.get_by_role("dialog")
        for url in (REPORTED, DEAD, MOVED):
            mark = mark_of(page, url)
            await mark.tap()
            await expect(card).to_be_visible()
            places = [await each.bounding_box() for each in (mark, card)]
            assert places[0]
            assert places[1]
            assert places[0]["y"] + places[0]["height"] <= places[1]["y"]
            await card.get_by_role("button", name="Close").tap()
            await expect(card).to_have_count(0)


async def test_copied_and_printed_text_is_the_articles(gadget: GadgetWiki) -> None:
    async with gadget.context() as context:
        async with gadget.view(TITLE, context=context, query={"safemode": 1}) as bare:
            text = await bare.page.evaluate(_SELECTED)
        async with article(gadget, context=context) as view:
            page = view.page
            assert await page.evaluate(_SELECTED) == text
            await opened(page, DEAD)
            await page.emulate_media(media="print")
            await expect(page.get_by_role("dialog")).to_be_hidden()
            printed = "mark => getComputedStyle( mark, '::before' ).content"
            assert await mark_of(page, BARE).evaluate(printed) in {'"[dead link]"', "attr(data-weboid-print)"}
            await keep_shot(page, "gadget-print")


async def test_readers_own_spacing_colours_and_zoom_leave_the_card_usable(gadget: GadgetWiki) -> None:
    # A window of 1280 by 1024 pixels at 400 %.
    async with article(gadget, width=320, height=256, forced_colors="active", reduced_motion="reduce") as view:
        page = view.page
        await page.add_style_tag(content=_SPACED)
        card = await opened(page, DEAD)
        await keep_shot(page, "gadget-zoom")
        assert await page.evaluate(_OUTSIDE) == []
        assert await overflow_px(page) <= 0
        await assert_within_window(page, card)
        assert await card.evaluate("card => getComputedStyle( card ).animationName") == "none"
        painted = "mark => getComputedStyle( mark, '::before' ).backgroundColor"
        assert await mark_of(page, DEAD).evaluate(painted) not in {"rgba(0, 0, 0, 0)", "rgb(255, 255, 255)"}
        settings = card.locator(".weboid-settings-button")
        await tab_until(page, settings)
        await assert_within_window(page, settings)

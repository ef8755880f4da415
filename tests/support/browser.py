"""For tests: a real browser (headless Chromium), and axe-core, which finds accessibility problems in its pages.

Without Chromium these tests are skipped with that reason.
"""

import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The shell, which draws no windows, takes half of the processor time that Chromium itself takes without any."""

CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on PATH")
Colors = Literal["light", "dark"]
PHONE, DESK = 320, 1280
"""Widths in CSS pixels."""

_SHOTS = os.environ.get("WEBOID_TEST_SCREENSHOTS")
"""A folder for pictures of all pages, for anyone who wants to look at them."""

_AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_ERROR_ANSWERED = "Failed to load resource: the server responded with a status of 4"
_STRUCTURE = Path(__file__).with_name("page_structure.js").read_text(encoding="utf-8")
"""Faults of structure, and what is too low to be touched with a finger."""

_TOUCH_PX = 44


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def open_page(
    browser: Browser, *, width: int = DESK, colors: Colors = "light", language: str = "en", scripts: bool = False
) -> AsyncIterator[Page]:
    """A page of a session of its own. It fails at the end if anything was asked of another server, or if the browser's
    console has anything to tell but that an address answered with an error.
    """
    context = await browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=colors, locale=language, java_script_enabled=scripts
    )
    if scripts:
        await add_axe(context)
    page = await context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(error.message))
    try:
        yield page
        foreign = {url for url in asked if not url.startswith(("http://127.0.0.1:", "data:"))}
        assert not foreign, foreign
        complaints = [text for text in complaints if not text.startswith(_ERROR_ANSWERED)]
        assert not complaints, complaints
    finally:
        await context.close()


async def add_axe(context: BrowserContext) -> None:
    """Lets `barriers` ask all pages of a session; sending axe-core to each anew takes longer than most pages do."""
    await context.add_init_script(_AXE)


async def barriers(page: Page, within: Sequence[str] = ()) -> list[str]:
    """What axe-core complains of, a line each, in the page or in the elements of these selectors that are there.

    The page must allow scripts.
    """
    found: dict[str, Any] = await page.evaluate(
        f"""within => axe.run(
            within.length ? {{include: within.filter(each => document.querySelector(each))}} : document,
            {{runOnly: {_RULES}, resultTypes: ['violations']}}
        )""",
        list(within),
    )
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:160]}" for rule in found["violations"] for node in rule["nodes"]
    ]


async def structure_faults(page: Page, width: int) -> list[str]:
    """Headings out of order, fields without a label, and on a phone what fingers miss, a line each."""
    found: list[str] = await page.evaluate(_STRUCTURE, _TOUCH_PX if width == PHONE else 0)
    return found


async def overflow_px(page: Page, text: str = "") -> int:
    """By how much a page is wider than its window, with letters of that size, such as ``200%``."""
    root = f"(root => {{ root.style.fontSize = '{text}'; return root.scrollWidth - root.clientWidth; }})"
    width: int = await page.evaluate(f"{root}(document.documentElement)")
    return width


async def keep_shot(page: Page, name: str) -> None:
    """Keeps a picture of the whole page, if a folder for them is named."""
    if _SHOTS:
        await page.screenshot(path=str(Path(_SHOTS) / f"{name}.png"), full_page=True)

"""For tests: a real browser, Debian's Chromium without a window, and axe-core, which looks for barriers in its pages.

Where there is no Chromium these tests are skipped and say so.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, Page, async_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on PATH")
Colors = Literal["light", "dark"]
PHONE, DESK = 320, 1280
"""Widths in CSS pixels."""

_SHOTS = os.environ.get("WEBOID_TEST_SCREENSHOTS")
"""A folder for pictures of all pages, for whoever wants to look at them."""

_AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """The browser, as root too."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def open_page(
    browser: Browser,
    *,
    width: int = DESK,
    colors: Colors = "light",
    language: str = "en",
    scripts: bool = False,
) -> AsyncIterator[Page]:
    """A page of a session of its own. It fails at the end if anything was asked for from elsewhere or broke the CSP."""
    context = await browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=colors, locale=language, java_script_enabled=scripts
    )
    page = await context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    try:
        yield page
        foreign = {url for url in asked if not url.startswith(("http://127.0.0.1:", "data:"))}
        assert not foreign, foreign
        assert not [text for text in complaints if "Content Security Policy" in text], complaints
    finally:
        await context.close()


async def barriers(page: Page) -> list[str]:
    """What axe-core complains of, a line each. The page must allow scripts."""
    await page.evaluate(_AXE)
    found: dict[str, Any] = await page.evaluate(f"axe.run(document, {{runOnly: {_RULES}}})")
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:160]}" for rule in found["violations"] for node in rule["nodes"]
    ]


async def overflow_px(page: Page) -> int:
    """By how much the page is wider than its window."""
    width: int = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width


async def keep_shot(page: Page, name: str) -> None:
    """Keeps a picture of the whole page, if a folder for them is named."""
    if _SHOTS:
        await page.screenshot(path=str(Path(_SHOTS) / f"{name}.png"), full_page=True)

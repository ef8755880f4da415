"""Fixtures: one browser for all modules about the gadget, and a page of it for each."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Page
from support.browser import open_browser, open_page
from support.gadget_modules import add_require


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser() as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    async with open_page(browser, scripts=True) as page:
        yield page


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def blank(page: Page) -> Page:
    """A blank page whose scripts get a module of the gadget by ``require( './core.js' )``."""
    await add_require(page)
    return page

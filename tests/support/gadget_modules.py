"""For tests: modules of the gadget that need no MediaWiki, in a real browser on a blank page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page
from support.browser import open_browser, open_page

GADGET: Final = Path(__file__).resolve().parents[2] / "gadget"
_REQUIRE: Final = """( sources ) => {
    const modules = new Map();
    window.require = ( name ) => {
        if ( !modules.has( name ) ) {
            const module = { exports: {} };
            modules.set( name, module );
            new Function( 'module', 'require', sources[ name ] )( module, window.require );
        }
        return modules.get( name ).exports;
    };
}"""


@asynccontextmanager
async def open_modules() -> AsyncIterator[Page]:
    """A page whose scripts get a module of the gadget by ``require( './core.js' )``, as modules get each other."""
    async with open_browser() as browser, open_page(browser, scripts=True) as page:
        await add_require(page)
        yield page


async def add_require(page: Page) -> None:
    """Defines ``require`` on any page."""
    sources: dict[str, Any] = {f"./{file.name}": file.read_text(encoding="utf-8") for file in GADGET.glob("*.js")}
    await page.evaluate(_REQUIRE, sources)

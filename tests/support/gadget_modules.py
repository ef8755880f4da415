"""For tests: modules of the gadget that need no MediaWiki, in a real browser on a blank page."""

from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page

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


async def add_require(page: Page) -> None:
    sources: dict[str, Any] = {f"./{file.name}": file.read_text(encoding="utf-8") for file in GADGET.glob("*.js")}
    await page.evaluate(_REQUIRE, sources)

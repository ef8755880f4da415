"""For tests: modules of the gadget that need no MediaWiki, in a real browser on a blank page."""

import re
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page

GADGET: Final = Path(__file__).resolve().parents[2] / "gadget"
_REQUIRE: Final = Path(__file__).with_name("gadget_modules.js").read_text(encoding="utf-8")
_FIRSTS: Final = {
    f"ext.gadget.{name}": f"./{first.removeprefix('weboid-')}"
    for name, first in re.findall(
        r"^\* ([\w-]+)\[.*?\]\|([^|\n]+)", (GADGET / "definition.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
}
"""The script that a part of the gadget begins with, by the name of its module."""


async def add_require(page: Page) -> None:
    sources: dict[str, Any] = {f"./{file.name}": file.read_text(encoding="utf-8") for file in GADGET.glob("*.js")}
    await page.evaluate(_REQUIRE, [sources, _FIRSTS])

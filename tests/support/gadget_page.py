"""For tests: the gadget's modules on a page of our own, with what they need of MediaWiki and nothing more.

The real wiki is another module's business; here a test says what the page and the answer are.
"""

import json
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page, Route
from support.browser import DESK, Colors
from support.gadget_modules import GADGET, add_require

from weboid.assets import asset
from weboid.web.words.messages import catalogue

_ADDRESS: Final = "http://127.0.0.1:8000/"
_TOKENS: Final = asset("weboid/web/static/codex")
_MEDIAWIKI: Final = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_HEIGHT: Final = 900
DAY: Final = "2026-11-23"

DEAD: Final[dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
"""A dead link as the API has it; tests change what they are about."""


async def load_page(
    page: Page,
    body: str,
    *,
    width: int = DESK,
    colors: Colors = "light",
    language: str = "en",
    config: dict[str, Any] | None = None,
    options: dict[str, str] | None = None,
) -> None:
    """Loads a page with that body. Its scripts get the gadget's modules by ``require( './card.js' )``.

    Nothing is left of what was loaded before; the pointer is where no link is.
    """

    async def answer(route: Route) -> None:
        await route.fulfill(content_type="text/html; charset=utf-8", body=_html(body, language, colors))

    words = {**catalogue("en"), **catalogue(language)}
    setting = {
        "messages": {key: text for key, text in words.items() if key.startswith("weboid-gadget-")},
        "service": json.loads((GADGET / "config.json").read_text(encoding="utf-8")),
        "options": options or {},
        "config": {
            "wgUserLanguage": language,
            "wgWikiID": "dewiki",
            "wgArticleId": 7,
            "wgUserName": None,
            "wgIsProbablyEditable": False,
            **(config or {}),
        },
    }
    await page.unroute_all()
    await page.route(f"{_ADDRESS}**", answer)
    await page.set_viewport_size({"width": width, "height": _HEIGHT})
    await page.emulate_media(media="screen", forced_colors="none")
    await page.mouse.move(width - 1, _HEIGHT - 1)
    await page.goto(_ADDRESS)
    await add_require(page)
    await page.evaluate(_MEDIAWIKI, setting)


def _html(body: str, language: str, colors: Colors) -> str:
    style = "".join(file.read_text(encoding="utf-8") for file in sorted(GADGET.glob("*.css"), reverse=True))
    # The browser asks for a page's icon at any time, also between two pages, when nothing answers for the address.
    icon = '<link rel="icon" href="data:,">'
    tokens = (_TOKENS / "theme-wikimedia-ui-root.css").read_text(encoding="utf-8")
    if colors == "dark":
        tokens += (_TOKENS / "theme-wikimedia-ui-mode-dark.css").read_text(encoding="utf-8")
    skin = """
        body { background: var(--background-color-base); color: var(--color-base); }
        body { font: 16px/1.625 sans-serif; margin: 1rem; }
        main a { color: var(--color-progressive); }
    """
    direction = "rtl" if language == "ar" else "ltr"
    return (
        f'<!DOCTYPE html><html lang="{language}" dir="{direction}"><meta charset="utf-8"><title>Page</title>'
        f'{icon}<meta name="viewport" content="width=device-width"><style>{tokens}{skin}{style}</style>'
        f"<main><h1>Page</h1>{body}</main></html>"
    )

"""Every page in a real browser: no barriers, no overflow on a phone, nothing from elsewhere, in all looks."""

import pytest
from browser import DESK, PHONE, Colors, barriers, keep_shot, needs_browser, open_browser, open_page, overflow_px
from webservice import PAGES, Site

pytestmark = [needs_browser, pytest.mark.timeout(300)]


@pytest.mark.parametrize("language", ["en", "de", "ar"])
@pytest.mark.parametrize("colors", ["light", "dark"])
async def test_no_page_has_a_barrier_or_is_wider_than_its_window(site: Site, colors: Colors, language: str) -> None:
    found = []
    async with open_browser() as browser:
        for width in (PHONE, DESK):
            async with open_page(browser, width=width, colors=colors, language=language, scripts=True) as page:
                for name, path in PAGES.items():
                    await page.goto(site.url + path)
                    await keep_shot(page, f"{name}-{width}-{colors}-{language}")
                    found += [f"{name} {width} {line}" for line in await barriers(page)]
                    if (wider := await overflow_px(page)) > 0:
                        found.append(f"{name} {width}: {wider} px too wide")
    assert not found, "\n".join(found)

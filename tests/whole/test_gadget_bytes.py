"""How many bytes the gadget costs a reader with an empty cache, by the browser's own log, in a real wiki (G-1)."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Browser, Response
from support.browser import needs_browser, open_browser
from support.gadget import GadgetWiki, View, install_gadget, record_answers
from support.matching import Meeting, make_wiki, open_meeting
from support.observations import FINE, LOST

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.timeout(400)]

_PAGES: Final = {
    "Nothing": "No link leads away: [[Main Page]], [{{SERVER}}/wiki/Main_Page here].",
    "Working": "See [http://fine.3sat.de/ this], [http://fine.3sat.de/2 that] and [//fine.3sat.de/3 more].",
    "Dead": "See [http://gone.3sat.de/ this].",
}
_MOST: Final = {"Nothing": 1.5, "Working": 6.0, "Dead": 16.0}
"""KiB that the gadget adds, compressed, at most: modules, their names in the list of all, messages; not the answer."""


async def loaded(meeting: Meeting, browser: Browser, title: str, *, has_gadget: bool) -> Counter[str]:
    """The bytes that came for a page without anything in the cache, compressed, by what they are."""
    gadget = GadgetWiki(meeting, browser, {})
    sizes: Counter[str] = Counter()
    responses: list[Response] = []
    async with gadget.context() as context:
        context.on("response", lambda response: responses.append(response))
        async with gadget.view(title, context=context) as view:
            await (seen(view, title) if has_gadget else view.idle())
            await view.page.wait_for_load_state("networkidle")
            for response in responses:
                if response.url.startswith(f"{meeting.wiki.url}/w/"):
                    raw = "action=raw" in response.url
                    what = "messages" if raw else response.url.partition("?")[0].rpartition("/")[2]
                    # PHP's own server compresses nothing.
                    sizes[what] += len(gzip.compress(await response.body(), 6))
                    sizes[f"{what}, unpacked"] += len(await response.body())
    return sizes


async def seen(view: View, title: str) -> None:
    await (view.idle() if title == "Nothing" else view.marked())


async def test_a_reader_of_a_page_without_marks_loads_six_kilobytes_at_most(database: str, tmp_path: Path) -> None:
    with make_wiki() as wiki:
        wiki.save_pages(_PAGES)
        wiki.start()
        async with open_meeting(wiki, database, tmp_path) as meeting, open_browser() as browser:
            await record_answers(database, lambda url: LOST if "gone" in url else FINE)
            # Once, so that the wiki has computed what it keeps.
            for _ in range(2):
                bare = {title: await loaded(meeting, browser, title, has_gadget=False) for title in _PAGES}
            install_gadget(wiki, meeting.weboid)
            for _ in range(2):
                full = {title: await loaded(meeting, browser, title, has_gadget=True) for title in _PAGES}
            added = {title: full[title] - bare[title] for title in _PAGES}
            for title, sizes in added.items():
                print(title, dict(sizes), flush=True)
            packed = {
                title: sum(count for what, count in sizes.items() if "unpacked" not in what) / 1024
                for title, sizes in added.items()
            }
            assert {title: size for title, size in packed.items() if not 0 < size <= _MOST[title]} == {}

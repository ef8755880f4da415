"""``python -m benchmarks.gadget``: the gadget in a real MediaWiki (``make .venv/mediawiki.stamp``) and a real browser.

``speed``: on a page of 2,000 links, of which six in ten are dead or doubtful, how long after Weboid's answer the first
mark stands there (at most 150 ms), the longest task of the page's scripts from then on (at most 50 ms), bytes sent and
received, and the size of the module. ``articles``: every article of ``../shared/data/articles`` is read in the browser,
by the legacy parser and by Parsoid; the nodes that are marked are compared with those whose links Weboid calls dead or
doubtful, node by node. At most 0.2 % may lack their mark, and none may have a wrong one. Half an hour.
"""

import argparse
import asyncio
import gzip
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final, get_args

_REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_REPOSITORY / "tests"))

from support.awkward_articles import many_links  # noqa: E402 (lives with the tests)
from support.browser import open_browser  # noqa: E402
from support.gadget import SETTINGS, GadgetWiki, findings, install_gadget, record_answers  # noqa: E402
from support.matching import Meeting, Parser, make_wiki, open_articles, open_meeting  # noqa: E402

from weboid.store.embedded.server import open_server  # noqa: E402

FIRST_MARK_MS: Final = 150
LONGEST_TASK_MS: Final = 50
MISSED: Final = 0.002
LINKS: Final = 2_000
_VIEWS: Final = 5
_ARTICLES: Final = {"en": "enwiki-2016", "ltg": "ltgwiki-2017"}
_FOLDER: Final = _REPOSITORY.parent / "shared" / "data" / "articles"
_WATCH: Final = """() => {
    const seen = window.seen = { first: null, tasks: [] };
    new PerformanceObserver( ( list ) => {
        list.getEntries().forEach( ( task ) => seen.tasks.push( [ task.startTime, task.duration ] ) );
    } ).observe( { type: 'longtask', buffered: true } );
    new MutationObserver( () => {
        if ( seen.first === null && document.querySelector( '.weboid-mark' ) ) { seen.first = performance.now(); }
    } ).observe( document, { childList: true, subtree: true } );
}"""
_TOLD: Final = """( service ) => {
    const answers = performance.getEntriesByType( 'resource' ).filter( ( each ) => each.name.startsWith( service ) );
    const answered = Math.max( ...answers.map( ( each ) => each.responseEnd ) );
    const tasks = seen.tasks.filter( ( [ start, duration ] ) => start + duration > answered );
    return [ seen.first - answered, Math.max( 0, ...tasks.map( ( [ , duration ] ) => duration ) ) ];
}"""


def main() -> None:
    """Run what was chosen."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", nargs="*", default=["speed", "articles"], choices=["speed", "articles"])
    options.add_argument("--every", type=int, default=1, help="one of so many articles")
    options.add_argument("--parsers", nargs="+", default=get_args(Parser), choices=get_args(Parser))
    options.add_argument("--wikis", nargs="+", default=list(_ARTICLES), choices=list(_ARTICLES))
    asked = options.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="weboid-gadget-"))
    folder.chmod(0o711)
    try:
        if "speed" in asked.what:
            with open_server(folder / "data") as server:
                asyncio.run(measure_speed(server.dsn, folder))
        for language in asked.wikis if "articles" in asked.what else ():
            with open_server(folder / language) as server:
                asyncio.run(compare_articles(language, asked.every, asked.parsers, server.dsn, folder))
    except LookupError as error:
        sys.exit(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def open_gadget(meeting: Meeting, database: str) -> AsyncIterator[GadgetWiki]:
    """The gadget on a wiki, after some weeks of checks."""
    await record_answers(database)
    install_gadget(meeting.wiki, meeting.weboid)
    async with open_browser() as browser:
        yield GadgetWiki(meeting, browser, {title: page for page, title in (await meeting.pages()).items()})


async def measure_speed(database: str, folder: Path) -> None:
    """Reads the page with many links some times and prints what it took."""
    with make_wiki(settings=SETTINGS) as wiki:
        wiki.save_pages({"Many": many_links(LINKS)})
        wiki.start()
        async with open_meeting(wiki, database, folder) as meeting, open_gadget(meeting, database) as gadget:
            views = [await _viewed(gadget) for _ in range(_VIEWS)]
            async with meeting.client.get(
                f"{wiki.url}/w/load.php?lang=en&modules=ext.gadget.weboid&skin=vector-2022"
            ) as response:
                module = len(gzip.compress(await response.read()))
    first, longest, marks = (max(view[key] for view in views) for key in ("first", "longest", "marks"))
    typical = median(view["first"] for view in views)
    print(f"speed: {LINKS:,} links, {marks:,} marks, {_VIEWS} views")
    print(f"    first mark after the answer: median {typical:.0f} ms; {_target(first, FIRST_MARK_MS)}")
    print(f"    longest task from then on: {_target(longest, LONGEST_TASK_MS)} (0 = none of 50 ms or more)")
    print(f"    sent {views[0]['sent']:,} bytes, received {views[0]['received']:,}; the module {module:,}, compressed")


async def _viewed(gadget: GadgetWiki) -> Mapping[str, Any]:
    async with gadget.context() as context:
        await context.add_init_script(f"({_WATCH})()")
        async with gadget.view("Many", context=context) as view:
            await view.marked()
            await view.idle()
            first, longest = await view.page.evaluate(_TOLD, gadget.meeting.weboid)
            asked = [request for request in view.requests if request.url.startswith(gadget.meeting.weboid)]
            sizes = [await request.sizes() for request in asked]
            return {
                "first": first,
                "longest": longest,
                "marks": len(await view.marks()),
                "sent": sum(size["requestHeadersSize"] + size["requestBodySize"] for size in sizes),
                "received": sum(size["responseHeadersSize"] + size["responseBodySize"] for size in sizes),
            }


async def compare_articles(language: str, every: int, parsers: list[Parser], database: str, folder: Path) -> None:
    """Reads the articles of one wiki that have links and prints where marks are missing or wrong."""
    file = _FOLDER / f"{_ARTICLES[language]}.xml.bz2"
    if not file.exists():
        raise LookupError(f"{file.name} is not in ../shared/data/articles")
    async with (
        open_articles(file, language, database, folder, every, SETTINGS) as (meeting, articles),
        open_gadget(meeting, database) as gadget,
        gadget.context() as context,
    ):
        linked = {page: title for page, title in articles.items() if (await meeting.links(page))[page]}
        for parser in parsers:
            expected, missed, wrong = 0, [], []
            for page, title in linked.items():
                async with gadget.view(title, parser=parser, context=context) as view:
                    rendered = await view.content()
                    wanted = Counter(await findings(meeting, rendered, page))
                    if wanted:
                        await view.marked()
                    else:
                        await view.idle()
                    marked = Counter(await view.marks())
                expected += wanted.total()
                missed += [(title, *mark) for mark in (wanted - marked).elements()]
                wrong += [(title, *mark) for mark in (marked - wanted).elements()]
            is_met = len(missed) <= MISSED * expected and not wrong
            print(
                f"{language}, {parser}: {len(linked):,} articles, {expected:,} nodes of dead or doubtful links, "
                f"{len(missed):,} without their mark, {len(wrong):,} marked wrongly: {'met' if is_met else 'MISSED'}",
                flush=True,
            )
            for what, found in (("missed", missed), ("wrong", wrong)):
                for title, href, verdict in found[:50]:
                    print(f"    {what}: {verdict} {href} on {title}")


def _target(found: float, most: float) -> str:
    return f"at most {found:.0f} ms (bar {most} ms: {'met' if found <= most else 'MISSED'})"


if __name__ == "__main__":
    main()

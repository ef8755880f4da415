"""``python -m benchmarks.matching``: how many links of real articles find their answer by the rule of docs/api.md.

Every article of ``../shared/data/articles`` is rendered by a real MediaWiki (``make .venv/mediawiki.stamp``), by the
legacy parser and by Parsoid; Weboid reads the pages live and answers; the examples of docs/api.md match them, in
Python, and where there is Chromium in JavaScript; there the gadget's matching, too. At least 99.9 % of the nodes that
Weboid should know are to find their link. A quarter of an hour.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final, get_args

_REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_REPOSITORY / "tests"))

from support.browser import CHROMIUM, open_browser  # noqa: E402 (lives with the tests)
from support.matching import Matched, Meeting, Parser, Script, open_articles  # noqa: E402

from weboid.store.embedded.server import open_server  # noqa: E402

FLOOR: Final = 0.999
_ARTICLES: Final = {"en": "enwiki-2016", "ltg": "ltgwiki-2017"}
_FOLDER: Final = _REPOSITORY.parent / "shared" / "data" / "articles"


def main() -> None:
    """Start both wikis in turn, match, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--every", type=int, default=1, help="one of so many articles")
    options.add_argument("--parsers", nargs="+", default=get_args(Parser), choices=get_args(Parser))
    options.add_argument("--wikis", nargs="+", default=list(_ARTICLES), choices=list(_ARTICLES))
    asked = options.parse_args()
    for language in asked.wikis:
        folder = Path(tempfile.mkdtemp(prefix="weboid-matching-"))
        folder.chmod(0o711)
        try:
            with open_server(folder / "data") as server:
                asyncio.run(measure(language, asked.every, asked.parsers, server.dsn, folder))
        except LookupError as error:
            sys.exit(str(error))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


async def measure(language: str, every: int, parsers: list[Parser], database: str, folder: Path) -> None:
    """Matches the articles of one wiki and prints what was found."""
    file = _FOLDER / f"{_ARTICLES[language]}.xml.bz2"
    if not file.exists():
        raise LookupError(f"{file.name} is not in ../shared/data/articles")
    async with open_articles(file, language, database, folder, every) as (meeting, articles):
        for parser in parsers:
            tell(f"{language}, {parser}, Python", await meeting.matched(articles, parser, meeting.by_python))
            for script in get_args(Script) if CHROMIUM else ():
                tell(f"{language}, {parser}, {script}", await in_browser(meeting, articles, parser, script))


async def in_browser(meeting: Meeting, articles: dict[int, str], parser: Parser, script: Script) -> Matched:
    """What a program in JavaScript finds."""
    async with open_browser() as browser, meeting.javascript(browser, script) as matcher:
        return await meeting.matched(articles, parser, matcher)


def tell(what: str, matched: Matched) -> None:
    """Prints the figures of one run and everything that was missed."""
    found = matched.by["as given"] + matched.by["otherwise"]
    share = found / max(1, found + len(matched.missed))
    print(f"{what}: {matched}")
    print(
        f"    {share:.2%} of those to be found (at least {FLOOR:.1%}: {'met' if share >= FLOOR else 'MISSED'})",
        flush=True,
    )
    for title, href in matched.missed:
        print(f"    missed: {href} on {title}")
    for title, url in matched.unseen[:20]:
        print(f"    without a node: {url} on {title}")


if __name__ == "__main__":
    main()

"""``weboid_repair`` over many pages: ``python -m benchmarks.repairs [--pages N]``.

A wiki and a service of our own on loopback count what is asked of them; the bot runs in a process of its own, whose
peak memory is read, with a tenth of the pages first and then with all. Every tenth page has a dead link to repair.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.little_bot_wiki import DBNAME, LittleBotWiki, open_little_bot_wiki, site_of
from support.little_service import LittleService, link, open_little_service

from benchmarks.harness import Target, peak_mib, say, tell, tell_targets
from weboid.assets import asset

_PAGES: Final = 5_000
_EVERY: Final = 10
_LINKS: Final = 4
"""Links of a page: 500 pages have 2,000, which is all that one answer of the service may hold."""
_PARAGRAPH: Final = "The mill stands in the valley, and its wheel turns in the brook as it has for centuries. " * 6
_COPY: Final = "20160502000000"
_READS_PER_PAGE: Final = 1 / 50
_ASKED_PER_PAGE: Final = 1 / 500
_GROWTH: Final = 1.25
_LEAST_PAGES_S: Final = 100.0
_LIMIT_S: Final = 1_800.0


@dataclass(frozen=True, slots=True)
class RepairFigures:
    """One run of the bot: requests by kind, pages that were saved, seconds and peak memory of its process."""

    pages: int
    saved: int
    texts: int
    queries: int
    asked: int
    seconds: float
    peak_mib: float


def repairs(pages: int) -> RepairFigures:
    """Runs the bot over so many pages. Raises RuntimeError if it fails."""
    name = f"{DBNAME}@WMF"
    with open_little_bot_wiki() as wiki, open_little_service(name) as service, TemporaryDirectory() as folder:
        settings = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
        file = Path(folder) / "settings.json"
        file.write_text(json.dumps({**settings, "dbname": name}), encoding="utf-8")
        for number in range(pages):
            _add_page(wiki, service, number)
        words = [sys.executable, "-m", "benchmarks.repairs", "--bot", wiki.base, service.base, folder]
        ran = subprocess.run(words, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        if ran.returncode:
            raise RuntimeError(f"the bot failed: {ran.stderr[-2_000:]}")
        figures: Mapping[str, float] = json.loads(ran.stdout.splitlines()[-1])
        return RepairFigures(
            pages, len(wiki.edits), wiki.reads(), wiki.counted["query"], service.count("/api/page"), figures["seconds"],
            figures["peak_mib"],
        )  # fmt: skip


def _add_page(wiki: LittleBotWiki, service: LittleService, number: int) -> None:
    urls = [f"https://site{number % 997}.demo/{number}/{place}" for place in range(_LINKS)]
    references = "".join(f"{_PARAGRAPH}<ref>{{{{cite web|url={url}|title=Mill}}}}</ref>\n\n" for url in urls)
    page = wiki.add(f"Page {number}", f"'''Mill''' {number}\n\n{references}{_PARAGRAPH * 8}")
    links = [link(url, "working") for url in urls]
    if number % _EVERY == 0:
        links[0] = link(urls[0], copies=[(f"https://web.archive.org/web/{_COPY}/{urls[0]}", _COPY)])
    service.pages[page] = links


def _run_bot(wiki: str, service: str, folder: str) -> None:
    """Runs the script in this process, and prints what it took."""
    from pywikibot import i18n

    from weboid_scripts import weboid_repair

    i18n.set_messages_package("weboid_scripts.i18n")
    site = site_of(LittleBotWiki(wiki), folder)
    begin_s = time.monotonic()
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        weboid_repair.repair_pages(
            site, [f"-service:{service}", f"-settings:{folder}/settings.json", "-start:!", "-always"]
        )
    seconds = time.monotonic() - begin_s
    print(json.dumps({"seconds": seconds, "peak_mib": peak_mib()}))


def main() -> None:
    """Prints the figures of both runs, and the targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=_PAGES)
    parser.add_argument("--bot", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.bot:
        _run_bot(*given.bot)
        return
    say(f"{given.pages // 10:,} pages")
    few = repairs(given.pages // 10)
    say(f"{given.pages:,} pages")
    many = repairs(given.pages)
    for each in (few, many):
        tell(
            f"{each.pages:>6,} pages, {each.saved:,} saved: {each.texts:,} requests for texts to the wiki (of "
            f"{each.queries:,} queries), {each.asked:,} to the service; {each.pages / each.seconds:,.0f} pages/s; "
            f"peak memory {each.peak_mib:,.0f} MiB"
        )
    targets = [
        Target("pages read in a request to the wiki, at least 50", many.pages / many.texts, 1 / _READS_PER_PAGE),
        Target(
            "pages asked about in a request to the service, at least 500", many.pages / many.asked, 1 / _ASKED_PER_PAGE
        ),
        Target(
            f"peak memory of all pages to that of a tenth, at most {_GROWTH}",
            many.peak_mib / few.peak_mib,
            _GROWTH,
            True,
        ),
        Target(f"pages a second, at least {_LEAST_PAGES_S:g}", many.pages / many.seconds, _LEAST_PAGES_S),
    ]
    tell_targets(targets)
    if not all(target.met for target in targets):
        sys.exit(1)


if __name__ == "__main__":
    main()

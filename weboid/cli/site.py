"""``weboid site``: checks all links of a site, page by page."""

import asyncio
import logging
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from math import inf
from pathlib import Path
from typing import Any, Final

import click

from weboid.checking.spot_checks import SpotChecks, open_spot_checks
from weboid.checking.turns import LocalTurns
from weboid.cli.days import day_option, moment_now, moments, seconds_now
from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import raise_open_files, run_async
from weboid.cli.processes.sources import online_of
from weboid.cli.terminal.logs import print_error, print_message
from weboid.config import Config
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import parse
from weboid.errors import ConfigError
from weboid.mechanism.tasks import in_background
from weboid.net.outbound import open_session
from weboid.robot.orders import Orders, Restriction
from weboid.robot.traps import TRAPS
from weboid.site.externals import Externals, FindCopy
from weboid.site.folder import file_of, page_of, served
from weboid.site.formats import FORMATS, SiteReport
from weboid.site.keep import RunMemory
from weboid.site.listed import SitemapListing
from weboid.site.place import Summary
from weboid.site.rules import RulesOfOrigins
from weboid.site.sitemaps import is_sitemap, locations_of, unpacked
from weboid.site.start import SiteSessions, find_start
from weboid.site.walk import SiteWalk

EXIT_NO_NETWORK: Final = 3
"""As of ``weboid check``."""
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
EXIT_BROKEN: Final = 1
_FOLLOW: Final = {"internal": "internal", "below": "below", "external": "external", "all": "none"}
_PROGRESS_S: Final = 0.5
_CONNECTIONS: Final = 4
"""To the database: the lock of the run, reading, writing, and one for what comes between."""
_WHAT: Final = "Give a URL that begins with http:// or https://, a folder, or a sitemap in a file."
_STARTS: Final = 100
"""Starts that are stored with a run."""


@click.command("site")
@click.argument("target")
@click.option("--depth", type=click.IntRange(0), help="Links from the start, at most.  [default: no limit]")
@click.option(
    "--follow",
    type=click.Choice(list(_FOLLOW)),
    default="internal",
    show_default=True,
    help="Which pages are read: of the same server, below the start, of others, or all.",
)
@click.option(
    "--include", multiple=True, help="Read only URLs with such a word in them, or like such a pattern (*, ?)."
)
@click.option("--exclude", multiple=True, help="Leave out URLs with such a word in them, or like such a pattern.")
@click.option("--external", type=click.Choice(["check", "ignore"]), default="check", show_default=True)
@click.option("--fragments", is_flag=True, help="Check that what a # names is on the page, on the site itself.")
@click.option("--sitemap", type=click.Choice(["only", "too"]), help="Begin at the pages that its sitemaps list.")
@click.option("--header", multiple=True, help="A header for the start's origin alone, such as 'Cookie: a=b'.")
@click.option("--archives", is_flag=True, help="Look up copies of external links that are dead.")
@click.option("--keep", metavar="NAME", help="Remember what was found under this name, for the next run.")
@click.option(
    "--reload-after",
    type=click.FloatRange(-1),
    default=0,
    show_default=True,
    metavar="MINUTES",
    help="Do not ask again for what worked within so many minutes (--keep); -1 is never.",
)
@click.option("--new", is_flag=True, help="Fail only for links that were not broken before (--keep).")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@day_option
@click.pass_obj
def command(config: Config, /, target: str, form: str, **options: Any) -> None:
    """Checks all links of a site, page by page. TARGET is a URL, a folder, or a sitemap.

    A folder is served on this machine while the command runs. External links are judged as by ``weboid check``: a wall
    or a soft 404 is a doubt, and no fault. Nothing is asked that robots.txt forbids, but in a folder.

    Nothing is stored but with --keep NAME: then the next run of that name asks only for what has changed, says since
    when links are broken, and goes on where one was interrupted the same day or the day before. It takes the database,
    an embedded one if none is configured.

    The exit status is 1 if links are broken, 0 if none is; 2 if something is wrong with the call; 3 if this machine
    seems to have no network. After Ctrl-C a report of what was found follows, and the status is 130.
    """
    if options["new"] and not options["keep"]:
        raise click.UsageError("--new compares with earlier runs, which takes --keep NAME")
    if options["keep"] is not None and not (options["keep"] and options["keep"].isprintable()):
        raise click.BadParameter("give a name of printable characters", param_hint="--keep")
    folder = Path(target) if Path(target).is_dir() else None
    if folder and not options["sitemap"] and not file_of(folder, "/"):
        raise ConfigError(f"There is no index.html in {target!r}, at which a run could begin.")
    report = FORMATS[form](only_new=options["new"], folder=folder)
    sys.exit(run_async(_run(config, target, report, _headers(options.pop("header")), **options)))


async def _run(config: Config, target: str, report: SiteReport, headers: Mapping[str, str], **options: Any) -> int:
    write = sys.stdout.write
    if report.streams and isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    async with _opened(config, target, report.folder, headers) as (sessions, sitemap):
        rules, listing = RulesOfOrigins(), SitemapListing(sessions)
        starts, depth = await _starts(listing, sessions, rules, sitemap, options)
        write(report.begin())
        patterns = [f"{name}:{each}" for name in ("exclude", "include") if (each := "\n".join(options[name]))]
        minutes = options["reload_after"]
        orders = Orders(
            inf if depth is None else depth,
            Restriction(_FOLLOW[options["follow"]]),
            obeys_robots=not report.folder,
            uses_cache=minutes != 0,
            reloads_before=seconds_now() - 60 * minutes if minutes >= 0 else -inf,
            # A folder has an end.
            link_filters=(*patterns, "robots", *(() if report.folder else TRAPS)),
        )
        async with (
            _memory(config, sessions, ["folder:"] if report.folder else starts, orders, options) as memory,
            _externals(config, options, memory) as externals,
        ):
            report.is_first = memory is not None and not memory.task.whole_run
            emit, left_out = (lambda place: write(report.add(place))), listing.left_out
            walk = SiteWalk(
                sessions, orders, config.crawl, emit, externals, rules, memory, options["fragments"], left_out=left_out
            )
            async with in_background(_show_progress(walk, report)):
                summary = await walk.run(starts)
            try:
                for text in report.end(summary):
                    write(text)
                sys.stdout.flush()
            finally:
                if memory and not walk.ended_by:
                    await memory.end(summary.statistics, is_whole=not summary.is_interrupted)
    if walk.ended_by:
        raise walk.ended_by
    status = _status(walk, summary, only_new=options["new"])
    if summary.is_interrupted:
        raise asyncio.CancelledError  # of which `run_async` makes 128 + the signal's number
    return status


def _status(walk: SiteWalk, summary: Summary, *, only_new: bool) -> int:
    if own_faults := walk.own_faults + (walk.externals.own_faults if walk.externals else 0):
        print_error(f"URLs that an error of this program has kept from being checked: {own_faults}. Please report it")
    why = walk.externals.no_network if walk.externals else ""
    if why or walk.is_offline:
        print_error(f"some links could not be checked: {why or 'no name server answers'}")
        return EXIT_NO_NETWORK
    if not summary.pages and not summary.is_interrupted:
        print_error("not one page could be read: the report says why")
        return EXIT_BROKEN
    broken = walk.new if only_new else summary.counts.get("broken", 0) + summary.counts.get("fragment", 0)
    return EXIT_BROKEN if broken else 0


def _headers(lines: Sequence[str]) -> dict[str, str]:
    """The headers of a call; raises BadParameter without their values, which may be secret."""
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _NAME.fullmatch(name.strip()) or not value.strip().isprintable():
            raise click.BadParameter("a header is written as 'Name: value'", param_hint="--header")
        headers[name.strip()] = value.strip()
    return headers


@asynccontextmanager
async def _opened(
    config: Config, target: str, folder: Path | None, headers: Mapping[str, str]
) -> AsyncIterator[tuple[SiteSessions, bytes]]:
    """The ways out for a target, and the sitemap if it is one in a file."""
    net = replace(config.net, connections=raise_open_files(config.net.connections))
    async with AsyncExitStack() as stack:
        url, sitemap = target, b""
        if folder:
            url = await stack.enter_async_context(served(folder))
        elif "://" not in target:
            sitemap = await _read_sitemap(target)
            url = next(locations_of(sitemap), "")
        if not url.startswith(("http://", "https://")):
            raise ConfigError(_WHAT)
        try:
            start = await find_start(url, headers, net)
        except InvalidUrl as invalid:
            raise ConfigError(f"This is no URL of a site: {invalid}.") from None
        except ValueError:  # of urlsplit, whose text has the password
            raise ConfigError("This is no URL of a site.") from None
        start = replace(start, asked=partial(page_of, folder, url)) if folder else start
        own = await stack.enter_async_context(open_session(start.permitted(net), start.names))
        public = await stack.enter_async_context(open_session(net))
        yield SiteSessions(start, own, public), sitemap


async def _read_sitemap(target: str) -> bytes:
    try:
        packed = await asyncio.to_thread(Path(target).read_bytes)
    except OSError as error:
        raise ConfigError(f"There is no folder or sitemap {target!r}: {error.strerror}. {_WHAT}") from None
    sitemap = unpacked(packed)
    if not is_sitemap(sitemap):
        raise ConfigError(f"{target!r} is no sitemap. {_WHAT}")
    return sitemap


async def _starts(
    listing: SitemapListing, sessions: SiteSessions, rules: RulesOfOrigins, sitemap: bytes, options: Mapping[str, Any]
) -> tuple[list[str], int | None]:
    """The starts, and the depth: of what sitemaps list the links are asked, but not read."""
    start, wanted, depth = sessions.start.url, options["sitemap"], options["depth"]
    is_one = start.path.partition("?")[0].endswith((".xml", ".xml.gz"))
    is_listed = listing.take(sitemap) or (is_one and await listing.read(str(start)))
    if not is_listed and not (wanted and await listing.read_all(rules)):
        if wanted:
            print_error("the site names no sitemap in its robots.txt, and has none at /sitemap.xml")
        return [] if wanted == "only" else [str(start)], depth
    found = await listing.urls()
    if listing.published_at:
        print_message(f"weboid: the pages of {listing.published_at} that the sitemap lists are looked for at the start")
    if wanted == "too":
        return list(dict.fromkeys([str(start), *found])), depth
    return found, 1 if depth is None else depth


@asynccontextmanager
async def _memory(
    config: Config, sessions: SiteSessions, starts: Sequence[str], orders: Orders, options: Mapping[str, Any]
) -> AsyncIterator[RunMemory | None]:
    """The memory of the run; without --keep no database is opened."""
    if not options["keep"]:
        yield None
        return
    origin, moment = str(sessions.start.url._replace(path="")), moments(options["day"], None)()
    async with open_store(config, size=_CONNECTIONS, part="site", quiet=True) as pool:
        memory = RunMemory(pool, options["keep"], moment, origin, with_anchors=options["fragments"])
        async with memory.run(starts[:_STARTS], orders):
            if memory.resumed:
                print_message(
                    "weboid: going on with the run that was interrupted: what worked then is not asked again "
                    f"({memory.resumed:,} URLs)"
                )
            yield memory


@asynccontextmanager
async def _externals(
    config: Config, options: Mapping[str, Any], memory: RunMemory | None
) -> AsyncIterator[Externals | None]:
    """The checks of external links; opened at the first one, since they begin with a proof that we are online."""
    if options["external"] == "ignore":
        yield None
        return
    async with AsyncExitStack() as stack:

        async def checks() -> SpotChecks:
            turns = LocalTurns(config.crawl.delay)
            return await stack.enter_async_context(
                open_spot_checks(config.net, config.crawl, turns, partial(online_of, config), config.own_farms)
            )

        find_copy = await stack.enter_async_context(_copies(config)) if options["archives"] else None
        yield Externals(checks, find_copy, memory)


@asynccontextmanager
async def _copies(config: Config) -> AsyncIterator[FindCopy]:
    """Looks up the newest copies, as ``weboid snapshots`` does."""
    from weboid.archive.lookups.look_up import look_up
    from weboid.archive.service.client import open_archive_client
    from weboid.archive.service.limits import LocalLimiter
    from weboid.archive.service.limits_file import limits_file
    from weboid.core.archive.outcomes import LookupOutcome
    from weboid.core.archive.rows.fitness import Wish

    missed = 0
    async with open_archive_client(config.net, LocalLimiter(limits_file(seconds_now))) as client:

        async def find(url: str) -> str:
            nonlocal missed
            now = moment_now()
            result = await look_up(client, config.archive.services, Wish(parse(url), now, now.date()))
            missed += result.outcome in (LookupOutcome.ERROR, LookupOutcome.UNKNOWN)
            return result.found.address if result.found else ""

        yield find
    if missed:
        print_error(f"of {missed:,} dead links no archive could say whether it has a copy", logging.WARNING)


async def _show_progress(walk: SiteWalk, report: SiteReport) -> None:
    """Shows a line on a terminal while the run goes on, unless it has places on it."""
    if not sys.stderr.isatty() or (report.streams and sys.stdout.isatty()):
        return
    try:
        while True:
            await asyncio.sleep(_PROGRESS_S)
            numbers, broken = walk.statistics(), walk.counts["broken"] + walk.counts["fragment"]
            done = f"{numbers.get('downloaded', 0):,} loaded, {numbers.get('waiting', 0):,} waiting, {broken:,} broken"
            if walk.externals:
                done += f", external {walk.externals.checked:,} of {len(walk.externals.known):,}"
            sys.stderr.write(f"\r\x1b[K{done}")
            sys.stderr.flush()
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

"""``weboid snapshots``: looks copies of URLs up in web archives, now; nothing is stored."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from math import ceil
from typing import Any, Final

import click
from rich.console import JustifyMethod
from rich.text import Text

from weboid.archive.lookups.look_up import RESTING, look_up
from weboid.archive.lookups.look_up_result import GivenCopy, LookUpResult
from weboid.archive.service.client import ArchiveClient, open_archive_client
from weboid.archive.service.limits import LocalLimiter
from weboid.archive.service.limits_file import limits_file
from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.cli.checking import EXIT_NO_NETWORK
from weboid.cli.days import moment_now, seconds_now
from weboid.cli.processes.process import run_async
from weboid.cli.processes.sources import online_of
from weboid.cli.terminal.arguments import urls_of
from weboid.cli.terminal.console import print_json_lines, print_table, styled
from weboid.cli.terminal.escape import plain
from weboid.cli.terminal.in_order import in_order
from weboid.cli.terminal.logs import print_error
from weboid.config import Config
from weboid.core.archive.rows.fitness import Wish
from weboid.core.archive.services import ArchiveService, playing
from weboid.core.url.archives import snapshot_of
from weboid.core.url.hosts import InvalidUrl, is_ip
from weboid.core.url.urls import Url, parse
from weboid.net.outbound import open_session

EXIT_INVALID: Final = 2
"""The exit status where some of the URLs are none."""
EXIT_RESTING: Final = 4
"""The exit status where some of the URLs were not looked up, since an archive rests."""

_AT_ONCE: Final = 4
"""URLs under way: with more, the second voice of the first one would wait in line behind the first of all others."""
_REMEMBERED: Final = 10_000
"""Different URLs, after which one that comes again is looked up again."""
_EARLIEST: Final = 1990
_DIGITS: Final = re.compile("[0-9]{14}")
_DATE: Final = re.compile("[0-9]{4}-?[0-9]{2}-?[0-9]{2}")
_LAST_SECOND: Final = time(23, 59, 59)


class MomentType(click.ParamType[datetime]):
    """A date, which stands for its last second, or a moment: ISO, or the 14 digits of archives; in UTC by default."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        text = str(value).strip()
        try:
            moment = (
                datetime.strptime(text, "%Y%m%d%H%M%S") if _DIGITS.fullmatch(text) else datetime.fromisoformat(text)
            )
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fail(f"{text!r} is no date: give one such as 2016-05-31 or 2016-05-31T12:00", param, ctx)
        if _DATE.fullmatch(text):
            moment = datetime.combine(moment, _LAST_SECOND, UTC)
        if moment.year < _EARLIEST:
            self.fail(f"{text} is before the web: give the date of the citation, {_EARLIEST} or later", param, ctx)
        if moment.date() > moment_now().date():
            self.fail(f"{text} is in the future: give the date of the citation", param, ctx)
        return moment


@dataclass(frozen=True, slots=True)
class SnapshotLine:
    """One URL with what was found of it; `error` = it is none."""

    given: str
    at: datetime | None
    result: LookUpResult | None = None
    error: str | None = None

    @property
    def outcome(self) -> str | None:
        """The word of the outcome; None if nothing was looked up."""
        return self.result.outcome.word if self.result else None

    @property
    def distance_days(self) -> int | None:
        """Days from the given moment to the copy, negative if it is older."""
        if self.at is None or self.result is None or self.result.found is None:
            return None
        return (self.result.found.taken.date() - self.at.date()).days

    def as_json(self) -> dict[str, Any]:
        """The line of ``weboid snapshots --json``."""
        found = self.result.found if self.result else None
        line: dict[str, Any] = {
            "url": self.given.encode(errors="replace").decode(),
            "at": _iso(self.at),
            "outcome": self.outcome,
            "service": found.service.name if found else None,
            "stamp": f"{found.stamp:014d}" if found else None,
            "snapshot": found.address if found else None,
            "original": found.original if found else None,
            "distance_days": self.distance_days,
            "tries": [
                {"service": tried.service.name, "outcome": tried.outcome.word, "why": tried.why}
                for tried in (self.result.tries if self.result else ())
            ],
        }
        return line if self.error is None else {**line, "error": self.error}


def _iso(at: datetime | None) -> str | None:
    if at is None:
        return None
    return f"{at:%Y-%m-%d}" if at.time() == _LAST_SECOND else f"{at:%Y-%m-%dT%H:%M:%SZ}"


@click.command("snapshots")
@click.argument("urls", nargs=-1, required=True)
@click.option(
    "--at",
    type=MomentType(),
    help="When the URL was cited: a copy from then is wanted. Without it the newest is, and no distance is shown.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, in the order of the input.")
@click.pass_obj
def command(config: Config, urls: tuple[str, ...], at: datetime | None, as_json: bool) -> None:
    """Looks in web archives for the copy of each URL that shows what was cited; nothing is stored.

    A URL ``-`` means the lines of standard input. Of a URL that is a copy itself, that copy is kept if it plays.
    Archives limit requests: expect some seconds for each URL. All processes of a user share the limits, and an archive
    that has limited or refused one of them is not asked until it may be. ``none`` is only said
    where an archive says so twice; an archive that does not answer is an ``error``.

    The exit status is 0 whatever is found; 2 if something is wrong with the call or a URL; 3 if this machine seems to
    have no network; 4 if some URLs were not looked up since an archive is not to be asked yet: run it again later.
    """

    async def main() -> int:
        shown = _Shown()
        async with open_archive_client(config.net, LocalLimiter(limits_file(seconds_now))) as client:
            async with aclosing(_looked_up(client, config.archive.services, urls_of(urls), at)) as lines:
                await _show(lines, shown, as_json=as_json)
            if client.sent and not client.met and (why := await _no_network(config, client.hosts)):
                print_error(f"no archive answers, nor anybody else: {why}")
                return EXIT_NO_NETWORK
        for name, until in sorted(shown.rests.items()):
            print_error(
                f"{name} is not asked until {until:%Y-%m-%d %H:%M:%S} UTC, as it limited or refused requests or failed;"
                " look up then what has an error"
            )
        if shown.is_invalid:
            return EXIT_INVALID
        return EXIT_RESTING if shown.is_unasked else 0

    sys.exit(run_async(main()))


async def _looked_up(
    client: ArchiveClient, services: tuple[ArchiveService, ...], urls: AsyncGenerator[str, None], at: datetime | None
) -> AsyncGenerator[SnapshotLine, None]:
    """The results of the URLs, in their order; a few are looked up at a time, and none twice."""
    known: dict[str, asyncio.Task[SnapshotLine]] = {}

    def begin(url: str) -> asyncio.Task[SnapshotLine]:
        if len(known) >= _REMEMBERED:
            known.clear()
        if url not in known:
            known[url] = asyncio.create_task(_line(client, services, url, at))
        return known[url]

    async with aclosing(in_order(urls, begin, _AT_ONCE)) as lines:
        async for line in lines:
            yield line


async def _line(
    client: ArchiveClient, services: tuple[ArchiveService, ...], text: str, at: datetime | None
) -> SnapshotLine:
    try:
        url = parse(text)
    except InvalidUrl as invalid:
        return SnapshotLine(text, at, error=f"{invalid.reason}: give a whole URL, beginning with http:// or https://")
    now = moment_now()
    original, cited, given = _given(url, services)
    wish = Wish(original, at or cited or now, now.date())
    return SnapshotLine(text, at, await look_up(client, services, wish, given=given))


def _given(url: Url, services: tuple[ArchiveService, ...]) -> tuple[Url, datetime | None, tuple[GivenCopy, ...]]:
    """The URL to be looked up; if it is a copy itself, its original, its moment, and the copy to be played."""
    copy = snapshot_of(str(url))
    if copy is None or copy.original is None:
        return url, None, ()
    service = playing(services).get(copy.archive.number)
    if service is None or not service.is_raw or copy.taken is None:
        return copy.original, copy.taken, ()
    return copy.original, copy.taken, (GivenCopy(service, copy.taken, copy.original),)


@dataclass(slots=True)
class _Shown:
    """A summary of the lines: some URL is none, or was not looked up since a service rests; until when each rests."""

    is_invalid: bool = False
    is_unasked: bool = False
    rests: dict[str, datetime] = field(default_factory=dict)

    def add(self, line: SnapshotLine) -> None:
        self.is_invalid |= line.error is not None
        if line.result is None or line.result.found is not None:
            return
        for tried in line.result.tries:
            self.is_unasked |= tried.why == RESTING
            if tried.rest_s is not None:
                self.rests[tried.service.name] = moment_now() + timedelta(seconds=ceil(tried.rest_s))


async def _show(lines: AsyncIterator[SnapshotLine], shown: _Shown, *, as_json: bool) -> None:
    """Prints all lines."""

    async def noted() -> AsyncIterator[SnapshotLine]:
        async for line in lines:
            shown.add(line)
            yield line

    if as_json:
        await print_json_lines(line.as_json() async for line in noted())
    else:
        headings: dict[str, JustifyMethod] = {
            "Outcome": "left",
            "Archive": "left",
            "Taken": "left",
            "Distance": "right",
        }
        await print_table({**headings, "URL": "left"}, (_row(line) async for line in noted()), "looking up")


def _row(line: SnapshotLine) -> tuple[Text, ...]:
    found = line.result.found if line.result else None
    url = Text(plain(line.given))
    if found:
        url.append(f"\n→ {plain(found.address)}", style="dim")
    elif line.error:
        url.append(f"\n{plain(line.error)}", style="dim")
    elif line.result:
        whys = (f"{tried.service.name}: {tried.outcome.word} {tried.why}".rstrip() for tried in line.result.tries)
        url.append(f"\n{plain('; '.join(whys))}", style="dim")
    days = line.distance_days
    return (
        styled("invalid" if line.error else line.outcome or ""),
        Text(found.service.archive.title if found else ""),
        Text(f"{found.taken:%Y-%m-%d}" if found else ""),
        Text("" if days is None else f"{days:+d} d"),
        url,
    )


async def _no_network(config: Config, asked: set[str]) -> str | None:
    """The reason why no archive was met at the hosts that were asked, if it is our own connection.

    None if that seems to work, or if one of them is an address, as of a stand-in: it needs no name server and perhaps
    no network."""
    if any(is_ip(host) for host in asked):
        return None
    async with open_session(config.net) as session:
        online = online_of(config, Checker(session, LocalTurns(0.0), config.crawl), session)
        reach = await online.reach((), sorted(asked))
        return None if online.believes(reach, of_name=True) else online.explanation_of(reach)

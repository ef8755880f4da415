"""``weboid show``: what is known of a URL, or of the links of a page."""

import json
import sys
from collections.abc import Sequence

import click
from rich.console import Console
from rich.text import Text

from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import run_async
from weboid.cli.terminal.console import styled
from weboid.cli.terminal.escape import host_line, plain
from weboid.cli.terminal.logs import print_error
from weboid.config import Config
from weboid.core.record.days import iso
from weboid.core.url.classify import classify
from weboid.core.url.farms import farm_named, parse_wiki_name
from weboid.core.url.keys import key_of
from weboid.core.verdict.kept_copies import services_of
from weboid.core.verdict.link_report import LinkReport, keyed_link, keyed_reports, link_report
from weboid.core.verdict.report_json import link_as_json, state_word
from weboid.core.verdict.verdict import Grounds
from weboid.core.verdict.wiki_rules import WikiRules, rules_of
from weboid.core.wikitext.titles import NamespaceNames
from weboid.errors import ConfigError, NotFound, WeboidError
from weboid.mechanism.slices import at_once
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.pool import Connection
from weboid.store.pages.spam import list_spam_links
from weboid.store.pages.stored_page import find_page, find_titled
from weboid.store.pages.wiki import find_wiki, list_namespaces
from weboid.store.urls.url import find_urls


@click.command("show")
@click.argument("things", metavar="URL|WIKI:PAGE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line and link.")
@click.pass_obj
def command(config: Config, things: tuple[str, ...], as_json: bool) -> None:
    """Shows what is known of URLs, or of the watched links of pages as the last pass left them.

    A page is named with its wiki: dewiki:Berlin, dewiki@WMF:9301140. What is not known does not keep the
    others back, but ends the command with exit status 2.
    """

    async def main() -> bool:
        has_all = True
        async with open_store(config, size=1, part="show") as pool:
            for thing in things:
                try:
                    async with pool.connection() as conn:
                        links = await _find(conn, config, thing)
                except (NotFound, ConfigError) as error:
                    has_all = False
                    _print_missing(error, as_json)
                else:
                    _print_json(links) if as_json else _print_links(links)
        return has_all

    if not run_async(main()):
        sys.exit(2)


def _print_missing(error: WeboidError, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"error": str(error)}))
    sys.stdout.flush()
    print_error(error)


async def _find(conn: Connection, config: Config, thing: str) -> Sequence[LinkReport]:
    wiki, colon, page = thing.partition(":")
    if colon and not page.startswith("//"):
        return await _find_page(conn, config, wiki, page)
    link = classify(thing, None)
    if link.url is None:
        raise NotFound(f"{plain(thing)} is no URL that could be watched ({link.why})")
    known = (await find_urls(conn, [key_of(link.url)])).get(key_of(link.url))
    if known is None:
        raise NotFound(f"{link.url} is not watched: no watched page uses it")
    return [link_report(link, known, WikiRules(config.policy), services=services_of(config.archive.services))]


async def _find_page(conn: Connection, config: Config, wiki: str, page: str) -> Sequence[LinkReport]:
    name = parse_wiki_name(wiki)
    farm = farm_named(name.farm, config.farms)
    stored = await find_wiki(conn, farm, name)
    if stored is None:
        raise NotFound(f"nothing was ever read from {name}: use weboid feed")
    by_id = page.isascii() and page.isdigit()
    number = int(page) if by_id else None
    if number is None:
        names = NamespaceNames(await list_namespaces(conn, stored.wiki))
        number = (await find_titled(conn, stored.wiki, [page], names)).get(page)
    found = None if number is None else await find_page(conn, stored.wiki, number)
    if found is None:
        raise NotFound(f"{name} has no watched page {plain(page)!r}")
    known = await find_urls(conn, found.urls)
    spam = (await list_spam_links(conn, stored.wiki, [found.page])).get(found.page, {})
    links = [classify(url, farm) for url in (*(str(each.url) for each in known.values()), *spam.values())]
    services = services_of(config.archive.services)
    rules = rules_of(await find_settings(conn, stored.wiki), config.policy)
    return at_once(keyed_reports(map(keyed_link, links), known, rules, spam=spam, services=services))


def _print_json(links: Sequence[LinkReport]) -> None:
    for link in links:
        sys.stdout.write(json.dumps(link_as_json(link)) + "\n")


def _print_links(links: Sequence[LinkReport]) -> None:
    """Prints each URL on a line of its own, which nothing folds: people copy it. What is known stands below."""
    console = Console(soft_wrap=True, highlight=False)
    for link in links:
        facts = {
            "": link.finding.reason and link.finding.reason.word,
            "HTTP ": link.http,
            "since ": _day(link.finding.since),
            "checked ": _day(link.record.checked),
            "next check ": _day(link.due),
            "strikes ": link.record.streak.strikes,
        }
        known = "".join(f", {name}{value}" for name, value in facts.items() if value)
        history = "".join(
            f"\n{state_word(entry.status)} {iso(entry.first)} to {iso(entry.last)}" for entry in link.record.history
        )
        more = f"{host_line(link.url)}{history}{_evidence(link.grounds)}{_copies(link)}".replace("\n", "\n  ")
        text = Text(f"{plain(link.normal or link.given[0])}\n  ").append(styled(link.finding.verdict.word))
        console.print(text.append(known).append(more, style="dim"))


def _evidence(grounds: Grounds | None) -> str:
    """A line with what the streak that counts proves so far; nothing where there is none."""
    if grounds is None:
        return ""
    streak = grounds.streak
    return (
        f"\nevidence{' of the host' if grounds.of_host else ''} {_day(streak.since)} to {_day(streak.until)}:"
        f" {streak.strikes} strikes, {grounds.days} of {grounds.needs_days} days"
    )


def _copies(link: LinkReport) -> str:
    """A line with each copy, or why there is none; nothing for a link that needs none."""
    if link.copies is None:
        return ""
    if not link.copies.snapshots:
        return f"\ncopy: {link.copies.state.value}"
    return "".join(f"\ncopy: {plain(shown.address)}{_distance(shown.distance_days)}" for shown in link.copies.snapshots)


def _distance(days: int | None) -> str:
    if days is None:
        return ""
    if days == 0:
        return " (from the day on which the link was first seen)"
    return f" ({abs(days)} days {'before' if days < 0 else 'after'} the link was first seen)"


def _day(day: int | None) -> str:
    return "" if day is None else iso(day)

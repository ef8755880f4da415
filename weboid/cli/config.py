"""``weboid config``: the configuration as a sample, as it is in force, or its faults."""

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click

from weboid.checking.stop_list import StopList
from weboid.cli.crawl import words_of
from weboid.cli.processes.process import from_environment, run_async
from weboid.cli.processes.sources import named_wiki
from weboid.cli.terminal.escape import many, plain
from weboid.cli.terminal.logs import print_error
from weboid.cli.watched import titled_page
from weboid.config import Config, ConfigReading, effective_lines, read_config, sample
from weboid.errors import ConfigError, StoreError
from weboid.net.dial import tls_context
from weboid.net.outbound import find_unreachable
from weboid.remote.http.client import require_safe
from weboid.remote.http.messages import CRAWLERS, FEEDERS
from weboid.store.db.connection import read_address
from weboid.web.http.tokens import clients_of, weak_tokens
from weboid.web.identity.member import api_of
from weboid.web.identity.oauth import Provider
from weboid.web.identity.session import require_secret
from weboid.wiki.criteria import read_criteria

_LOOK_S: Final = 5.0
"""The limit for the answers of name servers."""
_MOST_NAMED: Final = 5
"""Names that nobody knows, in one line."""
_SHORTEST: Final = 32
"""Characters of a token that nobody guesses: 128 bits in hex."""


@click.command("config")
@click.option("--effective", is_flag=True, help="What holds now, with the source of each value; secrets are masked.")
@click.option("--check", is_flag=True, help="Says ok, or everything that is wrong (exit status 2).")
@click.pass_context
def command(ctx: click.Context, effective: bool, check: bool) -> None:
    """Prints a weboid.toml with every key, its default, its meaning and its variables.

    A start: weboid config >weboid.toml

    --check sends nothing but queries to name servers: whether a configured wiki is in a private network.
    """
    if not (effective or check):
        click.echo(sample(), nl=False)
        return
    given = ctx.parent.params if ctx.parent else {}
    file, data = given.get("file"), given.get("data")
    reading = read_config(
        file if isinstance(file, Path) else None, data=data if isinstance(data, Path) else None, search=True
    )
    faults = [*reading.faults]
    if reading.config:
        faults += [*_faults_of_criteria(reading), *_faults_of_watched(reading), *_faults_of_commands(reading.config)]
    if reading.config and not faults and check:
        faults += run_async(_faults_of_wikis(reading.config))
    for fault in faults:
        print_error(fault)
    if faults:
        sys.exit(2)  # as of any command that cannot use its configuration
    if effective:
        click.echo("\n".join(plain(line) for line in effective_lines(reading)))
    if check and reading.config:
        for weakness in _weaknesses(reading.config):
            print_error(weakness, logging.WARNING)
        click.echo(_summary(reading))


def _faults_of_criteria(reading: ConfigReading) -> list[str]:
    faults = []
    for wiki in reading.config.wikis if reading.config else ():
        try:
            read_criteria(wiki.matching, wiki.without)
        except ConfigError as error:
            faults.append(f'[wiki."{wiki.name}"] {error}')
    return faults


def _faults_of_watched(reading: ConfigReading) -> list[str]:
    watched = reading.config.feed.watched if reading.config else ""
    if reading.config is None or not watched or watched.startswith("https://"):
        return []
    try:
        if "://" in watched:
            raise ConfigError("only an https address is taken: on the way somebody else could change the page")
        titled_page(reading.config)
    except ConfigError as error:
        return [f"[feed] watched: {error}"]
    return []


def _faults_of_commands(config: Config) -> Iterator[str]:
    """Faults that the commands would find at their start, in values that only they understand, and would end for."""
    web, people = config.web, config.people
    looks: list[Callable[[], object]] = [
        lambda: read_address(config.database),
        lambda: read_address(config.database_read, "WEBOID_DATABASE_READ"),
        lambda: tls_context(config.net.ca),
        lambda: require_safe(config.crawl.core, CRAWLERS) if config.crawl.core else None,
        lambda: require_safe(config.feed.core, FEEDERS) if config.feed.core else None,
        lambda: words_of(config.crawl.vantage),
        lambda: StopList(config.crawl.stop, config.crawl.stop_file),
        lambda: clients_of(web.tokens),
        lambda: clients_of(web.crawlers, "crawlers"),
        lambda: clients_of(web.feeders, "feeders", with_wikis=True),
        lambda: require_secret(web.secret),
        lambda: Provider(people, None, "", ""),
        lambda: api_of(people),
    ]
    for look in looks:
        try:
            look()
        except (ConfigError, StoreError) as error:
            yield str(error)


def _weaknesses(config: Config) -> Iterator[str]:
    """Tokens that are weak: those that are let in here, and the own ones of processes without a database."""
    feeders = clients_of(config.web.feeders, "feeders", with_wikis=True)
    crawlers = clients_of(config.web.crawlers, "crawlers")
    yield from weak_tokens({"tokens": clients_of(config.web.tokens), "crawlers": crawlers, "feeders": feeders})
    for name in (CRAWLERS.token, FEEDERS.token):
        if 0 < len(from_environment(name)) < _SHORTEST:
            yield f"{name} is shorter than {_SHORTEST} characters: make one by openssl rand -hex 32"


async def _faults_of_wikis(config: Config) -> list[str]:
    """The wikis that are not contacted, since they are in a private network that is not permitted.

    One that no name server knows is a warning; if none answers, nothing is: it may be so on this machine only.
    """
    urls = dict(_contacted(config))
    found = await find_unreachable(config.net, urls.values(), _LOOK_S)
    if found.unknown:
        some = sorted(found.unknown)
        more = f" and {len(some) - _MOST_NAMED} more" if len(some) > _MOST_NAMED else ""
        names = ", ".join(some[:_MOST_NAMED])
        print_error(
            f"no name server knows {names}{more}; /etc/hosts and search domains are not used: [net] dns names others",
            logging.WARNING,
        )
    return [f"{place}: {url} {found.refused[url]}" for place, url in urls.items() if url in found.refused]


def _contacted(config: Config) -> Iterator[tuple[str, str]]:
    """The addresses of wikis that are requested by the configuration, each with the key that names it."""
    for wiki in config.wikis:
        yield f'[wiki."{wiki.name}"]', named_wiki(str(wiki.name), config).api
    for farm in config.farms:
        if farm.spam_wiki and any(wiki.name.farm == farm.name for wiki in config.wikis):
            yield f"[farm.{farm.name}] spam_wiki", named_wiki(f"{farm.spam_wiki}@{farm.name}", config).api
    if watched := config.feed.watched:
        yield "[feed] watched", watched if "://" in watched else titled_page(config)[0].api
    if config.people.client:
        yield "[people] provider", config.people.provider
        if config.people.api:
            yield "[people] api", config.people.api


def _summary(reading: ConfigReading) -> str:
    assert reading.config is not None, "there is no fault"
    watched = f", and those of {reading.config.feed.watched}" if reading.config.feed.watched else ""
    by_variables = many(sum(origin != reading.source for origin in reading.origins.values()), "key")
    wikis = f"wikis to watch: {len(reading.config.wikis)}{watched}"
    return plain(f"ok: {reading.source or 'no file'}, {by_variables} by variables, {wikis}")

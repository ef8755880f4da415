"""Repairs dead links on a wiki's pages by what Weboid knows of them.

Without pages to work on it prints what it would do, and stops:

    pwb weboid_repair

Which pages:

-weboid:dead      Pages with links that have died since the last run. The
                  journal in pywikibot's folder keeps the place; pages that
                  filters leave out count as done. With -limit:N it ends
                  after N pages that had something to repair; then, and with
                  -simulate, the place stays as it was.

&params;

How:

-always           Saves without asking. By default each edit is shown and
                  asked about.

-rate:N           At most N edits a minute, such as -rate:6; and never faster
                  than pywikibot's own put_throttle.

-runpage:TITLE    The page that stops the bot when it says anything but "run".
                  Default: User:ACCOUNT/Run. While nobody has made it, it does
                  not stop the bot.

-errors:TITLE     The page that summaries name for errors. Default: User
                  talk:ACCOUNT.

-settings:FILE    The wiki's settings, instead of its page
                  MediaWiki:Weboid.json.

-service:URL      Weboid. Default: https://weboid.toolforge.org, or what the
                  environment variable WEBOID_SERVICE says. WEBOID_TOKEN holds
                  the token of a trusted client.

-farm:NAME        The farm of the wiki. Default: WMF.

-simulate         Pywikibot's global option: shows all edits, saves none.

Exit status: 0 done, 2 something must be corrected first, 3 somebody has
stopped the bot.
"""

import sys
from collections.abc import Iterator
from copy import copy
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import pywikibot
from pywikibot import config
from pywikibot.pagegenerators import parameterHelp

from weboid.core.wikitext.settings import WikiSettings
from weboid.errors import WeboidError
from weboid_scripts.client import WeboidClient
from weboid_scripts.common.options import chosen_pages
from weboid_scripts.common.run_page import RunPage, RunStopped
from weboid_scripts.common.saving import Saver
from weboid_scripts.common.starting import run_script
from weboid_scripts.common.wiki_settings import read_settings
from weboid_scripts.journal.journal import FILE_NAME, Journal
from weboid_scripts.repairs.batches import AnsweredPage, PageBatches
from weboid_scripts.repairs.dead_pages import MOST_PAGES, DeadPages
from weboid_scripts.repairs.repair_options import RepairOptions, read_options
from weboid_scripts.repairs.repair_plan import plan_of
from weboid_scripts.repairs.repairing import RepairBot, RepairPlace

docuReplacements: Final = {"&params;": parameterHelp}  # noqa: N816 (pywikibot's name for what goes into the help)


def main(*arguments: str) -> None:
    """Runs the script with these arguments, or those of the command line; exits with its status."""
    sys.exit(run_script(repair_pages, arguments))


def repair_pages(site: Any, words: list[str]) -> None:
    """Does on a site what the words of a command line say. Raises WeboidError, and pywikibot's errors."""
    options = read_options(site, words)
    dbname = options.common.dbname(site)
    if not options.has_pages:
        pywikibot.info(plan_of(site, options, dbname, _account_of(site)))
        return
    is_simulated = bool(config.simulate)
    if not is_simulated:
        site.login()
    # A simulation reads from the journal where to go on, and neither makes nor changes one.
    with Journal(Path(config.datafilepath(FILE_NAME)), is_read_only=is_simulated) as journal:
        _bot(site, options, dbname, journal, is_simulated=is_simulated).run()


def _bot(site: Any, options: RepairOptions, dbname: str, journal: Journal, *, is_simulated: bool) -> RepairBot:
    account = _account_of(site)
    client = options.common.client(site)
    bots: list[RepairBot] = []

    def settings() -> WikiSettings:
        found = read_settings(site, options.common, dbname)
        pywikibot.info(f"Settings of {dbname}: {found.source}")
        if not found.settings.options.run:
            raise RunStopped(f"The settings of {dbname} say that no bot is to run (options.run is false).")
        return found.settings

    batches = PageBatches(
        site, client, dbname, read_settings=settings, skipped=lambda *what: bots[0].skipped(*what), now=_now
    )
    place = RepairPlace(
        site,
        dbname,
        account,
        options.help_page or f"User talk:{account}",
        None if is_simulated else journal,
        Saver(site, account, rate=options.rate),
        RunPage(site, options.run_page or f"User:{account}/Run", account),
        batches.again,
        _now,
        client.service,
    )
    pages = _pages(batches, site, client, options, dbname, journal)
    # Pages of the list that were repaired before do not count, or a run with -limit would meet them for ever.
    most = (options.factory.limit or None) if options.is_dead else None
    bots.append(RepairBot(place, pages, always=options.is_always, most=most))
    return bots[0]


def _account_of(site: Any) -> str:
    account = site.username()
    if account is None:
        raise WeboidError(f"No account is configured for {site}. Add one to usernames in user-config.py.")
    return str(account)


def _pages(
    batches: PageBatches, site: Any, client: WeboidClient, options: RepairOptions, dbname: str, journal: Journal
) -> Iterator[AnsweredPage]:
    """The pages to repair, with what is known of them."""
    if not options.is_dead:
        return batches.pages(_parts(chosen_pages(options.factory.getCombinedGenerator)))
    keeps_place = not config.simulate and not options.factory.limit
    dead = DeadPages(site, client, journal, dbname, keeps_place=keeps_place, now=_now)
    return batches.pages(_filtered(options.factory, batch) for batch in dead.batches())


def _parts(pages: Iterator[Any]) -> Iterator[Iterator[Any]]:
    """Batches of up to 5,000 pages, of which none is read before it is asked for."""
    for first in pages:
        yield chain([first], islice(pages, MOST_PAGES - 1))


def _filtered(factory: Any, pages: Iterator[Any]) -> Iterator[Any]:
    """Those pages of a batch that pywikibot's filters let pass."""
    own = copy(factory)
    own.gens, own.limit = [], None
    return chosen_pages(lambda: own.getCombinedGenerator(pages))


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    main()

"""Finds edits of weboid_repair that people have taken back, shows who and probably why, and reports wrong verdicts.

It goes through the journal of this wiki and looks at what became of each link that was repaired, also where the link
alone was put back. What was taken back is not done again. Where Weboid's verdict may have been wrong, that is
reported to the service, which lets no bot of this wiki repair that link before an administrator has looked at it.

These command line parameters can be used:

-days:N          Look at edits of the last N days (30).

-limit:N         Look at the last N edits at most.

-simulate        Report nothing, and leave the journal as it is.

-release:N       Revision N of the bot, though reverted, may be done again. Looks at nothing else.

-resume          Count reverts anew: weboid_repair may go on after more than 1 % of its last 200 edits were reverted.
                 Looks at nothing else.

-service:URL     The service; also by the environment's WEBOID_SERVICE (https://weboid.toolforge.org).

-farm:NAME       The farm of the wiki (WMF).

-settings:FILE   The wiki's settings, instead of its page MediaWiki:Weboid.json.

The token of a trusted client, without which nothing is reported, is read from the environment variable WEBOID_TOKEN.

Exit status: 0 done, 2 something must be corrected first.
"""

import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pywikibot
from pywikibot import config

from weboid.errors import WeboidError
from weboid_scripts.client import WeboidClient
from weboid_scripts.common.options import OptionRefused, read_common
from weboid_scripts.common.starting import run_script
from weboid_scripts.common.wiki_settings import read_settings
from weboid_scripts.journal.journal import FILE_NAME, Edit, Journal, NotedRevert
from weboid_scripts.reverts.revert_check import note_reverts, too_many_reverts
from weboid_scripts.reverts.revert_listing import printable, table_of
from weboid_scripts.reverts.revert_options import RevertOptions, read_revert_options
from weboid_scripts.reverts.revert_reports import report_reverts
from weboid_scripts.reverts.revert_search import RevertSearch

_SURELY_OVER = timedelta(days=1)
"""An edit that is not on the wiki after this long is not being saved any more."""
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def main(*arguments: str) -> None:
    """Runs the script with these arguments, or those of the command line; exits with its status."""
    sys.exit(run_script(_run, arguments))


def _run(site: Any, words: list[str]) -> None:
    common, others = read_common(words)
    options = read_revert_options(others)
    if config.simulate and (options.is_resuming or options.release is not None):
        raise OptionRefused("-resume and -release: change the journal alone. Give them without -simulate.")
    wiki = common.dbname(site)
    with Journal(Path(config.datafilepath(FILE_NAME)), is_read_only=bool(config.simulate)) as journal:
        if options.is_resuming:
            journal.count_anew(wiki)
            pywikibot.info(f"Reverts of edits that were made on {wiki} until now do not count any more.")
        elif options.release is not None:
            _release(journal, wiki, options.release)
        else:
            settings = read_settings(site, common, wiki).settings
            search = RevertSearch(site, journal, settings, str(site.username() or ""))
            _look_at_edits(journal, search, wiki, options)
            _report(journal, common.client(site), wiki)


def _now() -> datetime:
    return datetime.now(UTC)


def _release(journal: Journal, wiki: str, revision: int) -> None:
    edit = journal.edit_of_revision(wiki, revision)
    reverts = [] if edit is None else journal.reverts_of(edit.number)
    if edit is None or not reverts:
        raise WeboidError(
            f"The journal has no edit on {wiki} that made revision {revision} and was reverted. "
            "The script without -release: shows those that were."
        )
    for revert in reverts:
        journal.release(edit.number, revert.normal, _now())
    pywikibot.info(f"What revision {revision} of {printable(edit.title)} did may be done again.")
    if any(revert.state == "open" for revert in reverts):
        pywikibot.info("The service has a report of it, which an administrator there has yet to review.")


def _look_at_edits(journal: Journal, search: RevertSearch, wiki: str, options: RevertOptions) -> None:
    begin = _now()
    for edit in journal.unfinished_edits(wiki):
        if search.settled(edit) is None and edit.moment < begin - _SURELY_OVER:
            journal.drop_edit(edit.number)
    edits = journal.edits_since(wiki, begin - timedelta(days=options.days))
    seen = hidden = 0
    reverted: list[Edit] = []
    for examined in search.examine(islice(edits, options.limit)):
        note_reverts(journal, examined)
        seen += 1
        hidden += not examined.is_known
        if journal.reverts_of(examined.edit.number):
            reverted.append(examined.edit)
    _print_table((edit, revert) for edit in reverted for revert in journal.reverts_of(edit.number))
    pywikibot.info(f"Edits looked at: {seen}; reverted, wholly or in part: {len(reverted)}.")
    if hidden:
        pywikibot.info(f"The wiki hides what became of {hidden} of them; these are not repeated.")
    reason = too_many_reverts(journal, wiki)
    if reason is not None:
        pywikibot.warning(reason)


def _report(journal: Journal, client: WeboidClient, wiki: str) -> None:
    if client.has_token and not config.simulate:
        done = report_reverts(journal, client, wiki, _now)
        for edit, revert, why in done.refused:
            message = f"{client.service} does not take the report of {revert.url} in revision {edit.revision}: {why}"
            pywikibot.warning(printable(message))
        if done.new or done.released:
            pywikibot.info(f"Reported to {client.service}: {done.new}; released there since: {done.released}.")
        return
    waiting = journal.reverts_to_report(wiki, _NEVER)
    if not waiting:
        return
    pywikibot.info(f"What would be reported to {client.service}:")
    _print_table(waiting)
    if not client.has_token:
        pywikibot.info(
            "Nothing is reported without the token of a trusted client. Ask the operators of the service for one, and "
            "run this script again with it in the environment's WEBOID_TOKEN."
        )


def _print_table(reverts: Iterable[tuple[Edit, NotedRevert]]) -> None:
    for line in table_of(reverts):
        pywikibot.stdout(line)


if __name__ == "__main__":
    main()

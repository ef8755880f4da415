#!/usr/bin/env python3
"""
Lists the dead external links of pages, as weblinkchecker does, and reports them on talk pages if that is wanted.

Which links are dead is Weboid's verdict, which rests on checks over weeks. No page itself is changed.

The pages are chosen by these, and by pywikibot's generators, which see below:

-repeat           Pages on which links failed when they were last looked at.

-namespace:N      Only pages of this namespace, by number or name; may be given several times (-ns:N is the same).

-xml:FILE         The pages of a dump; what is on them is read from the wiki all the same.

-xmlstart:TITLE   The page of the dump to begin with.

What is done:

-scan             Links are requested now, too, by Weboid's checker: at each domain a request a second, several
                  domains at a time (pywikibot's max_external_links), none again within seven days, or three if it
                  failed. A link that works now is not listed; one that fails, and is not dead by Weboid's verdict, is
                  shown as failing.

-three-in-nine-days
                  Links are dead when three scans in a row have failed, which takes nine days with a run every three.
                  Weboid is not asked for verdicts. It includes -scan.

-ignore:CODE      Links whose last answer had this HTTP code are not listed; may be given several times.

-day:N            Links are listed as dead that have been failing for more than N days; otherwise those of
                  pywikibot's weblink_dead_days, which is 7.

-talk             Dead links are reported on the talk page of their page: one section, brought up to date by each run,
                  and removed when no link of it is dead any more, unless somebody has answered or changed it. The
                  wiki's settings page has to allow it ("talk": "beside"). It is the same as pywikibot's
                  report_dead_links_on_talk = True.

-notalk           Nothing is reported, whatever pywikibot's configuration says.

-journal:FILE     The file that remembers scans; otherwise weboid-journal.sqlite3 in pywikibot's folder.

-runpage:TITLE    The page whose text stops the bot unless it is "run"; otherwise User:NAME/run.

-service:URL      Weboid; otherwise $WEBOID_SERVICE, or https://weboid.toolforge.org

-farm:NAME        The farm of the wiki, WMF unless given.

-settings:FILE    The wiki's settings, instead of its page MediaWiki:Weboid.json

&params;

Examples:

    pwb weboid_weblinks -start:! -ns:0
    pwb weboid_weblinks -cat:Physics -talk
    pwb weboid_weblinks -repeat -scan -three-in-nine-days -ignore:500
"""

import sys
from datetime import UTC, datetime

import pywikibot
from pywikibot import config, pagegenerators
from pywikibot.bot import suggest_help
from pywikibot.exceptions import Error

from weboid.errors import WeboidError
from weboid_scripts.journal_file import JournalFile
from weboid_scripts.link_lines import shown
from weboid_scripts.scan_memory import ScanMemory
from weboid_scripts.weblinks_options import WeblinksOptions, read_options
from weboid_scripts.weblinks_run import WeblinksRun

docuReplacements = {"&params;": pagegenerators.parameterHelp}  # noqa: N816 (pywikibot's name)


def main(*args: str) -> None:
    """Lists dead links; ends with status 2 if something is wrong with the call, or nothing can be said."""
    local = pywikibot.handle_args(args)
    try:
        options = read_options(
            local,
            journal=config.datafilepath("weboid-journal.sqlite3"),
            days=config.weblink_dead_days,
            talk=config.report_dead_links_on_talk,
        )
        if not _work(options):
            sys.exit(2)
    except (WeboidError, Error) as error:
        pywikibot.error(shown(str(error)) if isinstance(error, Error) else error)
        sys.exit(2)


def _work(options: WeblinksOptions) -> bool:
    """Whether the call was complete."""
    site = pywikibot.Site()
    factory = pagegenerators.GeneratorFactory(site=site)
    unknown = [argument for argument in options.others if not factory.handle_arg(argument)]
    if unknown:
        suggest_help(unknown_parameters=unknown)
        return False
    file = JournalFile(options.journal)
    try:
        memory = ScanMemory(file)
        generator = None
        if options.repeat:
            generator = site.load_pages_from_pageids(memory.pages(options.common.dbname(site)))
        elif options.xml is not None:
            generator = pagegenerators.XMLDumpPageGenerator(
                str(options.xml), options.xml_start, factory.namespaces, site
            )
        pages = factory.getCombinedGenerator(generator)
        if pages is None:
            suggest_help(missing_generator=True)
            return False
        WeblinksRun(
            site,
            options,
            memory,
            connections=config.max_external_links,
            now=lambda: datetime.now(UTC),
        ).run(pages)
    finally:
        file.close()
    return True


if __name__ == "__main__":
    main()

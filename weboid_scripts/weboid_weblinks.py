"""Lists the dead external links of pages, as weblinkchecker does, and reports them on talk pages if that is wanted.

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

-simulate         Pywikibot's global option: shows reports, saves none. The
                  journal stays as it is, unless links are scanned.

-rate:N           At most N edits a minute on talk pages, such as -rate:6; and never faster than pywikibot's own
                  put_throttle.

-runpage:TITLE    The page whose text stops the bot unless it is "run"; otherwise User:NAME/Run.

-service:URL      Weboid; otherwise $WEBOID_SERVICE, or https://weboid.toolforge.org

-farm:NAME        The farm of the wiki, WMF unless given.

-settings:FILE    The wiki's settings, instead of its page MediaWiki:Weboid.json

&params;

Examples:

    pwb weboid_weblinks -start:! -ns:0
    pwb weboid_weblinks -cat:Physics -talk
    pwb weboid_weblinks -repeat -scan -three-in-nine-days -ignore:500

Exit status: 0 done, 2 something must be corrected first, 3 somebody has stopped the bot.
"""

import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, Final

from pywikibot import config
from pywikibot.pagegenerators import GeneratorFactory, XMLDumpPageGenerator, parameterHelp

from weboid_scripts.common.options import OptionRefused, chosen_pages, is_generator
from weboid_scripts.common.starting import run_script
from weboid_scripts.common.wiki_query import brief
from weboid_scripts.journal.journal import FILE_NAME
from weboid_scripts.journal.journal_file import JournalFile
from weboid_scripts.weblinks.scan_memory import ScanMemory
from weboid_scripts.weblinks.weblinks_options import WeblinksOptions, read_options
from weboid_scripts.weblinks.weblinks_run import WeblinksRun

docuReplacements: Final = {"&params;": parameterHelp}  # noqa: N816 (pywikibot's name for what goes into the help)


def main(*arguments: str) -> None:
    """Runs the script with these arguments, or those of the command line; exits with its status."""
    sys.exit(run_script(_run, arguments))


def _run(site: Any, words: list[str]) -> None:
    options = read_options(
        words,
        journal=config.datafilepath(FILE_NAME),
        days=config.weblink_dead_days,
        talk=config.report_dead_links_on_talk,
    )
    factory = GeneratorFactory(site=site)
    if unknown := [argument for argument in options.others if not is_generator(factory, argument)]:
        raise OptionRefused(f"{brief(' '.join(unknown))}: there is no such option. See pwb weboid_weblinks -help")
    # What was scanned must be remembered, or servers would be asked again too soon.
    is_read_only = bool(config.simulate) and not options.scan
    with closing(JournalFile(options.journal, is_read_only=is_read_only)) as file:
        memory = ScanMemory(file)
        if not (options.repeat or options.xml is not None or factory.gens):
            raise OptionRefused("No pages were chosen. Name some, such as -page:TITLE or -start:!")
        pages = chosen_pages(lambda: factory.getCombinedGenerator(_chosen(site, options, memory, factory)))
        WeblinksRun(site, options, memory, connections=config.max_external_links, now=_now).run(pages)


def _chosen(site: Any, options: WeblinksOptions, memory: ScanMemory, factory: Any) -> Iterator[Any] | None:
    """The pages of the script's own options; None without any."""
    pages: Iterator[Any] | None = None
    if options.repeat:
        pages = site.load_pages_from_pageids(memory.pages(options.common.dbname(site)))
    elif options.xml is not None:
        pages = XMLDumpPageGenerator(str(options.xml), options.xml_start, factory.namespaces, site)
    return pages


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    main()

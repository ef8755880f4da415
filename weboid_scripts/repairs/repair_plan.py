"""The plan of ``weboid_repair``, shown when no pages were named: nothing is changed for it."""

from typing import Any

from pywikibot import config

from weboid_scripts.common.wiki_settings import read_settings
from weboid_scripts.journal.journal import FILE_NAME
from weboid_scripts.repairs.repair_options import RepairOptions


def plan_of(site: Any, options: RepairOptions, dbname: str, account: str) -> str:
    """The plan, as lines of text. Raises SettingsRefused, WikiSilent."""
    found = read_settings(site, options.common, dbname)
    rules = found.settings.options
    rate = f"at most {options.rate:g} edits a minute, " if options.rate else ""
    rows = [
        ("wiki", f"{site} ({dbname})"),
        ("account", account),
        ("service", options.common.service + (", with a token" if options.common.token else "")),
        ("settings", found.source + ("" if rules.run else "; they say that no bot is to run")),
        ("scope", "references only" if rules.scope == "references" else "all links"),
        ("links without a copy", "are left alone" if rules.only_with_archive else "are tagged as dead"),
        ("revived links", "lose their tags" if rules.revive else "are left alone"),
        ("talk pages", rules.talk),
        ("edits", f"{rate}{config.put_throttle:g} s apart at least, maxlag {config.write_maxlag} s"),
        ("run page", options.run_page or f"User:{account}/Run"),
        ("errors are reported on", options.help_page or f"User talk:{account}"),
        ("journal", config.datafilepath(FILE_NAME)),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    return "\n".join(
        [
            "Nothing is done, for it was not said on which pages. This is how it would be done:",
            "",
            *lines,
            "",
            "Say which pages, such as -page:TITLE, -cat:NAME or -weboid:dead; try it with -simulate first.",
            "All options: pwb weboid_repair -help",
        ]
    )

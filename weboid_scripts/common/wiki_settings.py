"""Reads a wiki's settings before each batch: its own page, a file of the operator, or those that are shipped (B-1)."""

from dataclasses import dataclass
from typing import Any

from weboid.bot.cases import case_settings
from weboid.core.wikitext.settings import SettingsError, WikiSettings, parse_settings
from weboid.errors import WeboidError
from weboid_scripts.common.options import SETTINGS_PAGE, CommonOptions
from weboid_scripts.common.wiki_query import ask, newest_revision, pages_of


class SettingsRefused(WeboidError):
    """No settings, or some that do not fit: nothing is done by them. The text names every fault."""


@dataclass(frozen=True, slots=True)
class FoundSettings:
    """Settings that fit, and where they were found."""

    settings: WikiSettings
    source: str


def read_settings(site: Any, options: CommonOptions, dbname: str) -> FoundSettings:
    """The settings of a wiki as they are now. Raises SettingsRefused, WikiSilent."""
    if options.settings_file is not None:
        source = str(options.settings_file)
        try:
            text = options.settings_file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise SettingsRefused(f"{source} cannot be read: {error}. Name another file by -settings:.") from None
        return FoundSettings(_fitting(text, dbname, source), source)
    answer = ask(site, prop="revisions", titles=SETTINGS_PAGE, rvprop="ids|content", rvslots="main")
    for page in pages_of(answer):
        if not page.get("missing"):
            revision = newest_revision(page)
            if revision is None:
                raise SettingsRefused(
                    f"The page {SETTINGS_PAGE} of {dbname} is hidden. Ask an administrator of the wiki."
                )
            return FoundSettings(_fitting(revision[1], dbname, f"the page {SETTINGS_PAGE}"), f"page {SETTINGS_PAGE}")
    return FoundSettings(_shipped(dbname), "shipped with the scripts")


def _fitting(text: str, dbname: str, source: str) -> WikiSettings:
    try:
        return parse_settings(text, wiki=dbname, base=_shipped_for(dbname))
    except SettingsError as error:
        faults = "\n".join(f"  {fault}" for fault in error.faults)
        raise SettingsRefused(
            f"The settings of {dbname} do not fit; nothing is done until {source} is corrected "
            f"(see docs/settings.md):\n{faults}"
        ) from None


def _shipped_for(dbname: str) -> WikiSettings | None:
    try:
        settings = case_settings(None, dbname, {})
    except SettingsError:
        return None
    return settings if settings is not None and settings.dbname == dbname else None


def _shipped(dbname: str) -> WikiSettings:
    settings = _shipped_for(dbname)
    if settings is None:
        raise SettingsRefused(
            f"There are no settings for {dbname}. Write the page {SETTINGS_PAGE} there, or a file and name it by "
            "-settings:FILE; begin with a copy of one of those in wikis/ (see docs/settings.md). If the farm is not "
            "the right one, name it by -farm:."
        )
    return settings

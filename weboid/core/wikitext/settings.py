"""A wiki's settings: its templates, parameters, marks and dates, as a JSON page of the wiki says them (B-1, W-2).

One page a wiki, one schema for all (``wikis/settings.schema.json``), read by the webservice, the gadget and bots alike.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple

from babel import Locale, UnknownLocaleError
from babel.dates import parse_pattern

from weboid.core.url.urls import Url
from weboid.core.wikitext.link_lists import LinkLists
from weboid.core.wikitext.shape import Form, Misfit, NumberForm, read
from weboid.errors import WeboidError

PLACEHOLDERS: Final = ("url", "archive_url", "archive_date", "stamp", "text", "date", "month", "now", "bot")
"""The words in braces in a pattern: the link, its copy, the copy's day and 14-digit moment in UTC, the link's
text, the day, the month and the moment of writing, and the name of the bot that writes."""

_OUT: Final = r"\u0000-\u001f\u007f{}|<>\[\]~"
"""Characters of no name and no value: they would leave a template, or sign the edit."""
_FIELD: Final = rf"\{{(?:{'|'.join(PLACEHOLDERS)})\}}"

_PATTERNS_KEPT: Final = 4_096
_STRIKES, _MISSING, _SPAN = 15, 31, 63
"""The highest thresholds: those of ``core/record/policy``."""


class SettingsError(WeboidError):
    """Settings that do not fit; `faults` names each with its path in the page."""

    def __init__(self, faults: tuple[str, ...], text: str) -> None:
        super().__init__(f"the wiki's settings do not fit: {text}")
        self.faults: Final = faults


def _bad_date(pattern: str) -> str:
    try:
        parse_pattern(pattern)
    except (ValueError, KeyError):
        return "no pattern of dates; see CLDR, for example 'd MMMM y'"
    return ""


def _bad_language(code: str) -> str:
    try:
        Locale.parse(code, sep="-")
    except (ValueError, UnknownLocaleError):
        return "no language that CLDR has dates of, such as 'de'"
    return ""


Wiki = Annotated[str, Form("a wiki, such as 'dewiki@WMF'", r"[a-z0-9_-]{1,64}@[A-Za-z][A-Za-z0-9_-]{0,31}")]
Language = Annotated[
    str, Form("a language, such as 'de'", r"[a-z]{2,12}(?:-[A-Za-z0-9]{1,12}){0,3}", 40, _bad_language)
]
DatePattern = Annotated[
    str,
    Form(
        "a CLDR pattern of dates, such as 'd MMMM y'", rf"(?:[dMLyE]|'[^{_OUT}=']*'|[^{_OUT}='A-Za-z])+", 60, _bad_date
    ),
]
Zero = Annotated[str, Form("the zero of the digits of dates, such as '۰'", "[0٠۰०০੦૦୦௦౦೦൦๐໐༠၀០᠐]")]
TemplateName = Annotated[str, Form("the name of a template, without its namespace", rf"[^{_OUT}#]+", 255)]
Parameter = Annotated[str, Form("the name of a parameter", rf"[^{_OUT}=]+", 100)]
Value = Annotated[str, Form("a value of a parameter", rf"(?:[^{_OUT}]|{_FIELD})+", 200)]
Pattern = Annotated[
    str, Form("a template filled with placeholders", rf"\{{\{{[^{_OUT}#]+(?:\|(?:[^{_OUT}]|{_FIELD})*)*\}}\}}")
]
"""Such as ``{{webarchive|url={archive_url}|date={archive_date}}}``."""

Place = Literal["after", "swallow"]
"""The place of a template: after the link, or in its place, with URL and text as parameters."""


@dataclass(frozen=True, slots=True)
class DateRule:
    """Another pattern of dates on pages that have one of these templates."""

    if_template: tuple[TemplateName, ...]
    date: DatePattern


@dataclass(frozen=True, slots=True)
class StatusParameter:
    """The parameter that says whether a cited link is dead: its name, older names, and its values.

    `live` None = for a living link the parameter is taken out; values in `keep` are never changed.
    `default_with_archive` = what a citation with a copy means without the parameter.
    """

    param: Parameter
    dead: Value
    live: Value | None = None
    legacy: tuple[Parameter, ...] = ()
    keep: tuple[Value, ...] = ()
    legacy_dead: tuple[Value, ...] = ()
    legacy_live: tuple[Value, ...] = ()
    default_with_archive: Value | None = None


@dataclass(frozen=True, slots=True)
class BotMark:
    """A parameter by which a bot marks its edit; `others` are its names in other families (`CiteSettings`)."""

    param: Parameter
    value: Value
    others: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class CiteSettings:
    """The templates of citations; of each parameter all names, the one to write first.

    `part_url`: addresses of a part of the document. A copy would be taken for one of that, so a citation with one is
    left alone. `families`: names that belong together; a citation gets those of the family of which it has most.
    """

    names: tuple[TemplateName, ...]
    url: tuple[Parameter, ...]
    archive_url: tuple[Parameter, ...]
    archive_date: tuple[Parameter, ...]
    title: tuple[Parameter, ...] = ()
    access_date: tuple[Parameter, ...] = ()
    archive_stamp: tuple[Parameter, ...] = ()
    part_url: tuple[Parameter, ...] = ()
    status: StatusParameter | None = None
    paywall: Mapping[Parameter, tuple[Value, ...]] = field(default_factory=dict)
    bot_mark: BotMark | None = None
    families: tuple[tuple[Parameter, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class DeadTag:
    """The template that marks a dead link; `permanent` = parameters by which people say that it will stay so."""

    names: tuple[TemplateName, ...]
    write: Pattern
    place: Place
    url: tuple[Parameter, ...] = ()
    text: tuple[Parameter, ...] = ()
    permanent: Mapping[Parameter, tuple[Value, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ObsoleteTemplate:
    """The parameters of a template that is to be replaced."""

    url: tuple[Parameter, ...] = ()
    stamp: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchiveTemplate:
    """The template that shows an archived copy of a link."""

    names: tuple[TemplateName, ...]
    write: Pattern
    place: Place
    url: tuple[Parameter, ...] = ()
    text: tuple[Parameter, ...] = ()
    obsolete: Mapping[TemplateName, ObsoleteTemplate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """The permissions of bots on a wiki; the defaults are those of a page without options."""

    run: bool = True
    trust_tags: bool = True
    only_with_archive: bool = False
    scope: Literal["all", "references"] = "all"
    convert_bare_refs: bool = False
    convert_obsolete_archive_templates: bool = True
    replace_deprecated_archives: bool = True
    cosmetic_only_edits: bool = False
    living_archives: bool = False
    talk: Literal["never", "beside", "instead"] = "never"
    revive: bool = True


@dataclass(frozen=True, slots=True)
class DeadAfter:
    """The thresholds of a wiki for calling a link dead (U-7, U-11); what it does not name is as for all wikis."""

    strikes: Annotated[int, NumberForm("days on which checks must have failed", 3, _STRIKES)] | None = None
    missing: Annotated[int, NumberForm("days for which the page must be missing (404, 410)", 9, _MISSING)] | None = None
    unreachable: Annotated[int, NumberForm("days without a name, a connection or TLS", 28, _SPAN)] | None = None
    server_error: Annotated[int, NumberForm("days of errors of the server (5xx)", 28, _SPAN)] | None = None


@dataclass(frozen=True, slots=True)
class WikiSettings:
    """The settings of one wiki by which wikitext is written; keys of the page are the names of the fields."""

    dbname: Wiki
    lang: Language
    date: DatePattern
    cite: CiteSettings
    dead_tag: DeadTag
    archive_template: ArchiveTemplate
    date_rules: tuple[DateRule, ...] = ()
    month: DatePattern | None = None
    zero: Zero = "0"
    ignore: tuple[TemplateName, ...] = ()
    paywall_tags: tuple[TemplateName, ...] = ()
    exclusion: tuple[TemplateName, ...] = ()
    links: LinkLists = field(default_factory=LinkLists)
    dead_after: DeadAfter = DeadAfter()
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """A wiki's page of settings: each part may be left out, None, and is then that of the settings that are shipped."""

    dbname: Wiki | None = None
    lang: Language | None = None
    date: DatePattern | None = None
    cite: CiteSettings | None = None
    dead_tag: DeadTag | None = None
    archive_template: ArchiveTemplate | None = None
    date_rules: tuple[DateRule, ...] | None = None
    month: DatePattern | None = None
    zero: Zero | None = None
    ignore: tuple[TemplateName, ...] | None = None
    paywall_tags: tuple[TemplateName, ...] | None = None
    exclusion: tuple[TemplateName, ...] | None = None
    links: LinkLists | None = None
    dead_after: DeadAfter | None = None
    options: Options | None = None


class OfWiki(NamedTuple):
    """The own words of a wiki: how it `writes` (None = that is not known), its lists of links, its thresholds."""

    writes: WikiSettings | None = None
    links: LinkLists = LinkLists()
    dead_after: DeadAfter = DeadAfter()


NOTHING_SAID: Final = OfWiki()
_NEEDED: Final = [each.name for each in fields(WikiSettings) if each.default is each.default_factory is MISSING]


def parse_settings(text: str, *, wiki: str | None = None, base: WikiSettings | None = None) -> WikiSettings:
    """The settings in a JSON page by which wikitext is written; with `wiki` they must be those of that wiki.

    What the page leaves out is taken from `base`. Raises SettingsError, also where something is missing then.
    """
    page = _read(text)
    parts = _parts(page, wiki, base)
    if missing := [f"{name}: is missing" for name in _NEEDED if name not in parts]:
        misfit = Misfit(missing)
        raise SettingsError(misfit.faults, str(misfit))
    return _completed(page, parts, wiki)


def parse_page(text: str, *, wiki: str | None = None, base: WikiSettings | None = None) -> OfWiki:
    """The contents of a JSON page as far as it goes; else as `parse_settings`."""
    page = _read(text)
    parts = _parts(page, wiki, base)
    if all(name in parts for name in _NEEDED):
        return of_wiki(_completed(page, parts, wiki))
    said = OfWiki(None, parts.get("links", NOTHING_SAID.links), parts.get("dead_after", NOTHING_SAID.dead_after))
    _refuse(_of_other(page, wiki) + [f"links.{fault}" for fault in said.links.contradictions()])
    return said


def of_wiki(settings: WikiSettings | None) -> OfWiki:
    """The same of whole settings; None = there are none."""
    return NOTHING_SAID if settings is None else OfWiki(settings, settings.links, settings.dead_after)


def _read(text: str) -> SettingsPage:
    try:
        return read(SettingsPage, text)
    except Misfit as misfit:
        raise SettingsError(misfit.faults, str(misfit)) from None


def _refuse(faults: list[str]) -> None:
    if faults:
        misfit = Misfit(faults)
        raise SettingsError(misfit.faults, str(misfit))


def _parts(page: SettingsPage, wiki: str | None, base: WikiSettings | None) -> dict[str, Any]:
    """The parts that are known, by name: those of the page before those of `base`."""
    names = [each.name for each in fields(SettingsPage)]
    given = {name: value for name in names if (value := getattr(page, name)) is not None}
    others = {} if base is None else {name: getattr(base, name) for name in names}
    return ({} if wiki is None else {"dbname": wiki}) | others | given


def _completed(page: SettingsPage, parts: dict[str, Any], wiki: str | None) -> WikiSettings:
    settings = WikiSettings(**parts)
    _refuse(_of_other(page, wiki) + _contradictions(settings))
    return settings


def _of_other(page: SettingsPage, wiki: str | None) -> list[str]:
    if wiki in (None, page.dbname) or page.dbname is None:
        return []
    return [f"dbname: is {page.dbname}, but this is the page of {wiki}"]


def flags_of(url: Url, settings: WikiSettings | None) -> frozenset[str]:
    """The wiki's own flags of a link: words of ``core/wikitext/link_lists``. None = it has no settings."""
    return frozenset() if settings is None else settings.links.flags_of(url)


def template_key(name: str) -> str:
    """The same for all spellings of a template's name."""
    plain = " ".join(name.replace("_", " ").split())
    return plain[:1].upper() + plain[1:]


@lru_cache(_PATTERNS_KEPT)
def placeholders(pattern: str) -> frozenset[str]:
    """The placeholders in a pattern."""
    return frozenset(found[1:-1] for found in re.findall(_FIELD, pattern))


def _contradictions(settings: WikiSettings) -> list[str]:
    """The faults that are not of a single field."""
    faults: list[str] = []
    dead, archive = settings.dead_tag, settings.archive_template
    for path, template in (("dead_tag", dead), ("archive_template", archive)):
        written = template.write[2:-2].partition("|")[0]
        if template_key(written) not in {template_key(name) for name in template.names}:
            faults.append(f"{path}.write: {written!r} is none of {path}.names")
    held = placeholders(dead.write)
    if copies := held & {"archive_url", "archive_date", "stamp"}:
        faults.append(f"dead_tag.write: a dead link without a copy has no {{{min(copies)}}}")
    if dead.place == "swallow" and "url" not in held:
        faults.append("dead_tag.write: with place 'swallow' it needs {url}, or the link would be lost")
    held = placeholders(archive.write)
    if "archive_url" not in held and not held >= {"url", "stamp"}:
        faults.append("archive_template.write: it needs {archive_url}, or {url} and {stamp}")
    status, mark = settings.cite.status, settings.cite.bot_mark
    values = (status and status.dead, status and status.live, mark and mark.value)
    patterns = [dead.write, archive.write, *(value for value in values if value)]
    if settings.month is None and any("month" in placeholders(pattern) for pattern in patterns):
        faults.append("month: is missing, but {month} is used")
    faults += [f"links.{fault}" for fault in settings.links.contradictions()]
    needed = ("names", "url", "archive_url", "archive_date")
    return faults + [f"cite.{name}: must not be empty" for name in needed if not getattr(settings.cite, name)]

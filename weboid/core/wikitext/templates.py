"""Fills in a wiki's own templates for archived copies and dead links: wikitext to copy (W-2), and for bots (B-5).

Values come from strangers: addresses and titles of documents. A parameter whose placeholder has no value is left out.
One law: the result is one template with parameters of the pattern only (`test_no_value_gets_out_of_the_template`).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import count
from typing import Final, NamedTuple

from babel import Locale
from babel.dates import format_date

from weboid.core.url.archives import snapshot_of
from weboid.core.wikitext.citations import name_keys
from weboid.core.wikitext.dates import day_in, names_to_write
from weboid.core.wikitext.settings import WikiSettings, placeholders

_WAYBACK: Final = "wayback"
_NEEDED: Final = frozenset({"url", "archive_url", "stamp"})
_FIELD: Final = re.compile(r"\{([a-z_]+)\}")
_STYLES: Final = (
    *("y-MM-dd", "d MMMM y", "d. MMMM y", "MMMM d, y", "d MMM y", "MMM d, y", "dd.MM.y", "d.M.y"),
    *("y年M月d日", "y年MM月dd日", "y년 M월 d일", "'ngày' d 'tháng' M 'năm' y", "d 'tháng' M 'năm' y"),
)
"""Usual ways to write a whole day."""
_MOST_TEXT: Final = 300
_DATES_KEPT: Final = 4_096
_PATTERNS_KEPT: Final = 1_024
_PAGES_KEPT: Final = 8

_ADDRESS: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://(?:\[[0-9A-Fa-f:.]+\](?::[0-9]+)?|[^\s/?#\[\]{}|<>\"'\x00-\x1f]+)"
)
_OUT_OF_URL: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\u3000\"<>\[\]{}|\\^`]|'(?=')|~(?=~~)|_(?=_\w+?__)")
_ENTITY: Final = re.compile(r"&(?=#?\w+;)")
_UNSEEN: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]")
_OUT_OF_TEXT: Final = re.compile(r"[<>\[\]{}|]|'(?=')|~(?=~~)|_(?=_\w+?__)|^[*#:;=]")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class _Parameter(NamedTuple):
    """A parameter of a pattern: its name, or its number from 1 on."""

    key: str
    value: str
    is_named: bool


def archive_wikitext(
    settings: WikiSettings,
    *,
    url: str,
    archive_url: str,
    taken: datetime,
    text: str,
    today: date,
    bot: str | None = None,
) -> str | None:
    """The wiki's archive template for a copy: `url` is the link, `taken` in UTC, `text` plain and perhaps empty.

    `today` with a time gives the moment of writing, too; `bot` None = a person writes. None if the wiki's template
    cannot name this copy: one that takes only moments is for the Wayback Machine.
    """
    pattern = settings.archive_template.write
    snapshot = snapshot_of(archive_url)
    if "archive_url" not in placeholders(pattern) and (snapshot is None or snapshot.archive.name != _WAYBACK):
        return None
    moment = taken.astimezone(UTC)
    values = {
        **common_values(settings, today, bot),
        "url": url_value(url),
        "archive_url": url_value(archive_url),
        "archive_date": date_text(settings, moment.date()),
        "stamp": f"{moment:%Y%m%d%H%M%S}".zfill(14),
        "text": text_value(text),
    }
    return filled_pattern(pattern, values)


def dead_wikitext(settings: WikiSettings, *, url: str, text: str, today: date, bot: str | None = None) -> str | None:
    """The wiki's mark of a dead link; arguments as for `archive_wikitext`. None if the URL cannot be written."""
    values = {**common_values(settings, today, bot), "url": url_value(url), "text": text_value(text)}
    return filled_pattern(settings.dead_tag.write, values)


def archive_parameters(
    settings: WikiSettings, *, archive_url: str, taken: datetime, today: date, is_dead: bool = True
) -> str | None:
    """The parameters that give a citation its copy, such as ``|archive-url=… |archive-date=…``.

    With them the citation says whether its link is dead. None if the copy's URL cannot be written.
    """
    cite = settings.cite
    copy = url_value(archive_url)
    if copy is None:
        return None
    moment = taken.astimezone(UTC).date()
    written = {cite.archive_url[0]: copy, cite.archive_date[0]: date_text(settings, moment)}
    if cite.status is not None:
        pattern = cite.status.dead if is_dead else cite.status.live
        status = pattern and substituted(pattern, common_values(settings, today, None))
        written |= {cite.status.param: status} if status else {}
    return " ".join(f"|{name}={value}" for name, value in written.items())


def date_text(settings: WikiSettings, day: date, templates: Collection[str] = (), like: Iterable[str] = ()) -> str:
    """A day written like the first of some days, else as the wiki writes it on a page that has these templates."""
    for written in like:
        if style := _style_of(written, settings):
            return _formatted_day(*style, day)
    for rule in settings.date_rules if templates else ():
        if not _keys_of(frozenset(templates)).isdisjoint(name_keys(rule.if_template)):
            return _formatted(settings, day, rule.date)
    return _formatted(settings, day, settings.date)


def _style_of(written: str, settings: WikiSettings) -> tuple[str, str, str] | None:
    """The language, the pattern and the zero by which a whole day is written; None = none, or in no usual style.

    Citations are copied from the English Wikipedia, with its days. Other digits than English ones are a style, too.
    """
    if (day := day_in(written, settings.lang)) is None:
        return None
    written = _UNSEEN.sub("", written.replace("&nbsp;", " ")).strip()
    zero = next(chr(ord(each) - int(each)) for each in written if each.isdecimal())
    patterns = (settings.date, *(rule.date for rule in settings.date_rules), *_STYLES)
    styles = ((language, pattern, zero) for language in (settings.lang, "en") for pattern in patterns)
    other = None if zero == "0" else (settings.lang, settings.date, zero)
    return next((style for style in styles if _formatted_day(*style, day) == written), other)


@lru_cache(_PAGES_KEPT)
def _keys_of(templates: frozenset[str]) -> frozenset[str]:
    """A page has thousands of templates, and as many days to write."""
    return name_keys(templates)


def url_value(url: str) -> str | None:
    """A URL as the value of a parameter, also inside brackets; None if it is none.

    What MediaWiki would read as markup is percent-encoded, which leaves it the same URL.
    """
    head = _ADDRESS.match(url)
    if head is None:
        return None
    if head.end() < len(url) and url[head.end()] not in "/?#":
        return None
    rest = _OUT_OF_URL.sub(_percent_encoded, _UNSEEN.sub(_percent_encoded, url[head.end() :]))
    return head[0] + _ENTITY.sub("&amp;", rest)


def text_value(text: str) -> str | None:
    """A plain text as the value of a parameter, also as the label of a link: one line; None if nothing is left."""
    line = " ".join(_CONTROLS.sub(" ", _UNSEEN.sub("", text)).split())
    if len(line) > _MOST_TEXT:
        line = line[: _MOST_TEXT - 1].rstrip() + "…"
    return _OUT_OF_TEXT.sub(lambda found: f"&#{ord(found[0])};", _ENTITY.sub("&amp;", line)) or None


def common_values(settings: WikiSettings, today: date, bot: str | None) -> dict[str, str | None]:
    """The values of placeholders that do not depend on the link; `bot` None = a person writes."""
    return {
        "date": date_text(settings, today),
        "month": settings.month and _formatted(settings, today, settings.month),
        "now": f"{today:%Y-%m-%d %H:%M:%S}" if isinstance(today, datetime) else None,
        "bot": text_value(bot) if bot else None,
    }


def _formatted(settings: WikiSettings, day: date, pattern: str) -> str:
    # A moment is equal to no other, its day to that of all links of an answer.
    return _formatted_day(settings.lang, pattern, settings.zero, day.date() if isinstance(day, datetime) else day)


@lru_cache(_DATES_KEPT)
def _formatted_day(language: str, pattern: str, zero: str, day: date) -> str:
    text = format_date(day, format=pattern, locale=Locale.parse(language, sep="-"))
    for name, own in names_to_write(language, day.month).items():
        text = text.replace(name, own)
    return text.translate({ord("0") + digit: ord(zero) + digit for digit in range(10)})


def _percent_encoded(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))


def substituted(pattern: str, values: Mapping[str, str | None]) -> str | None:
    """The pattern with its placeholders filled in; None if one of them has no value."""
    if any(values.get(name) is None for name in placeholders(pattern)):
        return None
    return _FIELD.sub(lambda found: values[found[1]] or "", pattern)


def filled_pattern(pattern: str, values: Mapping[str, str | None]) -> str | None:
    """The template of a pattern, with wikitext for values; None if it would lack an address or a moment."""
    name, parameters = _name_and_parameters(pattern)
    written, left_out = [name], False
    for parameter in parameters:
        filled = substituted(parameter.value, values)
        if filled is None:
            if placeholders(parameter.value) & _NEEDED:
                return None
            left_out = True
        else:
            # A value with = would be taken for a name and a value; one behind it, or behind a gap, for the one before.
            left_out = left_out or (not parameter.is_named and "=" in filled)
            written.append(f"{parameter.key}={filled}" if parameter.is_named or left_out else filled)
    return "{{" + "|".join(written) + "}}"


@lru_cache(_PATTERNS_KEPT)
def _name_and_parameters(pattern: str) -> tuple[str, tuple[_Parameter, ...]]:
    name, *written = pattern[2:-2].split("|")
    unnamed = count(1)
    parameters = []
    for parameter in written:
        key, equals, value = parameter.partition("=")
        parameters.append(_Parameter(key, value, True) if equals else _Parameter(str(next(unnamed)), parameter, False))
    return name, tuple(parameters)

"""Messages with translatewiki's syntax: ``$1``, ``{{PLURAL:$1|…}}``, ``{{GENDER:$1|…}}`` (W-11); CLDR's dates (U-2).

Plurals and genders are chosen by toolforge-i18n's formatter.
One law: a message is plain text; no translation can add markup (`test_a_message_cannot_bring_markup`).
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from string import Formatter
from typing import Final, Literal, NamedTuple

from babel import Locale
from babel.dates import format_date, format_datetime, format_timedelta, parse_pattern
from babel.numbers import format_decimal
from markupsafe import Markup, escape

from weboid.assets import asset
from weboid.core.record.days import date_of, iso
from weboid.web.words.language import DEFAULT, QQX, Language, languages

Parameter = str | int
Unit = Literal["day", "week", "month", "year"]
_TOKEN: Final = re.compile(r"\{\{(PLURAL|GENDER):\$([1-9])\|([^{}]*)\}\}|\$([1-9])|[{}]")
_FORMS: Final = re.compile(r"\{\{(?:PLURAL|GENDER):")
_INTERVAL: Final = "yMMMd"
_NEAR: Final = {-1: "weboid-yesterday", 0: "weboid-today", 1: "weboid-tomorrow"}
_GENDERS: Final = ("m", "f", "n")
_ALL_PLURALS: Final = ("zero", "one", "two", "few", "many")
_KEPT: Final = 4_096
_MOST_KEPT: Final = 100
"""Characters of a parameter. Longer ones come from outside and could fill the memory, so they are not cached."""
_MOST_LANGUAGES: Final = 64
_DIGITS: Final = {
    "adlm": 0x1E950,
    "arab": 0x660,
    "arabext": 0x6F0,
    "beng": 0x9E6,
    "cakm": 0x11136,
    "deva": 0x966,
    "hmnp": 0x1E140,
    "mtei": 0xABF0,
    "mymr": 0x1040,
    "nkoo": 0x7C0,
    "olck": 0x1C50,
    "rohg": 0x10D30,
    "tibt": 0xF20,
}
"""The zeros of CLDR's numbering systems (UAX 44: the other nine digits follow). Babel has their names only."""
_ISOLATES: Final = {"ltr": Markup("\u2066"), "rtl": Markup("\u2067")}
_END: Final = Markup("\u2069")
"""Unicode's left-to-right, right-to-left and pop isolate (UAX 9)."""
_WEEK, _MONTH, _YEAR = 7, 30.4375, 365.25


class Messages:
    """The messages of one language. `text` is for answers to programs and for titles, `html` for pages."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._locale = Locale.parse(language.locale)
        self._relative = self._locale if language.relative is None else Locale.parse(language.relative)
        # The same few sentences are used for many links.
        self._text = lru_cache(_KEPT)(self._formatted)
        self._kept_html = lru_cache(_KEPT, typed=True)(self._formatted_html)  # markup and text of one value are equal
        self._interval = lru_cache(_KEPT)(self._formatted_interval)
        self.span: Final = lru_cache(_KEPT)(self._span)
        """A duration until now, in days, as an adverbial: *for two weeks*. By messages, as CLDR has no such form."""
        self.date: Final = lru_cache(_KEPT)(self._date)
        """A calendar date as people write it, by its day."""
        self.distance: Final = lru_cache(_KEPT)(self._distance)
        """A day that many days away, negative for the past: *two weeks ago*, *in three days*."""

    def text(self, key: str, *parameters: Parameter) -> str:
        """The message as plain text; the caller escapes it."""
        return (self._text if not parameters or _are_kept(parameters) else self._formatted)(key, parameters)

    def _formatted(self, key: str, parameters: tuple[Parameter, ...]) -> str:
        pattern = self._pattern(key, parameters)
        if pattern.is_plain:
            return pattern.text.format(*self._written(parameters))
        return _formatter(pattern.locale).format(pattern.text, *self._written(parameters))

    def html(self, key: str, *parameters: Parameter) -> Markup:
        """The message as HTML: everything is escaped except parameters that are Markup already."""
        return (self._kept_html if not parameters or _are_kept(parameters) else self._formatted_html)(key, *parameters)

    def _formatted_html(self, key: str, *parameters: Parameter) -> Markup:
        pattern = self._pattern(key, parameters)
        if pattern.is_plain:
            written = [
                escape(f"{value}" if isinstance(value, _Number) else value) for value in self._written(parameters)
            ]
            words = Markup(str(escape(pattern.text)).format(*written))
        else:
            words = Markup(_formatter(pattern.locale).format(escape(pattern.text), *self._written(parameters)))
        # Else the full stop of an English sentence would be shown at its beginning in an Arabic page. Not elements, as
        # a message may be part of an attribute.
        return words if pattern.direction == self.language.direction else _ISOLATES[pattern.direction] + words + _END

    def _pattern(self, key: str, parameters: tuple[Parameter, ...]) -> "_Pattern":
        if self.language.code == QQX:
            fields = ", ".join(f"{{{number}}}" for number in range(len(parameters)))
            keys = f"({key}: {fields})" if fields else f"({key})"
            return _Pattern(keys, self.language.locale, self.language.direction, is_plain=True)
        return _pattern(self.language, key)

    def _written(self, parameters: tuple[Parameter, ...]) -> Iterator[Parameter]:
        for value in parameters:
            yield _Number(value, self._locale) if isinstance(value, int) else value

    def _span(self, days: int) -> str:
        if days <= 0:
            return self.text("weboid-since-today")
        unit, count = counted(days)
        return self.text(f"weboid-since-{unit}s", count)

    def _distance(self, days: int) -> str:
        if (key := _NEAR.get(days)) is not None:
            return self.text(key)
        unit, away = counted(abs(days))[0], timedelta(days=days)
        words = format_timedelta(
            away, granularity=unit, threshold=float("inf"), add_direction=True, locale=self._relative
        )
        return _own_digits(words, self._relative)

    def duration(self, seconds: int) -> str:
        """A duration in the largest unit that is not too coarse."""
        words = format_timedelta(timedelta(seconds=seconds), threshold=2, locale=self._relative)
        return _own_digits(words, self._relative)

    def number(self, value: int) -> str:
        """A number as its language writes it."""
        return f"{_Number(value, self._locale)}"

    def moment(self, moment: datetime) -> str:
        """A date with its time, in UTC."""
        written = format_datetime(moment, "medium", tzinfo=UTC, locale=self._locale)
        return f"{_own_digits(written, self._locale)} UTC"

    def _date(self, day: int) -> str:
        return _own_digits(format_date(date_of(day), "long", locale=self._locale), self._locale)

    def dates(self, first: int, last: int) -> str:
        """The range of two calendar dates; one date if they are equal. Histories have many, so each day is kept."""
        if first == last:
            return self._interval("", first)[0]
        (year, month), (other, its) = _month(first), _month(last)
        differs = "y" if year != other else "M" if month != its else "d"
        return self._interval(differs, first)[0] + self._interval(differs, last)[1]

    def _formatted_interval(self, differs: str, day: int) -> tuple[str, ...]:
        """The day as the first and the last of days that differ in year, month or day; as the only one if in none."""
        locale = self._locale
        formats = locale.interval_formats[_INTERVAL][differs] if differs else [locale.date_formats["medium"]]
        return tuple([_own_digits(parse_pattern(each).apply(date_of(day), locale), locale) for each in formats])


@lru_cache(_MOST_LANGUAGES)
def messages_in(language: Language) -> Messages:
    """The messages of a language; the objects of the languages used last are cached."""
    return Messages(language)


@cache
def catalogue(code: str) -> dict[str, str]:
    """The messages of a file as written, by key; none if there is no such file."""
    path = asset("i18n") / f"{code}.json"
    if not path.is_file():
        return {}
    given = json.loads(path.read_text(encoding="utf-8"))
    return {key: text for key, text in given.items() if not key.startswith("@")}


def format_pattern(message: str, locale: Locale) -> str:
    """A message as a format string for I18nFormatter; raises ValueError if it cannot be expressed as one.

    To the formatter a colon inside PLURAL or GENDER ends the form, and a parameter inside GENDER may contain one.
    """

    def replaced(match: re.Match[str]) -> str:
        function, subject, forms, parameter = match.groups()
        if parameter:
            return f"{{{int(parameter) - 1}}}"
        if not function:
            return match[0] * 2
        if ":" in forms or (function == "GENDER" and "$" in forms):
            raise ValueError(f"a colon in PLURAL, or a colon or parameter in GENDER: {message!r}")
        tagged = _plural_forms(forms, locale) if function == "PLURAL" else zip(_GENDERS, forms.split("|"), strict=False)
        spec = ":".join(f"{tag}={text}" for tag, text in tagged)
        spec = re.sub(r"\$([1-9])", lambda inner: f"{{{int(inner[1]) - 1}}}", spec)
        return f"{{{int(subject) - 1}!{function[0].lower()}:{spec}}}"

    return _TOKEN.sub(replaced, message)


def _plural_forms(forms: str, locale: Locale) -> Iterator[tuple[str, str]]:
    """MediaWiki gives the forms in CLDR's order, and perhaps some for single numbers (``0=none``)."""
    by_tag = []
    for form in forms.split("|"):
        number, equals, text = form.partition("=")
        if equals and number.isdecimal():
            yield number, text
        else:
            by_tag.append(form)
    tags = [tag for tag in _ALL_PLURALS if tag in locale.plural_form.tags][: len(by_tag) - 1]
    yield from zip((*tags, "other"), by_tag, strict=False)


class _Pattern(NamedTuple):
    """A format string; `locale` and `direction` are those of the language in which it is written, as its forms are.

    `is_plain`: it has no forms to choose from, so that Python's own formatting does, in a tenth of the time.
    """

    text: str
    locale: str
    direction: str
    is_plain: bool


def _pattern(language: Language, key: str) -> _Pattern:
    """The format string of a message in the nearest language that has it."""
    for code in (language.code, *language.fallbacks, DEFAULT):
        if (pattern := _own_pattern(code, key)) is not None:
            return pattern
    raise LookupError(f"there is no message {key!r}")


@cache
def _own_pattern(code: str, key: str) -> _Pattern | None:
    """The same in one language; None also if the formatter would misread it, so that the next language is used."""
    if (message := catalogue(code).get(key)) is None:
        return None
    language = languages()[code]
    try:
        text = format_pattern(message, Locale.parse(language.locale))
        return _Pattern(text, language.locale, language.direction, is_plain=not _FORMS.search(message))
    except ValueError:
        return None


@cache
def _formatter(locale: str) -> Formatter:
    # Imported here, because it takes half a second; its package is typed but does not declare what it exports.
    from toolforge_i18n import I18nFormatter  # type: ignore[attr-defined]

    formatter: Formatter = I18nFormatter(locale_identifier=locale, get_gender=lambda _: "n")
    return formatter


_month: Final = lru_cache(_KEPT)(lambda day: (iso(day)[:4], iso(day)[:7]))
"""The year of a day, and the month with it."""


def _own_digits(text: str, locale: Locale) -> str:
    """A text that Babel wrote, with the digits of the language."""
    zero = _DIGITS.get(locale.default_numbering_system)
    return text if zero is None else text.translate({ord("0") + digit: zero + digit for digit in range(10)})


def _are_kept(parameters: tuple[Parameter, ...]) -> bool:
    # Not any(), which takes as long as the rest of a message that is kept.
    return not [value for value in parameters if isinstance(value, str) and len(value) > _MOST_KEPT]


def counted(days: int) -> tuple[Unit, int]:
    """The unit for a number of days, and the number of units; a larger unit is used from two of it on."""
    if days < 2 * _WEEK:
        return "day", days
    if days < 2 * _MONTH:
        return "week", round(days / _WEEK)
    if days < 2 * _YEAR:
        return "month", round(days / _MONTH)
    return "year", round(days / _YEAR)


class _Number(int):
    """A number that is formatted in the way of its language, but compared and counted as a number."""

    _locale: Locale

    def __new__(cls, value: int, locale: Locale) -> "_Number":
        number = super().__new__(cls, value)
        number._locale = locale
        return number

    def __format__(self, spec: str) -> str:
        written = format_decimal(int(self), locale=self._locale, numbering_system="default")
        return _own_digits(written, self._locale)

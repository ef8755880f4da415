"""Messages as translatewiki has them: ``$1``, ``{{PLURAL:$1|…}}``, ``{{GENDER:$1|…}}`` (W-11); CLDR's dates (U-2).

Plurals and genders are chosen by toolforge-i18n's formatter.
One law: a message is plain text. Its own characters are escaped in HTML, so no translation can bring in markup.
"""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from functools import cache, lru_cache
from typing import Final, Literal

from babel import Locale
from babel.dates import format_date, format_interval, format_timedelta
from babel.numbers import format_decimal
from markupsafe import Markup, escape

from weboid.assets import asset
from weboid.core.days import date_of
from weboid.web.language import DEFAULT, Language, languages

QQX: Final = "qqx"
"""The language that shows keys instead of messages."""

Parameter = str | int
Unit = Literal["day", "week", "month", "year"]
_TOKEN: Final = re.compile(r"\{\{(PLURAL|GENDER):\$([1-9])\|([^{}]*)\}\}|\$([1-9])|[{}]")
_GENDERS: Final = ("m", "f", "n")
_ALL_PLURALS: Final = ("zero", "one", "two", "few", "many")
_KEPT: Final = 4_096
_WEEK, _MONTH, _YEAR = 7, 30.4375, 365.25


class Messages:
    """The messages of one language. `text` is for machines' words and titles, `html` for pages."""

    def __init__(self, language: Language) -> None:
        # Here, because it brings half a second of imports; its package is typed but does not say what it exports.
        from toolforge_i18n import I18nFormatter  # type: ignore[attr-defined]

        self.language = language
        self._locale = Locale.parse(language.locale)
        self._formatter = I18nFormatter(locale_identifier=language.locale, get_gender=lambda _: "n")
        # The same few sentences are said of many links. HTML is not kept: to a cache, markup and text are equal.
        self._text = lru_cache(_KEPT)(self._formatted)
        self._dates = lru_cache(_KEPT)(self._formatted_dates)

    def text(self, key: str, *parameters: Parameter) -> str:
        """The message as plain text; the caller escapes it."""
        return self._text(key, parameters)

    def _formatted(self, key: str, parameters: tuple[Parameter, ...]) -> str:
        return self._formatter.format(self._pattern(key, parameters), *self._written(parameters))

    def html(self, key: str, *parameters: Parameter) -> Markup:
        """The message as HTML: all is escaped but parameters that are Markup already."""
        return Markup(self._formatter.format(escape(self._pattern(key, parameters)), *self._written(parameters)))

    def _pattern(self, key: str, parameters: tuple[Parameter, ...]) -> str:
        return _keys_pattern(key, len(parameters)) if self.language.code == QQX else _pattern(self.language, key)

    def _written(self, parameters: tuple[Parameter, ...]) -> Iterator[Parameter]:
        for value in parameters:
            yield _Number(value, self._locale) if isinstance(value, int) else value

    def span(self, days: int) -> str:
        """How long something has lasted, as an adverbial: *for two weeks*. CLDR has no such form, so messages do it."""
        if days <= 0:
            return self.text("weboid-since-today")
        unit, count = _counted(days)
        return self.text(f"weboid-since-{unit}s", count)

    def distance(self, days: int) -> str:
        """A day that many days away, negative for the past: *two weeks ago*, *in three days*."""
        match days:
            case 0:
                return self.text("weboid-today")
            case -1:
                return self.text("weboid-yesterday")
            case 1:
                return self.text("weboid-tomorrow")
        unit, _ = _counted(abs(days))
        return format_timedelta(
            timedelta(days=days), granularity=unit, threshold=float("inf"), add_direction=True, locale=self._locale
        )

    def date(self, day: int) -> str:
        """A calendar date as people write it."""
        return format_date(date_of(day), "long", locale=self._locale)

    def dates(self, first: int, last: int) -> str:
        """Two calendar dates and what lies between."""
        return self._dates(first, last)

    def _formatted_dates(self, first: int, last: int) -> str:
        if first == last:
            return format_date(date_of(first), "medium", locale=self._locale)
        return format_interval(date_of(first), date_of(last), "yMMMd", locale=self._locale)


@cache
def messages_in(language: Language) -> Messages:
    """The messages of a language, made once."""
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
    """A message as a format string for I18nFormatter; raises ValueError where that cannot be said.

    A colon inside PLURAL or GENDER would end the form for the formatter, a parameter inside GENDER may hold one.
    """

    def replaced(match: re.Match[str]) -> str:
        kind, subject, forms, parameter = match.groups()
        if parameter:
            return f"{{{int(parameter) - 1}}}"
        if not kind:
            return match[0] * 2
        if ":" in forms or (kind == "GENDER" and "$" in forms):
            raise ValueError(f"a colon in PLURAL, or a colon or parameter in GENDER: {message!r}")
        tagged = _plural_forms(forms, locale) if kind == "PLURAL" else zip(_GENDERS, forms.split("|"), strict=False)
        spec = ":".join(f"{tag}={text}" for tag, text in tagged)
        spec = re.sub(r"\$([1-9])", lambda inner: f"{{{int(inner[1]) - 1}}}", spec)
        return f"{{{int(subject) - 1}!{kind[0].lower()}:{spec}}}"

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


@cache
def _pattern(language: Language, key: str) -> str:
    """The format string of a message in the nearest language that has it."""
    for code in (language.code, *language.fallbacks, DEFAULT):
        if (message := catalogue(code).get(key)) is not None:
            return format_pattern(message, Locale.parse(languages()[code].locale))
    raise LookupError(f"there is no message {key!r}")


def _keys_pattern(key: str, count: int) -> str:
    fields = ", ".join(f"{{{number}}}" for number in range(count))
    return f"({key}: {fields})" if fields else f"({key})"


def _counted(days: int) -> tuple[Unit, int]:
    """The unit in which so many days are told, and how many of it: never a unit that would hide half of them."""
    if days < 2 * _WEEK:
        return "day", days
    if days < 2 * _MONTH:
        return "week", round(days / _WEEK)
    if days < 2 * _YEAR:
        return "month", round(days / _MONTH)
    return "year", round(days / _YEAR)


class _Number(int):
    """A number that is written as its language does, but compared and counted as a number."""

    _locale: Locale

    def __new__(cls, value: int, locale: Locale) -> "_Number":
        number = super().__new__(cls, value)
        number._locale = locale
        return number

    def __format__(self, spec: str) -> str:
        return format_decimal(int(self), locale=self._locale)

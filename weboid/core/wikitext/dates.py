"""Reads the days that authors wrote, such as the access date of a citation, in the language of their wiki (B-4).

Names of months are CLDR's and MediaWiki's (``dates.toml`` has where these differ), and the English ones everywhere:
citations are copied between wikis. A date that can be read in two ways is not read; ``05/06/2012`` is one day in London
and another in New York.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Final

from babel import Locale

from weboid.assets import toml_next_to

_LONGEST: Final = 60
_FIRST_YEAR: Final = 1990
"""There was no web before."""
_FIRST_HIJRI: Final = 1410
"""The same year by the moon; a lower one of a date in digits is of the Iranian calendar."""
_ISO: Final = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2})(?:[T ][0-9:.Z]*)?)?")
_CJK: Final = re.compile(r"(\d{4})[年년] ?(\d{1,2})[月월](?: ?(\d{1,2})[日일](?: ?[(（]\w[)）])?(?:閲覧)?)?")
_ERA: Final = re.compile(r"(?:\d{4}年)?[(（]?(平成|令和|民[國国])(\d{1,3}|元)年[)）]?")
_YEAR_BEFORE: Final = {"平": 1988, "令": 2018, "民": 1911}
"""The year before the first one of an era of Japan or Taiwan."""
_YEAR_FIRST: Final = re.compile(r"(\d{4})(?:\. ?|/)(\d{1,2})(?:\. ?|/)(\d{1,2})\.?")
_NUMERIC: Final = re.compile(r"(\d{1,2})([./-]) ?(\d{1,2})\2 ?(\d{4})\.?")
_VIETNAMESE: Final = re.compile(r"(?:ngày )?(\d{1,2})( tháng )(\d{1,2})(?:,| năm)? (\d{4})", re.IGNORECASE)
_WORDS: Final = re.compile(r"\d+|[^\W\d_][^\d\s.,،]*")
_LINE: Final = re.compile(r"(?:(?<!\d)\d{1,4}(?!\d)|[^\W\d_][^\d\s.,،]*+|[\s.,،])+")
_INNER_DOT: Final = re.compile(r"(?<=[^\s\d])\.(?=[^\s\d])")
_LINK: Final = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]|]*))?\]\]")
_ORDINAL: Final = re.compile(r"(?<=\d)(?:st|nd|rd|th|er|º|°|η|\.)(?!\w)", re.IGNORECASE)
_UNSEEN: Final = re.compile(r"[\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Marks of direction, joiners and their like, which come with pasted days."""
_FILLING: Final = ("de", "del", "of", "the", "г", "года", "р", "року", "r", "m", "d", "gada", "թ", "พศ", "คศ")
"""Words of a date that say nothing, in their languages: of, year, day, the era."""
_BUDDHIST_YEARS: Final = 543
_JALALI_979: Final = date(1600, 3, 20).toordinal()
_MIDDLE: Final = 15
_LANGUAGES_KEPT: Final = 64
_SAME: Final = str.maketrans("’ʼ׳يىك", "'''ییک")
"""Characters that authors type for those of CLDR, and of Arabic keyboards for those of Persian."""
_MORE_MONTHS: Final = toml_next_to(__file__)


def day_in(text: str, language: str) -> date | None:
    """The day that a text is, in a language such as ``pt-BR``; of a month without a day its middle.

    None for everything else, which includes templates, days that do not exist, and a day with more words around it.
    """
    if len(text) > _LONGEST:
        return None
    line = _LINK.sub(lambda found: found[2] or found[1], _UNSEEN.sub("", text.replace("&nbsp;", " "))).strip()
    line = _ERA.sub(lambda found: f"{_YEAR_BEFORE[found[1][0]] + int(found[2].replace('元', '1'))}年", line)
    if found := _ISO.fullmatch(line) or _CJK.fullmatch(line) or _YEAR_FIRST.fullmatch(line):
        return _day(int(found[1]), int(found[2]), int(found[3] or _MIDDLE), is_numeric=found.re is not _CJK)
    if found := _NUMERIC.fullmatch(line) or _VIETNAMESE.fullmatch(line):
        day, month = int(found[1]), int(found[3])
        # In English 05/06/2012 may be of May or of June.
        is_clear = day > 12 or day == month or not language.startswith("en")
        return _day(int(found[4]), month, day, is_numeric=found.re is _NUMERIC) if is_clear else None
    line = _INNER_DOT.sub("", _ORDINAL.sub(" ", line))
    return _in_words(line, _months("en") | _months(language)) if _LINE.fullmatch(line) else None


@lru_cache(12 * _LANGUAGES_KEPT)
def names_to_write(language: str, month: int) -> Mapping[str, str]:
    """The names of a month that MediaWiki has for those of CLDR: wikis name their categories by them."""
    locale = Locale.parse(language, sep="-")
    own = _MORE_MONTHS["written"].get(locale.language, {}).get(str(month))
    names = (locale.months[context]["wide"][month] for context in ("format", "stand-alone"))
    return {name: own or name.replace("’", "'").replace("ʼ", "'") for name in names}


def _in_words(line: str, months: Mapping[str, int]) -> date | None:
    words = [plain for word in _WORDS.findall(line) if (plain := _plain(word)) not in _FILLING]
    numbers = [int(word) for word in words if word.isdecimal()]
    month = months.get(" ".join(word for word in words if not word.isdecimal()))
    if month is None or not 1 <= len(numbers) <= 2:
        return None
    # The year is last, but for the order year, month, day.
    day, year = (_MIDDLE, numbers[0]) if len(numbers) == 1 else (min(numbers), max(numbers))
    return _day(year, month, day) if month <= 12 else _jalali_day(year, month - 12, day)


def _day(year: int, month: int, day: int, *, is_numeric: bool = False) -> date | None:
    if is_numeric and year < _FIRST_HIJRI:
        return _jalali_day(year, month, day)
    year -= _BUDDHIST_YEARS if year >= _FIRST_YEAR + _BUDDHIST_YEARS else 0
    try:
        return date(year, month, day) if year >= _FIRST_YEAR else None
    except ValueError:
        return None


def _jalali_day(year: int, month: int, day: int) -> date | None:
    """A day of the Iranian calendar: six months of 31 days, then of 30; eight leap years in 33."""
    if not (1369 <= year <= 1500 and 1 <= month <= 12 and 1 <= day <= 31 - month // 7):
        return None
    days = 365 * (year - 979) + (year - 979) // 33 * 8 + ((year - 979) % 33 + 3) // 4
    return date.fromordinal(_JALALI_979 + days + 30 * (month - 1) + min(month - 1, 6) + day - 1)


@lru_cache(_LANGUAGES_KEPT)
def _months(language: str) -> dict[str, int]:
    """The names of months in a language, long and short, without accents and dots."""
    locale = Locale.parse(language, sep="-")
    more = [each.items() for kind in _MORE_MONTHS.values() if (each := kind.get(locale.language))]
    names = {_plain(name): int(number) for each in more for number, listed in each for name in listed.split(", ")}
    both = [locale.months[context] for context in ("format", "stand-alone")]
    names |= {_plain(name): n for each in both for width in ("wide", "abbreviated") for n, name in each[width].items()}
    return names | {"ב" + name: number for name, number in names.items() if locale.language == "he"}


def _plain(word: str) -> str:
    parts = unicodedata.normalize("NFKD", _UNSEEN.sub("", word).casefold()).translate(_SAME)
    return "".join(part for part in parts if not unicodedata.combining(part) and part != ".").strip()

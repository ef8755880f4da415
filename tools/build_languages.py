"""Makes the language data anew: every language of MediaWiki, with its name, direction, fallbacks and nearest locale.

Called as ``python tools/build_languages.py LANGUAGE_DATA FALLBACKS``; writes ``i18n/languages/languages.json``.
LANGUAGE_DATA is ``data/language-data.json`` of the npm package @wikimedia/language-data (2.0.4; GPL-2.0-or-later; facts
only: codes, scripts and names), FALLBACKS is ``banana_fallbacks.json``, MediaWiki's fallbacks as banana-i18n has them
(MIT). Prints what has no locale of its own.
The result depends on Babel's version too; `locale` is for numbers, plurals and dates, `relative` for days in words.
One law: MediaWiki's own odd codes are mapped here, by hand, before anything is looked up.
"""

import json
import sys
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from babel import Locale, localedata
from babel.dates import format_date, format_timedelta

_TARGET: Final = Path(__file__).parents[1] / "i18n" / "languages" / "languages.json"
_DEFAULT: Final = "en"

ODD: Final = {
    "als": "gsw",
    "bat-smg": "sgs",
    "be-x-old": "be-tarask",
    "bh": "bho",
    "cbk-zam": "cbk",
    "de-formal": "de-x-formal",
    "eml": "egl",
    "es-formal": "es-x-formal",
    "fiu-vro": "vro",
    "hu-formal": "hu-x-formal",
    "kk-cn": "kk-Arab-CN",
    "kk-kz": "kk-Cyrl-KZ",
    "kk-tr": "kk-Latn-TR",
    "map-bms": "jv-x-bms",
    "mo": "ro-Cyrl-MD",
    "nl-informal": "nl-x-informal",
    "no": "nb",
    "nrm": "nrf",
    "roa-rup": "rup",
    "roa-tara": "nap-x-tara",
    "simple": "en-simple",
    "sr-ec": "sr-Cyrl",
    "sr-el": "sr-Latn",
    "tokipona": "tok",
    "zh-cdo": "cdo",
    "zh-classical": "lzh",
    "zh-cn": "zh-Hans-CN",
    "zh-hk": "zh-Hant-HK",
    "zh-min-nan": "nan",
    "zh-mo": "zh-Hant-MO",
    "zh-my": "zh-Hans-MY",
    "zh-sg": "zh-Hans-SG",
    "zh-tw": "zh-Hant-TW",
    "zh-yue": "yue",
}
"""MediaWiki's codes that BCP 47 knows otherwise or not at all, with what it has instead."""

MEANT: Final = {"als": "gsw", "no": "nb"}
"""What a code means to MediaWiki where language-data follows ISO 639 or has it apart."""

FILES: Final = {"sr-cyrl": "sr-ec", "sr-latn": "sr-el", "cbk": "cbk-zam", "crh": "crh-latn"}
"""Codes whose messages may stand under an older one."""

CORRECTED: Final = {"sdh": ["ckb", "fa"], "zh-hans": ["zh-cn", "zh", "zh-hant"]}
"""Fallbacks that banana-i18n has not as MediaWiki has them: it gives sdh a Spanish creole (cbk) for Kurdish (ckb)."""

UNKNOWN: Final = frozenset({"en-us"})
"""Not MediaWiki's; most browsers ask for it and mean English."""

LOCALES: Final = {"zh": "zh_Hans", "tl": "fil", "sh": "sr_Latn", "mo": "ro", "en-simple": "en", "simple": "en"}
"""Where Babel calls a language otherwise."""


class Sources:
    """What the two files say."""

    def __init__(self, languages: Path, fallbacks: Path) -> None:
        given = json.loads(languages.read_text(encoding="utf-8"))
        self.languages: dict[str, list[Any]] = given["languages"]
        self.rightward = frozenset(given["rtlscripts"]) | {"Adlm"}
        self._fallbacks: dict[str, list[str]] = json.loads(fallbacks.read_text(encoding="utf-8")) | CORRECTED

    def meant(self, code: str) -> str:
        """The code under which a language's script and name stand."""
        code = MEANT.get(code, code)
        while len(row := self.languages[code]) == 1:
            code = row[0]
        return code

    def script(self, code: str) -> str:
        """The script, as ISO 15924 calls it."""
        return str(self.languages[self.meant(code)][0])

    def autonym(self, code: str) -> str:
        """What its speakers call the language."""
        row = self.languages[code]
        return str(row[2] if len(row) > 1 else self.languages[self.meant(code)][2])

    def fallbacks(self, code: str) -> list[str]:
        """MediaWiki's chain; of a code with another name, that name and its chain; of a variant, its language."""
        meant = self.meant(code)
        chain = list(self._fallbacks.get(code, ()))
        if meant != code:
            chain = [*chain, meant, *self._fallbacks.get(meant, ())]
        for other in (FILES.get(code), FILES.get(meant)):
            if other is not None:
                chain.insert(0, other)
        whole = code.partition("-")[0]
        if not chain and whole in self.languages and self.script(whole) == self.script(code):
            chain = [whole, *self._fallbacks.get(whole, ())]
        return [other for other in dict.fromkeys(chain) if other not in (code, _DEFAULT)]


def bcp47(code: str) -> str:
    """A well-formed tag: lower case, scripts in title case, regions in upper case (RFC 5646 §2.1.1)."""
    if code in ODD:
        return ODD[code]
    first, *rest = code.split("-")
    cased = {2: str.upper, 4: str.title}
    return "-".join((first, *(cased.get(len(part), str.lower)(part) for part in rest)))


def rows(sources: Sources) -> Iterator[tuple[str, dict[str, Any]]]:
    """All languages by code, and ``qqx``, which shows keys."""
    # First, because Babel resolves what a stub inherits in place, and who is loaded later inherits that.
    for code in sources.languages:
        for name in _locales(sources, code, sources.fallbacks(code)):
            localedata.load(name)
    for code in sorted({*sources.languages, "qqx"} - UNKNOWN):
        if code == "qqx":
            yield code, _row("qqx", "(message keys)", "ltr", "en", "en", [])
            continue
        fallbacks = sources.fallbacks(code)
        locale = _first(_has_months, _locales(sources, code, fallbacks))
        relative = _first(_has_words, _locales(sources, code, fallbacks))
        direction = "rtl" if sources.script(code) in sources.rightward else "ltr"
        yield code, _row(bcp47(code), sources.autonym(code), direction, locale, relative, fallbacks)


def _row(tag: str, autonym: str, direction: str, locale: str, relative: str, fallbacks: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"bcp47": tag, "autonym": autonym, "dir": direction, "locale": locale}
    if relative != locale:
        row["relative"] = relative
    return row | {"fallbacks": fallbacks}


def _locales(sources: Sources, code: str, fallbacks: list[str]) -> Iterator[str]:
    """Babel's locales that fit, best first; none in another script than the language's own, fallbacks excepted."""
    names = (localedata.normalize_locale(name) for name in _names(sources, code, fallbacks))
    return (name for name in names if name is not None)


def _names(sources: Sources, code: str, fallbacks: list[str]) -> Iterator[str]:
    for known in (code, *fallbacks):
        if known in LOCALES:
            yield LOCALES[known]
        for tag in dict.fromkeys((bcp47(known), bcp47(sources.meant(known)))):
            parts = tag.partition("-x-")[0].split("-")
            for length in range(len(parts), 0, -1):
                short = "-".join(parts[:length]).lower()
                alone = length == 1 and short in sources.languages
                if length > 1 or not alone or sources.script(short) == sources.script(known):
                    yield "_".join(parts[:length])
    yield _DEFAULT


def _first(fits: Callable[[str], bool], names: Iterator[str]) -> str:
    return next(name for name in names if fits(name))


def _has_months(name: str) -> bool:
    """Whether it names months, and so is more than a stub."""
    day = date(2026, 11, 21)
    return "M11" not in format_date(day, "long", locale=Locale.parse(name))


def _has_words(name: str) -> bool:
    def answer(locale: str) -> str:
        return format_timedelta(
            timedelta(weeks=-3), granularity="week", threshold=99, add_direction=True, locale=Locale.parse(locale)
        )

    return answer(name) != answer("ckb")


def main(languages: str, fallbacks: str) -> None:
    """Writes the file, a language a line."""
    made = dict(rows(Sources(Path(languages), Path(fallbacks))))
    lines = [f"\t{json.dumps(code)}: {json.dumps(row, ensure_ascii=False)}" for code, row in made.items()]
    _TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    foreign = [code for code, row in made.items() if row["locale"] == _DEFAULT]
    print(f"{len(made)} languages; numbers and days as in English: {' '.join(foreign)}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])

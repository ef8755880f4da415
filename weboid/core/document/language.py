"""The language of a text by its own words, not by what its document declares: templates declare what they like (C-11).

Close relatives count as one language: the question is only whether a text is in a quite different one than before.
The numbers are stored and never change their meaning.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final

from weboid.assets import toml_next_to
from weboid.core.document.folding import words_of

UNKNOWN: Final = 0

_READ_WORDS: Final = 1_000
_SCRIPT_SHARE: Final = 0.3
"""The share of letters in a script from which on it is the text's: names and menus are in Latin letters everywhere."""
_NOT_LATIN: Final = re.compile("[\u0370-\U0010ffff]+")
"""Letters among which those of all scripts of the table are."""
_FEWEST: Final = 8
_WORD_SHARE: Final = 0.05
_AHEAD: Final = 1.5


@cache
def _table() -> dict[str, list[dict[str, str]]]:
    return toml_next_to(__file__)


@cache
def _numbers() -> dict[str, int]:
    """The numbers of languages by code, also of those that count as the same."""
    rows = enumerate((*_table()["script"], *_table()["words"]), start=1)
    return {code: number for number, row in rows for code in (row["code"], *row.get("same", "").split())}


@cache
def _scripts() -> tuple[tuple[int, re.Pattern[str]], ...]:
    return tuple((_numbers()[row["code"]], re.compile(f"[{row['letters']}]")) for row in _table()["script"])


@cache
def _numbers_of_words() -> dict[str, tuple[int, ...]]:
    numbers: dict[str, tuple[int, ...]] = {}
    for row in _table()["words"]:
        for word in words_of(row["words"]):
            numbers[word] = (*numbers.get(word, ()), _numbers()[row["code"]])
    return numbers


def language_of(words: Iterable[str]) -> int:
    """The number of the language of a text given as its words, in lower case; UNKNOWN if it is in doubt."""
    words = list(words)[:_READ_WORDS]
    letters = "".join(words)
    others = "" if letters.isascii() else "".join(_NOT_LATIN.findall(letters))
    # Fewer letters than those of any script that would count.
    if len(others) > _SCRIPT_SHARE / 6 * len(letters):
        shares = {number: len(script.findall(others)) / len(letters) for number, script in _scripts()}
        japanese, chinese = _numbers()["ja"], _numbers()["zh"]
        if shares[japanese] > _SCRIPT_SHARE / 6:
            shares[japanese] += shares.pop(chinese)
        number = max(shares, key=shares.__getitem__)
        if shares[number] >= _SCRIPT_SHARE:
            return number
    known = _numbers_of_words()
    counts: Counter[int] = Counter()
    for word, times in Counter(filter(known.__contains__, words)).items():
        for number in known[word]:
            counts[number] += times
    (best, most), (_, next_most) = (*counts.most_common(2), (0, 0), (0, 0))[:2]
    is_clear = most >= max(_FEWEST, _WORD_SHARE * len(words)) and most >= _AHEAD * next_most
    return best if is_clear else UNKNOWN


def number_of(tag: str) -> int:
    """The number of a language by a tag such as ``de-AT``; UNKNOWN if it is not one of ours."""
    return _numbers().get(tag.lower().replace("_", "-").partition("-")[0], UNKNOWN)


def code_of(number: int) -> str:
    """The code of a language; empty for UNKNOWN, and where only the script is known that several languages have."""
    row: dict[str, str] = {} if number == UNKNOWN else [*_table()["script"], *_table()["words"]][number - 1]
    return "" if "letters" in row and " " in row.get("same", "") else row.get("code", "")

"""The words for missing documents, by language, from ``missing_words.toml``; ``core/signs/soft404`` combines them."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Any, Final

from weboid.assets import toml_next_to
from weboid.core.document.folding import folded, phrases, without, words_of

NUMBERS: Final = words_of("404 410 error404 404error erreur404 fehler404")
COMMON: Final = NUMBERS | words_of(
    "error fehler erreur errore erro fout błąd fel feil fejl virhe hata hiba chyba eroare blad ошибка помилка σφαλμα "
    "unknown loi kesalahan galat خطا خطأ שגיאה 오류 에러 http https status code statuscode server "
    "information message vbulletin hinweis oops ooops oop uups ups opps whoops hoppla hups oh uh no sorry ой уупс"
)
"""Words that may accompany the phrase in any language."""
SEPARATOR: Final = re.compile(r"\s+[-–—|·•»«›‹:/~]+\s+|\s*[|»«›‹•]\s*|(?<=\S):\s|::")
_ASIDE: Final = re.compile(r"\(([^()]{1,40})\)")
_YEAR: Final = re.compile(r"\((?:[^()]* )?(?:18|19|20)[0-9]{2}\)")
_ARTICLES: Final = frozenset({"a", "an", "the"})


class Vocabulary:
    """One language: nouns, states said of them, and other words that such a sentence may contain; all folded.

    Of most languages nothing but the states is ever needed, so that the others are folded at their first use.
    """

    def __init__(self, nouns: Iterable[str], states: Iterable[str], fillers: str) -> None:
        """Takes the lists of a language; the fillers are separated by spaces."""
        self._nouns = nouns
        self._others = fillers
        self.states = phrases(states)

    @cached_property
    def nouns(self) -> tuple[str, ...]:
        """The nouns of which it may be said."""
        return phrases(self._nouns)

    @cached_property
    def fillers(self) -> frozenset[str]:
        """Other words of such a sentence."""
        return frozenset(word for word in phrases(self._others.split()) if " " not in word)

    @cached_property
    def asides(self) -> tuple[str, ...]:
        """Fillers that folding divides, as it does where vowels are signs of their own."""
        return tuple(word for word in phrases(self._others.split()) if " " in word)

    @cached_property
    def sentences(self) -> frozenset[str]:
        """Those of the states that name the document themselves."""
        return frozenset(state for state in self.states if without(self.nouns, state)[1])

    @cached_property
    def known(self) -> frozenset[str]:
        """All words that such a sentence may contain."""
        return COMMON | self.fillers.union(*(phrase.split() for phrase in (*self.nouns, *self.states, *self.asides)))


@cache
def _languages() -> dict[str, Any]:
    return toml_next_to(__file__)


@cache
def vocabularies() -> dict[str, Vocabulary]:
    """The languages with spaces between words, by code."""
    return {code: Vocabulary(**words) for code, words in _languages()["spaced"].items()}


@cache
def works() -> frozenset[str]:
    """Words for kinds of works, such as novel and film, of all languages."""
    return frozenset(phrases(_languages()["works"]))


def names_work(title: str) -> bool:
    """True if a part of a title says what kind of work it names: ``Page not found (novel)``, ``Not found (2019)``."""
    if _YEAR.search(title):
        return True
    for part in (*SEPARATOR.split(title), *_ASIDE.findall(title)):
        words = folded(part.partition(" by ")[0]).split()
        named = " ".join(word for word in words if not word.isdigit() and word not in _ARTICLES)
        if named and (named in works() or set(named.split()) <= works()):
            return True
    return False


@cache
def speakers() -> dict[str, frozenset[str]]:
    """The codes of the languages by the longest word of each state."""
    return by_word(vocabularies())


def by_word(languages: Mapping[str, Vocabulary]) -> dict[str, frozenset[str]]:
    """The codes of some languages by the longest word of each state: without such a word, no state is said."""
    found: dict[str, set[str]] = {}
    for code, language in languages.items():
        for state in language.states:
            found.setdefault(max(state.split(), key=len), set()).add(code)
    return {word: frozenset(codes) for word, codes in found.items()}


def spoken(words: Iterable[str], codes: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The languages, by the result of `by_word`, of which a state may be said in some words."""
    return frozenset().union(*(codes[word] for word in words if word in codes))


@cache
def spaceless() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The languages without spaces, by code: whole phrases, and other words that may accompany them.

    All without spaces, which folding puts where a vowel is a sign of its own; the longest first.
    """
    return {
        code: (dense(words["phrases"]), dense(words["asides"])) for code, words in _languages()["spaceless"].items()
    }


def dense(written: Iterable[str]) -> tuple[str, ...]:
    """The folded phrases of a language without spaces."""
    return tuple(phrase.replace(" ", "") for phrase in phrases(written))

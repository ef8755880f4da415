"""The words for missing documents, by language, from ``missing_words.toml``; ``core/signs/soft404`` combines them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

from weboid.assets import toml_next_to
from weboid.core.document.folding import folded, phrases, words_of

NUMBERS: Final = words_of("404 410 error404 404error erreur404 fehler404")
COMMON: Final = NUMBERS | words_of(
    "error fehler erreur errore erro fout błąd fel feil fejl virhe hata hiba chyba eroare blad ошибка помилка σφαλμα "
    "unknown loi kesalahan galat خطا خطأ שגיאה 오류 에러 http https status code statuscode server "
    "information message vbulletin hinweis oops ooops oop uups ups opps whoops hoppla hups oh uh no sorry ой уупс"
)
"""Words that may accompany the phrase in any language."""
SEPARATOR: Final = re.compile(r"\s+[-–—|·•»«›‹:/~]+\s+|\s*[|»«›‹•]\s*|(?<=\S):\s|::")
_ASIDE: Final = re.compile(r"\(([^()]{1,40})\)")
_ARTICLES: Final = frozenset({"a", "an", "the"})


@dataclass(frozen=True)
class Vocabulary:
    """One language: nouns, states said of them, and other words that such a sentence may contain; all folded.

    `sentences` are those of the states that name the document themselves. `asides` are fillers that folding divides, as
    it does where vowels are signs of their own.
    """

    nouns: tuple[str, ...]
    states: tuple[str, ...]
    fillers: frozenset[str]
    asides: tuple[str, ...]
    sentences: frozenset[str]

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
    return {code: vocabulary(**words) for code, words in _languages()["spaced"].items()}


def vocabulary(nouns: Iterable[str], states: Iterable[str], fillers: str) -> Vocabulary:
    """A language by its lists; the fillers are separated by spaces."""
    folded_nouns, folded_states, other = phrases(nouns), phrases(states), phrases(fillers.split())
    sentences = (state for state in folded_states if any(f" {noun} " in f" {state} " for noun in folded_nouns))
    words = frozenset(word for word in other if " " not in word)
    asides = tuple(word for word in other if " " in word)
    return Vocabulary(folded_nouns, folded_states, words, asides, frozenset(sentences))


@cache
def works() -> frozenset[str]:
    """Words for kinds of works, such as novel and film, of all languages."""
    return frozenset(phrases(_languages()["works"]))


def names_work(title: str) -> bool:
    """True if a part of a title says what kind of work it names: ``Page not found (novel)``."""
    for part in (*SEPARATOR.split(title), *_ASIDE.findall(title)):
        named = " ".join(word for word in folded(part).split() if not word.isdigit() and word not in _ARTICLES)
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

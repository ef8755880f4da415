"""Phrases are found by their words as they are by trying each of them."""

import pytest

from weboid.core.document.folding import first_of, folded, phrases, words_of

KNOWN = phrases(
    "domain is for sale|for sale|sale|under construction|ドメイン|このドメインは|이 도메인은 판매|the the|à vendre"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Example.com: this domain is for sale!", "domain is for sale"),
        ("for sale, under construction", "under construction"),
        ("a wholesale dealer", None),
        ("construction, under", None),
        ("今このドメインは売", "このドメインは"),
        ("the", None),
        ("nothing", None),
        ("Maison À VENDRE", "a vendre"),
        ("", None),
    ],
)
def test_the_longest_phrase_that_stands_in_a_text_is_found(text: str, found: str | None) -> None:
    shown = folded(text)
    assert first_of(KNOWN, shown) == (found and folded(found))
    assert first_of(tuple(KNOWN), shown) == first_of(KNOWN, shown)


def test_what_was_folded_is_folded_alike_again_and_when_it_is_long() -> None:
    title = "Ça n’existe\u00a0pas — 404"
    assert folded(title) == folded(title) == "ca n existe pas 404"
    assert folded(title * 1_000) == " ".join([folded(title)] * 1_000).replace("404 ca", "404ca")


def test_the_words_of_a_long_text_are_not_kept() -> None:
    kept = words_of.cache_info()
    assert first_of(KNOWN, "for sale " * 10_000) == "for sale"
    assert words_of.cache_info() == kept

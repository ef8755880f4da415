"""Portraits: twenty bytes kept of a document, what they still show, and fingerprints, which stay comparable (C-11)."""

import random
from dataclasses import replace
from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st
from support.pages import page, prose

from benchmarks.worlds.stockpages import STOCK
from weboid.core.document.document import document_of
from weboid.core.document.fingerprint import MAX_WORDS, distance, fingerprint, words
from weboid.core.document.portrait import (
    BLANK,
    Newcomer,
    Portrait,
    is_replaced,
    packed_portrait,
    portrait_of,
    unpacked_portrait,
)

MOST_BYTES = 20


def portrait(title: str, text: str, author: str = "", more: str = "") -> Portrait:
    head = f'<meta name="author" content="{author}">' if author else ""
    seen = portrait_of(document_of(page(title, body=f"<p>{text}</p>{more}", head=head), "text/html"))
    assert unpacked_portrait(packed_portrait(seen)) == seen
    assert len(packed_portrait(seen)) <= MOST_BYTES
    return seen


MUSEUM = portrait("The press museum", prose(300))


def test_a_page_with_other_text_under_another_name_is_replaced() -> None:
    assert is_replaced(MUSEUM, portrait("Best online casino", prose(300, start=40_000)))


def test_a_page_that_kept_its_title_or_text_or_shows_too_little_is_not_replaced() -> None:
    for title, many, start in [
        ("The press museum", 300, 40_000), ("Museum of printing", 300, 40_000), ("Pr\u00e9ss and print", 300, 40_000),
        ("Something else", 300, 0), ("Something else", 20, 40_000), ("", 300, 40_000), ("2026", 300, 40_000),
        ("On the", 300, 40_000),
    ]:  # fmt: skip
        now = portrait(title, prose(many, start))
        assert not is_replaced(MUSEUM, now), title
        assert not is_replaced(now, MUSEUM), title


def test_words_that_every_title_has_are_no_likeness() -> None:
    for before, after in [
        ("The history of the sea and the shore", "Lucky Harbour Casino: free spins and a welcome bonus"),
        ("Die Geschichte der M\u00fchle", "Kredit ohne Auskunft: die Banken der Region"),
        ("\u6771\u4eac\u306e\u535a\u7269\u9928", "\u65e5\u672c\u306e\u30ab\u30b8\u30ce"),
    ]:
        assert is_replaced(portrait(before, prose(300)), portrait(after, prose(300, start=40_000)))


def test_a_long_title_is_known_by_both_of_its_ends() -> None:
    """The name of a site stands at one end, and it is what stays."""
    long = "How nine old windmills near quiet rivers were moved by hand during summer, Evening Post"
    before = portrait(long, prose(300))
    for title in ("Evening Post: the whole story", "Old and new", "Nine more pages"):
        assert not is_replaced(before, portrait(title, prose(300, start=40_000)))


def test_a_page_that_kept_its_author_is_not_replaced() -> None:
    earlier = portrait("The press museum", prose(300), author="A. Writer")
    there, gone = (portrait("Das Druckhaus", prose(300, start=40_000), author) for author in ("A. Writer", "B. Writer"))
    assert not is_replaced(earlier, there)
    assert is_replaced(earlier, gone)


def test_a_page_that_scripts_fill_in_is_known_by_nothing() -> None:
    assert portrait("An application", prose(300), more="<div id=root></div>") == BLANK
    assert not is_replaced(MUSEUM, BLANK)
    assert not is_replaced(BLANK, MUSEUM)


def test_who_fills_a_domain_with_a_site_of_his_own_is_known_for_a_stranger() -> None:
    for kind in ["sold", "redesign"]:
        for there in STOCK[kind].values():
            assert is_replaced(MUSEUM, portrait(there.title, there.text, more=f"<h1>{there.title}</h1>")), kind


def test_of_unrelated_pages_nearly_all_are_reported_apart() -> None:
    """Hashes of twelve bits: two titles share one by chance in less than a hundredth of all cases."""
    chance = random.Random(1)
    pages = [portrait(prose(6, chance.randrange(90_000)), prose(120, chance.randrange(90_000))) for _ in range(60)]
    pairs = [(one, other) for one in pages for other in pages if one is not other]
    assert sum(is_replaced(one, other) for one, other in pairs) >= 0.95 * len(pairs)


@given(st.integers(0, 60_000), st.integers(0, 400))
def test_no_page_replaces_itself(start: int, words: int) -> None:
    seen = portrait("A title", prose(words, start))
    assert not is_replaced(seen, seen)


PORTRAITS = st.builds(
    Portrait, st.lists(st.integers(0, 4095), min_size=1, max_size=6).map(tuple), st.integers(0, 255),
    st.integers(0, 2**64 - 1), st.integers(0, 63), st.booleans(), st.booleans(),
)  # fmt: skip


@given(PORTRAITS, st.none() | st.builds(Newcomer, PORTRAITS, st.integers(0, 65_535)))
def test_a_portrait_comes_back_as_it_was(seen: Portrait, newcomer: Newcomer | None) -> None:
    assert len(packed_portrait(seen)) <= MOST_BYTES
    seen = replace(seen, newcomer=newcomer)
    assert unpacked_portrait(packed_portrait(seen)) == seen
    assert len(packed_portrait(seen)) <= 2 * MOST_BYTES + 4


def test_portraits_in_stores_stay_readable() -> None:
    """Stored ones are compared with new ones for years: the hashes and the forms never change."""
    seen = portrait("The press museum", prose(300), author="A. Writer")
    assert packed_portrait(seen).hex() == STORED
    assert unpacked_portrait(bytes.fromhex(STORED_FIRST)) == seen


STORED = "fb001c60ca7c1119374b1e3d9a39"
STORED_FIRST = "251c60ca7c1119374b1e3d9a39"


def of(text: str) -> int:
    found = fingerprint(" ".join(words(text)))
    assert found is not None
    return found


def test_a_stored_fingerprint_stays_comparable() -> None:
    assert of("the quick brown fox jumps over the lazy dog") == 0x7566F07CE82FB177


def test_case_punctuation_and_numbers_do_not_count() -> None:
    assert of("The fox 17: jumps over dogs!") == of("the fox jumps (over) dogs 23")


def test_a_small_change_is_near_and_another_text_is_far() -> None:
    text = prose(400)
    assert distance(of(text), of(text.replace("kakamikane", "changed"))) <= 6
    assert distance(of(text), of(prose(400, start=50_000))) >= 20


def test_too_short_a_text_has_none() -> None:
    for text in ["", "one", "one two", "1 2 3 4", "\ufffd"]:
        assert fingerprint(" ".join(words(text))) is None


def test_signs_of_scripts_without_spaces_are_words() -> None:
    assert words("お探しの page 页面") == ["お", "探", "し", "の", "page", "页", "面"]
    assert words("찾을 수 없습니다") == ["찾을", "수", "없습니다"]


@given(st.text(max_size=2_000))
def test_every_text_has_64_bits_or_none(text: str) -> None:
    found = fingerprint(" ".join(words(text)))
    assert found is None or 0 <= found < 1 << 64


@given(st.lists(st.text("abc", min_size=1, max_size=4), min_size=3, max_size=50))
def test_no_more_words_are_read_than_tell_texts_apart(row: list[str]) -> None:
    assert len(words(" ".join(row * 100))) <= MAX_WORDS


@given(st.lists(st.text("abcö", min_size=1, max_size=3), min_size=3, max_size=60))
def test_each_bit_is_that_of_most_shingles(row: list[str]) -> None:
    shingles = {" ".join(three) for three in zip(row, row[1:], row[2:], strict=False)}
    hashes = [int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") for text in shingles]
    expected = sum(1 << bit for bit in range(64) if 2 * sum(each >> bit & 1 for each in hashes) > len(hashes))
    assert fingerprint(" ".join(row)) == expected

"""Fingerprints: similar texts have similar ones, and stored ones stay comparable (C-11)."""

from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st
from support.pages import prose

from weboid.core.document.fingerprint import MAX_WORDS, distance, fingerprint, words


def of(text: str) -> int:
    found = fingerprint(words(text))
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
        assert fingerprint(words(text)) is None


def test_signs_of_scripts_without_spaces_are_words() -> None:
    assert words("お探しの page 页面") == ["お", "探", "し", "の", "page", "页", "面"]
    assert words("찾을 수 없습니다") == ["찾을", "수", "없습니다"]


@given(st.text(max_size=2_000))
def test_every_text_has_64_bits_or_none(text: str) -> None:
    found = fingerprint(words(text))
    assert found is None or 0 <= found < 1 << 64


@given(st.lists(st.text("abc", min_size=1, max_size=4), min_size=3, max_size=50))
def test_no_more_words_are_read_than_tell_texts_apart(row: list[str]) -> None:
    assert len(words(" ".join(row * 100))) <= MAX_WORDS


@given(st.lists(st.text("abcö", min_size=1, max_size=3), min_size=3, max_size=60))
def test_each_bit_is_that_of_most_shingles(row: list[str]) -> None:
    shingles = {" ".join(three) for three in zip(row, row[1:], row[2:], strict=False)}
    hashes = [int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") for text in shingles]
    expected = sum(1 << bit for bit in range(64) if 2 * sum(each >> bit & 1 for each in hashes) > len(hashes))
    assert fingerprint(row) == expected

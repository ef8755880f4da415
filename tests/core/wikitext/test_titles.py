from hypothesis import given
from hypothesis import strategies as st

from weboid.core.wikitext.titles import CANONICAL, Namespace, NamespaceNames, PageSpot

NAMES = NamespaceNames(
    [
        Namespace(0, ""), Namespace(1, "Diskussion"), Namespace(1, "Talk", is_alias=True), Namespace(2, "Benutzer"),
        Namespace(2, "Benutzerin", is_alias=True), Namespace(4, "Wörter", is_cased=True),
        Namespace(5, "Wörter Diskussion"), Namespace(100, "Portal"),
    ]
)  # fmt: skip


def test_a_title_is_split_where_the_wiki_knows_the_name() -> None:
    for text, spot in [
        ("Berlin", (0, "Berlin")), ("Berlin_(band)", (0, "Berlin (band)")), ("  Berlin   _ x ", (0, "Berlin x")),
        ("Diskussion:Berlin", (1, "Berlin")), ("DISKUSSION:Berlin", (1, "Berlin")), ("talk:_Berlin", (1, "Berlin")),
        ("Benutzerin:Eva", (2, "Eva")), ("User:Eva", (2, "Eva")), ("wörter_diskussion:A", (5, "A")),
        (":Portal:A", (100, "A")), ("Wörter:abc", (4, "abc")), ("Star Wars: A", (0, "Star Wars: A")),
        ("Project talk:A", (5, "A")), ("A\u200eB", (0, "AB")), ("A#b", (0, "A")),
    ]:  # fmt: skip
        assert NAMES.spots(text)[0] == spot


def test_the_case_of_the_first_letter_may_count_and_what_cannot_be_a_title_is_nowhere() -> None:
    assert NAMES.spots("berlin") == [PageSpot(0, "berlin"), PageSpot(0, "Berlin")]
    assert NAMES.spots("Wörter:abc") == [PageSpot(4, "abc")]
    assert NAMES.spots("ßa") == [PageSpot(0, "ßa")]
    for text in ["", " ", ":", "Talk:", "Talk: _", "#x", "::"]:
        assert [spot for spot in NAMES.spots(text) if spot.title.strip(": ")] == []


def test_prefixes_are_the_wikis_own_else_those_of_every_wiki_else_numbers() -> None:
    assert NAMES.prefixed(0, "A") == "A"
    assert NAMES.prefixed(1, "A") == "Diskussion:A"
    assert NAMES.prefixed(6, "A") == "File:A"
    assert NAMES.prefixed(2_300, "A") == "2300:A"
    assert NAMES.knows(1)
    assert not NAMES.knows(2_300)
    assert NamespaceNames().knows(0)
    assert not NamespaceNames().knows(1)


@given(st.sampled_from([0, 1, 2, 4, 5, 100, *CANONICAL]), st.text(st.characters(categories=["L", "N"]), min_size=1))
def test_a_title_with_its_prefix_leads_back(namespace: int, title: str) -> None:
    assert PageSpot(namespace, title) in NAMES.spots(NAMES.prefixed(namespace, title))

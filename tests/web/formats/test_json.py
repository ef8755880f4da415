"""JSON as it is sent: ASCII, safe inside of scripts, and the same whichever way it was made."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from weboid.core.url.classify import UrlClass
from weboid.web.formats.json import text_of

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), _VALUES, max_size=4))
@example({"a": "</script><!--&amp;", "b": "\u2028é\x7f\x00\n"})
@example({"a": "\ud800"})
@example({"a": 1 << 70})
def test_json_says_what_it_was_given_in_safe_ascii(document: dict[str, object]) -> None:
    text = text_of(document)
    assert text.isascii()
    assert not set("<>&\n") & set(text)
    assert json.loads(text) == document


def test_words_of_enumerations_are_words() -> None:
    assert text_of({"class": UrlClass.OWN_FARM, "given": ("a", "b")}) == '{"class":"own-farm","given":["a","b"]}'

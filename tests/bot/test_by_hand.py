"""Repairs that a person looks at and saves: choices by link, no bot's signature, and the pieces that change."""

from typing import Final

import pytest
from support.repairs import COPY, FOUND, NOW, URL, known, settings_of

from weboid.bot.answers import read_answers
from weboid.bot.choices import ChoiceRefused, with_choices
from weboid.bot.repair import RepairedPage, repair

_OTHER: Final = "http://other.example.org/"
_OLDER: Final = COPY.replace("2012", "2009", 1)
_TWO: Final = read_answers(
    {URL: "dead", _OTHER: "dead"}, {URL: [FOUND, {"url": _OLDER}], _OTHER: {"url": COPY.replace(URL, _OTHER)}}, NOW
)
_TEXT: Final = f"😀 [{URL} one] and [{_OTHER} two], [http://working.example.org/ three]"


def chosen(text: str = _TEXT, wiki: str = "enwiki", *, only: bool = False, **choices: str) -> RepairedPage:
    by_url = {{"one": URL, "two": _OTHER}[name]: choice for name, choice in choices.items()}
    answers = with_choices(_TWO, by_url, only_chosen=only)
    page = repair(text, settings_of(wiki), answers, now=NOW, by_hand=True)
    assert repair(page.text, settings_of(wiki), answers, now=NOW, by_hand=True).text == page.text
    return page


def test_a_link_is_left_or_tagged_or_gets_the_copy_that_is_chosen() -> None:
    assert [change.url for change in chosen().changes] == [URL, _OTHER]
    left = chosen(one="leave")
    assert ([change.url for change in left.changes], left.left[0]) == ([_OTHER], (URL, "chosen"))
    assert chosen(one="tag").changes[0].action.value == "tagged"
    assert _OLDER in chosen(one=_OLDER).text
    only = chosen(only=True, two="tag")
    assert [change.url for change in only.changes] == [_OTHER]
    assert only.left == ((URL, "not-chosen"), ("http://working.example.org/", "unknown"))


@pytest.mark.parametrize("choice", [COPY.replace("2012", "2001", 1), "http://evil.example.org/", "", "LEAVE", _OTHER])
def test_nothing_but_an_offered_copy_can_be_chosen(choice: str) -> None:
    with pytest.raises(ChoiceRefused, match=URL):
        chosen(one=choice)


def test_a_choice_for_a_link_of_which_nothing_is_known_has_no_effect() -> None:
    assert with_choices(known(), {"http://x.example.org/": COPY, "\ud800": "leave", "": "tag"}) == known()
    assert with_choices(known("working"), {URL: "tag"}) == known("working")


def test_a_person_does_not_sign_as_a_bot_and_no_message_takes_the_place_of_their_edit() -> None:
    citation = f"{{{{Internetquelle|url={URL}|titel=x|abruf=2012-05-01}}}}"
    for talk in ("never", "instead"):
        page = repair(citation, settings_of("dewiki", talk=talk), _TWO, now=NOW, by_hand=True)
        assert "archiv-url" in page.text
        assert "archiv-bot" not in page.text
        assert repair(page.text, settings_of("dewiki"), _TWO, now=NOW, by_hand=True).text == page.text
    assert repair(citation, settings_of("dewiki", run=False), _TWO, now=NOW, by_hand=True).changes == ()
    for template, kept_off in [("{{nobots}}", "{{nobots}}"), ("{{In Bearbeitung|A}}", None)]:
        page = repair(template + citation, settings_of("dewiki"), _TWO, now=NOW, by_hand=True)
        assert (page.kept_off, bool(page.changes)) == (kept_off, kept_off is None)


def test_the_pieces_are_those_of_the_text_that_was_given() -> None:
    page = chosen()
    assert [_TEXT[piece.start : piece.start + len(piece.before)] for piece in page.pieces] == [
        f"[{URL} one]",
        f"[{_OTHER} two]",
    ]
    assert page.text == _TEXT.replace(page.pieces[0].before, page.pieces[0].after).replace(*page.pieces[1][1:])
    assert [change.copy.address for change in page.changes if change.copy] == [COPY, COPY.replace(URL, _OTHER)]


def test_repairs_that_follow_from_each_other_share_a_piece_of_the_first_text() -> None:
    tagged = f"{{{{Toter Link|url={URL}|text={{{{Internetquelle|url={URL}|titel=x}}}}}}}} end"
    page = repair(tagged, settings_of("dewiki"), _TWO, now=NOW, by_hand=True)
    assert len(page.changes) == 2
    assert len(set(page.pieces)) == 1
    (piece,) = set(page.pieces)
    assert (piece.start, piece.before) == (0, tagged.removesuffix(" end"))
    assert piece.after + " end" == page.text

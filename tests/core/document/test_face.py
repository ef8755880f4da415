"""A host's not-found face: what is like it, how long it is believed, how it is stored (C-11)."""

from hypothesis import given
from hypothesis import strategies as st
from support.pages import page, prose

from weboid.core.document.document import Document, document_of
from weboid.core.document.face import (
    HONEST_DAYS,
    KEPT_DAYS,
    MOST_PLACES,
    NO_FACE,
    Answer,
    Face,
    Kind,
    Look,
    Role,
    Seen,
    look_of,
    packed_face,
    unpacked_face,
)
from weboid.core.url.made_up import MadeUp, probes_of
from weboid.core.url.urls import parse

ONE = "http://site.test/news/old-story.html"
PROBES = probes_of(parse(ONE))
assert PROBES is not None
NEAR = PROBES.near
WORD = NEAR.url.path.rpartition("/")[2].removesuffix(".html").replace("-", " ")


def read(title: str, text: str, url: str = ONE, head: str = "", more: str = "") -> Document:
    return document_of(page(title, body=f"<p>{text}</p>{more}", head=head), "text/html", url)


def template(title: str, text: str, more: str = "", url: str = str(NEAR.url)) -> Look:
    return look_of(read(title, text, url, more=more), NEAR, more.encode())


def is_like(one: Document, other: Look, asked: str = ONE) -> bool:
    assert PROBES is not None
    return Seen(one, asked, PROBES.named).is_like(other)


def test_a_page_for_everything_is_the_same_page() -> None:
    assert is_like(read("Site", prose(80)), template("Site", prose(80)))
    assert is_like(read("Site", prose(12)), template("Site", prose(12)))


def test_a_short_page_is_a_template_only_if_nothing_else_can_be_on_it() -> None:
    for title, text, more, is_so in [
        ("Wonhu", "404 Wonhu", "", True),
        ("", "Wonhu", "", True),
        ("Wonhu", "404 Wonhu", "<img src=a.png>", False),
        ("Wonhu", "404 Wonhu", "<script>show()</script>", False),
        ("Site", prose(12), "<img src=a.png>", True),
        ("Site", prose(12), "<script>show()</script>", False),
        ("Site", prose(12), "<h1>Error</h1><script>show()</script>", True),
        ("Wonhu", "404 Wonhu", "<h1>Error</h1><script>show()</script>", False),
        ("Site", prose(12), "<iframe src=/a></iframe>", False),
        ("Site", prose(30), "<script>show()</script>", True),
    ]:
        assert PROBES is not None, title
        seen = Seen(read(title, text, more=more), ONE, PROBES.named, more.encode())
        assert seen.is_like(template(title, text, more)) is is_so


def test_an_address_that_is_repeated_makes_no_difference() -> None:
    assert is_like(
        read("Site: old story", f"{prose(40)} nothing at {ONE} here"),
        template(f"Site: {WORD}", f"{prose(40)} nothing at {NEAR.url} here"),
    )
    # Nor do words of the address that the page says anyway.
    assert is_like(read("Site: old", f"{prose(40)} old story"), template("Site: old", f"{prose(40)} old story"))


ROOT_LIKE = "http://site.test/start"


def test_what_is_sent_to_the_same_place_is_the_same_page_whatever_stands_there() -> None:
    assert is_like(Document(url=ROOT_LIKE), look_of(Document(url=ROOT_LIKE), NEAR))
    assert not is_like(Document(url="http://site.test/other"), look_of(Document(url=ROOT_LIKE), NEAR))
    assert not is_like(Document(), look_of(Document(), NEAR))


def test_a_page_to_which_made_up_urls_are_sent_is_there() -> None:
    look = template("Site", prose(80), url=ONE)
    assert look.moved
    assert not is_like(read("Site", prose(80)), look)


def test_another_scheme_or_host_or_slash_is_no_other_place() -> None:
    secure = str(NEAR.url).replace("http://site.test", "https://www.site.test") + "/"
    assert not look_of(read("Site", prose(80), secure), NEAR).moved
    assert is_like(read("Site", prose(80), "https://www.site.test/news/old-story.html"), template("Site", prose(80)))


def test_what_could_be_two_pages_is_not_the_same() -> None:
    for one, other in [
        (read("A story", prose(80)), template("Site", prose(80))),
        (read("Site", prose(80), more="<h1>A story</h1>"), template("Site", prose(80), more="<h1>Nothing</h1>")),
        (read("Site", prose(80)), template("Site", prose(80, start=500))),
        (read("Site", prose(300)), template("Site", prose(308))),
        (read("Site", prose(20)), template("Site", prose(19) + " else")),
        (read("Site", "one two"), template("Site", "one three")),
        (read("Site", ""), template("Site", "")),
        (read("Site", prose(80), more="<div id=root></div>"), template("Site", prose(80), more="<div id=root></div>")),
        (
            read("Site", prose(80), head='<meta property="article:published_time" content="2026">'),
            template("Site", prose(80)),
        ),
        (read("Site", prose(80)), Look(Kind.HONEST)),
        (read("Site", prose(80)), Look(Kind.UNCLEAR)),
    ]:
        assert not is_like(one, other)


def answer(place: int, kind: Kind, day: int = 100, role: Role = Role.NEAR) -> Answer:
    return Answer(place, role, day, Look(kind))


def test_what_was_learned_is_believed_for_some_weeks() -> None:
    for kind, days in [
        (Kind.HONEST, HONEST_DAYS), (Kind.PAGE, KEPT_DAYS), (Kind.BLANK, KEPT_DAYS), (Kind.UNCLEAR, KEPT_DAYS),
    ]:  # fmt: skip
        assert PROBES is not None, kind
        face = Face((answer(NEAR.place, kind),))
        assert face.look(NEAR, 99 + days) == Look(kind)
        assert face.look(NEAR, 100 + days) is None, kind
        assert face.is_settled(PROBES.near.place, 99 + days) is (kind is not Kind.PAGE)
        assert not face.is_settled(PROBES.near.place, 100 + days), kind


def test_a_host_that_was_honest_in_two_directories_is_asked_in_no_third_one() -> None:
    one = Face((answer(1, Kind.HONEST),))
    two = Face((*one.answers, answer(2, Kind.HONEST, 120)))
    assert one.takes_more(100)
    assert not two.takes_more(120)
    assert two.takes_more(100 + HONEST_DAYS)
    assert Face((answer(1, Kind.HONEST), answer(2, Kind.PAGE))).takes_more(100)


def test_of_a_host_at_most_four_directories_are_asked() -> None:
    face = Face((*(answer(place, Kind.PAGE) for place in range(3)), answer(9, Kind.PAGE, role=Role.REAL)))
    assert face.takes_more(100)
    assert not face.with_answer(MadeUp(parse(ONE), 4), Role.NEAR, Look(Kind.UNCLEAR), 100).takes_more(100)


LOOKS = st.builds(Look, st.sampled_from([Kind.UNCLEAR, Kind.HONEST])) | st.builds(
    Look, st.sampled_from([Kind.BLANK, Kind.PAGE]), st.integers(0, 2**32 - 1), st.integers(0, 2**24 - 1),
    st.integers(0, 2_000), st.integers(0, 2**64 - 1),
)  # fmt: skip
ANSWERS = st.builds(Answer, st.integers(0, 2**16 - 1), st.sampled_from(Role), st.integers(0, 32_767), LOOKS)


@given(st.lists(ANSWERS, max_size=20))
def test_a_face_is_stored_as_it_is_and_never_large(answers: list[Answer]) -> None:
    face = NO_FACE
    for one in answers:
        face = face.with_answer(MadeUp(parse(ONE), one.place), one.role, one.look, one.day)
    packed = packed_face(face)
    assert unpacked_face(packed) == face
    assert len(packed) <= 22 * MOST_PLACES
    assert len({one.place for one in face.answers}) == len(face.answers)
    if answers:
        assert face.answers[-1] == answers[-1]
        assert face.learned == max(one.day for one in face.answers)


@given(st.text(max_size=400), st.text(max_size=50), st.sampled_from([ONE, ROOT_LIKE]))
def test_whatever_a_host_answers_it_is_never_like_what_it_says_is_missing(text: str, title: str, url: str) -> None:
    seen = Seen(read(title, text, url), ONE, ())
    assert not seen.is_like(Look(Kind.HONEST))
    assert not seen.is_like(None)
    assert not Seen(read(title, text, ONE), ONE, ()).is_like(template(title, text, url=ROOT_LIKE))

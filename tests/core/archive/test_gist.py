"""What good copies show, as far as they are compared: front pages and beginnings give way to the page itself."""

from datetime import UTC, date, datetime

import pytest
from support.pages import page, prose

from weboid.core.archive.captures import Capture, ServiceReply
from weboid.core.archive.gist import Gist, gist_of, is_better, preview_of
from weboid.core.archive.rows.fitness import Wish
from weboid.core.url.urls import parse

STORY = "http://www.mill-herald.demo/2009/story.html"
TAKEN = datetime(2016, 5, 30, tzinfo=UTC)


def gist(title: str, body: str = "", *, head: str = "", url: str = STORY) -> Gist:
    reply = ServiceReply(200, {"content-type": "text/html"}, page(title, body=body, head=head))
    found = gist_of(Capture(TAKEN, url, 200), reply, Wish(parse(url), TAKEN, date(2026, 11, 22)))
    assert found is not None
    return found


def test_a_front_page_under_another_url_is_known_by_its_name_its_word_or_its_canonical() -> None:
    canonical = '<link rel="canonical" href="http://www.mill-herald.demo/">'
    for title, body, head in [
        ("Mill Herald", "", ""),
        ("Mill Herald: news and weather", "", ""),
        ("Home - The Herald of the mill and the weir", "", ""),
        ("Bote | Startseite", "", ""),
        ("All that is new in the valley", "", canonical),
        ("News - The Herald of the mill", "<h1>News</h1>", ""),
    ]:
        assert gist(title, body, head=head).looks_front, title
        assert not gist(title, body, head=head, url="http://www.mill-herald.demo/").looks_front, title


def test_a_page_of_its_own_looks_like_no_front_page() -> None:
    story = STORY.replace("story", "the-weir")
    for title, body, head, url in [
        ("The wheel of the old mill - Mill Herald", "<h1>The wheel of the old mill</h1>", "", STORY),
        ("The weir", "<h1>The weir</h1>", "", story),
        ("Weir", "<h1>Weir</h1>", '<meta property="article:published_time" content="2009">', STORY),
        ("The weir", "", f'<link rel="canonical" href="{STORY}">', STORY),
    ]:
        assert not gist(title, body, head=head, url=url).looks_front, title


def test_only_a_long_copy_of_the_page_itself_is_settled() -> None:
    assert gist("The wheel of the old mill", prose(120)).is_settled
    assert not gist("The wheel of the old mill", prose(60)).is_settled
    assert not gist("Mill Herald", prose(120)).is_settled


def test_the_page_itself_is_better_than_a_front_page_and_more_text_than_its_beginning() -> None:
    short, long, front = Gist("the weir", 40, False), Gist("the weir", 400, False), Gist("mill herald", 400, True)
    assert is_better(long, short)
    assert is_better(short, front)
    assert not is_better(short, long)
    assert not is_better(front, short)
    assert not is_better(long._replace(title="the dam"), short), "it may be another page"
    assert not is_better(long, short._replace(looks_front=True)), "a title that begins alike is the same page's"


def test_what_is_no_page_is_not_compared() -> None:
    reply = ServiceReply(200, {"content-type": "application/pdf"}, b"%PDF-1.4 " + b"x" * 99)
    assert gist_of(Capture(TAKEN, STORY, 200), reply, Wish(parse(STORY), TAKEN, date(2026, 11, 22))) is None


@pytest.mark.parametrize(
    ("title", "body", "preview"),
    [
        ("The old mill", "<h1>Its wheel</h1><h2>Oak</h2>", "The old mill\nIts wheel"),
        ("The old mill - Herald", "<h1>The old mill</h1>", "The old mill - Herald"),
        ("", "<h1>Its wheel</h1>", "Its wheel"),
        ("\u202elive\u202c\nnow", "<h1>\u2066Its</h1>", "live now\nIts"),
        ("字" * 99, f"<h1>{'字' * 99}!</h1>", "字" * 39 + "…\n" + "字" * 25 + "…"),
    ],
)
def test_a_preview_is_the_title_and_a_first_heading_that_says_more(title: str, body: str, preview: str) -> None:
    reply = ServiceReply(200, {"content-type": "text/html"}, page(title, body=body))
    assert preview_of(reply, STORY) == preview
    assert len(preview.encode()) <= 200
    assert preview_of(ServiceReply(200, {"content-type": "application/pdf"}, b"%PDF-1.4"), STORY) == ""

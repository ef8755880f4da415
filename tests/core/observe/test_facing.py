"""Conclusions from a host's face for a document: every kind of host, as scripts without a network (C-11)."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from support.pages import page, prose

from weboid.core.document.document import document_of
from weboid.core.document.face import NO_FACE, Face, Seen
from weboid.core.observe.facing import Asking, Likeness, answer_of, face_suspicion, likeness_of
from weboid.core.observe.observation import RawResponse
from weboid.core.record.reasons import Reason
from weboid.core.url.made_up import probes_of
from weboid.core.url.urls import parse

Host = Callable[[str], bytes | int | str]
"""What a host answers for a path: a document, a code, or a path to which it sends."""
SITE = "http://site.test"
FRONT = page("Welcome", body=f"<p>{prose(60, 900)}</p>")
ARTICLE = page("The bees of the harbour", body=f"<p>{prose(60)}</p>")
TEMPLATE = page("Site", body=f"<p>{prose(60, 500)}</p>")


def fetched(host: Host, path: str) -> RawResponse:
    found = host(path)
    final = f"{SITE}{path}"
    if isinstance(found, str):
        final, found = f"{SITE}{found}", host(found)
    assert not isinstance(found, str)
    code, body = (found, b"") if isinstance(found, int) else (200, found)
    return RawResponse(f"{SITE}{path}", final, "GET", code, headers={"content-type": "text/html"}, body=body)


def judged(host: Host, path: str, face: Face = NO_FACE) -> tuple[Reason | None, Face, int]:
    """The reason for a doubt, the face that was learned, and how many requests that took."""
    answer = fetched(host, path)
    url = parse(answer.url)
    probes = probes_of(url)
    if probes is None:
        return None, face, 0
    seen = Seen(document_of(answer.body, "text/html", answer.final), str(url), probes.named, answer.body)
    requests = 0
    while isinstance(found := likeness_of(seen, probes, face, 100), Asking):
        requests += 1
        made_up = found.made_up
        face = face.with_answer(made_up, found.role, answer_of(fetched(host, made_up.url.path), made_up), 100)
    suspicion = face_suspicion(url, seen, probes, found, answer.body)
    return suspicion.reason if suspicion else None, face, requests


def by(pages: dict[str, bytes | int | str], other: bytes | int | str) -> Host:
    return lambda path: pages.get(path, other)


def blind(start: str, document: bytes = ARTICLE, other: bytes | int | str = 404) -> Host:
    """A host that looks at the beginning of a path only."""
    return lambda path: FRONT if path == "/" else document if path.startswith(start) else other


def canonical(start: str, place: str) -> Host:
    return lambda path: ARTICLE if path == place else place if path.startswith(start) else 404


def test_a_slug_blind_host_is_never_doubted() -> None:
    rows = [
        ("/story/123/a-slug", "/story/123"), ("/questions/11227809/why-is-it", "/questions/11227809"),
        ("/r/sub/comments/1abc2d/title/", "/r/sub/comments/1abc2d"),
        ("/politics/title-12345.html", "/politics/title-12345"), ("/2019/05/a-slug", "/2019/05"),
        ("/en/story/123/a-slug", "/en/story/123"), ("/123/a-slug", "/123"), ("/p-123", "/p-123"),
        ("/view.php?id=123&title=a-slug", "/view.php?id=123"), ("/item?id=123", "/item?id=123"),
        ("/index.php/view/123/a-slug", "/index.php/view/123"), ("/a-harbour/the-bees-there", "/a-harbour"),
        ("/about.php?lang=12", "/about.php"),
    ]  # fmt: skip
    others: tuple[bytes | int, ...] = (404, TEMPLATE)
    for path, id in rows:
        for other in others:
            assert judged(blind(id, other=other), path)[0] is None
        assert judged(canonical(id, path), path)[0] is None
        assert judged(canonical("/", path), path)[0] is None
        if "?" not in path:
            assert judged(canonical(id, f"{id}/the-real-slug"), path)[0] is None


def test_a_front_page_that_ignores_its_query_or_is_like_all_else_is_not_doubted() -> None:
    assert judged(lambda path: FRONT if path.startswith("/?") or path == "/" else 404, "/?utm=12")[0] is None
    for path in ["/?utm=12", "/index.php?utm=12"]:
        for document in (ARTICLE, page("Members", body=f"<p>{prose(20)}</p><form><input type=password></form>")):
            assert judged(everything(document), path)[0] is None


def test_a_template_for_what_is_missing_is_found_at_the_first_look_with_three_requests_at_most() -> None:
    for path in ["/a", "/a/b", "/2019/05/a-slug", "/en/news/12.html", "/view.php?id=12", "/a/b/c/d.pdf", "/bees/honey"]:
        host = by({"/": FRONT, "/living": ARTICLE, "/view.php": ARTICLE}, TEMPLATE)
        reason, face, requests = judged(host, path)
        assert reason is Reason.SOFT_404, path
        assert requests <= 3, path
        assert judged(host, path, face)[::2] == (Reason.SOFT_404, 0)
        assert judged(host, "/living", face)[0] is None, path


def test_a_template_is_found_where_the_program_itself_is_missing_too_and_where_it_says_next_to_nothing() -> None:
    assert judged(by({"/": FRONT}, TEMPLATE), "/index.php?id=12")[::2] == (Reason.SOFT_404, 4)
    assert judged(by({"/": FRONT}, page("Wonhu", body="<p>404 Wonhu</p>")), "/a/b")[0] is Reason.SOFT_404
    assert judged(by({"/": FRONT}, page("Viewer", body=f"Photo {SCRIPT}")), "/app/b")[0] is None


def test_what_is_everywhere_in_place_of_a_known_document_is_doubted_whatever_its_length_and_scripts() -> None:
    url = parse(f"{SITE}/history/harbour.html")
    for title, words, is_newcomer, is_doubted in [
        ("Discount shoes", 400, True, True), ("Discount shoes", 400, False, False), ("Our harbour", 400, True, False),
        ("", 400, True, False),
    ]:  # fmt: skip
        content = page(title, body=f"<script src='/app.js'></script><p>{prose(words)}</p>")
        probes = probes_of(url)
        assert probes is not None
        seen = Seen(document_of(content, "text/html", str(url)), str(url), probes.named, content)
        found = face_suspicion(url, seen, probes, Likeness.EVERYTHING, content, is_newcomer=is_newcomer)
        assert (found and found.reason) is (Reason.SAME_EVERYWHERE if is_doubted else None)


def test_a_living_page_costs_one_request_and_its_neighbours_none() -> None:
    host = by({"/": FRONT, "/a/1": ARTICLE, "/a/2": page("Two", body=prose(60, 100))}, 404)
    reason, face, requests = judged(host, "/a/1")
    assert (reason, requests) == (None, 1)
    assert judged(host, "/a/2", face) == (None, face, 0)


def test_a_template_in_one_directory_may_be_a_document_that_the_directory_names() -> None:
    for title, is_doubted in [("Forum – nichts", True), ("Всё о пчёлах", False), ("All about bees", False)]:
        reason, *_ = judged(blind("/honey/", page(title, body=f"<p>{prose(60)}</p>")), "/honey/bees")
        assert (reason is Reason.SOFT_404) is is_doubted, title


def test_a_host_may_be_honest_in_one_directory_only() -> None:
    def host(path: str) -> bytes | int:
        return FRONT if path == "/" else TEMPLATE if path.startswith("/shop/") else 404

    _, face, _ = judged(lambda path: ARTICLE if path == "/a/1" else host(path), "/a/1")
    reason, face, _ = judged(host, "/shop/1", face)
    assert reason is Reason.SOFT_404
    assert judged(lambda path: ARTICLE if path == "/shop/2" else host(path), "/shop/2", face)[0] is None


def everything(document: bytes) -> Host:
    return lambda path: document


WIDGET = '<form><div class="h-captcha" data-sitekey="1"></div></form>'
SCRIPT = '<script src="/a.js"></script>'


def test_what_answers_everything_alike_is_named_by_what_it_shows_or_not_at_all() -> None:
    for document, reason in [
        (page("A shop", body=f"{SCRIPT}<div id=root></div>"), None),
        (page("A shop", body=f"{SCRIPT}<p>{prose(80)}</p>"), None),
        (page("A shop", body=f"{SCRIPT}<p>Loading the application, please wait a moment</p>"), None),
        (page("Moment", body=f"<p>{prose(20)}</p>{WIDGET}"), Reason.BOT_WALL),
        (page("site.test", body=f"<p>{prose(20)}</p>"), Reason.SAME_EVERYWHERE),
            (page("site.test", body=f"<p>{prose(20)} related searches</p>"), Reason.PARKED),
        (page("Members", body=f"<p>{prose(20)}</p><form><input type=password></form>"), Reason.LOGIN),
        (page("Under way", body=f"<p>{prose(80)}</p>"), Reason.SAME_EVERYWHERE),
        (page("Attention Required! | Cloudflare", body=f"<p>{prose(200)}</p>"), Reason.BOT_WALL),
        (page("Bees", body=f"<p>{prose(80)} harbour</p>"), None),
    ]:  # fmt: skip
        assert judged(everything(document), "/old/harbour-bees")[0] is reason
        assert judged(everything(document), "/harbour.php?id=12&title=bees")[0] is reason


def test_a_host_that_sends_everything_to_where_its_front_page_is_shows_no_document() -> None:
    host = by({"/start": FRONT}, "/start")
    assert judged(host, "/a/b")[0] is Reason.REDIRECT_TO_ROOT
    assert judged(host, "/start")[0] is None
    assert judged(by({"/cookie-consent": FRONT}, "/cookie-consent"), "/a/b")[0] is None


def test_a_host_that_sends_what_is_missing_somewhere_shows_no_document_and_that_place_is_one() -> None:
    host = by({"/": FRONT, "/news": TEMPLATE, "/living": ARTICLE}, "/news")
    assert judged(host, "/a/b")[0] is Reason.SOFT_404
    assert judged(host, "/living")[0] is None
    assert judged(host, "/news")[0] is None


def test_refusals_a_missing_front_page_and_answers_never_the_same_prove_nothing() -> None:
    for code in [400, 403, 429, 500, 503]:
        reason, face, requests = judged(by({"/a/b": TEMPLATE}, code), "/a/b")
        assert (reason, requests) == (None, 1), code
        assert judged(by({"/a/b": TEMPLATE}, TEMPLATE), "/a/b", face)[::2] == (None, 0), code
    assert judged(by({"/": 503}, TEMPLATE), "/a/b")[0] is None
    count = iter(range(1_000))
    assert judged(lambda path: page("Site", body=prose(60, 60 * next(count))), "/a/b")[0] is None


ANSWERS = st.sampled_from([FRONT, ARTICLE, TEMPLATE, 404, 500, "/", "/x", "/page/1"])


@given(st.dictionaries(st.sampled_from(["/", "/x", "/page/1"]), st.sampled_from([FRONT, ARTICLE, 404])), ANSWERS)
def test_a_page_like_no_other_is_never_doubted(pages: dict[str, bytes | int | str], other: bytes | int | str) -> None:
    own = page("Quite another", body=f"<p>{prose(60, 2_000)}</p>")
    places: dict[str, bytes | int | str] = {"/x": 404, "/": FRONT, **pages, "/page/1": own}
    assert judged(by(places, other), "/page/1")[0] is None

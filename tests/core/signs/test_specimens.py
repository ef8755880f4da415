"""Every sign of every table, on the least page that has it, is known by the rule that reads the table (C-11).

``test_services`` has those of services.
"""

from collections.abc import Iterable
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from support.pages import page, prose

from weboid.core.document.document import Document, document_of
from weboid.core.observe.content import content_suspicion
from weboid.core.observe.observation import RawResponse
from weboid.core.signs import login_walls, notices
from weboid.core.signs.botwall import CODES, wall_by_content, wall_by_headers, walls
from weboid.core.signs.hosting import hosting_suspicion, hosting_words, suspensions
from weboid.core.signs.missing_words import spaceless, vocabularies
from weboid.core.signs.notices import notice_in
from weboid.core.signs.parked import parked_suspicion, parked_words
from weboid.core.signs.soft404 import document_suspicion

ASKED = "http://www.oldpress.test/history/1890.html"


def word(title: str, body: str = "", *, code: int = 200, final: str = ASKED, **headers: str) -> str:
    sent = {"content-type": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
    seen = content_suspicion(
        RawResponse(url=ASKED, final=final, method="GET", code=code, headers=sent, body=page(title, body=body))
    )
    return seen.reason.word if seen else ""


def missed(texts: Iterable[str], answer: str, *wanted: str, code: int = 200) -> list[str]:
    """The texts that are not known as one of some reasons in the place of ``{}`` in title|body."""
    title, _, body = answer.partition("|")
    return [
        each for each in texts if word(title.replace("{}", each), body.replace("{}", each), code=code) not in wanted
    ]


def test_titles_and_demands_of_walls() -> None:
    assert missed(walls().titles, "{}|<p>Prove that you are not a robot.</p>", "bot-wall") == []
    assert missed(walls().titles, "{}|<p>Sorry.</p>", "bot-wall", code=403) == []
    assert missed(walls().demands, "Security check|<p>{}</p>", "bot-wall") == []
    assert missed(walls().demands, "Herald|<p>{}</p>", "bot-wall", code=403) == []


def test_vendors_of_walls() -> None:
    for vendor in walls().vendor:
        signs = {name: [mark.decode() for mark in getattr(vendor, name)] for name in ("unique", "marks", "sayings")}
        assert missed(signs["unique"], f'Herald|<form {{}}"></form>{prose(300)}', "bot-wall") == []
        assert missed(signs["marks"], "Herald|<script>{}</script>", "bot-wall") == []
        assert missed(signs["sayings"], "Herald|<p>{}</p>", "bot-wall") == []
        refusals = [mark.decode() for mark in vendor.refusals]
        assert missed(refusals, "Herald|<script>{}</script>", "bot-wall", code=403) == []
        for code, listed in ((200, vendor.headers), (403, vendor.guarding)):
            for name, part in listed:
                assert word("Herald", "Hello", code=code, **{name: part or "x"}) == "bot-wall", name
        for end in vendor.ends:
            place = end.removeprefix("//") + "site.test" * end.startswith("//")
            final = f"https://{place}" if "." in place.split("/")[0] else f"https://site.test/{end.lstrip('/')}"
            assert word("Herald", "Hello", final=final) == "bot-wall", end


def test_markets_and_words_of_parked_domains() -> None:
    words = parked_words()
    for host in words.markets | words.parking:
        assert word("Herald", "Hello", final=f"https://www.{host}/buy?domain=oldpress.test") in ("for-sale", "parked")
    assert missed(words.parking_marks, 'Herald|<iframe src="https://site.test/{}"></iframe>', "parked") == []
    scripts = [mark.decode() for mark in words.lander_scripts]
    assert missed(scripts, "Herald|<script>{}</script>", "parked") == []
    marks = [mark.decode() for mark in words.lander_marks]
    assert missed(marks, "Herald|<script>{}</script>oldpress.test", "parked", "for-sale") == []
    named = "oldpress.test|<h1>oldpress.test</h1><p>{}</p>"
    assert missed(words.sale + words.generic_sale, named, "for-sale") == []
    assert missed(words.parked + words.generic_parked, named, "parked", "placeholder", "for-sale", "suspended") == []


def test_pages_of_servers_and_hosting_services() -> None:
    words = hosting_words()
    for default in words.default:
        assert missed(default.titles, "{}|", "placeholder", "parked") == [], default.name
        assert missed(default.titles, "Server|<h1>{}</h1>", "placeholder", "parked") == [], default.name
        assert missed(default.sayings, "Server|<p>{}.</p>", "placeholder", "parked") == [], default.name
        assert missed((mark.decode() for mark in default.marks), "Server|<!-- {} --><p>Hello</p>", "placeholder") == []
    for language, vocabulary in suspensions().items():
        said = [" ".join(words) for words in product(vocabulary.nouns, vocabulary.states)]
        assert missed(said, "{}|", "suspended") == [], language
    assert missed(words.suspended_spaceless, "{}|", "suspended") == []
    assert missed((mark.decode() for mark in words.suspended_marks), 'Herald|<img src="{}">', "suspended") == []
    assert missed(words.maintenance, "Herald|<p>{}</p>", "maintenance") == []


def test_titles_of_logins_and_notices_in_copies() -> None:
    assert missed(login_walls._words().titles, "{}|<form><input type=password></form>", "login") == []
    words = notices._words()
    for kind in ("login", "refused", "fault", "paywall", "consent"):
        for said in getattr(words, kind):
            title, text = ("Herald", said) if kind == "paywall" else (said, "Hello")
            document = document_of(page(title, body=f"<p>{text}</p>"), "text/html", ASKED)
            assert notice_in(ASKED, document), said


def test_states_and_nouns_of_what_is_missing() -> None:
    for language, words in vocabularies().items():
        said = [*product(words.nouns[:1], words.states), *product(words.nouns, words.states[:1])]
        assert missed(map(" ".join, said), "Herald|<h1>{}</h1>", "soft-404") == [], language
    for language, (whole, _) in spaceless().items():
        assert missed(whole, "Herald|<h1>{}</h1>", "soft-404") == [], language


@given(
    st.sampled_from(sorted(CODES)), st.text(max_size=200), st.text(max_size=250), st.text(max_size=80),
    st.dictionaries(st.text(max_size=9), st.text(max_size=9)),
)  # fmt: skip
def test_no_text_header_or_url_makes_a_rule_raise(
    code: int, title: str, text: str, path: str, headers: dict[str, str]
) -> None:
    asked, final, body = f"http://site.test/{path}?{path}", f"http://other.test/{text}", page(title, body=text)
    sources = (path, f"http://{path}")
    made = Document(title=title, headings=(text,), text=text, sources=sources, refresh=path, asks_password=True)
    for document in (made, document_of(body, "text/html", final)):
        parked_suspicion(asked, final, document, body)
        hosting_suspicion(asked, document, body)
        document_suspicion(asked, document)
        login_walls.login_suspicion(asked, document)
        wall_by_content(code, body, document)
    wall_by_headers(code, headers, final)
    assert {login_walls.is_login_url(asked), login_walls.is_consent_url(asked)} <= {True, False}

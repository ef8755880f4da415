from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.classify import Classified, UrlClass
from weboid.core.url.urls import parse
from weboid.core.verdict.link_report import link_report
from weboid.core.verdict.verdict import Finding, Verdict
from weboid.mechanism.slices import at_once
from weboid.web.formats import json, xml
from weboid.web.words.language import languages
from weboid.web.words.messages import messages_in
from weboid.web.words.phrases import href, reason_words, status_words, verdict_words, visible


def test_what_is_no_address_of_the_web_cannot_be_clicked() -> None:
    for text in [
        *("javascript:alert(1)", "data:text/html,x", "sftp://a.demo/", "mailto:a@b.demo", "//", "", "http://no-dot/")
    ]:
        assert href(text) is None, text


def test_addresses_of_the_web_can_be_clicked_in_their_normal_form() -> None:
    for scheme in ["http", "https", "ftp", "ftps"]:
        assert href(f" {scheme}://A.demo/\"><b>'") == f"{scheme}://a.demo/%22%3E%3Cb%3E'", scheme
        assert href(parse(f"{scheme}://a.demo")) == f"{scheme}://a.demo/", scheme


@given(st.text())
def test_what_can_be_clicked_is_plain_ascii(text: str) -> None:
    link = href(f"http://a.demo/{text}")
    assert link is None or (link.isascii() and link.isprintable() and not set(link) & set('<>" '))


def test_hidden_characters_are_written_out_and_joiners_stay() -> None:
    for hidden in ["\u202e", "\u200b", "\x00", "\ud800", "\U000e0041", "\xad", "\u2066", "\ufeff"]:
        assert visible(f"a{hidden}b") == f"a⟨U+{ord(hidden):04X}⟩b", hidden
    assert visible("می\u200cخواهم 👨\u200d👩 日本") == "می\u200cخواهم 👨\u200d👩 日本"


def test_the_exact_code_stands_with_the_words_of_its_group() -> None:
    for status, http, words in [
        (Status.SYNTAX_OR_SERVER_ERROR, 500, "bad request, or an internal error of the server (HTTP 500)"),
        (
            Status.SYNTAX_OR_SERVER_ERROR,
            None,
            "bad request, or an internal error of the server (HTTP 400/414/422/431/500)",
        ),
        (Status.STRANGE, 444, "an unusual error (HTTP 444)"),
        (Status.STRANGE, 499, "an unusual error (HTTP 499)"),
        (Status.STRANGE, None, "an unusual error"),
        (Status.UNKNOWN_CODE, 799, "an unknown code (HTTP 799)"),
        (Status.CORRECTED, 404, "the content is there, although the server reports an error (HTTP 404)"),
    ]:
        assert status_words(status, messages_in(languages()["en"]), http) == words, status


def test_a_site_under_repair_is_not_called_unchecked() -> None:
    say = messages_in(languages()["en"])
    link = link_report(Classified("http://a.demo/", UrlClass.WATCHED, parse("http://a.demo/")))
    assert verdict_words(link, 200, say) == "not checked yet"
    repaired = link._replace(finding=Finding(Verdict.UNKNOWN, Reason.MAINTENANCE, 190))
    assert verdict_words(repaired, 200, say) == "temporarily not shown for 10 days"
    assert reason_words(repaired, 200, say) == "The site says that it is being repaired."


def test_what_answers_nothing_but_503_is_called_unavailable_since_its_first_day() -> None:
    say = messages_in(languages()["en"])
    link = link_report(Classified("http://a.demo/", UrlClass.WATCHED, parse("http://a.demo/")))
    for verdict, reason, words in (
        (Verdict.DOUBTFUL, Reason.UNAVAILABLE, "unavailable for 3 months"),
        (Verdict.DOUBTFUL, Reason.SERVER_ERROR, "doubtful for 3 months"),
        (Verdict.DEAD, Reason.UNAVAILABLE, "dead for 3 months"),
    ):
        assert verdict_words(link._replace(finding=Finding(verdict, reason, 100)), 200, say) == words


def test_the_code_behind_a_redirect_is_not_shown_as_the_redirects() -> None:
    assert status_words(Status.MOVED_PERMANENTLY, messages_in(languages()["en"]), 200).endswith("(HTTP 301)")


@given(st.text())
def test_xml_is_well_formed_whatever_comes(text: str) -> None:
    etree.fromstring(at_once(xml.bytes_steps({"missing": [text], "title": text})))


@given(st.text())
@example("\x7f")
@example("\x7fé")
def test_json_is_plain_and_ends_no_script(text: str) -> None:
    written = json.bytes_of({"title": text}).decode()
    assert written.isascii()
    assert not set(written) & set("<>&\x7f\n")

"""The normal form: shared vectors, properties, public vectors, and the links of real wikis."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.shared import shared

from weboid.core.url import urls
from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import WMF
from weboid.core.url.hosts import InvalidReason, InvalidUrl, host_form
from weboid.core.url.mediawiki import stored_url
from weboid.core.url.urls import MAX_URL, Url, normal, parse, scheme_of, suspicious, text_form

_VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "urls.json").read_text(encoding="utf-8")
)

_CHARACTERS = "%%%%0123456789abcdefABCDEF/.?#&=+;:@[]\\ \t\n\"<>^`{|}~_-x'ä€😀\ud800\x00\u200b"
_SEQUENCES = ("%41", "%2e", "%2F", "%25", "%3f", "%c3%a4", "%E2%80%AE", "/../", "/./")
_TAILS = st.lists(st.sampled_from([*_CHARACTERS, *_SEQUENCES]), max_size=30).map("".join)
_HOSTS = ("3sat.de", "Müller.de", "u:p@3sat.de.:8080", "[::1]", "[2001:DB8::7]:80", "192.0.2.7", "a_b.tumblr.com")
_HOST_PARTS = ("3sat", "Ä", "ß", "%C3%A4", "\u200c", "\uff10", "\u3002", ".", "-", "xn--", "de", "%2e", "ﷺ")
_AUTHORITIES = st.one_of(
    st.sampled_from(_HOSTS),
    st.ip_addresses(v=6).map(lambda address: f"[{address.exploded}]"),
    st.lists(st.sampled_from(_HOST_PARTS), max_size=8).map("".join),
)
_URLS = st.builds(
    "{}{}{}".format, st.sampled_from(["http://", "HTTPS://", "//", " ftp://"]), _AUTHORITIES, st.just("/") | _TAILS
)


def test_a_vector_of_the_shared_file_holds_and_they_cover_every_class_and_reason() -> None:
    for vector in _VECTORS:
        found = classify(vector["url"], WMF)
        assert {
            "url": found.given, "normal": str(found.url) if found.url else None, "class": found.kind,
            "reason": found.reason, "note": found.note,
        } == {"note": False, **vector}  # fmt: skip
    assert {vector["class"] for vector in _VECTORS} == set(UrlClass)
    assert {vector["reason"] for vector in _VECTORS} - {None} == set(InvalidReason) - {InvalidReason.PROTOCOL}
    assert len({vector["url"] for vector in _VECTORS}) == len(_VECTORS)


@given(_URLS | st.from_regex(urls._PLAIN, fullmatch=True))
@example("http://3sat.de/a/../b?c/.d")
@example("http://3SAT.de./?a?b")
@example("ftp://192.0.2.7/")
def test_a_plain_url_has_the_form_that_all_steps_give(url: str) -> None:
    assert _form_by(parse, url) == _form_by(urls._parsed, url)


def _form_by(read: Callable[..., Url], url: str) -> Url | InvalidReason:
    try:
        return read(url)
    except InvalidUrl as invalid:
        return invalid.reason


@given(_URLS | st.text())
@example("http://3sat.de/%%34%31")
@example("http://3sat.de/?%4%31")
@example("http://3sat.de./%%%33%34%35")
def test_a_normal_form_is_its_own_normal_form(url: str) -> None:
    try:
        form = parse(url)
    except InvalidUrl:
        return
    assert parse(str(form)) == form
    assert normal(str(form)) == str(form)
    assert str(form).isascii()
    assert len(str(form)) <= MAX_URL
    assert form.path.startswith("/")
    assert "#" not in form.path


@given(_URLS | st.text())
@example("app://u@p@x/%")
@example("app://u@" + "://x@" * 9)
@example("mailto:me@a.demo?subject=]] {{x}}\n")
@example("app:" + "ä" * MAX_URL)
def test_the_form_of_a_target_out_of_the_web_is_its_own(target: str) -> None:
    form = text_form(target)
    assert text_form(form) == form
    assert form.isascii()
    assert len(form) <= MAX_URL
    assert not set(form) & set(' \n[]{}|<>"\\^`\x7f')


@given(_URLS | st.text() | st.text(alphabet=st.characters(categories=["Cs", "Cc", "Cf", "Nd", "Lu"])))
def test_classify_has_an_answer_for_every_text(url: str) -> None:
    for farm in (WMF, None):
        found = classify(url, farm)
        assert found.given == url
        assert (found.url is None) == (found.kind in (UrlClass.IGNORED, UrlClass.INVALID))
        assert (found.reason is None) == (found.kind is not UrlClass.INVALID)
        assert found.url is not None or not found.note


@given(_TAILS)
def test_fragment_userinfo_and_default_port_never_matter(tail: str) -> None:
    try:
        plain = normal(f"https://3sat.de/{tail.strip()}x")
    except InvalidUrl:
        return
    assert normal(f"https://user:pw@3SAT.de.:443/{tail.strip()}x#{tail}") == plain


def test_megabytes_are_refused_without_work() -> None:
    assert classify("http://3sat.de/" + "ä" * 1_000_000, None).reason is InvalidReason.TOO_LONG
    assert classify("http://" + "[" * 7_000, None).reason is InvalidReason.TOO_LONG
    assert classify("http://" + "a." * 3_900, None).reason is InvalidReason.TOO_LONG
    assert classify("http://3sat.de:" + "9" * 7_000, None).reason is InvalidReason.PORT
    assert classify("http://" + "@" * 7_000, None).reason is InvalidReason.NO_HOST


def test_a_url_has_four_parts_and_what_is_no_resource_is_a_reason_of_its_own() -> None:
    assert parse("HTTPS://u@[2001:DB8::1]:8443?q#f") == Url("https", "2001:db8::1", 8443, "/?q")
    with pytest.raises(InvalidUrl) as refused:
        parse("mailto:a@3sat.de")
    assert refused.value.reason is InvalidReason.PROTOCOL
    assert scheme_of(" MailTo:a@3sat.de") == "mailto"
    assert scheme_of("//3sat.de") == "https"
    assert scheme_of("3sat.de") is None


def test_hidden_characters_make_a_path_suspicious_and_other_languages_do_not() -> None:
    for path in ["/%E2%80%AE", "/x?%0D%0A", "/%C2%AD", "/%E2%80%8B", "/%7F", "/%00", "/%E4%0A"]:
        assert suspicious(path)
    for path in ["/", "/%C3%A4", "/%20", "/100%", "/%E2%80%8C", "/%C2%AD%FF", "/%F0%9F%98%80"]:
        assert not suspicious(path)


# L-4 said once more, so that the code is not checked by itself.
_LABEL = re.compile(r"[a-z0-9]([a-z0-9_-]*[a-z0-9])?")
_HIDDEN = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u2028-\u202f"
    "\u2060-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e00ff]"
)


def _vectors(name: str) -> Any:
    return json.loads(shared(f"urls/{name}").read_text(encoding="utf-8"))


def _forbidden(host: str) -> bool:
    """Whether L-4 refuses what IDNA made of a name."""
    labels = host.removesuffix(".").split(".")
    return (
        len(labels) < 2
        or len(host.removesuffix(".")) > 253
        or any(len(label) > 63 or not _LABEL.fullmatch(label) for label in labels)
        or len(labels[-1]) < 2
        or re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]) is not None
    )


def _form(host: str) -> str | None:
    try:
        return host_form(host)
    except InvalidUrl:
        return None


def test_hosts_become_ascii_as_in_browsers_unless_l4_forbids_them() -> None:
    for name, counts in [
        ("toascii.json", {"same": 30, "ascii": 24, "refused": 18, "forbidden": 15}),
        ("IdnaTestV2.json", {"same": 419, "ascii": 994, "refused": 1115, "forbidden": 143}),
    ]:
        seen: Counter[str] = Counter()
        for case in (case for case in _vectors(name) if isinstance(case, dict)):
            given, expected = case["input"], case["output"]
            if (
                not re.search("[.\u3002\uff0e\uff61]", given) and expected
            ):  # one label is never a host: try it below a domain
                given, expected = f"{given}.de", f"{expected}.de"
            form = _form(given)
            if given.isascii():
                seen["ascii"] += 1
                kept = given.lower().removesuffix(".")
                assert form == (None if _HIDDEN.search(kept) or _forbidden(kept) else kept), case
            elif expected is None:
                seen["refused"] += 1
                assert form is None, case
            elif _HIDDEN.search(given) or _forbidden(expected):
                seen["forbidden"] += 1
                assert form is None, case
            else:
                seen["same"] += 1
                assert form == expected.removesuffix("."), case
        assert seen == counts, name


def test_dot_segments_are_resolved_as_in_the_iipcs_vectors() -> None:
    vectors = {
        given: path for given, path in _vectors("urlcanon/path_dots.json")["special"].items() if "\\" not in given
    }
    assert len(vectors) > 100
    for written, path in vectors.items():
        assert normal(f"http://3sat.de{written}") == f"http://3sat.de{path}"


def test_no_url_leads_to_another_host_than_in_a_browser() -> None:
    seen: Counter[str] = Counter()
    for case in _vectors("urltestdata_2026-07_ada.json"):
        if not isinstance(case, dict) or case["base"] is not None:
            continue
        try:
            url = parse(case["input"])
        except InvalidUrl:
            seen["invalid or ignored"] += 1
            continue
        seen["same"] += 1
        assert url.host == case["hostname"].strip("[]").removesuffix("."), case
        assert str(url.port or "") == case["port"], case
    assert seen == {"same": 79, "invalid or ignored": 476}


_ROW = re.compile(rb"\(\d+,(\d+),'((?:[^'\\]|\\.)*)',(?:'((?:[^'\\]|\\.)*)'|NULL)\)", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)


def _dump_links(relative: str) -> Iterator[tuple[int, str]]:
    for page, index, path in _ROW.findall(gzip.decompress(shared(relative).read_bytes())):
        yield int(page), stored_url(_ESCAPE.sub(rb"\1", index), _ESCAPE.sub(rb"\1", path))


def test_what_a_real_wiki_stores_is_canonical_but_for_host_port_and_fragment() -> None:
    for wiki in ["wiki", "ltgwiki"]:
        found = [classify(url, None) for _, url in _dump_links(f"{wiki}/externallinks.sql.gz")]
        watched = [link for link in found if link.url]
        for link in watched:
            assert link.url is not None, wiki
            given = link.given.partition("#")[0]
            assert given.endswith(link.url.path), link.given
        assert len(watched) / len(found) > 0.99, wiki
        assert all(link.kind is not UrlClass.OWN_FARM for link in found), wiki

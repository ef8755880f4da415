"""Link-format as servers write it: any order, any blanks, commas inside, relative targets."""

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.archive.dialects.link_format import links_of, timemap_of

BASE = "https://archive.demo/web/timemap/link/http://mill.demo/"
AT = "https://archive.demo/web/20110203040506/http://mill.demo/"
DATE = "Thu, 03 Feb 2011 04:05:06 GMT"


def test_a_capture_is_read_in_any_form() -> None:
    for link in [
        f'<{AT}>; rel="memento"; datetime="{DATE}"',
        f'<{AT}>;rel=memento;datetime="{DATE}"',
        f'<{AT}>\n   ; datetime = "{DATE}"\n   ; license="http://rights.demo/a,b"\n   ; REL="first last MEMENTO"',
        f'<{AT}>; rel="prev first memento"; datetime="{DATE}"; title="wheel, mill; \\"old\\""; collection=web',
        f'<//archive.demo/web/20110203040506mp_/http://mill.demo/>; rel="memento"; datetime="{DATE}"',
        f'</web/20110203040506/http://mill.demo/>; rel="memento"; datetime="{DATE}"',
        '<../../20110203040506/http://mill.demo/>; rel="memento"',
        '<https://archive.demo/web/20110203040506/mill.demo/>; rel="memento"; datetime="soon"',
        f'<{AT}>; crossorigin; rel="memento";; datetime="{DATE}";',
    ]:
        text = f'<http://mill.demo/>; rel="original",\n{link},\n<{BASE}>; rel="self"; type="application/link-format"\n'
        timemap = timemap_of(text, base=BASE, url="http://other.demo/")
        assert timemap, link
        (capture,) = timemap.captures
        assert f"{capture.taken:%Y%m%d%H%M%S}" == "20110203040506", link
        assert capture.original == "http://mill.demo/", link
        assert (timemap.original, timemap.bad, timemap.is_cut) == ("http://mill.demo/", 0, False), link


def test_commas_and_semicolons_inside_of_targets_and_values_part_nothing() -> None:
    page = "http://mill.demo/a,b;c?d=1,2"
    address = f"https://archive.demo/web/20110203040506/{page}"
    links = links_of(f'<{address}>; rel="memento"; title="x, <y>; rel=self", <{page}>; rel="original"')
    assert [link.target.endswith(page) for link in links] == [True, True]
    assert links[0].attributes["title"] == "x, <y>; rel=self"


def test_the_moment_of_the_address_counts_first_and_an_address_of_its_own_needs_one() -> None:
    timemap = timemap_of(f'<{AT}>; rel="memento"; datetime="Fri, 01 Jan 1999 00:00:00 GMT"', base=BASE, url="")
    assert timemap
    assert timemap.captures[0].taken.year == 2011
    text = f'<http://ogp.demo>; rel="original", <https://perma.cc/7YXW-UFQ3>; rel="memento"; datetime="{DATE}"'
    timemap = timemap_of(text, base=BASE, url="http://other.demo/")
    assert timemap
    (capture,) = timemap.captures
    assert (capture.original, capture.address) == ("http://ogp.demo", "https://perma.cc/7YXW-UFQ3")
    bare = timemap_of('<https://perma.cc/7YXW-UFQ3>; rel="memento"', base=BASE, url="http://other.demo/")
    assert bare
    assert (bare.captures, bare.bad) == ((), 1)


def test_a_broken_link_loses_nothing_but_itself_and_a_cut_end_is_reported() -> None:
    text = f'<http://a.demo/>; rel="original", <no end; rel="memento", <{AT}>; rel="memento"\n'
    timemap = timemap_of(text, base=BASE, url="")
    assert timemap
    assert len(timemap.captures) == 1
    for end in [1, 20, 30, 36, 60, 95, 105]:
        whole = f'<http://mill.demo/>; rel="original",\n<{AT}>; rel="memento"; datetime="{DATE}"'
        timemap = timemap_of(whole + ",\n" + whole[:end], base=BASE, url="")
        assert timemap, end
        assert len(timemap.captures) == 1, end
        assert timemap.is_cut, end


def test_further_timemaps_are_reported_and_what_is_no_link_format_is_none() -> None:
    timemap = timemap_of(f'<{BASE}>; rel="self", <{BASE}2>; rel="timemap"; from="x"', base=BASE, url="")
    assert timemap
    assert (timemap.captures, timemap.more) == ((), (f"{BASE}2",))
    for text in ["", "<html>", "<html><p>x</p>", "<!DOCTYPE html>", "[]", "none", "<a> b"]:
        assert timemap_of(text, base=BASE, url="") is None


def test_hostile_repetition_takes_no_time() -> None:
    for unit in ["<", '<a>;x="', "<a>;", ",", " ", '<a>;rel="memento",', '\\"', ";=", "<a>; ; ,<"]:
        begun = process_time()
        links_of(unit * (300_000 // len(unit)))
        links_of("<a>; b" + unit * (300_000 // len(unit)))
        links_of(f"<a{unit * (300_000 // len(unit))}b>; rel=memento")
        assert process_time() - begun < 3, unit


@given(st.text(alphabet='<>;,="\\ \n/a:1rel memento', max_size=200))
def test_no_text_raises(text: str) -> None:
    links_of(text)
    timemap_of(f"<http://[/>; rel=memento, <{text}", base=BASE, url="http://mill.demo/")

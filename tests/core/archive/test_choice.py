"""The rule of choice (A-1, B-4): each edge of it, and what would fool it."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import cycle, islice

from hypothesis import given, settings
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.archive.captures import Capture
from weboid.core.archive.choice import Note, Ranked, Tried, candidates, is_kept, next_try, note_of
from weboid.core.archive.rows.fitness import Wish
from weboid.core.document.portrait import Portrait
from weboid.core.url.spellings import archived, file_extension, is_same_page, similar_url
from weboid.core.url.urls import parse

_CASES = toml_next_to(__file__)

PAGE = "http://www.mill.demo/history/wheel.html"
FRONT = "http://www.mill.demo/"
TODAY = date(2026, 11, 22)
EMPTY = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


def moment(stamp: str) -> datetime:
    stamp = stamp.ljust(14, "0")
    return datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def row(
    stamp: str,
    digest: str | None = None,
    *,
    url: str = PAGE,
    status: int | None = 200,
    mime: str | None = "text/html",
    length: int | None = 5_000,
) -> Capture:
    return Capture(moment(stamp), url, status, mime, digest or f"D{stamp}{url}", length)


def wish(wanted: str, url: str = PAGE, *, alive: date | None = None, mime: str | None = None) -> Wish:
    return Wish(parse(url), moment(wanted), TODAY, alive, mime=mime)


def ranked(rows: Iterable[Capture], wanted: str, url: str = PAGE, *, alive: date | None = None) -> Ranked:
    return candidates(rows, wish(wanted, url, alive=alive))


def stamps(found: Ranked) -> list[str]:
    return [f"{one.taken:%Y%m%d}" for one in found.best]


def whys(found: Ranked) -> set[str]:
    return {one.why for one in found.passed}


def listed(text: str) -> list[Capture]:
    """Rows from words: the stamp, after a slash the code, after an equals sign the digest."""
    words = [word.partition("=") for word in text.split()]
    return [
        row(stamp, digest or None, status=int(code) if code else 200)
        for (stamp, _, code), digest in ((word.partition("/"), digest) for word, _, digest in words)
    ]


def test_the_order_is_by_the_citation_and_by_what_is_known_of_the_death_of_the_page() -> None:
    cases: dict[str, tuple[str, str, str]] = _CASES["order"]
    for name, (rows, wanted, best) in cases.items():
        assert stamps(ranked(listed(rows), wanted)) == best.split(), name
    alive = date(2015, 6, 10)
    cut_off = ranked(listed("20120101 20130101/404 20140101 20150611 20150612 20180101"), "20200101", alive=alive)
    assert stamps(cut_off) == ["20150611", "20140101", "20120101"]
    assert whys(cut_off) == {"after-death", "gone"}
    assert ranked(listed("20140101 20150101/404 20180101"), "20200101").died == moment("20150101")
    assert ranked(listed("20120101=A 20130101/404 20140101=A"), "20160101").died is None


def test_a_page_that_only_redirected_or_was_gone_has_no_best_copy_but_redirects_to_follow() -> None:
    found = ranked([row("20090401", EMPTY, status=301), row("20100401", EMPTY, status=302)], "20100501")
    assert found.best == ()
    assert [f"{one.taken:%Y}" for one in found.redirects] == ["2010", "2009"]
    found = ranked([row("20120101", status=404), row("20130101", status=410)], "20100101")
    assert (found.best, found.redirects, found.why) == ((), (), "gone")


def test_other_pages_are_never_chosen() -> None:
    others = (
        "http://www.mill.demo/history/Wheel.html", "http://www.mill.demo/history/wheel.html?print=1",
        "http://www.mill.demo:8080/history/wheel.html", "http://somebody@www.mill.demo/history/wheel.html",
        "http://other.mill.demo/history/wheel.html", "mailto:mill@mill.demo", "data:text/html,hello", "", "http://[/",
    )  # fmt: skip
    found = ranked([row("20100101", url=url) for url in others], "20100101")
    assert found.best == ()
    assert whys(found) == {"other-page"}


def test_other_spellings_of_the_page_are_taken_but_an_address_or_a_port_exactly_and_order_and_case_count() -> None:
    for asked, spelling, is_taken in _CASES["spellings"]:
        found = ranked([row("20100101", url=spelling), row("20000101", url=asked)], "20100101", asked)
        assert stamps(found)[0] == ("20100101" if is_taken else "20000101"), asked


def test_a_revisit_of_a_listed_content_is_as_good_as_that() -> None:
    for digest in ("SAME", "sha1:SAME"):
        rows = [row("20090101", digest), row("20100401", "SAME", status=None, mime="warc/revisit", length=400)]
        found = ranked(rows, "20100501")
        assert stamps(found) == ["20100401", "20090101"], digest
        assert found.best[0] in rows


def test_a_revisit_of_a_redirect_or_an_error_is_that_again_and_of_what_is_not_listed_stands_in_for_none() -> None:
    bare, listed_again = (row("20100401", each, status=None, mime="warc/revisit") for each in ("X", "D"))
    others = [row("20090201", "D", url=f"http://mill.demo/{n}") for n in (1, 2)]
    for rows, best, why in [
        ([bare], ["20100401"], set()),
        ([bare, row("20080101", status=206)], ["20080101"], {"revisit"}),
        ([bare, row("20050101", "Y", length=400)], ["20050101"], {"revisit"}),
        ([bare, row("20050101", "Y", status=302)], [], {"revisit"}),
        ([bare, row("20090101", status=404)], ["20100401"], {"gone"}),
        ([listed_again, *others], [], {"shared-content", "other-page"}),
    ]:
        assert (stamps(ranked(rows, "20100501")), whys(ranked(rows, "20100501"))) == (best, why)
    assert whys(ranked([bare], "20100501", alive=date(2010, 1, 1))) == {"after-death"}
    rows = [row("20090101", "MOVED", status=301), row("20090201", "MISSING", status=404)]
    again = [row(f"2010040{n}", one.digest, status=None, mime="warc/revisit") for n, one in enumerate(rows, 1)]
    found = ranked([*rows, *again], "20100501")
    assert found.best == ()
    assert len(found.redirects) == 2
    assert [one.why for one in found.passed] == ["gone", "gone"]
    # An empty body may be of anything.
    rows = [row("20090101", EMPTY, status=404), row("20100401", EMPTY, status=None, mime="warc/revisit")]
    assert whys(ranked(rows, "20100501")) == {"gone", "revisit"}


def test_short_html_and_unusual_codes_are_taken_only_if_there_is_nothing_else() -> None:
    short, partial, full = row("20100430", length=400), row("20100429", status=206), row("20050101")
    assert stamps(ranked([short, partial, full], "20100501")) == ["20050101", "20100430", "20100429"]
    assert stamps(ranked([short], "20100501")) == ["20100430"]


def test_an_unknown_length_is_no_short_one_and_a_body_of_nothing_is_no_copy() -> None:
    assert stamps(ranked([row("20100430", length=None), row("20050101")], "20100501"))[0] == "20100430"
    found = ranked([row("20100430", EMPTY), row("20100429", length=0)], "20100501")
    assert (found.best, found.why) == ((), "empty")


def test_services_that_tell_no_codes_are_taken_at_their_word_and_codes_but_success_are_no_copies() -> None:
    rows = [Capture(moment("20100401"), PAGE), Capture(moment("20090401"), PAGE)]
    assert stamps(ranked(rows, "20100501")) == ["20100401", "20090401"]
    assert stamps(ranked([*rows, row("20080401")], "20100501"))[0] == "20080401"
    rows = [row("20100430", status=code) for code in (0, 199, 204, 300, 304, 401, 403, 429, 500, 503, 999)]
    assert whys(ranked(rows, "20100501")) == {"status"}


def test_a_pdf_is_not_its_landing_page() -> None:
    pdf = "http://www.mill.demo/report.pdf"
    rows = [
        row("20100430", url=pdf),
        row("20100301", url=pdf, mime="application/octet-stream"),
        row("20090301", url=pdf, mime="application/pdf", length=90),
        row("20080301", url=pdf, mime=None),
    ]
    found = ranked(rows, "20100501", pdf)
    assert stamps(found) == ["20100301", "20090301", "20080301"]
    assert whys(found) == {"wrong-type"}
    assert ranked(rows[:1], "20100501", pdf).why == "wrong-type"


def test_a_page_about_a_file_is_a_page_and_what_was_a_pdf_when_it_lived_is_one() -> None:
    lived = "http://www.mill.demo/get?id=7"
    assert candidates([row("20100430", url=lived)], wish("20100501", lived, mime="pdf")).best == ()
    url = "https://commons.wikimedia.demo/wiki/File:Map.png"
    assert len(ranked([row("20100430", url=url)], "20100501", url).best) == 1
    known = Wish(parse("http://mill.demo/map.png"), moment("20100501"), TODAY, portrait=Portrait((1, 2), 0, 3))
    assert len(candidates([row("20100430", url="http://mill.demo/map.png")], known).best) == 1
    assert file_extension(parse("http://mill.demo/a.PDF?x=1")) == "pdf"
    assert file_extension(parse("http://mill.demo/a.html?file=x.pdf")) is None
    assert len(ranked([row("20100430", mime="application/pdf")], "20100501").best) == 1


def test_a_copy_of_today_or_of_the_future_is_refused() -> None:
    found = ranked([row("20261122"), row("20261123"), row("20991231"), row("19700101")], "20100501")
    assert found.best == ()
    assert whys(found) == {"today", "future", "bad-stamp"}


def test_a_content_that_several_pages_have_is_that_of_none() -> None:
    others = [row("20100430", "SALE", url=f"http://www.mill.demo/{name}") for name in ("a", "b")]
    found = ranked([row("20100430", "SALE"), row("20090101"), *others], "20100501")
    assert stamps(found) == ["20090101"]
    assert "shared-content" in whys(found)


def test_spellings_of_the_page_itself_share_its_content_rightly() -> None:
    spellings = ("http://u@mill.demo/history/wheel.html", f"{PAGE}?x", f"{PAGE}?utm_source=x", f"{PAGE}?PHPSESSID=1")
    others = [row("20100430", "SAME", url=url) for url in spellings]
    assert stamps(ranked([row("20100430", "SAME"), *others], "20100501")) == ["20100430"]


def front(count: int, contents: int, url: str = FRONT, year: int = 2010) -> list[Capture]:
    days = [datetime(year, 1, 2, 3, tzinfo=UTC) + timedelta(days=360 * n / count) for n in range(count)]
    return [Capture(day, url, 200, "text/html", f"D{n % contents}", 5_000) for n, day in enumerate(days)]


def test_a_page_that_always_changes_is_blocked_until_that_is_lifted() -> None:
    for url in [
        "http://www.mill.demo/", "http://www.mill.demo/index.php", "http://www.mill.demo/de/",
        "http://www.mill.demo/scores?league=1&date=today", "http://www.mill.demo/?lang=de",
    ]:  # fmt: skip
        found = ranked(front(20, 13, url), "20100601", url)
        assert (found.changing, found.why) == (True, "changing"), url
        assert found.best, url


def test_other_pages_are_not_called_changing() -> None:
    for rows, url in [
        *((rows, FRONT) for rows in (front(19, 19), front(20, 12), [*front(10, 10), *front(10, 10)])),  # listed twice
        ([*front(1, 1), *(one._replace(mime="warc/revisit", digest=f"R{one}") for one in front(20, 20))], FRONT),
        (front(20, 20, PAGE), PAGE),
        (front(20, 20, "http://www.mill.demo/?p=12"), "http://www.mill.demo/?p=12"),
        (front(20, 20, "http://www.mill.demo/view.php?lang=de&id=3"), "http://www.mill.demo/view.php?lang=de&id=3"),
    ]:
        assert not ranked(rows, "20100601", url).changing


def test_a_page_is_changing_whatever_day_is_asked_for() -> None:
    stood = (row(day, "STOOD", url=FRONT) for day in ("20100531", "20100602"))
    rows = [row("20050101", "OLD", url=FRONT), *front(30, 30), *stood]
    for day in ("20100601", *(f"{year}0201" for year in range(2004, 2016))):
        assert ranked(rows, day, FRONT).changing


def test_copies_only_years_after_the_citation_are_chosen_and_reported() -> None:
    found = ranked([row("20140501"), row("20150501")], "20100501")
    assert stamps(found)[0] == "20140501"
    assert note_of(found.best[0], wish("20100501")) is Note.AFTER
    assert note_of(row("20010501"), wish("20100501")) is Note.BEFORE
    assert note_of(row("20100101"), wish("20100501")) is Note.NONE
    assert note_of(row("20100101", status=301), wish("20100501")) is Note.REDIRECTS


def test_a_session_is_left_out_for_a_similar_url() -> None:
    for url, similar in _CASES["sessions"]:
        found = similar_url(parse(url))
        assert ("" if found is None else str(found)) == similar, url
        if found is not None:
            assert note_of(row("20100101", url=str(found)), wish("20100101", url)) is Note.SIMILAR


def test_a_choice_is_made_once_unless_the_citation_moves_by_more_than_a_year() -> None:
    assert is_kept(date(2010, 1, 1), date(2011, 1, 1))
    assert not is_kept(date(2010, 1, 1), date(2011, 1, 2))


def played(found: Ranked, *words: str) -> list[str]:
    """The copies that are tried, one after the other, each refused for a word."""
    tried: list[Tried] = []
    for why in words:
        if (one := next_try(found, tried)) is None:
            break
        tried.append(Tried(one, why))
    return [f"{one.capture.taken:%Y}" for one in tried]


YEARS = [row(f"{year}0301", length=1_000 + 700 * (year - 2000)) for year in range(2000, 2010)]


def test_three_copies_are_tried_at_most_and_after_a_wall_the_oldest() -> None:
    found = ranked(YEARS, "20100101")
    assert played(found, *["status"] * 9) == ["2009", "2008", "2007"]
    assert played(found, *["login"] * 3) == ["2009", "2000", "2008"]
    assert played(found, *["consent"] * 2) == ["2009", "2000"]


def test_after_a_stranger_only_earlier_copies_are_tried_and_without_lengths_half_a_year_is_passed_over() -> None:
    sale = [row(f"{year}0301", f"SALE{year}", length=900 + year % 7) for year in range(2005, 2010)]
    old = [row(f"{year}0301", length=7_000) for year in range(2000, 2005)]
    assert played(ranked([*sale, *old], "20261101"), *["parked"] * 3) == ["2009", "2004", "2000"]
    rows = [row(stamp, length=None) for stamp in ("20091201", "20091101", "20091001", "20090301", "20050101")]
    assert played(ranked(rows, "20100101"), "parked", "status")[1] == "2009"
    tried = [Tried(rows[0], "parked")]
    assert next_try(ranked(rows, "20100101"), tried) == rows[3]
    rows = [row("20050101"), row("20120101")]
    assert played(ranked(rows, "20060101"), "parked", "x") == ["2005", "2012"]


def test_a_content_that_was_refused_or_a_second_of_it_is_not_played_again_but_one_that_did_not_play_is() -> None:
    rows = [row("20100101", "A"), row("20090101", "A"), row("20080101", "B")]
    assert played(ranked(rows, "20100601"), "soft-404", "x") == ["2010", "2008"]
    assert played(ranked(rows, "20100601"), "in-trade", "x", "x") == ["2010", "2008"]
    assert played(ranked(rows[:2], "20100601"), "absent", "x") == ["2010", "2009"]
    rows = [row("20100101030303", "A"), row("20100101030303", "B"), row("20090101", "C")]
    assert played(ranked(rows, "20100601"), "status", "status", "status") == ["2010", "2009"]


def test_a_listing_of_many_thousand_rows_is_ranked_in_time_linear_in_it() -> None:
    start = datetime(2000, 1, 1, tzinfo=UTC)
    kinds = ((200, "text/html"), (404, "text/html"), (None, "warc/revisit"))
    rows = [
        Capture(start + timedelta(hours=n), PAGE, status, mime, f"D{n // 3 % 7}" if n < 15_000 else f"E{n}", 5_000)
        for n, (status, mime) in enumerate(islice(cycle(kinds), 20_000))
    ]
    assert candidates(rows, wish("20050101")).best


# What holds for any rows.

ANY_MOMENT = st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
NEAR_MOMENT = st.datetimes(datetime(2008, 1, 1), datetime(2012, 1, 1), timezones=st.just(UTC))
SPELLINGS = (PAGE, "https://mill.demo/history/wheel.html", "http://www.mill.demo:80/history/wheel.html")
OTHERS = (f"{PAGE}?x=1", "http://www.mill.demo/", "http://u@mill.demo/history/wheel.html", "mailto:x@mill.demo", "%%")
ROWS = st.builds(
    Capture,
    st.one_of(NEAR_MOMENT, ANY_MOMENT),
    st.sampled_from((*SPELLINGS, *SPELLINGS, *OTHERS)),
    st.sampled_from((200, 200, 200, 200, 203, 301, 302, 404, 410, 500, None)),
    st.sampled_from(("text/html", "text/html", "application/pdf", "warc/revisit", "unk", None)),
    st.sampled_from(("A", "B", "C", "D", "E", EMPTY, None, "-", "sha1:A")),
    st.one_of(st.none(), st.integers(-1, 9_000)),
)
WISHES = st.builds(
    lambda wanted, alive: Wish(parse(PAGE), wanted, TODAY, alive),
    NEAR_MOMENT,
    st.one_of(st.none(), st.dates(date(2007, 1, 1), date(2013, 1, 1))),
)


@given(st.lists(ROWS, max_size=16), WISHES)
def test_the_choice_is_a_row_of_the_same_page_from_before_its_death(rows: list[Capture], wanted: Wish) -> None:
    found = candidates(rows, wanted)
    for one in (*found.best, *found.redirects):
        assert one in rows
        form = archived(one.original)
        assert form is not None
        assert is_same_page(form, wanted.url)
        assert one.taken.date() < TODAY
        assert wanted.last_alive is None or one.taken.date() <= wanted.last_alive + timedelta(days=1)
        assert found.died is None or one.taken < found.died
    assert len(set(found.best)) == len(found.best)


@given(st.lists(ROWS, max_size=16), WISHES, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(rows: list[Capture], wanted: Wish, order: object) -> None:
    shuffled = list(rows)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # Hypothesis' own subclass of Random
    assert candidates(shuffled, wanted) == candidates(rows, wanted)
    assert candidates([*rows, *shuffled], wanted) == candidates(rows, wanted)


WORSE = st.one_of(
    # Another page, a refusal, an empty body, a redirect.
    st.builds(row, st.just("20100601"), url=st.sampled_from(OTHERS)),
    st.builds(row, st.just("20100601"), status=st.sampled_from((301, 403, 500))),
    st.builds(row, st.just("20100601"), st.just(EMPTY)),
    # Farther away on the side of the best, with a content of its own.
    st.builds(row, st.sampled_from(("20000101", "20010505")), st.just("FAR")),
    # After the page's death, or tomorrow.
    st.builds(row, st.just("20271231")),
)


@given(st.lists(ROWS.map(lambda one: one._replace(length=5_000)), max_size=12), WORSE, NEAR_MOMENT)
def test_a_worse_row_never_changes_the_choice(rows: list[Capture], worse: Capture, wanted: datetime) -> None:
    asked = Wish(parse(PAGE), wanted, TODAY, date(2013, 1, 1))
    best = next(iter(candidates(rows, asked).best), None)
    is_sure = best and best.status == 200 and best.mime != "warc/revisit"
    if best and is_sure and moment("20070101") < best.taken <= wanted:
        assert candidates([*rows, worse], asked).best[0] == best


@given(
    st.lists(
        st.builds(
            Capture, st.one_of(st.datetimes(), st.datetimes(timezones=st.timezones())), st.text(),
            st.one_of(st.none(), st.integers()), st.one_of(st.none(), st.text()), st.one_of(st.none(), st.text()),
            st.one_of(st.none(), st.integers()),
        ),
        max_size=8,
    ),
    st.one_of(st.none(), st.dates()),
)  # fmt: skip
@settings(max_examples=60)
def test_hostile_rows_never_raise(rows: list[Capture], alive: date | None) -> None:
    for url in (PAGE, "http://[::1]:8/"):
        asked = Wish(parse(url), datetime.max.replace(tzinfo=UTC), TODAY, alive)
        found = candidates([*rows, *(one._replace(original=url) for one in rows)], asked)
        tried: list[Tried] = []
        while (one := next_try(found, tried)) is not None:
            note_of(one, asked)
            tried.append(Tried(one, "parked"))

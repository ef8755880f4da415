"""The rule of choice on real histories: which row is chosen for a citation of a day, and that it was checked by eye.

The rows of zew.de below are facts of the recorded history (its captures of 1998 to 2000 and those around one day); the
whole histories are next to the checkout.
"""

import json
from datetime import UTC, date, datetime

from support.shared import shared

from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.captures import Capture
from weboid.core.archive.choice import Note, Ranked, candidates, note_of
from weboid.core.archive.rows.fitness import Wish
from weboid.core.url.urls import parse

TODAY = date(2026, 11, 22)
FEW = """
19980212072308 200 YEV5CGJMFIQQSD5JUDOQKBWKHU7JB6CG 959
19980702113916 200 YRY6G6UKFUORZA2RPSKZ4EAKUZMPVZHA 1015
19981205110701 200 OHMW6PKWRW3VUH7PVKDBDBEZ4JECYNOJ 923
19981212034311 200 OHMW6PKWRW3VUH7PVKDBDBEZ4JECYNOJ 923
19990128150812 200 OHMW6PKWRW3VUH7PVKDBDBEZ4JECYNOJ 927
19990208021615 200 OHMW6PKWRW3VUH7PVKDBDBEZ4JECYNOJ 928
19990424062257 200 CJEX5OLHH2K773IL4YPMZHJJLWXTJQPU 958
19990427105311 200 CJEX5OLHH2K773IL4YPMZHJJLWXTJQPU 958
19991008115746 200 CJEX5OLHH2K773IL4YPMZHJJLWXTJQPU 960
20000706202325 200 IRBSJH2EQGCP7F5VTOWA5YSJ2AZPRURI 976
20000818014815 200 CJEX5OLHH2K773IL4YPMZHJJLWXTJQPU 978
20050817212257 400 2CGGPLQITRYWT4JHGMW2MZVEX4OLMJD4 412
20060425213622 200 6YLLRCNC52BGVWG6RE3R6KMHG2NRLFPY 5072
20060615064943 302 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ 262
20060705060631 302 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ 263
20060709224009 200 BDSTP6APOEKS75IMFK7YO3PGWJTMYQSQ 4995
"""


def of_line(line: str) -> Capture | None:
    """A row of Wayback's plain form; None for one without a moment."""
    _, stamp, url, mime, status, digest, length = line.split()
    try:
        taken = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    code = int(status) if status.isdigit() else None
    return Capture(taken, url, code, mime, digest, int(length) if length.isdigit() else None)


def recorded(name: str) -> list[Capture]:
    exchanges = json.loads(shared(f"archives/{name}.json").read_text(encoding="utf-8"))["exchanges"]
    lines = (line for one in exchanges for line in one["response"]["body"].splitlines() if len(line.split()) == 7)
    return [row for row in map(of_line, lines) if row is not None]


def few() -> list[Capture]:
    lines = [line.split() for line in FEW.split("\n") if line]
    rows = [of_line(f"- {stamp} http://www.zew.de:80/ text/html {rest}") for stamp, rest in map(_joined, lines)]
    return [row for row in rows if row is not None]


def _joined(fields: list[str]) -> tuple[str, str]:
    return fields[0], " ".join(fields[1:])


def chosen(rows: list[Capture], url: str, wanted: str, alive: date | None = None) -> tuple[Ranked, int | None]:
    moment = datetime.fromisoformat(wanted).replace(tzinfo=UTC)
    found = candidates(rows, Wish(parse(url), moment, TODAY, alive))
    return found, stamp_of(found.best[0].taken) if found.best and not found.changing else None


def test_the_choice_on_an_extract_of_a_real_history() -> None:
    for wanted, stamp in [
        ("1998-05-01", 19980212072308),  # the nearest before
        ("1999-06-15", 19990427105311),  # the nearest of the content that stood there
        ("2000-07-10", 20000706202325),
        ("2000-08-10", 20000706202325),  # not the later one, though it is nearer
        ("2006-06-20", 20060425213622),  # past the redirects
        ("2006-07-10", 20060709224009),
        ("1990-01-01", 19980212072308),  # only later ones
        ("2005-08-20", 20000818014815),  # neither the 400 nor a copy of eight months later
    ]:
        found, best = chosen(few(), "http://www.zew.de/", wanted)
        assert best == stamp, wanted
        assert not found.changing, wanted
        assert len(found.redirects) == 2, wanted


def test_thirteen_years_of_a_front_page_are_always_changing_whatever_day_is_asked_for() -> None:
    rows = recorded("wayback-cdx-history-1997-2010")
    for year in range(1996, 2016):
        for day in ("06-01", "09-12"):
            found, best = chosen(rows, "http://www.zew.de/", f"{year}-{day}")
            assert (found.changing, best) == (True, None), year


def test_the_choice_on_a_page_with_few_copies() -> None:
    for wanted, alive, stamp, note in [
        ("1997-03-01", None, 19961231235847, Note.NONE),
        ("1999-01-01", None, 19981212031235, Note.NONE),
        ("2000-06-01", None, 19981212031235, Note.BEFORE),
        ("2004-09-01", None, 20040915101349, Note.NONE),  # a fortnight after beats six years before
        ("2004-09-01", date(2001, 1, 1), 19981212031235, Note.BEFORE),
    ]:
        found, best = chosen(recorded("wayback-cdx-timezone"), "http://www.nasa.gov/", wanted, alive)
        assert best == stamp, wanted
        assert note_of(found.best[0], found.wish) is note, wanted

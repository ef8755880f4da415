"""New owners, and all else that happens to living pages: series of looks at whole hosts (C-11)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from msgspec import structs
from support.pages import page, prose
from support.records import WHOLE

from weboid.core.document.document import Document, document_of
from weboid.core.document.portrait import BLANK, Newcomer, Portrait
from weboid.core.observe.observation import Observation
from weboid.core.observe.recognition import adds_to, portrait_in
from weboid.core.record.history import Entry
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED, HostRecord, UrlRecord
from weboid.core.record.specials import Sight, Special, believed
from weboid.core.record.status import Status
from weboid.core.record.streak import Streak
from weboid.core.verdict.judge import judge_host
from weboid.core.verdict.newcomers import (
    ACCEPTED_DAYS,
    Jump,
    Newcomers,
    Recognition,
    has_returned,
    is_away,
    is_before_change,
    is_new_owner,
    recognised,
    remembered,
)

CHANGE, END = 100, 200
EN = "the of and to in is for that with on as are this by from be it was or at you we not have"
ID = "dan yang di untuk dengan ini dari adalah pada bisa dapat anda tidak akan atau ke dalam juga itu"
DE = "der die und das von mit den ist für auf im eine des sich auch dem nicht wir werden sie"

Page = tuple[str, str]
"""A title and a text."""
Life = Callable[[int, int], Page]
"""What a URL shows, by its number and the day."""


@cache
def text(seed: int, words: int = 300, language: str = EN) -> str:
    """A text of its own, in which every third word is one of the commonest of a language."""
    common = language.split()
    return " ".join(
        word if place % 3 else common[place // 3 % len(common)]
        for place, word in enumerate(prose(words, start=1_000 * seed).split())
    )


def article(number: int) -> Page:
    return f"The {('mill', 'bridge', 'tower', 'market')[number % 4]} of Harbourtown", text(number)


@cache
def document(title: str, shown: str, url: str) -> Document:
    """The document, read once, as most hosts show it at every look."""
    return document_of(page(title, body=f"<p>{shown}</p>"), "text/html", url)


def portrait(shown: Page, url: str, earlier: Portrait | None) -> Portrait:
    return portrait_in(document(*shown, url), url, earlier)


def found_on(life: Life, urls: int, *, domain: str = "oldsite.demo", end: int = END) -> int | None:
    """The day on which a new owner of a host is found: a visit each week, a look each fortnight or if suspected."""
    known: dict[int, Portrait | None] = dict.fromkeys(range(urls))
    for day in range(4, end, 7):
        newcomers = Newcomers(list(known.items()))
        for number in sorted(known, key=lambda number: (known[number] or BLANK).newcomer is not None):
            if not (newcomers.are_suspected or (day // 7 + number) % 2):
                continue
            earlier = known[number]
            now = portrait(life(number, day), f"http://{domain}/{number}", earlier)
            if adds_to(earlier, now, portrays=earlier in (None, BLANK) or newcomers.are_suspected):
                recognition, memory = newcomers.take(number, earlier, now, day)
                known[number] = memory or earlier
                if recognition is Recognition.OTHER and newcomers.has_new_owner:
                    return day
    return None


def after(change: Life, before: Life = lambda number, day: article(number)) -> Life:
    return lambda number, day: before(number, day) if day < CHANGE else change(number, day)


CASINO = ("Situs slot gacor hari ini", text(90, language=ID))
STRANGERS: Mapping[str, tuple[Life, int]] = {
    "gambling in another language on one URL": (lambda number, day: CASINO, 1),
    "gambling in another language": (lambda number, day: CASINO, 4),
    "gambling in the same language": (lambda number, day: ("Best casino bonus codes", text(50 + number)), 1),
    "short gambling": (lambda number, day: ("Best casino bonus codes", text(50, 60)), 2),
    "a magazine in another language": (lambda number, day: (f"Ratgeber {number}", text(60 + number, language=DE)), 1),
    "a shop in the same language": (lambda number, day: (f"Discount shoes, page {number}", text(70 + number)), 3),
    # In the language of before, and two are enough; one of three may be like its document by chance.
    **{f"one page of a shop on {n} URLs": (lambda number, day: ("Discount shoes", text(70)), n) for n in (2, 3, 4, 5)},
    "gambling that changes each week": (lambda number, day: (f"Casino news {day}", text(day + number)), 1),
    "a foreign magazine that changes each week": (
        lambda number, day: (f"Neues aus {prose(1, day)}", text(day + number, language=DE)),
        2,
    ),
}


def test_a_new_owner_is_reported_within_three_weeks() -> None:
    for name, (life, urls) in STRANGERS.items():
        day = found_on(after(life), urls)
        assert day is not None, name
        assert CHANGE + 5 <= day <= CHANGE + 21, name


def redesigned(number: int, day: int) -> Page:
    return f"Harbourtown heritage: {article(number)[0].split()[1]}", f"{article(number)[1]} {text(80, 80)}"


def rewritten(number: int, day: int) -> Page:
    return f"Visit Harbourtown | page {number}", text(85 + number)


def renamed(number: int, day: int) -> Page:
    return f"Stories worth reading {number}", article(number)[1]


def partly(number: int, day: int) -> Page:
    """All but one of the pages have become others."""
    return article(number) if number == 3 else ("Unrelated things", text(70 + number))


def repairs(number: int, day: int) -> Page:
    """A long notice in another language for six days."""
    return ("Wartungsarbeiten", text(88, language=DE)) if day < CHANGE + 5 else article(number)


def wall(number: int, day: int) -> Page:
    """An unknown wall that stays: few words, the same everywhere."""
    return "Checking who you are", text(89, 120)


def foreign_wall(number: int, day: int) -> Page:
    return "Prüfung", text(89, 120, language=DE)


def translated(number: int, day: int) -> Page:
    """Sent in another language, by address; the name of the site is in the text."""
    return "Startseite", f"{text(91 + number, language=DE)} Oldsite"


def seasonal(number: int, day: int) -> Page:
    return ("Merry Christmas", text(92)) if day < CHANGE + 28 and number == 0 else article(number)


def alternating(number: int, day: int) -> Page:
    return article(number) if (day + number) % 3 else ("Something quite different", text(93 + number))


LIVING: Mapping[str, Life] = {
    "as it was": lambda number, day: article(number), "redesigned": redesigned,
    "rewritten under the same name": rewritten, "other titles": renamed, "one page stays": partly, "repairs": repairs,
    "a wall": wall, "a wall in another language": foreign_wall, "another language": translated,
    "a season's page": seasonal, "two designs": alternating,
    "no text": lambda number, day: ("An application", text(94, 20)), "no title": lambda number, day: ("", text(95)),
}  # fmt: skip


def test_a_document_that_is_neither_like_nor_unlike_the_known_one_speaks_for_nobody() -> None:
    """By chance a text of a stranger is less than far from what it replaces; it must not save the host."""
    earlier = portrait(article(0), "http://a.demo/", None)
    strange = portrait(("Discount shoes", text(70)), "http://a.demo/", earlier)
    bits = [bit for bit in range(64) if (earlier.fingerprint ^ strange.fingerprint) >> bit & 1]
    for kept, expected in ((22, Recognition.UNKNOWN), (12, Recognition.SAME)):
        near = replace(strange, fingerprint=earlier.fingerprint ^ sum(1 << bit for bit in bits[:kept]))
        assert recognised(earlier, near) is expected
    assert recognised(earlier, strange) is Recognition.OTHER
    same_title = replace(strange, title=earlier.title)
    assert recognised(earlier, same_title) is Recognition.SAME


def test_a_living_host_has_no_new_owner() -> None:
    for urls in [1, 2, 5]:
        for name, life in LIVING.items():
            if not (name == "one page stays" and urls < 4):
                assert found_on(after(life), urls) is None, (name, urls)


def test_front_pages_with_the_news_of_the_day_are_known_for_what_they_are() -> None:
    """Title and text are others each day, without the name of the site; one day it is about a casino."""

    def news(number: int, day: int) -> Page:
        title = "Casino burns down" if day // 7 == 18 else prose(5, 100 * day + number)
        return title, text(day + 300 * number)

    for urls in [1, 4]:
        assert found_on(news, urls, end=400) is None


def test_documents_in_the_same_language_or_that_change_one_by_one_make_no_new_owner() -> None:
    """A new design by the owner may be all that has happened."""
    for urls in [1, 2]:
        assert found_on(after(lambda number, day: ("Discount shoes", text(70 + number))), urls) is None

    def slowly(number: int, day: int) -> Page:
        return article(number) if day < CHANGE + 30 * number else ("Unrelated things", text(70 + number))

    assert found_on(slowly, 3, end=300) is None


def test_what_stays_without_making_a_new_owner_is_accepted_at_last() -> None:
    earlier = portrait(article(0), "http://a.demo/", None)
    now = portrait(("Discount shoes", text(70)), "http://a.demo/", earlier)
    known = remembered(earlier, now, CHANGE)
    assert known is not None
    assert known.newcomer == Newcomer(now, CHANGE)
    assert remembered(known, now, CHANGE + ACCEPTED_DAYS - 1) is None
    assert remembered(known, now, CHANGE + ACCEPTED_DAYS) == now
    assert remembered(known, earlier, CHANGE + 7) == earlier
    assert remembered(known, BLANK, CHANGE + 7) is None


def test_few_telling_documents_make_no_new_owner_and_those_of_their_own_must_change_together() -> None:
    plain, in_trade = Jump(100, False, False, False), Jump(100, True, False, False)
    assert is_new_owner([in_trade, plain], 1)
    assert not is_new_owner([in_trade, plain, plain], 3)
    assert not is_new_owner([in_trade], 0)
    assert not is_new_owner([], 0)
    own = Jump(100, False, False, True)
    assert is_new_owner([own] * 3, 2)
    assert not is_new_owner([own] * 3, 1)
    assert not is_new_owner([own] * 2, 2)
    assert not is_new_owner([own, own, Jump(100, False, False, False)], 3)
    assert not is_new_owner([own, own, Jump(130, False, False, True)], 3)


# Hosts that come back, so that a stranger may answer for them.

FINE = Observation(Status.FINE, Reason.OK)
MISSING = Observation(Status.NOT_FOUND, Reason.NOT_FOUND)
SILENT = Observation(Status.NETWORK, Reason.TIMEOUT)
NO_NAME = Observation(Status.DNS_GONE, Reason.DNS_GONE)

NAMELESS = judge_host(UNKNOWN_HOST, NO_NAME, 100)
QUIET = judge_host(UNKNOWN_HOST, SILENT, 100)
DEAD = HostRecord(Streak(9, 100, 140, WHOLE), Reason.TIMEOUT)


def test_a_host_is_away_when_it_is_dead_or_nameless_and_back_when_it_answers_or_resolves() -> None:
    assert [is_away(host) for host in (NAMELESS, DEAD, QUIET, UNKNOWN_HOST)] == [True, True, False, False]
    for host, seen, is_so in [
        (NAMELESS, FINE, True), (NAMELESS, MISSING, True),
        (NAMELESS, structs.replace(FINE, reason=Reason.PARKED), True),
        (NAMELESS, SILENT, True), (NAMELESS, NO_NAME, False),
        (NAMELESS, Observation(Status.DNS_ERROR, Reason.DNS_ERROR), False),
        (NAMELESS, structs.replace(SILENT, inferred=True), False),
        (NAMELESS, structs.replace(SILENT, held=True), False),
        (DEAD, FINE, True), (DEAD, SILENT, False), (DEAD, NO_NAME, False), (QUIET, FINE, False),
        (UNKNOWN_HOST, FINE, False),
    ]:  # fmt: skip
        assert has_returned(host, seen) is is_so


def test_a_url_not_checked_since_is_unsure_and_a_return_is_nothing_to_rely_on() -> None:
    sights = {Special.RETURNED: Sight(50, 100)}
    checked = {day: UrlRecord(history=(Entry(Status.FINE, 10, day),), reason=Reason.OK) for day in (99, 100)}
    assert is_before_change(checked[99], sights)
    assert not is_before_change(checked[100], sights)
    assert not is_before_change(UNTRIED, sights)
    assert not is_before_change(checked[99], {})
    assert believed({Special.RETURNED: Sight(100, 100)}, 100, 3) == frozenset()

"""Reports of reverts to the service: each once, whatever happens between; what is released may be done again."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from support.little_service import TOKEN, LittleService, Misdeed

from weboid.bot.answers import key_of
from weboid.bot.reverts import EditedLink
from weboid_scripts.client import ServiceRefused, WeboidClient
from weboid_scripts.common.options import OptionRefused
from weboid_scripts.journal.journal import Edit, Journal, NotedRevert
from weboid_scripts.reverts.revert_listing import table_of
from weboid_scripts.reverts.revert_options import read_revert_options
from weboid_scripts.reverts.revert_reports import Reported, report_reverts

WIKI = "testwiki@WMF"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
URLS = ("http://a.example.org/x", "http://b.example.org/y")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.sqlite3") as journal:
        for number, url in enumerate(URLS):
            _note(journal, url, 100 + number)
        yield journal


def _note(journal: Journal, url: str, revision: int, *, reverter: str = "Doubter", is_wrong: bool = True) -> int:
    normal = str(key_of(url))
    link = EditedLink(url, normal, "add copy", "dead")
    edit = journal.note_edit(Edit(WIKI, revision, "A", revision, 1, NOW, "", (link,)))
    why = "link-works" if is_wrong else "vandalism-revert"
    journal.note_revert(NotedRevert(edit, normal, url, "reverted", why, 500, reverter, NOW, is_wrong))
    return edit


def _report(journal: Journal, service: LittleService, now: datetime = NOW, token: str = TOKEN) -> Reported:
    client = WeboidClient(service.base, user_agent="test", token=token, wait=lambda seconds: None)
    return report_reverts(journal, client, WIKI, lambda: now)


def test_each_is_reported_once(journal: Journal, service: LittleService) -> None:
    assert _report(journal, service).new == 2
    assert _report(journal, service) == Reported()
    assert [(each["revision"], each["why"], each["reverter"]) for each in service.reverts] == [
        (100, "link-works", "Doubter"),
        (101, "link-works", "Doubter"),
    ]
    assert service.count("/api/reverts") == 2


def test_only_probable_false_positives_whose_reverter_is_known_are_reported(
    journal: Journal, service: LittleService
) -> None:
    _note(journal, "http://c.example.org/", 200, is_wrong=False)
    _note(journal, "http://c.example.org/", 201, reverter="")
    assert _report(journal, service) == Reported(new=2)
    assert {each["revision"] for each in service.reverts} == {100, 101}


def test_what_the_service_has_released_may_be_done_again(journal: Journal, service: LittleService) -> None:
    _report(journal, service)
    service.reverts[0]["state"] = "released"
    service.reverts[1]["state"] = "frozen"
    assert _report(journal, service, NOW + timedelta(hours=23)) == Reported()
    assert _report(journal, service, NOW + timedelta(hours=25)) == Reported(released=1)
    first, second = (journal.reverts_of(edit.number)[0] for edit in reversed(journal.last_edits(WIKI, 2)))
    assert (first.state, first.released) == ("released", NOW + timedelta(hours=25))
    assert (second.state, second.released) == ("frozen", None)
    asked = service.count("/api/reverts")
    _report(journal, service, NOW + timedelta(days=9))
    assert service.count("/api/reverts") == asked


def _refusing(status: int) -> Misdeed:
    return lambda _: web.json_response({"version": 2, "error": {"key": "no", "text": "no"}}, status=status)


def test_what_the_service_does_not_take_is_not_sent_again(journal: Journal, service: LittleService) -> None:
    service.misdeeds.append(_refusing(404))
    done = _report(journal, service)
    assert (done.new, [edit.revision for edit, _, _ in done.refused]) == (1, [100])
    assert _report(journal, service) == Reported()
    assert journal.reverts_of(journal.last_edits(WIKI, 2)[1].number)[0].state == "refused"


def test_a_failure_after_the_first_keeps_what_was_noted(journal: Journal, service: LittleService) -> None:
    service.misdeeds += [lambda _: None, _refusing(403)]
    with pytest.raises(ServiceRefused):
        _report(journal, service)
    assert len(service.reverts) == 1
    assert _report(journal, service).new == 1
    assert len(service.reverts) == 2


def test_a_table_shows_nothing_that_a_terminal_obeys() -> None:
    edit = Edit(WIKI, 1, "A\x1b[2J", 5, 4, NOW, "", ())
    url = "http://a.example.org/<<red>>" + "x" * 500
    head, line = table_of([(edit, NotedRevert(1, url, url, "reverted", "link-works", 6, "\u202eeve", NOW, True))])
    assert head.split()[:2] == ["Reverted", "By"]
    assert not {"\x1b", "\u202e"} & set(line)
    assert "<<" not in line
    assert len(line) < 300
    assert table_of([]) == []


@pytest.mark.parametrize(
    "words", [["-days"], ["-days:-1"], ["-days:٣"], ["-days:40000"], ["-limit:0"], ["-limit:" + "9" * 30], ["Page"]]
)
def test_options_that_cannot_be_used(words: list[str]) -> None:
    with pytest.raises(OptionRefused):
        read_revert_options(words)

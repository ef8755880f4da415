from datetime import UTC, datetime, timedelta
from pathlib import Path

from weboid_scripts.journal.journal import FILE_NAME, Journal
from weboid_scripts.repairs.waiting_pages import MOST_DAYS, WaitingPages

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
WIKI = "testwiki@WMF"


def test_pages_wait_until_they_need_not(tmp_path: Path) -> None:
    with Journal(tmp_path / FILE_NAME) as journal:
        waiting = WaitingPages(journal.file, WIKI)
        with journal.file.writing():
            for page in range(1, 1_202):
                waiting.begin(page, NOW)
        waiting.end(7)
        waiting.end(7)
        WaitingPages(journal.file, "otherwiki@WMF").begin(7, NOW)
    with Journal(tmp_path / FILE_NAME) as journal:
        found = list(WaitingPages(journal.file, WIKI).find(NOW))
    assert found == [page for page in range(1, 1_202) if page != 7]


def test_they_wait_for_a_month_at_most_however_often_they_are_looked_at(tmp_path: Path) -> None:
    with Journal(tmp_path / FILE_NAME) as journal:
        waiting = WaitingPages(journal.file, WIKI)
        last = NOW + timedelta(days=MOST_DAYS)
        waiting.begin(1, NOW)
        waiting.begin(2, NOW + timedelta(days=1))
        waiting.begin(1, last)
        assert list(waiting.find(last)) == [1, 2]
        assert list(waiting.find(last + timedelta(seconds=1))) == [2]


def test_pages_that_stop_waiting_while_they_are_gone_through_do_not_hide_others(tmp_path: Path) -> None:
    with Journal(tmp_path / FILE_NAME) as journal:
        waiting = WaitingPages(journal.file, WIKI)
        found = []
        with journal.file.writing():
            for page in range(1, 1_102):
                waiting.begin(page, NOW)
            for page in waiting.find(NOW):
                found.append(page)
                waiting.end(page)
        assert found == list(range(1, 1_102))

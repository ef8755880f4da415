"""The journal: what is noted stays when a process is killed; what is no journal is refused with a reason."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.repair_scene import last_skip

from weboid.bot.reverts import EditedLink
from weboid_scripts.journal.journal import Edit, Journal, NotedRevert, RevertShare
from weboid_scripts.journal.journal_file import JournalError

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LINK = EditedLink("http://a.example/x", "http://a.example/x", "add copy", "D12")
OTHER = EditedLink("http://b.example/", "http://b.example/", "tag", "D14")
EDIT = Edit("dewiki", 7, "Ägypten", 101, 100, NOW, "ab" * 20, (LINK, OTHER))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal(path) as opened:
        yield opened


def _revert(number: int, why: str = "link-works") -> NotedRevert:
    return NotedRevert(number, LINK.normal, LINK.url, "reverted", why, 102, "Somebody", NOW, True)


def test_an_edit_is_found_by_its_link_after_a_restart(journal: Journal, path: Path) -> None:
    number = journal.note_edit(EDIT)
    journal.close()
    with Journal(path) as again:
        assert again.edits_of_link("dewiki", 7, LINK.normal) == [replace(EDIT, number=number)]
        assert again.edits_of_link("dewiki", 7, "http://c.example/") == []
        assert again.edits_of_link("dewiki", 8, LINK.normal) == []
        assert again.edits_of_link("enwiki", 7, LINK.normal) == []


def test_the_same_revision_is_noted_once(journal: Journal) -> None:
    assert journal.note_edit(EDIT) == journal.note_edit(EDIT)
    assert len(journal.last_edits("dewiki", 9)) == 1
    assert journal.note_edit(replace(EDIT, wiki="enwiki")) != journal.last_edits("dewiki", 1)[0].number


def test_an_edit_noted_before_it_is_saved(journal: Journal) -> None:
    number = journal.note_edit(replace(EDIT, revision=None))
    dropped = journal.note_edit(replace(EDIT, page=8, revision=None))
    assert [edit.number for edit in journal.unfinished_edits("dewiki")] == [number, dropped]
    assert journal.last_edits("dewiki", 9) == []
    assert [edit.revision for edit in journal.edits_of_link("dewiki", 7, LINK.normal)] == [None]
    journal.note_saved(number, 101, NOW + timedelta(seconds=2))
    journal.drop_edit(dropped)
    journal.drop_edit(number)
    assert journal.unfinished_edits("dewiki") == []
    assert journal.last_edits("dewiki", 9) == [replace(EDIT, number=number, moment=NOW + timedelta(seconds=2))]


def test_edits_since_come_newest_first_across_parts(journal: Journal) -> None:
    with journal.file.writing():
        for revision in range(1, 1201):
            journal.note_edit(replace(EDIT, revision=revision, moment=NOW + timedelta(minutes=revision)))
    since = journal.edits_since("dewiki", NOW + timedelta(minutes=101))
    assert [edit.revision for edit in since] == list(range(1200, 100, -1))
    assert [edit.revision for edit in journal.last_edits("dewiki", 3)] == [1200, 1199, 1198]


def test_a_revert_keeps_what_was_sent_when_it_is_found_again(journal: Journal) -> None:
    number = journal.note_edit(EDIT)
    journal.note_revert(_revert(number))
    journal.note_sent(number, LINK.normal, NOW, "open")
    journal.note_revert(replace(_revert(number), reverter="Another"))
    assert journal.reverts_of(number) == [replace(_revert(number), reverter="Another", sent=NOW, state="open")]
    journal.release(number, LINK.normal, NOW)
    assert journal.reverts_of(number)[0].released == NOW


def test_reverts_are_counted_among_the_last_edits_of_the_wiki(journal: Journal) -> None:
    numbers = [journal.note_edit(replace(EDIT, revision=revision)) for revision in range(1, 8)]
    journal.note_revert(_revert(numbers[0]))
    journal.note_revert(_revert(numbers[5]))
    journal.note_revert(replace(_revert(numbers[5]), normal=OTHER.normal))
    journal.note_revert(_revert(numbers[6], "vandalism-revert"))
    assert journal.reverts_among("dewiki") == RevertShare(7, 2)
    assert journal.reverts_among("dewiki", 5) == RevertShare(5, 1)
    assert journal.reverts_among("enwiki") == RevertShare(0, 0)
    journal.count_anew("dewiki")
    journal.count_anew("enwiki")
    assert journal.reverts_among("dewiki") == RevertShare(0, 0)
    journal.note_edit(replace(EDIT, revision=8))
    assert journal.reverts_among("dewiki") == RevertShare(1, 0)


def test_the_last_skip_of_a_link_counts(journal: Journal) -> None:
    journal.note_skip("dewiki", 7, LINK.normal, "frozen", NOW)
    journal.note_skip("dewiki", 7, LINK.normal, "reverted", NOW + timedelta(days=1))
    assert last_skip(journal, "dewiki", 7, LINK.normal) == ("reverted", int((NOW + timedelta(days=1)).timestamp()))
    assert last_skip(journal, "dewiki", 7, OTHER.normal) is None


_KILLED = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from weboid.bot.reverts import EditedLink
from weboid_scripts.journal.journal import Edit, Journal
links = tuple(EditedLink(url, url, "add copy", "D12") for url in ("http://a.example/x", "http://b.example/"))
journal = Journal(Path(sys.argv[1]))
for revision in range(1, 10_000_000):
    journal.note_edit(Edit("dewiki", 7, "A", revision, 100, datetime(2026, 11, 22, 12, tzinfo=UTC), "", links))
    print(revision, flush=True)
"""


def test_a_file_that_is_only_read_stays_as_it_is(journal: Journal, path: Path) -> None:
    number = journal.note_edit(EDIT)
    before = path.read_bytes()
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")  # as while another run writes
        with Journal(path, is_read_only=True) as copy:
            copy.note_revert(_revert(number))
            assert len(copy.reverts_of(number)) == 1
    assert path.read_bytes() == before
    assert journal.reverts_of(number) == []


def test_what_was_noted_survives_a_kill(path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", _KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= 50:
                writer.send_signal(signal.SIGKILL)
                break
        noted = [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    with Journal(path) as journal:
        edits = list(journal.edits_since("dewiki", NOW))
        assert len(edits) >= max(noted, default=50)
        assert all(len(edit.links) == 2 for edit in edits)
        assert journal.file.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_file_that_is_no_journal_is_refused(path: Path) -> None:
    path.write_bytes(b"these are notes of somebody\n" * 100)
    with pytest.raises(JournalError, match="damaged, or no journal"):
        Journal(path)
    assert path.read_bytes().startswith(b"these are notes")


def test_the_database_of_another_program_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE edits (a)")
    with pytest.raises(JournalError, match="another program"):
        Journal(path)


def test_a_damaged_journal_says_so(journal: Journal, path: Path) -> None:
    with journal.file.writing():
        for revision in range(1, 200):
            journal.note_edit(replace(EDIT, revision=revision))
    journal.close()
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(JournalError, match=str(path)), Journal(path) as damaged:
        damaged.last_edits("dewiki", 200)


def test_a_full_disk_says_so_and_loses_nothing_noted(journal: Journal) -> None:
    journal.note_edit(EDIT)
    pages = journal.file.rows("PRAGMA page_count")[0][0]
    journal.file.rows(f"PRAGMA max_page_count = {pages}")
    many = replace(EDIT, revision=1_000, links=(LINK,) * 2_000)
    with pytest.raises(JournalError, match="has room"):
        journal.note_edit(many)
    assert [edit.revision for edit in journal.last_edits("dewiki", 9)] == [101]
    journal.file.rows(f"PRAGMA max_page_count = {pages + 1_000}")
    journal.note_edit(replace(EDIT, revision=102))
    assert len(journal.last_edits("dewiki", 9)) == 2


def test_who_waits_in_vain_for_another_script_is_reported_and_can_go_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid_scripts.journal.journal_file._PATIENCE_S", 0.05)
    with Journal(path) as journal, closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM edits").fetchall()
        with pytest.raises(JournalError, match="another script"):
            journal.note_edit(EDIT)
        reader.execute("COMMIT")
        journal.note_edit(EDIT)
        assert reader.execute("SELECT count(*) FROM edits").fetchall() == [(1,)]

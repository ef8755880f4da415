"""Host-based authentication: real servers, and other accounts that can reach the socket."""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support.clusters import folder_of, kill_server, new_data, pid_of, wait_until

from weboid.pgfolder import accounts, host_auth, postmaster
from weboid.pgfolder.accounts import SystemAccount, initdb_account, server_account
from weboid.pgfolder.application import Application
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import SOCKET
from weboid.pgfolder.host_auth import by_peer, by_trust, with_map
from weboid.pgfolder.server import Server, open_server, stop_server

_ROOT = os.geteuid() == 0
_as_root = pytest.mark.skipif(not _ROOT, reason="only root can become another user")
_APP = Application("weboid")
_STRANGERS = (65534, 4_711)
"""An account that other services share, and a number without a name."""

_CALLER = """
import os, sys, psycopg
uids, dsns = sys.argv[1].split(), sys.argv[2:]
for uid in map(int, uids):
    if os.fork() == 0:
        os.setgroups([]); os.setgid(65534); os.setuid(uid)
        for dsn in dsns:
            try:
                psycopg.connect(dsn).close()
                print("in", flush=True)
            except psycopg.OperationalError as error:
                print("refused" if "Peer authentication failed" in str(error) else error, flush=True)
        os._exit(0)
    os.wait()
"""


def as_users(uids: Collection[int], *dsns: str) -> list[str]:
    """What becomes of connections of these users, one after the other."""
    command = [sys.executable, "-c", _CALLER, " ".join(map(str, uids)), *dsns]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()


@pytest.fixture(scope="module")
def data(server_folder: Path) -> Iterator[Path]:
    """A data folder with a cluster; its tests leave no server running."""
    with new_data(server_folder, "entry") as folder:
        yield folder


@contextmanager
def opened(data: Path) -> Iterator[Server]:
    try:
        with open_server(folder_of(data)) as server:
            yield server
    finally:
        assert stop_server(folder_of(data))


def open_socket(data: Path) -> None:
    """As if somebody had opened the folder of the socket to all."""
    sockets = folder_of(data).sockets
    sockets.chmod(0o755)
    (sockets / SOCKET).chmod(0o777)


def roles(server: Server) -> tuple[str, str]:
    return server.dsn, make_conninfo(server.dsn, user="postgres", dbname="postgres")


HBA = b"""# a comment
local   grafana         grafana                                 trust
local   all             all                                     trust
host    all             all             127.0.0.1/32            reject
local   all             all                                     trust   # of mine
local   replication     all                                     trust\r
local   all             backup                                  trust
"""


def test_only_the_lines_of_initdb_are_changed_and_they_can_be_changed_back() -> None:
    text = by_peer(HBA, _APP)
    before, after = HBA.splitlines(), text.splitlines()
    assert [number for number, line in enumerate(after) if line != before[number]] == [2, 5]
    assert after[2].split() == [b"local", b"all", b"all", b"peer", b"map=weboid"]
    assert by_peer(text, _APP) == text
    assert by_trust(text, _APP) == HBA
    assert by_trust(HBA, _APP) == HBA


def test_the_map_is_written_anew_among_the_operators_lines() -> None:
    for before in (b"", b"# a comment\n", b"mine anna weboid"):
        once = with_map(before, {"root", "alice"}, _APP)
        assert once.startswith(before)
        assert b'weboid "alice" weboid\n' in once
        both = once + b"mine bert weboid\n"
        assert with_map(both, {"root", "alice"}, _APP) == both
        again = with_map(both, {"root"}, _APP)
        assert b"alice" not in again
        assert again.endswith(b"mine bert weboid\n")
        assert again.count(b"Weboid's map") == 2


@_as_root
def test_no_other_user_comes_in_even_through_an_open_socket(data: Path) -> None:
    with opened(data) as server:
        open_socket(data)
        assert as_users(_STRANGERS, *roles(server)) == ["refused"] * 4
        assert as_users((0, folder_of(data).account.uid), *roles(server)) == ["in"] * 4


@_as_root
def test_a_cluster_from_before_is_brought_over_at_the_next_start_and_while_it_runs(data: Path) -> None:
    with opened(data):
        folder = folder_of(data)
        hba = folder.cluster / "pg_hba.conf"
        mode = hba.stat().st_mode
        assert host_auth.trust_all(folder)
        with hba.open("ab") as file:
            file.write(b"local weboid grafana trust\n")
        postmaster.reload(folder)
        # Another program starts next to the one that still runs.
        with open_server(folder_of(data)) as second:
            open_socket(data)
            wait_until(lambda: as_users(_STRANGERS[:1], second.dsn) == ["refused"])
            assert (hba.stat().st_uid, hba.stat().st_mode) == (folder.account.uid, mode)
            assert hba.read_bytes().endswith(b"local weboid grafana trust\n")
        assert host_auth.trust_all(folder)
        kill_server(data)
        with open_server(folder_of(data)) as third:
            open_socket(data)
            assert as_users(_STRANGERS[:1], third.dsn) == ["refused"]
        assert not host_auth.restrict_users(folder), "once it is right nothing is written"


def test_a_file_of_the_cluster_that_is_a_link_is_neither_read_nor_written(data: Path, tmp_path: Path) -> None:
    with opened(data):
        hba = folder_of(data).cluster / "pg_hba.conf"
        text = hba.read_bytes()
        (tmp_path / "target").write_bytes(by_trust(text, _APP))
        hba.unlink()
        hba.symlink_to(tmp_path / "target")
        with pytest.raises(FolderError, match="cannot use the database"):
            open_server(folder_of(data))
        hba.unlink()
        os.mkfifo(hba)
        with pytest.raises(FolderError, match="not a file"):
            open_server(folder_of(data))
        assert (tmp_path / "target").read_bytes() == by_trust(text, _APP)
        hba.unlink()
        hba.write_bytes(text)
        os.chown(hba, folder_of(data).account.uid, folder_of(data).account.gid)


def test_without_a_name_of_ones_own_the_folder_of_the_socket_is_what_keeps_others_out(
    data: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(data):
        monkeypatch.setattr(host_auth, "name_of", lambda uid: None)
        with open_server(folder_of(data)) as server, psycopg.connect(server.dsn) as connection:
            connection.execute("SELECT 1")
        assert "has no name that PostgreSQL can find" in caplog.text
        assert b"map=weboid" not in (folder_of(data).cluster / "pg_hba.conf").read_bytes()
        assert folder_of(data).sockets.stat().st_mode & 0o777 == 0o700


@_as_root
def test_where_no_account_is_made_for_it_the_server_has_a_number_of_its_own(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "_POSTGRES", "nobody-of-this-name")
    data = server_folder / "number"
    with opened(data) as server:
        account = folder_of(data).account
        assert account.uid == account.gid
        assert account.uid in accounts._OWN_UIDS
        assert accounts.name_of(account.uid) is None
        assert Path(f"/proc/{pid_of(data)}").stat().st_uid == account.uid
        cluster = data / "postgres"
        assert {path.lstat().st_uid for path in (cluster, *cluster.rglob("*"))} == {account.uid}
        assert {path.lstat().st_gid for path in (cluster, *cluster.rglob("*"))} == {account.gid}
        assert not list(data.glob("postgres.unfinished*"))
        open_socket(data)
        assert as_users((*_STRANGERS, account.uid), *roles(server)) == ["refused"] * 6
        monkeypatch.undo()
        assert folder_of(data).account == account, "existing data stay with their owner"
    shutil.rmtree(data)


@_as_root
def test_each_data_folder_has_a_number_of_its_own_and_the_same_one_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "_POSTGRES", "nobody-of-this-name")
    one, two = (server_account(Path(f"/nowhere/{name}/postgres"), _APP) for name in ("one", "two"))
    assert one.uid != two.uid
    assert server_account(Path("/nowhere/one/postgres"), _APP) == one
    monkeypatch.setattr(accounts, "_running", lambda: iter([one.uid]))
    assert server_account(Path("/nowhere/one/postgres"), _APP).uid != one.uid


@_as_root
def test_what_makes_a_cluster_for_a_number_cannot_be_looked_into_by_its_namesakes() -> None:
    maker = initdb_account(SystemAccount(60_600, 60_600, "60600"), _APP)
    assert (maker.uid != 0, maker.gid) == (True, 60_600)
    named = server_account(Path("/nowhere/postgres"), _APP)
    assert initdb_account(named, _APP) == named

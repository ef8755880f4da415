"""Settings of the server by the memory that is there (docs/sizing.md)."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from support.clusters import folder_of, new_data

from weboid.pgfolder import memory
from weboid.pgfolder.memory import available, memory_settings
from weboid.pgfolder.server import open_server

_GB = 1 << 30
_SIZING = Path(__file__).resolve().parents[2] / "docs/sizing.md"


@pytest.fixture
def data(server_folder: Path) -> Iterator[Path]:
    with new_data(server_folder, "memory") as made:
        yield made


@pytest.mark.parametrize("gigabytes", [2, 8, 64])
def test_the_settings_are_those_of_the_document(gigabytes: int) -> None:
    found = memory_settings(gigabytes * _GB)
    row = re.search(rf"^\| {gigabytes} GB \|(.*)\|$", _SIZING.read_text(encoding="utf-8"), re.MULTILINE)
    assert row
    documented = [text.strip().replace(" ", "") for text in row[1].split("|")]
    sizes = [value if int(value[:-2]) % 1024 else f"{int(value[:-2]) // 1024}GB" for value in found.values()]
    assert sizes == documented


def test_little_and_much_memory_have_bounds() -> None:
    assert set(memory_settings(0).values()) == {"128MB", "64MB", "1024MB"}
    assert [*memory_settings(1 << 50).values()] == ["16384MB", "1048576MB", "1024MB", "8192MB"]


@pytest.mark.parametrize(
    ("lines", "limits", "expected"),
    [
        pytest.param("0::/app/web\n", {"app/memory.max": "2147483648\n", "app/web/memory.max": "max"}, 2 * _GB, id="2"),
        pytest.param("0::/\n", {"memory.max": "1073741824"}, _GB, id="2 in a container"),
        pytest.param("9:cpu:/\n4:memory:/x\n", {"memory/x/memory.limit_in_bytes": "1073741824"}, _GB, id="1"),
        pytest.param("4:memory:/\n", {"memory/memory.limit_in_bytes": "9223372036854771712"}, None, id="1 unlimited"),
        pytest.param("", {}, None, id="none"),
    ],
)
def test_limits_of_control_groups_and_of_the_process_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, limits: dict[str, str], expected: int | None
) -> None:
    (tmp_path / "own").write_text(lines)
    for name, text in limits.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = available(tmp_path, tmp_path / "own")
    assert found == expected if expected else found > 1 << 28
    monkeypatch.setattr("resource.getrlimit", lambda _: (1 << 28, -1))
    assert available(tmp_path, tmp_path / "own") == 1 << 28


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("", ("256MB", "1GB", "off")),
        ("shared_buffers = 192MB\nwal_compression = pglz\n", ("192MB", "1GB", "pglz")),
        ("#shared_buffers = 192MB\nMax_Wal_Size '2GB' # mine\nwal_compression = on\n", ("256MB", "2GB", "off")),
        ("include_if_exists 'mine.conf'\n", ("128MB", "1GB", "off")),
    ],
)
def test_a_server_starts_with_them_where_its_files_leave_that_to_us(
    data: Path, monkeypatch: pytest.MonkeyPatch, own: str, expected: tuple[str, ...]
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2 * _GB)
    with (data / "postgres/postgresql.conf").open("a") as file:
        file.write(own)
    with open_server(folder_of(data)) as server, psycopg.connect(server.dsn) as connection:
        names = "current_setting('shared_buffers'), current_setting('max_wal_size'), current_setting('wal_compression')"
        assert connection.execute(f"SELECT {names}").fetchone() == expected

import bz2
import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.errors import SourceError
from weboid.wiki import dump_rows

Row = tuple[int | None, str | None, float, bytes, str]

CREATED = """-- before
CREATE TABLE `t` (
  `a` int(10) unsigned DEFAULT NULL,
  `b` blob DEFAULT NULL,
  `c` double NOT NULL,
  `d` varbinary(14) NOT NULL DEFAULT '),(',
  `e` varbinary(255) NOT NULL,
  PRIMARY KEY (`a`)
) ENGINE=InnoDB;
/*!40000 ALTER TABLE `t` DISABLE KEYS */;
"""
WANTED = ("e", "a", "b")  # neither all of them nor in the table's order

TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.lists(
        st.sampled_from(["'", "\\", "),(", ",", ";\n", "NULL", "0", "INSERT INTO `t` VALUES", "ä", "\x1a", "\0"])
    ).map("".join),
)
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-1, 2**32),
        st.none() | TEXTS,
        st.floats(0, allow_infinity=False),
        st.binary(max_size=6),
        TEXTS,
    ),
    max_size=12,
)


def literal(value: float | str | bytes | None, *, doubled: bool) -> bytes:
    match value:
        case None:
            return b"NULL"
        case int() | float():
            return str(value).encode()
        case str():
            return b"'" + escaped(value.encode(), doubled=doubled) + b"'"
        case bytes():
            return b"_binary '" + escaped(value, doubled=doubled) + b"'"


def escaped(value: bytes, *, doubled: bool) -> bytes:
    for raw, written in zip('\\\0\n\r\x1a"', '\\0nrZ"', strict=True):
        value = value.replace(raw.encode(), f"\\{written}".encode())
    return value.replace(b"'", b"''" if doubled else b"\\'")


def dumped(rows: list[Row], *, lines: bool, doubled: bool, statement_rows: int) -> bytes:
    text = CREATED.encode()
    tuples = [b"(" + b",".join(literal(value, doubled=doubled) for value in row) + b")" for row in rows]
    for start in range(0, len(tuples), statement_rows):
        between, head = (b",\n", b"\n") if lines else (b",", b" ")
        text += b"INSERT INTO `t` VALUES" + head + between.join(tuples[start : start + statement_rows]) + b";\n"
    return text + b"/*!40000 ALTER TABLE `t` ENABLE KEYS */;\nUNLOCK TABLES;\n-- Dump completed"


def read(data: bytes, *, chunk_bytes: int = 1 << 18, wanted: tuple[str, ...] = WANTED) -> list[tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as folder, patch.object(dump_rows, "_CHUNK_BYTES", chunk_bytes):
        path = Path(folder, "t.sql")
        path.write_bytes(data)
        return [row for columns in dump_rows.list_columns(path, "t", wanted) for row in zip(*columns, strict=True)]


@given(ROWS, st.booleans(), st.booleans(), st.integers(1, 5), st.integers(1, 200))
def test_any_rows_come_out_as_they_went_in_wherever_chunks_end(
    rows: list[Row], lines: bool, doubled: bool, statement_rows: int, chunk_bytes: int
) -> None:
    data = dumped(rows, lines=lines, doubled=doubled, statement_rows=statement_rows)
    expected = [(row[4], "" if row[0] is None else str(row[0]), row[1] or "") for row in rows]
    assert read(data, chunk_bytes=chunk_bytes) == expected


@given(ROWS.filter(len), st.data())
def test_a_plain_dump_cut_inside_its_rows_is_never_taken_for_a_whole_one(rows: list[Row], data: st.DataObject) -> None:
    whole = dumped(rows, lines=True, doubled=False, statement_rows=100)
    first, last = whole.index(b"VALUES\n"), whole.rindex(b";\n/*!40000")
    with pytest.raises(SourceError, match="ends in the middle of a row"):
        read(whole[: data.draw(st.integers(first, last))])


@pytest.mark.parametrize("pack", [bytes, gzip.compress])  # as in netz98/n98-magerun2#2022 and frappe/frappe#5365
def test_a_file_that_is_in_order_is_no_whole_dump_if_its_program_was_cut_short(pack: Callable[[bytes], bytes]) -> None:
    body = dumped([(1, "x", 0.5, b"", "y")], lines=True, doubled=False, statement_rows=1)
    begun = b"/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;\n" + body
    for cut in (body.index(b"INSERT"), body.index(b"UNLOCK"), len(body)):
        with pytest.raises(SourceError, match="ends before the dump does"):
            read(pack(begun[: cut - len(body) or len(begun)]))
    for chunk_bytes in (64, 1 << 18):
        whole = begun + b"/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;\n"
        assert read(pack(whole), chunk_bytes=chunk_bytes) == [("y", "1", "x")]


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, bz2.compress, lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:])]
)
def test_packed_files_are_recognised_by_their_content(pack: Callable[[bytes], bytes]) -> None:
    data = dumped([(1, "x", 0.5, b"", "y")], lines=True, doubled=False, statement_rows=1)
    assert read(pack(data)) == [("y", "1", "x")]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_packed_files_that_are_cut_or_damaged_are_reported_with_name_and_place(pack: Callable[[bytes], bytes]) -> None:
    rows: list[Row] = [(number, f"{number * 7919:x}", 0.5, b"", "y") for number in range(3000)]
    packed = pack(dumped(rows, lines=True, doubled=False, statement_rows=100))
    middle = len(packed) // 2
    for data in (packed[:middle], packed[:-4], packed[:middle] + b"\xff" * 50 + packed[middle + 50 :]):
        with pytest.raises(SourceError, match=r"t\.sql: damaged near byte \d+: .*; fetch it again"):
            read(data)


def test_bytes_that_are_no_utf8_and_rows_of_other_tables_break_nothing() -> None:
    data = CREATED.encode() + b"INSERT INTO `t` VALUES (1,'\xe4',0,'','\xff\xc3'),(2,'',0,'','');\n"
    assert read(data) == [("\ufffd\ufffd", "1", "\ufffd"), ("", "2", "")]
    other = (
        b"INSERT INTO `u` VALUES\n(1,'x',0,'','y'),\n(2,'x',0,'','INSERT INTO `t` VALUES (9,NULL,0,\\'\\',\\'\\');');\n"
    )
    ours = b"INSERT INTO `t` VALUES (3,'x',0,'','y');\n"
    for chunk_bytes in (1, 7, 1 << 18):
        assert read(CREATED.encode() + other + ours + other, chunk_bytes=chunk_bytes) == [("y", "3", "x")]


def test_a_row_that_does_not_fit_its_table_is_reported() -> None:
    for values in (
        "1,'x',0,'')",
        "1,'x',0,'','y','z')",
        "1,5,0,'','y')",
        "'1','x',0,'','y')",
        "1,'x',0,0xFF,'y')",
        "12345678901,'',0,'','')",
    ):
        text = f"{CREATED}INSERT INTO `t` VALUES\n(7,'x',0,'','y'),\n({values},\n" + "(8,'x',0,'','y'),\n" * 70_000
        with pytest.raises(SourceError, match="a row that cannot be read: "):
            read(text.encode())


@pytest.mark.parametrize("chunk_bytes", [1, 9, 1 << 18])
def test_rows_in_a_layout_that_is_not_read_are_reported_and_not_passed_over(chunk_bytes: int) -> None:
    for begin in (  # of mydumper/mydumper#1837, of phpMyAdmin (ddev/ddev#7429) and others
        "INSERT INTO `t` (`a`, `b`) VALUES\n", "INSERT  IGNORE INTO `t` VALUES", "REPLACE INTO `t` VALUES",
        "insert into t values", "INSERT INTO `w`.`t` VALUES",
    ):  # fmt: skip
        for rows in ("", "INSERT INTO `t` VALUES (3,'x',0,'','y');\n"):
            with pytest.raises(SourceError, match="is of no layout that is read"):
                read(f"{CREATED}{rows}{begin} (1,'',0,'','');\n".encode(), chunk_bytes=chunk_bytes)
    other = b"INSERT INTO `u_t` VALUES (1);\nREPLACE INTO `u` (`t`) VALUES ('t (');\nRESET t"
    assert read(CREATED.encode() + other + b"\n", chunk_bytes=chunk_bytes) == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no CREATE TABLE `t`"),
        (b"CREATE TABLE `u` (\n  `a` int\n);\n", "no CREATE TABLE `t`"),
        (b"<html>" * 40_000, "no CREATE TABLE `t`"),
        (b"CREATE TABLE `t` (\n  `a` int NOT NULL,\n  `b` blob\n);\n", r"has no column e \(it has a, b\)"),
    ],
)
def test_files_that_are_no_dump_of_the_table_are_reported(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=message):
        read(data)
    with pytest.raises(SourceError, match=r"nowhere\.sql: cannot be read: No such file"):
        list(dump_rows.list_columns(tmp_path / "nowhere.sql", "t", WANTED))

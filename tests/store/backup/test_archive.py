"""What pg_restore writes is taken apart into entries and rows, however it is cut into blocks."""

from pathlib import Path

import pytest

from weboid.errors import StoreError
from weboid.store.backup.archive import Script

TEXT = Path(__file__).with_suffix(".sql").read_bytes()


async def _parsed(text: bytes, block: int) -> list[tuple[str, str, bytes, list[bytes]]]:
    blocks = [text[start : start + block] for start in range(0, len(text), block)]

    async def read() -> bytes:
        return blocks.pop(0) if blocks else b""

    script = Script(read)
    found = []
    async for entry in script.entries():
        rows = b"".join([rows async for rows in script.rows()]) if entry.has_rows else b""
        found.append((entry.name, entry.kind, entry.sql.strip(), rows.splitlines()))
    return found


@pytest.mark.parametrize("block", [1, 2, 3, 5, 7, 64, 100_000])
async def test_entries_and_rows_are_the_same_however_the_text_arrives(block: int) -> None:
    assert await _parsed(TEXT, block) == [
        ("a", "TABLE", b"CREATE TABLE public.a (\n    n integer\n);", []),
        (
            "a",
            "TABLE DATA",
            b"COPY public.a (n) FROM stdin;",
            [rb"1	x\\.", rb"\\.", b"-- Name: 3; Type: none; Schema: x"],
        ),
        ("b", "TABLE DATA", b"COPY public.b (n) FROM stdin;", []),
        ("a_index", "INDEX", b"CREATE INDEX a_index ON public.a (n);", []),
    ]


async def test_a_text_that_ends_among_rows_is_torn() -> None:
    with pytest.raises(StoreError, match="in the middle of a table"):
        await _parsed(TEXT[: TEXT.index(b"-- Name: 3")], 10)

"""Lists on their way to PostgreSQL."""

import pytest

from weboid.store.db.pool import Connection


async def test_a_list_arrives_as_it_was_however_lists_meet_in_one_prepared_statement(conn: Connection) -> None:
    lists: list[tuple[str, list[object]]] = [
        ("bigint", [1, None, -(2**63), 2**63 - 1]),
        ("smallint", [None, 7]),
        ("integer", []),
        ("integer", [None, None]),
        ("boolean", [True, None, False]),
        ("float8", [0.5, None, -1e300]),
        ("text", ["1", "NULL", None, '{",\\}', ""]),
        ("bytea", [b"\0\xff", None]),
    ]
    for kind, values in lists * 4:  # the later ones are prepared
        row = await (await conn.execute(f"SELECT %s::{kind}[]".encode(), [values])).fetchone()
        assert row == (values,)
    for texts in ([1, 2], ["3"], [None], [4], ["NULL"], []) * 3:
        row = await (await conn.execute("SELECT %s::text[]", [texts])).fetchone()
        assert row == ([None if each is None else str(each) for each in texts],)


async def test_nothing_but_a_number_gets_between_numbers(conn: Connection) -> None:
    for stranger in ("2},{3", 1.5, b"x"):
        with pytest.raises(TypeError):
            await conn.execute("SELECT %s::bigint[]", [[1, stranger]])

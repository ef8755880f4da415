"""Lists on their way to PostgreSQL."""

import pytest

from weboid.store.db.pool import open_pool


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, -(2**63), 2**63 - 1], "bigint"),
        ([None, 7], "smallint"),
        ([], "integer"),
        ([None, None], "integer"),
        ([True, None, False], "boolean"),
        ([0.5, None, -1e300], "float8"),
        (["1", "NULL", None, '{",\\}', ""], "text"),
        ([b"\0\xff", None], "bytea"),
    ],
)
async def test_a_list_arrives_as_it_was(database: str, values: list[object], kind: str) -> None:
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        for _ in range(4):  # the later ones are prepared
            row = await (await conn.execute(f"SELECT %s::{kind}[]".encode(), [values])).fetchone()
            assert row == (values,)


async def test_lists_of_different_kinds_do_not_meet_in_one_prepared_statement(database: str) -> None:
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        for values in ([1, 2], ["3"], [None], [4], ["NULL"], []) * 3:
            row = await (await conn.execute("SELECT %s::text[]", [values])).fetchone()
            assert row == ([None if each is None else str(each) for each in values],)


async def test_nothing_but_a_number_gets_between_numbers(database: str) -> None:
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        for stranger in ("2},{3", 1.5, b"x"):
            with pytest.raises(TypeError):
                await conn.execute("SELECT %s::bigint[]", [[1, stranger]])

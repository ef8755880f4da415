"""Retry-After: how long a client should wait (RFC 9110)."""

from weboid.core.observe.retry_after import retry_after_s


def test_retry_after_is_seconds_or_a_date_by_the_clock_of_the_server() -> None:
    for headers, wait_s in [
        ({}, None), *(({"retry-after": odd}, None) for odd in ("-1", "٣", "", "soon", "370ms")),
        *(({"retry-after": given}, wait_s) for given, wait_s in (
            ("5", 5), (" 07 ", 7), ("9" * 5000, 999_999_999), ("0.493", 0.493), ("30s", 30), ("2h1m2.5s", 7262.5))),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:09 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 9),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:09 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:09", "date": "Wed, 21 Oct 2026 07:28:00 -0000"}, None),
    ]:  # fmt: skip
        assert retry_after_s(headers) == wait_s

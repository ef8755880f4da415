"""What hosts need, as the store remembers it (C-6)."""

from weboid.core.record.specials import Sight, Special
from weboid.core.url.keys import bucket, host_key
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey
from weboid.store.urls.host_traits import HostSpecial, delete_specials, list_specials, record_specials


def host(name: str) -> HostKey:
    return HostKey(bucket(name), host_key(name))


WWW, ABOVE = "www.example.org", "example.org"


async def test_what_a_host_needs_holds_for_its_subdomains_which_may_have_their_own(conn: Connection) -> None:
    await record_specials(
        conn,
        {
            HostSpecial(host(ABOVE), Special.NEEDS_GET): 100,
            HostSpecial(host(ABOVE), Special.NEEDS_HTTPS): 100,
            HostSpecial(host(ABOVE), Special.RETURNED): 100,
            HostSpecial(host(ABOVE), Special.NEW_OWNER): 100,
            HostSpecial(host(WWW), Special.NEEDS_HTTPS): 120,
        },
    )
    found = await list_specials(conn, {host(name): name for name in (WWW, ABOVE, "other.example")})
    assert found[host(WWW)] == {Special.NEEDS_GET: Sight(100, 100), Special.NEEDS_HTTPS: Sight(120, 120)}
    assert found[host(ABOVE)].keys() == set(Special) - {
        Special.NEEDS_HTTP,
        Special.NEEDS_REFERRER,
        Special.NEEDS_BROWSER,
    }
    assert found[host("other.example")] == {}


async def test_a_special_keeps_its_first_day_unless_it_was_not_seen_for_a_hundred_days(conn: Connection) -> None:
    special = HostSpecial(host(ABOVE), Special.NEEDS_HTTP)
    for day, sight in [(100, (100, 100)), (200, (100, 200)), (190, (100, 200)), (301, (301, 301))]:
        await record_specials(conn, {special: day})
        assert (await list_specials(conn, {host(ABOVE): ABOVE}))[host(ABOVE)] == {Special.NEEDS_HTTP: sight}
    await delete_specials(conn, {special})
    assert (await list_specials(conn, {host(ABOVE): ABOVE}))[host(ABOVE)] == {}

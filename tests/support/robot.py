"""For tests: a task of the robot that has ended, and what it found, some of it hostile."""

from weboid.site.place import Place
from weboid.site.places import KeptPlaces
from weboid.store.db.pool import Connection
from weboid.store.site.ordered import TaskState, record_order, record_places, record_state

START = "https://example.org/docs/"
HOSTILE = '"><script>alert(1)</script>'
FORMULA = '=HYPERLINK("http://evil.demo")'
PLACES = [
    Place(START, "", "", "start", "ok", 200, ""),
    Place(f"{START}a", "", START, "a", "ok", 200, "", depth=1, text=FORMULA),
    Place("https://gone.demo/x", "", START, "a", "broken", 404, "not-found", line=7, text=HOSTILE, is_new=True),
    Place(f"{START}b", HOSTILE, f"{START}a", "a", "fragment", 200, "fragment"),
    Place(f'{START}"\\', "", START, "a", "ok", 200, "", depth=1),
    *(Place(f"https://gone.demo/{n}", "", f"{START}a", "a", "broken", 404, "not-found") for n in range(150)),
]


async def fill_task(conn: Connection) -> int:
    """Orders it, and writes what it found."""
    task, places = await record_order(conn, [START], {"depth": 3}, 1), KeptPlaces()
    assert task
    for place in PLACES:
        places.add(place)
    progress = {"pages": 2, "places": {"broken": 151, "fragment": 1, "ok": 3}, "statistics": {"waiting": 0}}
    await record_places(conn, task, places.take(all_of_them=True)[0])
    await record_state(conn, task, TaskState.FINISHED, progress)
    await conn.execute(
        "INSERT INTO robot_entry (url_key, task, run, status, since, asked, strikes, reason, http, broken, "
        "was_broken, url) SELECT key, %s, 1, 200, 1, 1, 0, 1, 200, key = 3, false, url FROM (VALUES "
        "(1, '/docs/'), (2, '/docs/a'), (3, %s), (4, 'https://gone.demo/x'), (5, '/docs/a#b')) AS given (key, url)",
        (task, f"/docs/{HOSTILE}"),
    )
    return task

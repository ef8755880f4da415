"""The robot's monitor: who may see it, what is ordered there, what is refused, and what tasks found (R-7)."""

import csv
import io
import json
from typing import Any

import pytest
from support.listed import texts
from support.people import People
from support.robot import FORMULA, HOSTILE, PLACES, START, fill_task

from weboid.robot.wanted import WantedTask
from weboid.store.people.audit import list_audit
from weboid.store.site.ordered import find_ordered


async def _ordered(people: People, start: str = START, **fields: str) -> int:
    boss = await people.browser("Boss")
    sent = await boss.send_form("/robot/start?lang=en", "/robot/start", starts=start, **fields)
    assert (sent.status, sent.location) == (303, "/robot?lang=en"), sent.text
    ((task,),) = await people.site.wiki.rows("SELECT max(task) FROM robot_task")
    return int(str(task))


async def _filled(people: People) -> int:
    async with people.site.wiki.pool.connection() as conn:
        return await fill_task(conn)


async def test_only_administrators_see_or_order_anything(people: People) -> None:
    task = await _filled(people)
    boss = await people.browser("Boss")
    form = (await boss.open("/robot/start")).form("/robot/start")
    for browser in (await people.browser("Anna"), await people.browser()):
        for path in ("/robot", "/robot/tasks.json", "/robot/start", f"/robot/{task}", f"/robot/{task}/links.csv"):
            seen = await browser.open(path)
            assert (seen.status, "example.org" in seen.text) == (403, False), path
        for path in ("/robot/start", "/robot/stop"):
            assert (await browser.send(path, form | {"task": str(task)})).status == 403
    assert (await boss.send("/robot/start", form, Sec_Fetch_Site="cross-site")).status == 403
    assert (await boss.send("/robot/stop", form | {"task": str(task)})).status == 403, "the token of another form"
    for path in (f"/robot/{task + 1}", "/robot/x", "/robot/99999999999", f"/robot/{task}/links.exe"):
        assert (await boss.open(path)).status == 404, path


async def test_a_task_is_ordered_with_every_order_shown_and_stopped_once_and_logged(people: People) -> None:
    orders = {
        "depth": "-1",
        "restriction": "below",
        "expires_min": "60",
        "pages": "10",
        "most_bytes": "10000",
        "most_seconds": "9",
        "reload_min": "-1",
        "priority": "2",
        "link_filters": "include:/docs/*\r\nnofollow",
    }
    task = await _ordered(people, f"{START}\nhttps://EXAMPLE.org/b", **orders, checks_fragments="1")
    async with people.site.wiki.pool.connection() as conn:
        found = await find_ordered(conn, task)
    assert found
    assert found.starts == [START, "https://example.org/b"]
    assert found.wanted.keys() == WantedTask.__dataclass_fields__.keys()
    given: dict[str, Any] = {**found.wanted, "link_filters": "\r\n".join(found.wanted["link_filters"])}
    assert {name: str(given[name]) for name in orders} == orders
    assert given["checks_fragments"] is True
    boss, other = await people.browser("Boss"), await people.browser("Boss")
    seen = await boss.open("/robot?lang=en&refresh=1")
    assert (seen.headers["Refresh"], seen.headers["Cache-Control"]) == ("10", "no-store")
    assert "waits for its turn" in seen.text
    said = await boss.open("/robot/tasks.json")
    payload = json.loads(said.text)
    assert (payload["tasks"], payload["jobs"], payload["task"][0]["state"]) == (1, 0, "waiting")
    assert "Access-Control-Allow-Origin" not in said.headers
    again = await boss.send_form("/robot/start?lang=en", "/robot/start", starts=START)
    assert (again.status, "waits or is under way" in again.text) == (409, True)
    forms = [(await browser.open("/robot?lang=en")).form("/robot/stop") for browser in (boss, other)]
    for browser, form in zip((boss, other), forms, strict=True):
        assert (await browser.send("/robot/stop", form)).status == 303
    assert "is being stopped" in (await boss.open("/robot?lang=en")).text
    logged = [(each.action, each.object) for each in await people.site.wiki.do(list_audit)]
    assert logged == [("stop-task", START), ("start-task", START)]
    lines = texts((await boss.open("/admin?lang=en")).text, "//h2[last()]/following::ul[1]/li")
    assert f"Boss started a task of the robot: {START} depth=-1" in " ".join(lines[1].split())


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"starts": "file:///etc/passwd"}, "no URL of http"),
        ({"starts": "http://127.0.0.1/"}, "is not public"),
        ({"starts": "http://[::1]/ http://10.0.0.1/"}, "is not public"),
        ({"starts": "http://example.org:22/"}, "is not public"),
        ({"starts": "http://localhost/"}, "no URL of http"),
        ({"starts": f"http://{'a' * 3000}.org/"}, "no URL of http"),
        ({"starts": ""}, "Give 1 to 20"),
        ({"starts": " ".join(f"http://e.org/{n}" for n in range(21))}, "Give 1 to 20"),
        ({"depth": "x"}, "from -1 to 1,000"),
        ({"most_seconds": "-2"}, "from -1 to 3,600"),
        ({"pages": "9" * 12}, "from -1 to 1,000,000"),
        ({"restriction": "every"}, "not known here"),
        ({"link_filters": "no-such"}, "no-such"),
        ({"page_filters": "\n".join(["include:a"] * 21)}, "not known here, or too long"),
    ],
)
async def test_wrong_orders_are_refused_next_to_their_field(people: People, fields: dict[str, str], fault: str) -> None:
    boss = await people.browser("Boss")
    sent = await boss.send_form("/robot/start?lang=en", "/robot/start", **{"starts": START, **fields})
    (name,) = fields
    assert sent.status == 400
    assert [fault in text for text in texts(sent.text, f'//*[@id="{name}-fault"]')] == [True]
    assert f'aria-describedby="{name}-fault"' in sent.text
    assert await people.site.wiki.rows("SELECT FROM robot_task") == []


async def test_what_a_site_says_is_text_on_all_pages_and_in_all_files(people: People) -> None:
    task = await _filled(people)
    boss = await people.browser("Boss")
    seen = await boss.open(f"/robot/{task}?lang=en")
    rows = [" ".join(text.split()) for text in texts(seen.text, '//h2[@id="faults"]/following::table[1]/tbody/tr')]
    assert rows[0].startswith("gone.demoBroken. The server")
    assert rows[0].endswith(".151")
    assert rows[1] == "example.orgThe page has nothing of that name.1"
    group = await boss.open(seen.link(f"/robot/{task}?host=gone"))
    assert f": {HOSTILE}" in texts(group.text, '//ul[@class="lines"]/li[1]')[0]
    assert len(texts(group.text, '//ul[@class="lines"]/li')) == 100
    rest = await boss.open(texts(group.text, '//a[@rel="next"]/@href')[0])
    assert len(texts(rest.text, '//ul[@class="lines"]/li')) == 51
    tree = await boss.open(f"/robot/{task}?lang=en&at=%2Fdocs%2F")
    names = texts(tree.text, '//h2[@id="tree"]/following::table[1]/tbody/tr/th')
    assert names == [". (200)", HOSTILE[: HOSTILE.index("/") + 1], "a (200)"]
    pages = [seen, group, tree, await boss.open("/robot?lang=en")]
    assert not [page for page in pages if "<script>alert" in page.text]
    lines = [json.loads(line) for line in (await boss.open(f"/robot/{task}/links.jsonl")).text.splitlines()]
    assert len(lines) == len(PLACES) + 1
    assert lines[-1]["summary"]["counts"]["broken"] == 151
    table = await boss.open(f"/robot/{task}/links.csv")
    cells = [cell for row in csv.reader(io.StringIO(table.text)) for cell in row]
    assert f"'{FORMULA}" in cells
    assert not [cell for cell in cells if cell.startswith("=")]
    assert table.headers["Content-Disposition"] == f'attachment; filename="robot-{task}-links.csv"'
    dot = (await boss.open(f"/robot/{task}/links.dot")).text
    assert f'"{START}\\"\\\\"' in dot
    assert dot.endswith("}\n")

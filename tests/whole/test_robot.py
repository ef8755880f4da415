"""A site of 5,000 pages, ordered by the form, and its process killed and stopped in the middle (R-7)."""

import asyncio
import json
import signal
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web
from support.commands import Place
from support.people import open_people

_PAGES = 5_000
_LOOPBACK = {"WEBOID_NET_PERMIT": "127.0.0.0/8", "WEBOID_CRAWL_DELAY": "0"}


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_task_of_the_form_outlives_a_kill_and_a_stop_and_loads_nothing_twice(
    database: str, tmp_path: Path
) -> None:
    asked: Counter[str] = Counter()

    async def answer(request: web.BaseRequest) -> web.Response:
        asked[request.path] += request.path != "/robots.txt"
        number = int(request.path[2:] or 0) if request.path.startswith("/p") else -1
        links = [f"<a href=p{each}>t</a>" for each in range(4 * number + 1, 4 * number + 5) if each < _PAGES]
        body = f"{''.join(links)}<a href=gone{number % 3}>x</a>" if number >= 0 else "no"
        return web.Response(status=200 if number >= 0 else 404, text=body, content_type="text/html")

    runner = web.ServerRunner(web.Server(answer), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    place = Place(tmp_path, environ={"WEBOID_DATABASE": database, **_LOOPBACK})
    try:
        async with open_people(database, tmp_path, _LOOPBACK) as people:
            boss = await people.browser("Boss")
            start = f"http://127.0.0.1:{runner.addresses[0][1]}/p0"
            orders = {"starts": start, "depth": "-1"}
            form = (await boss.open("/robot/start")).form("/robot/start")
            del form["checks_external"]
            assert (await boss.send("/robot/start", form | orders)).status == 303
            counts = []
            for ends_at, number in ((1_500, signal.SIGKILL), (3_000, signal.SIGTERM), (None, signal.SIGTERM)):
                robot = await place.start("robot")
                async with asyncio.timeout(400):
                    while True:
                        (task,) = json.loads((await boss.open("/robot/tasks.json")).text)["task"]
                        if len(asked) >= ends_at if ends_at else task["state"] == "finished":
                            break
                        await asyncio.sleep(0.1)
                second = await place.start("robot") if ends_at is None else None
                if second:
                    assert second.stderr
                    async with asyncio.timeout(20):
                        assert b"another robot runs" in await second.stderr.readline()
                    second.send_signal(signal.SIGTERM)
                    await second.communicate()
                robot.send_signal(number)
                await robot.communicate()
                counts.append(asked.total() - len(asked))
            numbers = task["statistics"]
            assert task["pages"] == _PAGES
            assert numbers["queued"] == numbers["downloaded"] + numbers["hits"] == _PAGES + 3
            assert numbers["checked"] == numbers["queued"] + numbers["filtered"] + numbers["seen"]
            # What does not work is asked again by a run that goes on: it may work by now.
            twice = {path: count for path, count in asked.items() if count > 1 and "gone" not in path}
            assert len(twice) <= 20, "what was on its way when it was killed, and when it was stopped"
            print(f"asked twice: {len(twice)}; {counts}")
            lines = (await boss.open(f"/robot/{task['task']}/links.jsonl")).text.splitlines()
            assert len(lines) == 2 * _PAGES + 1, (
                "the start, a link to each other page, a broken one on each, the summary"
            )
            found = await boss.open(f"/robot/{task['task']}?lang=en")
            assert "<dd>5000</dd>" in found.text
    finally:
        await place.end()
        await runner.cleanup()

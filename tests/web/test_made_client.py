"""W-12: a client that openapi-python-client makes of the description has right types, and works."""

import asyncio
import json
import os
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Any

import pytest
from support.own_environment import programs_of
from support.webservice import DEAD, Site

pytestmark = pytest.mark.long

_USE = """
import json
import sys

from made import Client
from made.api.default import normal_post, page, page_post, url
from made.models import NormalForms, PageAll, PageAnswer, PageForm, PageFormAll, Problem, UrlsForm

with Client(base_url=sys.argv[1], httpx_args={"trust_env": False}) as client:
    got = page.sync(client=client, dbname="testwiki@wmflabs", title="Page_1", all_=PageAll.VALUE_1)
    assert isinstance(got, PageAnswer)
    form = PageForm(dbname="testwiki@wmflabs", pageid="1|2", all_=PageFormAll.VALUE_1)
    sent = page_post.sync(client=client, body=form)
    assert isinstance(sent, PageAnswer)
    normal = normal_post.sync(client=client, body=UrlsForm(urls="HTTP://Fine.DEMO:80/a/../b\\n//fine.demo"))
    assert isinstance(normal, NormalForms)
    refused = page.sync(client=client, dbname="testwiki@wmflabs", pageid="0")
    assert isinstance(refused, Problem)
    one = url.sync(client=client, dbname="testwiki@wmflabs", pageid="2", url_query="http://fine.demo/")
    assert isinstance(one, PageAnswer)
    answers = {
        "titles": [[lead.given, lead.title, lead.page] for lead in got.titles],
        "links": [[link.normal, link.kind, link.verdict, str(link.since)] for link in got.pages[0].links],
        "sent": [[each.id, len(each.links)] for each in sent.pages],
        "normal": [each.normal for each in normal.urls],
        "refused": refused.error.key,
        "one": one.pages[0].links[0].normal,
    }
print(json.dumps(answers))
"""
"""A program that uses the client against a running service, and prints the answers."""


async def run(folder: Path, *command: str | Path) -> str:
    """The output of a command that must succeed, with its errors."""
    process = await asyncio.create_subprocess_exec(*map(str, command), cwd=folder, stdout=PIPE, stderr=STDOUT)
    try:
        out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, out.decode()[-5_000:]
    return out.decode()


@pytest.mark.timeout(150)
async def test_a_client_made_of_the_description_type_checks_and_works(site: Site, tmp_path: Path) -> None:
    made = programs_of("openapi")
    # By itself it has ruff rewrite what it made, and newer ones spoil its types (PYI036).
    (tmp_path / "config.yaml").write_text("post_hooks: []\n")
    (tmp_path / "openapi.json").write_text((await site.fetch("/api/openapi.json"))[1], encoding="utf-8")
    given = ("--path", "openapi.json", "--output-path", "made", "--meta", "none", "--config", "config.yaml")
    said = await run(tmp_path, made / "openapi-python-client", "generate", *given)
    # What it leaves out are answers that have no types: feeds and files.
    assert set(re.findall(r"WARNING parsing (.*) within", said)) == {
        "GET /data/{name}",
        *(f"GET /feeds/{each}" for each in ("dead", "spam")),
    }
    (tmp_path / "use.py").write_text(_USE, encoding="utf-8")
    types = ("--python-executable", made / "python", "--cache-dir", tmp_path / "types", "--config-file", os.devnull)
    assert "no issues found" in await run(tmp_path, sys.executable, "-m", "mypy", *types, "made", "use.py")
    answers: dict[str, Any] = json.loads(await run(tmp_path, made / "python", "use.py", site.url))
    assert answers["titles"] == [["Page_1", "Page 1", 1]]
    assert [link[:3] for link in answers["links"] if link[0] == DEAD] == [[DEAD, "external", "dead"]]
    assert answers["sent"] == [[1, 9], [2, 1]]
    assert answers["normal"] == ["http://fine.demo/b", "https://fine.demo/"]
    assert (answers["refused"], answers["one"]) == ("weboid-error-page-id", "http://fine.demo/")

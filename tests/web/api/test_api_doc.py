import asyncio
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.settled import settle
from support.webservice import DEAD, Site

from weboid.core.record.reasons import Outcome, Reason
from weboid.core.url.link_kind import InterwikiLink
from weboid.web.answer import query
from weboid.wiki.source import PageLinks

_DOC = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
GIVEN = "http://fine.demo/a(b)"
SISTER = "https://sister.demo/wiki/A_b"
HTML = """
<a name="top"></a> <a href="#x">here</a> <a href="/wiki/B">own</a> <a href="https://wiki.demo/wiki/C">own, in full</a>
<a class="external" href="http://fine.demo/a(b)">as given</a>
<a class="external" href="http://fine.demo/a%28b%29">by its normal form</a>
<a class="external" href="//fine.demo/c">https</a>
<a class="extiw" href="https://sister.demo/wiki/A%20b#part" title="sister:A b#part">interwiki</a>
<a href="mailto:a@b.demo">a mail address</a> <a href="http://fine.demo/other">added by a script</a>
"""


def examples(language: str, word: str) -> list[str]:
    return [text for text in re.findall(rf"```{language}\n(.*?)```", _DOC, re.DOTALL) if word in text]


def test_every_reason_stands_in_the_row_of_its_outcome() -> None:
    for outcome in Outcome:
        (row,) = re.findall(rf"^\| (`.*) \| {outcome}[,:] .*\|$", _DOC, re.MULTILINE)
        assert set(re.findall(r"`([\w-]+)`", row)) == {reason.word for reason in Reason if reason.outcome is outcome}


async def test_the_example_in_python_finds_the_link_of_each_element(site: Site) -> None:
    links = tuple(sorted([GIVEN, "https://fine.demo/c", "mailto:a@b.demo", SISTER]))
    site.source.found[1] = PageLinks(1, 0, "Page 1", 9, None, links, (InterwikiLink(SISTER, "sister", "A b"),))
    status, body, _ = await site.fetch("/api/page?dbname=testwiki@wmflabs&pageid=1&all=1")
    assert status == 200
    (example,) = examples("python", "def match_links")
    space: dict[str, Any] = {}
    exec(compile(example, "docs/api.md", "exec"), space)
    match_links: Callable[..., list[tuple[dict[str, str], dict[str, Any] | None]]] = space["match_links"]
    shown = json.loads(body)["pages"][0]["links"]
    found = await asyncio.to_thread(match_links, HTML, shown, site.url, "testwiki@wmflabs", "wiki.demo")
    assert [(anchor["href"], None if link is None else link["given"]) for anchor, link in found] == [
        (GIVEN, [GIVEN]),
        ("http://fine.demo/a%28b%29", [GIVEN]),
        ("//fine.demo/c", ["https://fine.demo/c"]),
        ("https://sister.demo/wiki/A%20b#part", [SISTER]),
        ("mailto:a@b.demo", ["mailto:a@b.demo"]),
        ("http://fine.demo/other", None),
    ]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("command", re.findall(r"^.*\bcurl '.*", _DOC, re.MULTILINE))
async def test_the_examples_with_curl_are_answered(site: Site, command: str) -> None:
    if "/api/repair" in command:
        await settle(site)
    here = command.replace("https://…", site.url).replace("dewiki@WMF", "testwiki@wmflabs")
    process = await asyncio.create_subprocess_shell(
        f"{here} --silent --fail --noproxy '*'", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert (process.returncode, bool(out)) == (0, True), command


async def test_the_example_for_bots_has_the_dead_links_of_all_pages(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    monkeypatch.setattr(query, "MOST_LINKS", 40)
    await site.wiki.take_in(
        {page: {f"http://h{page}.demo/", f"http://fine.demo/{page}"} for page in range(2, 101)}, 100
    )
    # The page with the dead link is the last one.
    (tmp_path / "ids.txt").write_text("".join(f"{page}\n" for page in [*range(2, 101), 1]), encoding="ascii")
    (example,) = examples("sh", "curl")
    here = example.replace("https://weboid.toolforge.org", site.url).replace("dewiki@WMF", "testwiki@wmflabs")
    process = await asyncio.create_subprocess_shell(here, cwd=tmp_path, env={**os.environ, "no_proxy": "*"})
    assert await process.wait() == 0
    files = sorted(tmp_path.glob("part-*.json"), key=lambda file: int(file.stem[5:]))
    shown = [json.loads(file.read_text(encoding="ascii")) for file in files]
    assert (len(shown), shown[-1]["continue"]) == (6, None)
    pages = [page for one in shown for page in one["pages"] if page["part"] is None or page["part"]["from"] == 0]
    assert [page["id"] for page in pages] == [*range(2, 101), 1]
    links = [link for one in shown for page in one["pages"] for link in page["links"]]
    assert [link["normal"] for link in links] == [DEAD]

"""The real MediaWiki of the tests is what tests of gadgets need, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from support.mediawiki import EXTENSIONS, SKINS, MediaWiki, find_tree

pytestmark = pytest.mark.long

_WIKI = """
import sys
from support.mediawiki import make_mediawiki
with make_mediawiki() as wiki:
    wiki.start()
    print(wiki.server, wiki.folder, flush=True)
    sys.stdin.read()
"""


def _is_there(group: int) -> bool:
    """Whether a process of the group runs; one that has ended may wait for ever where nobody is its parent."""
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            state, _, own = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:3]
            if int(own) == group and state not in "ZX":
                return True
    return False


async def test_it_has_gadgets_skins_extensions_and_parsoid(mediawiki: MediaWiki) -> None:
    mediawiki.save("MediaWiki:Gadget-weboid.js", "mw.loader.getState( 'site' );")
    mediawiki.save("MediaWiki:Gadgets-definition", "* weboid[ResourceLoader|default]|weboid.js")
    question = {"action": "query", "meta": "siteinfo", "siprop": "skins|extensions", "format": "json"}
    async with aiohttp.ClientSession() as client:
        async with client.get(mediawiki.api, params=question) as response:
            told = (await response.json())["query"]
        assert {skin["code"] for skin in told["skins"]} >= {"vector", "vector-2022", "minerva", "monobook", "timeless"}
        assert len(SKINS) == 4
        assert {extension["name"] for extension in told["extensions"]} >= set(EXTENSIONS)
        for skin in ("vector", "vector-2022", "minerva", "monobook", "timeless"):
            async with client.get(f"{mediawiki.url}/wiki/Main_Page?useskin={skin}") as response:
                page = await response.text()
            assert (f"skin-{skin}" in page, "ext.gadget.weboid" in page) == (True, True), skin
        async with client.get(f"{mediawiki.rest}/v1/page/Main_Page/html") as response:
            assert "data-mw-parsoid-version" in await response.text()


@pytest.mark.parametrize("end", [signal.SIGKILL, None])
def test_it_ends_with_all_its_workers_even_if_the_run_is_killed(end: signal.Signals | None) -> None:
    try:
        find_tree()
    except LookupError as error:
        pytest.skip(str(error))
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", _WIKI], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as run:
        assert run.stdout
        group, folder = run.stdout.readline().split()
        assert _is_there(int(group))
        if end:
            run.send_signal(end)
    for _ in range(200):
        if not _is_there(int(group)) and not Path(folder).exists():
            return
        time.sleep(0.1)
    raise AssertionError("something of it is left")

"""The repair bot once on its whole way, on a real wiki, with a real archive and the real webservice."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from support.pwb import BotWiki
from support.pywb import Pywb
from support.repair_story import RepairStory, open_repair_story

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

HARBOUR = """'''Harbour''' is old.<ref>{{Cite web|url={COPIED}|title=The ferry|access-date=17 April 2017}}</ref>
It was painted.<ref>[{COPIED} The painting]</ref>
The list was lost.<ref>{{Cite web |url={LOST} |title=The list}}</ref>
Nobody may see it.<ref>{{cite web|url={BLOCKED}|title=The plan}}</ref>
Ships come.<ref>{{Cite web|url={FINE}|title=Ships}}{{dead link|date=May 2017|bot=WeboidBot|fix-attempted=yes}}</ref>
<nowiki>[{COPIED} x]</nowiki> <!-- [{COPIED} y] -->
<references/>"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def story(
    module_database: str, tmp_path_factory: pytest.TempPathFactory, bot_wiki: BotWiki, pywb: Pywb
) -> AsyncIterator[RepairStory]:
    folder = tmp_path_factory.mktemp("story")
    async with open_repair_story(module_database, folder, bot_wiki, pywb.new_archive(), {"Harbour": HARBOUR}) as story:
        yield story


async def test_story(story: RepairStory) -> None:
    import json
    print(json.dumps(await story.answer("Harbour"), indent=1))
    assert 0

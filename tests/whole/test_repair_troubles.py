"""What gets in the way of the repair bot on a real wiki: people, other edits, protection, filters, failures, kills."""

import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import pytest
from support.little_service import LittleService, link, open_little_service
from support.pwb import BOT, BotWiki, Operator, Person, PwbRun
from support.wiki_proxy import Question, WikiProxy, open_wiki_proxy
from support.wiki_templates import save_templates, settings_page

pytestmark = pytest.mark.long

WIKI = "testwiki@WMF"
URL, SPAM = "http://town.example.org/ferry.html", "http://offer.example.org/buy.html"
STAMP = "20120507093011"
CITED = f"It sails.<ref>{{{{Cite web|url={URL}|title=The ferry}}}}</ref>\n\nIt is old.\n\n<references/>"


def copy_of(url: str) -> str:
    return f"https://web.archive.org/web/{STAMP}/{url}"


@dataclass
class Bench:
    """An operator, a service that knows that links are dead, and what stands between bot and wiki."""

    bot_wiki: BotWiki
    operator: Operator
    service: LittleService
    proxy: WikiProxy
    pages: dict[str, int] = field(default_factory=dict)

    @property
    def admin(self) -> Person:
        return self.bot_wiki.admin

    def add(self, *titles: str, text: str = CITED, urls: Iterable[str] = (URL,)) -> None:
        """Saves pages of which the service knows that these links are dead, with a copy each."""
        for title in titles:
            self.admin.save(title, text)
            self.pages[title] = self.admin.page_id(title)
            self.service.pages[self.pages[title]] = [link(url, "dead", [(copy_of(url), STAMP)]) for url in urls]

    def words(self) -> list[str]:
        self.operator.environ = {"WEBOID_SERVICE": self.service.base}
        return ["weboid_repair", *(f"-page:{title}" for title in self.pages), "-always"]

    def repair(self) -> PwbRun:
        return self.operator.pwb(*self.words())

    def is_done(self, title: str) -> bool:
        """Whether the newest revision of a page is the bot's, and its link repaired."""
        return self.admin.history(title)[0]["user"] == BOT and copy_of(URL) in self.admin.text(title)

    def done(self) -> int:
        return sum(self.is_done(title) for title in self.pages)

    def is_left_reverted(self, title: str) -> bool:
        """Whether the bot leaves a page alone when its edit was undone."""
        undone = self.admin.undo(title, self.admin.revision(title), "No, it works")
        ran = self.repair()
        assert ran.status == 0, ran.out
        return self.admin.revision(title) == undone

    def at_edit(self, number: int, act: Callable[[], object]) -> None:
        """Has somebody act right before the bot's edit of this number, from 1, reaches the wiki."""

        def before(question: Question) -> None:
            if question.get("action") == "edit" and len(self.proxy.edits()) == number:
                act()

        self.proxy.before = before


@pytest.fixture(scope="module", autouse=True)
def templates(bot_wiki: BotWiki) -> None:
    save_templates(bot_wiki.admin)


@pytest.fixture
def bench(bot_wiki: BotWiki, operator: Operator) -> Iterator[Bench]:
    with (
        settings_page(bot_wiki.admin, WIKI),
        open_little_service(WIKI) as service,
        open_wiki_proxy(bot_wiki.wiki.port) as proxy,
    ):
        operator.use(proxy.domain)
        yield Bench(bot_wiki, operator, service, proxy)


def test_an_edit_conflict_is_analysed_again_once(bench: Bench) -> None:
    bench.add("Disputed")
    theirs = f"It sails daily.<ref>{{{{Cite web|url={URL}|title=The ferry}}}}</ref> Also [{URL} here]."
    bench.at_edit(1, lambda: bench.admin.save("Disputed", theirs))
    ran = bench.repair()
    assert (ran.status, len(bench.proxy.edits())) == (0, 2), ran.out
    text = bench.admin.text("Disputed")
    assert text.startswith("It sails daily.<ref>{{Cite web|")
    assert text.count(copy_of(URL)) == 2
    assert [edit["user"] for edit in bench.admin.history("Disputed")] == [BOT, "Admin", "Admin"]


def test_pages_that_are_changed_deleted_and_moved_meanwhile(bench: Bench) -> None:
    bench.add("Changed", "Gone", "Moved")

    def meanwhile(_: object) -> None:
        # The bot has read all texts before it asks for their links.
        bench.admin.save("Changed", CITED.replace("It is old.", "It is very old."))
        bench.admin.do("delete", title="Gone")
        bench.admin.do("move", **{"from": "Moved", "to": "Moved on"})

    bench.service.misdeeds = [meanwhile]
    ran = bench.repair()
    assert (ran.status, "1  deleted" in ran.out) == (0, True), ran.out
    assert bench.is_done("Changed")
    assert "It is very old." in bench.admin.text("Changed")
    assert bench.admin.history("Gone") == []
    assert bench.admin.text("Moved") == "#REDIRECT [[Moved on]]"
    assert bench.is_done("Moved on")


def test_protected_and_filtered_pages_do_not_end_the_run(bench: Bench) -> None:
    bench.add("Closed", "Free")
    sold = f"It sells.<ref>[{SPAM} An offer]</ref>\n{CITED}"
    bench.add("Bazaar", text=sold, urls=(URL, SPAM))
    bench.add("After the bazaar")
    bench.admin.protect("Closed")
    bench.bot_wiki.blacklist(r"offer\.example\.org")
    try:
        ran = bench.repair()
    finally:
        bench.bot_wiki.blacklist()
    assert ran.status == 0, ran.out
    assert bench.admin.text("Closed") == CITED
    assert bench.admin.text("Bazaar") == sold
    assert bench.is_done("Free")
    assert bench.is_done("After the bazaar")
    assert "Closed is not saved: protected" in ran.out
    assert "Bazaar is not saved: spam-blacklist" in ran.out


def test_who_kills_it_finds_no_page_edited_twice_afterwards(bench: Bench) -> None:
    bench.add(*(f"Raft {number}" for number in range(6)))
    process = bench.operator.start(*bench.words())
    bench.at_edit(4, process.kill)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert bench.done() in (3, 4)
    ran = bench.repair()
    assert (ran.status, bench.done()) == (0, 6), ran.out
    for title in bench.pages:
        assert [edit["user"] for edit in bench.admin.history(title)] == [BOT, "Admin"]
    assert bench.is_left_reverted("Raft 3")

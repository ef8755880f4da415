"""The URL that was probably meant by a failing one: one look when a streak begins, kept while it lasts (L-9)."""

from support.observations import FINE, LOST, SILENT
from support.stored import open_wiki

from weboid.core.observe.observation import Observation

WRONG, MEANT = "http://mill.demo/wheel,", "http://mill.demo/wheel"
LEFT = ["http://mill.demo/race,", "http://gone.demo/a,", "http://mill.demo/pond"]


async def test_it_is_looked_at_once_a_streak_and_kept_until_the_link_works(database: str) -> None:
    works = {100: False, 103: False, 106: True, 113: False}

    def answer(url: str, day: int) -> Observation:
        if "gone.demo" in url:
            return SILENT
        return FINE if url == MEANT or (url == WRONG and works.get(day)) else LOST

    async with open_wiki(database, {1: [WRONG, *LEFT]}) as wiki:
        looks, kept = [], []
        for day in (100, 103, 106, 113):
            await wiki.execute("UPDATE url SET due = %s", [day])
            await wiki.execute("UPDATE host SET next_day = %s", [day])
            await wiki.round(day, answer)
            looks.append(sum(url == MEANT for _, url in wiki.asked))
            # A host may refuse the one by a code, and say "not found" of the other without any.
            assert all(question.looks for question in wiki.questions if question.url == MEANT)
            kept.append((await wiki.known(WRONG)).meant)
            wiki.asked.clear()
        assert (looks, kept) == ([1, 0, 0, 1], [MEANT, MEANT, None, MEANT])
        assert [(await wiki.known(url)).meant for url in LEFT] == [None] * 3

"""How far savings have come: their states, as they are written, and the counts of a worker (A-2).

One law: what is put off waits longer each time, and is given up after `MOST_TRIES`.
"""

from dataclasses import dataclass
from typing import Final

from weboid.store.archives.saving import Saving, SavingState, record_saving
from weboid.store.db.pool import Pool

MOST_TRIES: Final = 4
DAY_S: Final = 86_400.0


@dataclass(slots=True)
class SavingTally:
    """What was done: URLs looked up, submitted, saved as the service says, shown to be saved, already in an archive,
    refused for good, put off. `why` = a stable word for why no more is sent now."""

    looked: int = 0
    sent: int = 0
    saved: int = 0
    shown: int = 0
    found: int = 0
    refused: int = 0
    put_off: int = 0
    why: str = ""


class SavingProgress:
    """Writes the states of savings, and counts them in `tally`."""

    def __init__(self, pool: Pool) -> None:
        self.tally = SavingTally()
        self._pool = pool

    async def put(
        self,
        saving: Saving,
        state: SavingState,
        job: str | None,
        *,
        next_s: float = 0,
        why: str = "",
        tries: int | None = None,
    ) -> None:
        """Writes a state with the job that goes with it; it is looked at again in so many seconds."""
        counted = saving.tries if tries is None else tries
        async with self._pool.connection() as conn:
            await record_saving(conn, saving.key, state=state, next_s=next_s, job=job, why=why, tries=counted)

    async def refuse(self, saving: Saving, why: str) -> None:
        """Gives a URL up for good."""
        self.tally.refused += 1
        await self.put(saving, SavingState.REFUSED, None, why=why)

    async def put_off(self, saving: Saving, why: str) -> None:
        """Puts a URL off, longer each time, and gives it up after some."""
        tries = saving.tries + 1
        if tries >= MOST_TRIES:
            await self.refuse(saving, why)
            return
        self.tally.put_off += 1
        await self.put(saving, SavingState.WAITING, None, next_s=DAY_S * 2**tries, why=why, tries=tries)

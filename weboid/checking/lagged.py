"""No verdict from a check that ended while our own event loop lagged: what came too late, we may have read too late.

One law: an answer stays what it is, however late we were; only a failure by time is not concluded from.
"""

from time import monotonic
from typing import Final

from weboid.checking.checker import Checker
from weboid.checking.turns import NotAsked, Turns
from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.mechanism.loop_lag import LATE_S, LoopLag
from weboid.net.outbound import Outbound

BY_TIME: Final = frozenset({Reason.DNS_ERROR, Reason.RESET, Reason.TIMEOUT})
"""What a server, a name server or our own clock does to somebody who is too slow; 408 is a timeout, too."""
BEFORE_END_S: Final = 10.0
"""A lag in the last so many seconds of a check may have caused its failure; an earlier one was followed by others
(D-93)."""


class LaggedChecker(Checker):
    """A checker whose rounds know how late the loop is. Where time is simulated, its lag says nothing."""

    def __init__(self, session: Outbound, turns: Turns, config: CrawlConfig, lag: LoopLag) -> None:
        super().__init__(session, turns, config)
        self._lag = lag if session.now is monotonic else None

    async def ask(self, question: CheckRequest) -> Observation:
        """The observation alone, for rounds; raises NotAsked as well if a failure may be due to our own slowness."""
        begun = monotonic()
        seen = (await self.check(question)).seen
        if self._lag is not None and seen.reason in BY_TIME:
            late_s = self._lag.worst_since(max(begun, monotonic() - BEFORE_END_S))
            if late_s > LATE_S:
                raise NotAsked(f"{question.url}: {seen.reason.word} while this program was {late_s:.1f} s late")
        return seen

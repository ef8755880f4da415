"""One look at the URL that was probably meant by a failing one (L-9)."""

from collections.abc import Awaitable, Callable

from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.probably_meant import probably_meant
from weboid.core.url.urls import Url


async def find_meant(
    url: Url, check: Callable[[CheckRequest], Awaitable[Observation | None]], request: CheckRequest
) -> str | None:
    """The URL that was probably meant, if there is one in the same registrable domain and it works.

    `request` is that of the failing URL; what is known of its host serves the other one if it is on the same.
    """
    meant = probably_meant(str(url))
    if meant is None or registrable_domain(meant.url.host) != registrable_domain(url.host):
        return None
    needs = request.needs if meant.url.host == url.host else frozenset()
    found = await check(CheckRequest(str(meant.url), needs, asks_again=False, day=request.day))
    return str(meant.url) if found and found.outcome is Outcome.WORKING else None

"""One look at the URL that was probably meant by a failing one (L-9)."""

from collections.abc import Awaitable, Callable

from weboid.core.document.face import NO_FACE
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

    `request` is that of the failing URL; what is known of its host serves the other one if it is on the same. The
    document is examined: a host may refuse the one by a code and say "not found" of the other without any.
    """
    meant = probably_meant(str(url))
    if meant is None or registrable_domain(meant.url.host) != registrable_domain(url.host):
        return None
    needs, face = (request.needs, request.face) if meant.url.host == url.host else (frozenset(), NO_FACE)
    found = await check(CheckRequest(str(meant.url), needs, looks=True, asks_again=False, face=face, day=request.day))
    return str(meant.url) if found and found.outcome is Outcome.WORKING else None

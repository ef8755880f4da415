"""The check under the other scheme, http or https (status 63, C-6): its URL, when to try it, and what a success means.

A URL that works under the other scheme counts as reachable, whatever is wrong under its own; it has only one record.
"""

from typing import Final

from msgspec.structs import replace

from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status
from weboid.core.url.urls import Url

BAD_CERTIFICATES: Final = frozenset(
    {
        Reason.CERTIFICATE_EXPIRED,
        Reason.CERTIFICATE_WRONG_HOST,
        Reason.CERTIFICATE_SELF_SIGNED,
        Reason.CERTIFICATE_UNKNOWN_ISSUER,
    }
)
_AT_ONCE: Final = BAD_CERTIFICATES | {Reason.CONNECTION_REFUSED, Reason.TLS, Reason.RESET, Reason.PROTOCOL}
"""Faults of a port rather than of a host: after them the other scheme's port is always tried."""
_POINTLESS: Final = frozenset({Reason.DNS_GONE, Reason.DNS_ERROR})
_REASONS: Final = {Special.NEEDS_HTTP: Reason.NEEDS_HTTP, Special.NEEDS_HTTPS: Reason.NEEDS_HTTPS}


def switched(url: Url, ports: tuple[int, int]) -> Url | None:
    """The URL under the other scheme; None unless it has its scheme's port. `ports` are those of http and https."""
    http, https = ports
    match url.scheme, url.port:
        case "http", port if (port or 80) == http:
            return url._replace(scheme="https", port=0 if https == 443 else https)
        case "https", port if (port or 443) == https:
            return url._replace(scheme="http", port=0 if http == 80 else http)
    return None


def switch_of(url: Url) -> Special:
    """The special of a host on which the URL works under the other scheme only."""
    return Special.NEEDS_HTTPS if url.scheme == "http" else Special.NEEDS_HTTP


def calls_for_switch(seen: Observation, *, thorough: bool) -> bool:
    """True if the URL should be checked under the other scheme, too."""
    if seen.inferred or seen.reason in _POINTLESS:
        return False
    is_of_port = seen.reason in _AT_ONCE or (seen.reason is Reason.BOT_WALL and not seen.http)
    return is_of_port or (thorough and seen.outcome is Outcome.FAILING)


def lives(there: Observation) -> bool:
    """True if an answer under the other scheme, or a refusal, shows that a host with a silent port is alive."""
    return there.outcome is not Outcome.FAILING and (bool(there.http) or there.outcome is Outcome.REFUSED)


def as_switched(
    here: Observation | None, there: Observation, need: Special, warned: Reason | None = None
) -> Observation:
    """The observation of a URL that works under the other scheme. A bad certificate under its own remains a doubt.

    `here` is None if its own scheme was not tried; then the certificate is as the newest check found it (`warned`)
    (D-17).
    """
    own = here.reason if here else warned
    reason = own if own in BAD_CERTIFICATES else _REASONS[need]
    found = there.needs | ({need} if here else frozenset())
    return replace(there, status=Status.SCHEME_SWITCHED, reason=reason, needs=found)

"""Hosts that come back after their name or they themselves were gone: a stranger may answer for them now (C-11).

What a stranger's page is told by belongs to ``core/document``.
One law: nothing that was known of a host's face before its return is believed after it.
"""

from typing import Final

from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT, Policy, proven
from weboid.core.record.reasons import Reason
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.record.specials import Sights, Special
from weboid.core.verdict.judge import is_host_failure

_NAMES: Final = frozenset({Reason.DNS_GONE, Reason.DNS_ERROR})


def is_away(host: HostRecord, policy: Policy = DEFAULT) -> bool:
    """Whether somebody else may be the next to answer for a host: its name does not resolve, or it is proven dead."""
    return host.reason in _NAMES or proven(host.streak, policy)


def has_returned(host: HostRecord, seen: Observation, policy: Policy = DEFAULT) -> bool:
    """Whether a check shows that a host is back that was away before: it answers, or its name resolves again (D-83)."""
    if seen.inferred or seen.held or seen.not_http or not is_away(host, policy):
        return False
    return not is_host_failure(seen) or (host.reason in _NAMES and seen.reason not in _NAMES)


def is_since_return(record: UrlRecord, sights: Sights) -> bool:
    """Whether a URL has not been checked since its host came back."""
    sight = sights.get(Special.RETURNED)
    return sight is not None and record.checked is not None and record.checked < sight.until

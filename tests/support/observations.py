"""What checks commonly find, as observations, for tests of what follows from them."""

from typing import Final

from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status

FINE: Final = Observation(Status.FINE, Reason.OK)
LOST: Final = Observation(Status.NOT_FOUND, Reason.NOT_FOUND)
GONE: Final = Observation(Status.GONE, Reason.GONE)
WALL: Final = Observation(Status.NO_ACCESS, Reason.FORBIDDEN)
LIMITED: Final = Observation(Status.TOO_MANY_REQUESTS, Reason.RATE_LIMIT)
SILENT: Final = Observation(Status.NETWORK, Reason.TIMEOUT)
SILENT_BY_HEARSAY: Final = Observation(Status.NETWORK, Reason.TIMEOUT, inferred=True)
HELD: Final = Observation(Status.NETWORK, Reason.TIMEOUT, held=True)
BROKEN: Final = Observation(Status.SYNTAX_OR_SERVER_ERROR, Reason.SERVER_ERROR)
UNAVAILABLE: Final = Observation(Status.UNAVAILABLE, Reason.UNAVAILABLE)
NO_NAME: Final = Observation(Status.DNS_GONE, Reason.DNS_GONE)

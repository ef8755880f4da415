"""The keys with which the Wayback Machine saves for an account: where they are configured, and how they are sent (A-2).

It is read without a client for the network, since ``weboid up``, which sends no request itself, needs it.
"""

import re
from typing import Final
from urllib.parse import urlsplit

from weboid.config import Config
from weboid.core.archive.services import ArchiveService
from weboid.errors import ConfigError

_SERVICE: Final = "wayback"


def require_save_keys(config: Config) -> None:
    """Raises ConfigError if there are keys for saving that cannot be used: to be called before anything is begun."""
    if service := saves_at(config):
        save_headers(service, config.archive.save_key, config.archive.save_secret)


def saves_at(config: Config) -> ArchiveService | None:
    """The service that saves; None without keys, or if it is not among those that are asked."""
    archive = config.archive
    if not (archive.save_key or archive.save_secret):
        return None
    return next((service for service in archive.services if service.name == _SERVICE), None)


def save_headers(service: ArchiveService, key: str, secret: str) -> dict[str, str]:
    """The headers of requests for saving. Raises ConfigError, whose text shows no key."""
    for name, value in (("KEY", key), ("SECRET", secret)):
        if not re.fullmatch(r"[!-9;-~]{1,200}", value):
            raise ConfigError(
                f"WEBOID_ARCHIVE_SAVE_{name} is missing or no key: take both from archive.org/account/s3.php"
            )
    parts = urlsplit(service.base)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise ConfigError(f"the base of {service.name} is not https: the keys for saving would travel unencrypted")
    return {"Authorization": f"LOW {key}:{secret}", "Accept": "application/json"}

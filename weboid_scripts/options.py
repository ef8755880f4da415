"""What all scripts take from the command line and the environment: service, farm, token, settings file (B).

The token comes from the environment alone, as command lines are seen by others.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pywikibot.comms.http import user_agent

from weboid.errors import WeboidError
from weboid_scripts.client import WeboidClient

SERVICE: Final = "https://weboid.toolforge.org"
FARM: Final = "WMF"
SETTINGS_PAGE: Final = "MediaWiki:Weboid.json"
_SERVICE_VARIABLE: Final = "WEBOID_SERVICE"
_TOKEN_VARIABLE: Final = "WEBOID_TOKEN"


class OptionRefused(WeboidError):
    """An option that cannot be used; the text says how to write it."""


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """`settings_file` replaces the wiki's settings page; `token` is never shown."""

    service: str = SERVICE
    farm: str = FARM
    settings_file: Path | None = None
    token: str | None = field(default=None, repr=False)

    def dbname(self, site: Any) -> str:
        """The name of a wiki of pywikibot's, such as ``dewiki@WMF``."""
        return f"{site.dbName()}@{self.farm}"

    def client(self, site: Any) -> WeboidClient:
        """The service, asked under the name of the wiki's account. Raises WeboidError."""
        return WeboidClient(self.service, user_agent=user_agent(site), token=self.token)


def read_common(arguments: Iterable[str]) -> tuple[CommonOptions, list[str]]:
    """The common options, and the arguments that are none of them. Raises OptionRefused."""
    given: dict[str, str] = {}
    others = []
    for argument in arguments:
        name, _, value = argument.partition(":")
        if name not in ("-service", "-farm", "-settings"):
            others.append(argument)
            continue
        if not value:
            raise OptionRefused(f"{name} needs a value: write {name}:VALUE.")
        if name in given:
            raise OptionRefused(f"{name} is given twice. Give it once.")
        given[name] = value
    file = Path(given["-settings"]) if "-settings" in given else None
    if file is not None and not file.is_file():
        raise OptionRefused(f"-settings: there is no file {file}. Name a file such as wikis/dewiki.json.")
    service = given.get("-service") or os.environ.get(_SERVICE_VARIABLE) or SERVICE
    return CommonOptions(service, given.get("-farm", FARM), file, os.environ.get(_TOKEN_VARIABLE) or None), others

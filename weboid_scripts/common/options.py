"""Options of all scripts from the command line and the environment: service, farm, token, settings file (B).

The token comes from the environment alone, as command lines are seen by others.
"""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pywikibot.comms.http import user_agent
from pywikibot.exceptions import Error, InvalidTitleError
from requests.exceptions import RequestException

from weboid.errors import WeboidError
from weboid_scripts.client import WeboidClient
from weboid_scripts.common.wiki_query import brief

SERVICE: Final = "https://weboid.toolforge.org"
FARM: Final = "WMF"
SETTINGS_PAGE: Final = "MediaWiki:Weboid.json"
_SERVICE_VARIABLE: Final = "WEBOID_SERVICE"
_TOKEN_VARIABLE: Final = "WEBOID_TOKEN"
_MOST_RATE: Final = 600.0
_NO_TITLE: Final = frozenset("[]{}|<>#\n")


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


def is_generator(factory: Any, argument: str) -> bool:
    """True if pywikibot's generators and filters take an argument. Raises OptionRefused."""
    try:
        return bool(factory.handle_arg(argument))
    except (Error, ValueError, TypeError, KeyError, OSError) as error:
        raise OptionRefused(f"{argument} cannot be used: {error}") from None


def rate_of(given: str | None) -> float:
    """The value of -rate in edits a minute, 0 for none. Raises OptionRefused."""
    if given is None:
        return 0.0
    try:
        rate = float(given)
    except ValueError:
        rate = math.nan
    if not 0 < rate <= _MOST_RATE:
        raise OptionRefused(f"-rate:{given} is no number of edits a minute. Write one such as -rate:6.")
    return rate


def title_of(option: str, given: str | None) -> str | None:
    """The value of an option that names a page. Raises OptionRefused."""
    if given is not None and (not given.strip() or not _NO_TITLE.isdisjoint(given)):
        raise OptionRefused(f"{option}:{given} is no title of a page. Write one such as {option}:User:WeboidBot/Run.")
    return given


def chosen_pages(choose: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """The pages of pywikibot's generators and filters, which find what is wrong with their options while they work.

    Raises OptionRefused, and what the wiki raises.
    """
    try:
        yield from choose()
    except (RequestException, ConnectionError):
        raise
    except (InvalidTitleError, KeyError, OSError, ValueError, re.error) as error:
        raise OptionRefused(
            f"The pages cannot be chosen: {brief(error)}. Correct the option that names them, or a filter."
        ) from None

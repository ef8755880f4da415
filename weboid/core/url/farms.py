"""Farms and wiki names: who runs a wiki, which domains are the farm's own (P-1, P-11), where a wiki's API is.

This module validates the farms that an installation adds; ``weboid/config`` reads them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from weboid.assets import toml_next_to
from weboid.core.url.hosts import InvalidUrl, host_form
from weboid.errors import ConfigError

MAX_CODE: Final = 32_767  # a PostgreSQL smallint

_DBNAME: Final = re.compile(r"[a-z0-9_-]{1,64}")
_FARM_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_API: Final = re.compile(r"https?://[^\s]+")
_FIELDS: Final = frozenset({"dbname", "lang", "project"})


@dataclass(frozen=True, eq=False)
class Farm:
    """Wikis of one operator. `domains` are its own, each with all subdomains.

    `api` is the template for the URL of a wiki's ``api.php``, with ``{dbname}``, or ``{lang}`` and ``{project}``
    (``dewiki`` = de, wikipedia). `hosts` holds the hosts of wikis that do not follow from their name. `spam_wiki` is
    the wiki with the spam list of the whole farm (L-3), empty = there is none. A farm is equal to itself alone:
    to hash its fields takes longer than what is looked up by it. Raises ConfigError.
    """

    code: int
    name: str
    api: str
    domains: frozenset[str]
    hosts: Mapping[str, str] = field(default_factory=dict)
    spam_wiki: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.code <= MAX_CODE:
            raise ConfigError(f"farm {self.name!r}: the code must be a number from 0 to {MAX_CODE}, not {self.code}")
        if not _FARM_NAME.fullmatch(self.name):
            raise ConfigError(f"farm {self.code}: the name must be letters, digits, - and _, not {self.name!r}")
        if not _API.fullmatch(self.api) or not _FIELDS.issuperset(re.findall(r"\{(.*?)\}", self.api)):
            raise ConfigError(f"farm {self.name}: api must be a URL, perhaps with {{dbname}}, {{lang}}, {{project}}")
        for domain in self.domains:
            if not _is_normal(domain):
                raise ConfigError(f"farm {self.name}: {domain!r} is not a domain such as 'openstreetmap.org'")


class WikiName(NamedTuple):
    """A wiki by its database name and farm, written ``dewiki@WMF`` (P-1)."""

    dbname: str
    farm: str

    def __str__(self) -> str:
        return f"{self.dbname}@{self.farm}"


def parse_wiki_name(text: str) -> WikiName:
    """The wiki that ``dewiki`` or ``dewiki@WMF`` names; the farm defaults to WMF (P-1). Raises ConfigError."""
    dbname, at, farm = text.partition("@")
    if not _DBNAME.fullmatch(dbname):
        raise ConfigError(f"{text[:100]!r} does not name a wiki: write its database name, such as dewiki or dewiki@WMF")
    if at and not _FARM_NAME.fullmatch(farm):
        raise ConfigError(f"{text[:100]!r} does not name a wiki: after the @ comes the name of its farm, such as WMF")
    return WikiName(dbname, farm or WMF.name)


def owns(farm: Farm, host: str) -> bool:
    """True if a host in normal form is one of the farm's own domains or a subdomain of one (P-11)."""
    while host:
        if host in farm.domains:
            return True
        host = host.partition(".")[2]
    return False


def farm_named(name: str, farms: Iterable[Farm]) -> Farm:
    """The farm of that name; raises ConfigError if there is none."""
    known = {farm.name: farm for farm in farms}
    if name not in known:
        raise ConfigError(f"there is no farm {name[:100]!r}: known are {', '.join(sorted(known))}; add it as [farm.…]")
    return known[name]


def api_url(farm: Farm, dbname: str) -> str:
    """The URL of a wiki's Action API."""
    parts = _WMF_DBNAME.fullmatch(dbname)
    lang, project = language_of(dbname), _PROJECTS.get(parts[2], parts[2]) if parts else "wikipedia"
    url = farm.api.replace("{dbname}", dbname).replace("{lang}", lang).replace("{project}", project)
    if host := farm.hosts.get(dbname):
        return re.sub(r"(?<=://)[^/]+", host, url, count=1)
    return url


def language_of(dbname: str) -> str:
    """The code in front of a project's name, which is the language of most Wikimedia wikis; another name itself."""
    parts = _WMF_DBNAME.fullmatch(dbname)
    return parts[1].replace("_", "-") if parts else dbname


def _is_normal(domain: str) -> bool:
    try:
        return host_form(domain) == domain
    except InvalidUrl:
        return False


_PROJECTS: Final = {"wiki": "wikipedia"}
_WMF_DBNAME: Final = re.compile(
    r"(.+?)(wiki|wikibooks|wikimedia|wikinews|wikiquote|wikisource|wikiversity|wikivoyage|wiktionary)"
)
BUILT_IN: Final = tuple(Farm(**{**row, "domains": frozenset(row["domains"])}) for row in toml_next_to(__file__)["farm"])
WMFLABS, WMF = BUILT_IN

"""The configuration: frozen values from `weboid.toml`; a variable ``WEBOID_SECTION_KEY`` overrides the file.

Apart from ``cli`` this is the only place that reads the environment.
One law: an unknown key or an unusable value is an error that names it; nothing is guessed.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Final

from weboid import __version__
from weboid.core.archive.configured import KEYS, NAMES, configured
from weboid.core.archive.services import ArchiveService
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.farms import BUILT_IN, Farm, WikiName, farm_named, parse_wiki_name
from weboid.errors import ConfigError

PROJECT_URL: Final = "https://weboid.toolforge.org/"

SOURCES: Final = ("api", "replica")
"""How a wiki's pages can be read (L-2)."""

MOST_WORKERS: Final = 64
"""Processes of one webservice: more is a typing error, or should be several machines."""

SETTINGS_TITLE: Final = "MediaWiki:Weboid.json"
"""The page of a wiki that has its settings (B-1). Only few may edit it."""

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class NetConfig:
    """Outgoing connections (C-1, C-2, C-13). Limits apply to one request unless stated otherwise.

    `dns` names servers like ``127.0.0.1:5300``, none = the system's. `deny` overrides `permit`, which allows networks
    in addition to the public ones. `ca` is a file of authorities trusted in addition to the system's.
    """

    dns: tuple[str, ...] = ()
    deny: tuple[Network, ...] = ()
    permit: tuple[Network, ...] = ()
    ca: Path | None = None
    connections: int = 1000
    answer_s: float = 60.0
    connect_s: float = 20.0
    body_bytes: int = 65_536
    """Bytes that are kept of the beginning of a body, decompressed."""
    text_bytes: int = 524_288
    """Bytes of an HTML document, decompressed, that are read at most to find some text; 0 = no more than the others."""
    header_bytes: int = 32_768
    redirects: int = 10
    web_ports: tuple[int, int] = (80, 443)
    """The ports of http and https, between which a check may switch (63); others only for a simulated web."""
    user_agent: str = ""
    """Empty in the file = built from name, version, project URL and contact."""
    sender: str = ""
    """The mail address for the header ``From``; empty = none is sent."""


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """The rounds (C-3). `delay` is the pause in seconds between two requests to one host."""

    delay: float = 1.0
    per_host: int = 60
    """Due URLs of one host per visit, at most."""
    batch: int = 500
    """Checks written in one transaction, at most."""
    lease_s: float = 30.0
    strict: bool = False
    """Whether robots.txt may forbid even the check whether a cited URL exists (C-15)."""
    stop: tuple[str, ...] = ()
    """Hosts that are never contacted, with all subdomains (C-17)."""
    stop_file: Path | None = None
    """A file with more of them, one per line, read again whenever it changes."""
    canaries: tuple[str, ...] = ()
    """URLs that always answer unless our own connection is down (C-16); empty = some that worked before."""
    vantage: str = ""
    """A command that checks a URL from another network before it is called dead, such as
    ``ssh other weboid check --json -`` (C-14)."""


@dataclass(frozen=True, slots=True)
class FeedConfig:
    """How pages get into the store (P-5, P-6)."""

    period_days: int = 7
    """Days from the start of one pass over a wiki to the next; after a longer pass the next begins at once."""
    untouched_days: int = 90
    """Days for which a page that no longer matches a criterion is kept."""
    streams: str = "https://stream.wikimedia.org/v2/stream"
    """Where the events come from."""


@dataclass(frozen=True, slots=True)
class ReplicaConfig:
    """The wiki replicas (L-2, O-2). `hosts` is a pattern of their names, empty = Toolforge's.

    User and password come from `credentials`, a ``replica.my.cnf``, or from the environment: ``TOOL_REPLICA_USER`` and
    ``TOOL_REPLICA_PASSWORD``, which Toolforge sets.
    """

    hosts: str = ""
    cluster: str = "analytics"
    """``web`` kills queries after 300 s, ``analytics`` after three hours."""
    credentials: Path | None = None
    user: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class WebConfig:
    """The webservice. `host` is the address to listen on, `url` its public URL; empty = the same as `host`."""

    host: str = "127.0.0.1"
    port: int = 8000
    url: str = ""
    secret: str = field(default="", repr=False)
    """Encrypts session cookies; must be the same for all web processes. Empty = a new one at each start."""
    proxies: tuple[Network, ...] = ()
    """Networks whose ``X-Forwarded-For`` is trusted (W-9)."""
    tokens: tuple[str, ...] = field(default=(), repr=False)
    """Trusted clients (W-9), each ``name:SHA-256 of the token in hex``."""
    rate: int = 1_200
    """What a range of IP addresses may spend per minute, in units of cost (``web/http/limits``); 0 = no limit."""
    burst: int = 2_400
    """What it may spend at once."""
    workers: int = 1
    """Processes that answer (``weboid serve``)."""

    def __post_init__(self) -> None:
        if not 1 <= self.workers <= MOST_WORKERS:
            raise ValueError(f"workers: it must be 1 … {MOST_WORKERS}, about one for each processor")


@dataclass(frozen=True, slots=True)
class PeopleConfig:
    """Who may report and suggest (H, A-4), by MediaWiki's OAuth 2. `client` empty = nobody can sign in."""

    provider: str = "https://meta.wikimedia.org/w/rest.php/oauth2"
    api: str = ""
    """The Action API of the provider's wiki, which is asked within the hour whether somebody who acts is blocked there
    by now; empty = the one beside its OAuth (``…/api.php`` for ``…/rest.php/oauth2``)."""
    client: str = ""
    client_secret: str = field(default="", repr=False)
    administrators: tuple[str, ...] = ()
    """OAuth subjects (``sub``); `/account` shows people their own."""
    edits: int = 50
    """People with fewer edits cannot report or suggest."""
    daily: int = 3_000
    """Reports and suggestions per day of all people together (H-2)."""


@dataclass(frozen=True, slots=True)
class ArchiveConfig:
    """Web archives (A-1 … A-4). `services` are those that are asked, in order, with the values of their own tables such
    as ``[archive.wayback]`` (or ``WEBOID_ARCHIVE_WAYBACK_BASE``, …; keys in ``core/archive/configured``).

    Without `save_key` and `save_secret`, which archive.org gives to accounts, nothing is saved; they come from the
    environment only: ``WEBOID_ARCHIVE_SAVE_KEY`` and ``WEBOID_ARCHIVE_SAVE_SECRET``.
    """

    services: tuple[ArchiveService, ...] = configured((), {})
    save_key: str = field(default="", repr=False)
    save_secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class WikiConfig:
    """One wiki to watch. `api` empty = derived from its farm (P-1).

    `source` is how its pages are read: ``api`` or ``replica``. `matching` and `without` select the pages (P-4): they
    are kept as written, and ``wiki/criteria`` interprets them. `settings` is the title of the wiki's settings page
    (B-1), empty = it is not read.
    """

    name: WikiName
    api: str = ""
    source: str = "api"
    settings: str = SETTINGS_TITLE
    matching: Mapping[str, Any] = field(default_factory=dict)
    without: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueError(f"source: {self.source!r} must be {' or '.join(SOURCES)}")
        if not isinstance(self.without, dict) or not isinstance(self.api, str):
            raise ValueError("api must be a text, and without a table")
        if not isinstance(self.settings, str) or set(self.settings) & set("|#<>[]{}\n"):
            raise ValueError("settings must be the title of a page, or empty")


@dataclass(frozen=True, slots=True)
class Config:
    """Everything an operator can set. `database` empty = the embedded PostgreSQL in `data`."""

    data: Path
    database: str = ""
    contact: str = ""
    net: NetConfig = NetConfig()
    crawl: CrawlConfig = CrawlConfig()
    feed: FeedConfig = FeedConfig()
    replica: ReplicaConfig = ReplicaConfig()
    web: WebConfig = WebConfig()
    people: PeopleConfig = PeopleConfig()
    archive: ArchiveConfig = ArchiveConfig()
    policy: Policy = DEFAULT
    farms: tuple[Farm, ...] = BUILT_IN
    wikis: tuple[WikiConfig, ...] = ()


def load_config(
    file: Path | None, environ: Mapping[str, str] | None = None, *, data: Path | None = None, contact: str = ""
) -> Config:
    """The configuration by a file (or none) and the environment; `data` overrides both. Raises ConfigError.

    `contact` holds where neither of them has one.
    """
    environ = os.environ if environ is None else environ
    given = _toml(file)
    known = {"database", "data", "contact", *_SECTIONS, "archive", "farm", "wiki"}
    if unknown := given.keys() - known:
        raise ConfigError(f"{file}: unknown key {min(unknown)!r}; known are {', '.join(sorted(known))}")
    farms = (*BUILT_IN, *_farms(_table(given, "farm")))
    top = {name: environ.get(f"WEBOID_{name.upper()}") or given.get(name, "") for name in ("database", "contact")}
    contact = _text(top["contact"] or contact)
    if not contact.isprintable():
        raise ConfigError("contact: it goes into a header, so it must be printable and on one line")
    folder = data or environ.get("WEBOID_DATA") or given.get("data")
    sections = {name: _section(kind, name, _table(given, name), environ) for name, kind in _SECTIONS.items()}
    given_by_toolforge = {key: environ.get(f"TOOL_REPLICA_{key.upper()}") for key in ("user", "password")}
    replica = sections["replica"]
    sections["replica"] = replace(replica, **{key: value for key, value in given_by_toolforge.items() if value})
    if not sections["net"].user_agent:
        sections["net"] = replace(sections["net"], user_agent=_user_agent(contact, sections["web"].url))
    return Config(
        data=_path(str(folder)) if folder else _default_data(environ),
        database=_text(top["database"]),
        contact=contact,
        archive=_archive(_table(given, "archive"), environ),
        farms=farms,
        wikis=_wikis(_table(given, "wiki"), farms),
        **sections,
    )


def _user_agent(contact: str, url: str) -> str:
    """The User-Agent: our name, the URL of an explanation, and the contact (C-2, C-17)."""
    return f"Weboid/{__version__} (+{(url or PROJECT_URL).rstrip('/')}/bot{'; ' if contact else ''}{contact})"


def _toml(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read the configuration {file}: {error}") from None


def _table(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if not isinstance(table := given.get(name, {}), dict):
        raise ConfigError(f"{name}: this must be a table, [{name}]")
    return table


def _default_data(environ: Mapping[str, str]) -> Path:
    """``/var/lib/weboid`` for root, since PostgreSQL must run as another user then, else ``~/.local/share/weboid``."""
    if os.geteuid() == 0:
        return Path("/var/lib/weboid")
    return Path(environ.get("HOME") or Path.home()) / ".local" / "share" / "weboid"


def _section(kind: type[Any], section: str, given: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
    """One frozen section: each key from the environment, else from the table, else its default in the class."""
    names = {field.name for field in fields(kind)}
    if unknown := given.keys() - names:
        raise ConfigError(f"[{section}]: unknown key {min(unknown)!r}; known are {', '.join(sorted(names))}")
    values = {}
    for known in fields(kind):
        variable = f"WEBOID_{section}_{known.name}".upper()
        if (value := environ.get(variable)) is None and (value := given.get(known.name)) is None:
            continue
        try:
            values[known.name] = _CONVERTERS[known.type](value)
        except (ValueError, TypeError) as error:
            # A field without repr is secret, and the error would show its value.
            reason = str(error) if known.repr else "this cannot be used"
            raise ConfigError(f"[{section}] {known.name} (or {variable}): {reason}") from None
    try:
        return kind(**values)
    except ValueError as error:
        raise ConfigError(f"[{section}]: {error}") from None


def _archive(given: Mapping[str, Any], environ: Mapping[str, str]) -> ArchiveConfig:
    """The section ``[archive]`` with the tables of services, each key from its variable first."""
    tables: dict[str, dict[str, Any]] = {name: dict(table) for name, table in given.items() if isinstance(table, dict)}
    own = ("services", "save_key", "save_secret")
    if written := given.keys() & {"save_key", "save_secret"}:
        variable = _variable(min(written))
        raise ConfigError(f"[archive] {min(written)}: keys are not kept in files; set {variable} in the environment")
    if unknown := given.keys() - tables.keys() - set(own):
        raise ConfigError(f"[archive]: unknown key {min(unknown)!r}; known are services and tables of services")
    known = {_variable(key): ("", key) for key in own} | {
        _variable(f"{name}_{key}"): (name, key) for name in NAMES for key in KEYS
    }
    top: dict[str, Any] = {key: value for key, value in given.items() if key in own}
    for variable in sorted(name for name in environ if name.startswith(_variable(""))):
        if variable not in known:
            raise ConfigError(f"{variable}: there is no such archive service or key; known are {', '.join(NAMES)}")
        name, key = known[variable]
        (tables.setdefault(name, {}) if name else top)[key] = environ[variable]
    try:
        services = configured(_list(top.pop("services", ())), tables)
        return ArchiveConfig(services, **{key: _text(value) for key, value in top.items()})
    except (TypeError, ValueError) as error:
        reason = "this cannot be used" if isinstance(error, TypeError) else error
        raise ConfigError(f"[archive] {reason}") from None


def _variable(key: str) -> str:
    return f"WEBOID_ARCHIVE_{key}".upper().replace("-", "_").replace(".", "_")


def _farms(tables: Mapping[str, Any]) -> list[Farm]:
    """The farms of the tables ``[farm.OSM]`` with code, api and domains, and perhaps spam_wiki."""
    farms = []
    for name, given in tables.items():
        try:
            farm = Farm(int(given["code"]), name, _text(given["api"]), frozenset(given["domains"]))
            farms.append(replace(farm, spam_wiki=_text(given.get("spam_wiki", ""))))
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"[farm.{name}]: it needs code, api and domains ({error})") from None
    codes = [farm.code for farm in (*BUILT_IN, *farms)]
    if len(codes) != len(set(codes)):
        raise ConfigError("two farms have one code; 0 and 1 are taken by wmflabs and WMF")
    return farms


def _wikis(tables: Mapping[str, Any], farms: tuple[Farm, ...]) -> tuple[WikiConfig, ...]:
    """The wikis of the tables ``[wiki."dewiki@WMF"]``: api, source, settings, without and criteria, all optional."""
    wikis = []
    for text, given in tables.items():
        name = parse_wiki_name(text)
        farm_named(name.farm, farms)
        try:
            own = {key: given[key] for key in ("api", "source", "without", "settings") if key in given}
            matching = {key: value for key, value in given.items() if key not in own}
            wikis.append(WikiConfig(name, matching=matching, **own))
        except (AttributeError, TypeError, ValueError) as error:
            raise ConfigError(f"[wiki.{text}]: {error}") from None
    return tuple(wikis)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} must be a text")
    return value


def _path(value: Any) -> Path:
    return Path(_text(value)).expanduser()


def _number(value: Any) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e9:
        raise ValueError(f"{value!r} must be a number, zero or more")
    return number


def _whole(value: Any) -> int:
    try:
        number = int(value) if isinstance(value, str | int) else -1
    except ValueError:
        number = -1
    if not 0 <= number < 2**31:
        raise ValueError(f"{value!r} must be a whole number, zero or more")
    return number


def _yes(value: Any) -> bool:
    match value:
        case bool():
            return value
        case str() if value.lower() in ("1", "true", "yes", "on"):
            return True
        case str() if value.lower() in ("", "0", "false", "no", "off"):
            return False
    raise ValueError(f"{value!r} must be true or false")


def _ports(value: Any) -> tuple[int, int]:
    http, https = (_whole(part) for part in _list([str(part) for part in value] if isinstance(value, list) else value))
    return http, https


def _list(value: Any) -> tuple[str, ...]:
    """The texts of a list, or of a text separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(_text(part).strip() for part in parts if _text(part).strip())


def _networks(value: Any) -> tuple[Network, ...]:
    return tuple(ip_network(part) for part in _list(value))


_CONVERTERS: Final[dict[Any, Callable[[Any], Any]]] = {
    str: _text,
    int: _whole,
    float: _number,
    Path | None: _path,
    bool: _yes,
    tuple[int, int]: _ports,
    tuple[str, ...]: _list,
    tuple[Network, ...]: _networks,
}
_SECTIONS: Final = {
    "net": NetConfig,
    "crawl": CrawlConfig,
    "feed": FeedConfig,
    "replica": ReplicaConfig,
    "web": WebConfig,
    "people": PeopleConfig,
    "policy": Policy,
}

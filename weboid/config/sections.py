"""The settings of an operator: frozen sections of values, each with its unit and its default.

The bounds of a value are those of its type (``config/values``), or what the section refuses by ValueError. The text
below a key is its documentation, which ``weboid config`` prints.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from weboid.config.values import Address, Network, Port, Ports, Queue, Source, Table, Title, Urls, Workers
from weboid.core.archive.configured import configured
from weboid.core.archive.services import ArchiveService
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.farms import BUILT_IN, Farm, WikiName

PROJECT_URL: Final = "https://weboid.toolforge.org/"
PROJECT_CONTACT: Final = "tools.weboid@toolforge.org"
"""For who finds a crawler whose operator has named no contact (SECURITY.md)."""

SETTINGS_TITLE: Final = "MediaWiki:Weboid.json"
"""The page of a wiki that has its settings (B-1). Only few may edit it."""


@dataclass(frozen=True, slots=True)
class NetConfig:
    """Outgoing connections (C-1, C-2, C-13). Limits apply to one request unless stated otherwise."""

    dns: tuple[str, ...] = ()
    """Name servers like ``127.0.0.1:5300``; none = the system's."""
    deny: tuple[Network, ...] = ()
    """Networks that are never contacted; this overrides `permit`."""
    permit: tuple[Network, ...] = ()
    """Addresses or networks that may be contacted in addition to the public ones, such as ``10.20.0.7``, the address of
    a wiki in a private network. It holds for links as well: who edits a page can let Weboid request all that is
    permitted."""
    ca: Path | None = None
    """A file of authorities trusted in addition to the system's."""
    connections: int = 1000
    """Connections open at once, at most."""
    answer_s: float = 60.0
    """Seconds from the request to the end of its answer, at most."""
    connect_s: float = 20.0
    """Seconds to connect, at most."""
    body_bytes: int = 65_536
    """Bytes that are kept of the beginning of a body, decompressed."""
    text_bytes: int = 524_288
    """Bytes of an HTML document, decompressed, that are read at most to find some text; 0 = no more than the others."""
    header_bytes: int = 262_144
    """Bytes of a header of an answer, at most."""
    redirects: int = 20
    """Redirects that are followed, at most."""
    web_ports: Ports = (80, 443)
    """The ports of http and https, between which a check may switch (63); others only for a simulated web."""
    user_agent: str = ""
    """Empty in the file = built from name, version, project URL and contact."""
    sender: str = ""
    """The mail address for the header ``From``; empty = none is sent."""


BY_CRAWLERS: Final = "crawlers"
"""The word of `vantage` for crawlers of another place."""


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """The rounds of checks (C-3)."""

    delay: float = 1.0
    """Seconds between two requests to one host."""
    per_host: int = 60
    """Due URLs of one host per visit, at most; usually eight are asked."""
    batch: int = 500
    """Checks written in one transaction, at most."""
    lease_s: float = 30.0
    """Seconds for which a crawler has a domain for itself, unless it asks for more in time."""
    strict: bool = False
    """Whether robots.txt may forbid even the check whether a cited URL exists (C-15)."""
    stop: tuple[str, ...] = ()
    """Hosts that are never contacted, with all subdomains (C-17)."""
    stop_file: Path | None = None
    """A file with more of them, one per line, read again whenever it changes."""
    canaries: Urls = ()
    """URLs that always answer unless our own connection is down (C-16); empty = some that worked before."""
    core: str = ""
    """The address of a Weboid whose links are checked here, without a database of our own; its token is in
    ``WEBOID_CRAWL_TOKEN``. Empty = the database is used."""
    vantage: str = ""
    """A command that checks a URL from another network before it is called dead, such as
    ``ssh other weboid check --json -`` (C-14). ``crawlers`` = crawlers of another place do so; it holds for remote
    ones, too."""
    log_days: int = 730
    """Days for which the log keeps changes of verdict other than deaths and returns, and the newest of each URL."""
    place: str = "core"
    """The place of local crawlers, if crawlers check for each other; that of a remote one is the name of its token."""

    @property
    def are_second_looks(self) -> bool:
        """True if crawlers are each other's second vantage point (C-14)."""
        return self.vantage == BY_CRAWLERS


@dataclass(frozen=True, slots=True)
class FeedConfig:
    """The ways of pages into the store (P-5, P-6)."""

    period_days: int = 7
    """Days from the start of one pass over a wiki to the next; after a longer pass the next begins at once."""
    untouched_days: int = 90
    """Days for which a page that no longer matches a criterion is kept."""
    streams: Address = "https://stream.wikimedia.org/v2/stream"
    """Where the events come from."""
    core: str = ""
    """The address of a Weboid for which pages are brought in here, without a database of our own (``weboid feed pass``,
    ``weboid feed events``); its token is in ``WEBOID_FEED_TOKEN``. Empty = the database is used."""
    watched: str = ""
    """A JSON page that says which wikis are watched in addition to those configured here: its address, or its wiki and
    title, such as ``metawiki@WMF:User:Ann/Weboid.json``. Only few may be able to edit it. Empty = there is none."""


@dataclass(frozen=True, slots=True)
class ReplicaConfig:
    """The wiki replicas (L-2, O-2).

    User and password come from `credentials` or from the environment: ``TOOL_REPLICA_USER`` and
    ``TOOL_REPLICA_PASSWORD``, which Toolforge sets.
    """

    hosts: str = ""
    """A pattern of their hosts' names; empty = Toolforge's."""
    cluster: str = "analytics"
    """``web`` kills queries after 300 s, ``analytics`` after three hours."""
    credentials: Path | None = None
    """A file like ``replica.my.cnf``."""
    user: str = ""
    """The user; empty = that of `credentials`."""
    password: str = field(default="", repr=False)
    """The user's password."""


@dataclass(frozen=True, slots=True)
class WebConfig:
    """The webservice."""

    host: str = "127.0.0.1"
    """The address to listen on."""
    port: Port = 8000
    """The port to listen on; 0 = a free one. The variable PORT, which platforms set, wins over a file."""
    url: Address = ""
    """The public URL; empty = that of the address to listen on."""
    secret: str = field(default="", repr=False)
    """Encrypts session cookies; must be the same for all web processes. Empty = a new one at each start."""
    proxies: tuple[Network, ...] = ()
    """Networks whose ``X-Forwarded-For`` is trusted (W-9)."""
    tokens: tuple[str, ...] = field(default=(), repr=False)
    """Trusted clients (W-9), each ``name:SHA-256 of the token in hex``."""
    crawlers: tuple[str, ...] = field(default=(), repr=False)
    """Remote crawlers, without a database, that are given work (``weboid crawl --core``), each
    ``name:SHA-256 of its token in hex``; empty = none are."""
    feeders: tuple[str, ...] = field(default=(), repr=False)
    """Remote feeders, without a database, that may bring pages in (``weboid feed … --core``), each
    ``name:SHA-256 of its token in hex:dewiki:frwiki@WMF`` with the wikis that it may feed; empty = none are."""
    rate: int = 1_200
    """What a range of IP addresses may spend per minute, in units of cost (``web/http/limits``); 0 = no limit."""
    burst: int = 2_400
    """What it may spend at once."""
    cards: int = 100_000
    """URLs of which the texts of an opened link card are kept for 30 days, at most; 0 = none, and no look is made."""
    workers: Workers = 1
    """Processes that answer (``weboid serve``)."""
    standby_lag_s: float = 10.0
    """A standby (`database_read`) that is further behind is not read, and an alarm."""


@dataclass(frozen=True, slots=True)
class PeopleConfig:
    """Reports and suggestions of people (H, A-4), who sign in by MediaWiki's OAuth 2."""

    provider: str = "https://meta.wikimedia.org/w/rest.php/oauth2"
    """Where people sign in."""
    api: str = ""
    """The Action API of the provider's wiki, which is asked within the hour whether somebody who acts is blocked there
    by now; empty = the one next to its OAuth (``…/api.php`` for ``…/rest.php/oauth2``)."""
    client: str = ""
    """The key of the OAuth client; empty = nobody can sign in."""
    client_secret: str = field(default="", repr=False)
    """The secret of the OAuth client."""
    administrators: tuple[str, ...] = ()
    """OAuth subjects (``sub``); `/account` shows people their own."""
    edits: int = 50
    """People with fewer edits cannot report or suggest."""
    daily: int = 3_000
    """Reports and suggestions per day of all people together (H-2)."""


@dataclass(frozen=True, slots=True)
class ArchiveConfig:
    """Web archives (A-1 … A-4), each with the values of a table of its own, such as ``[archive.wayback]``.

    `save_key` and `save_secret` come from the environment only.
    """

    services: tuple[ArchiveService, ...] = configured((), {})
    """The archives that are asked, in order."""
    save_key: str = field(default="", repr=False)
    """The access key of an account at archive.org; without it nothing is saved."""
    save_secret: str = field(default="", repr=False)
    """Its secret key."""


@dataclass(frozen=True, slots=True)
class RobotConfig:
    """Tasks of the robot that administrators order (R-7)."""

    tasks: Workers = 3
    """Tasks under way at once, at most."""
    pages: int = 50_000
    """Documents that one loads, at most."""
    queue: Queue = "fair"
    """The order in which a task loads documents: fair = those that were found first, depth = those found last."""


@dataclass(frozen=True, slots=True)
class EmbeddedConfig:
    """The embedded PostgreSQL, which runs where `database` is empty."""

    wal: Path | None = None
    """The folder in which its write-ahead log is archived, for recovery to a point in time; empty = it is not."""


@dataclass(frozen=True, slots=True)
class BackupConfig:
    """The daily backup by ``weboid maintain`` (O-9)."""

    folder: Path | None = None
    """Where the backups are written; empty = none is made."""
    keep: int = 14
    """Backups that are kept, the newest ones."""


@dataclass(frozen=True, slots=True, eq=False)
class WikiConfig:
    """One wiki to watch. `api` empty = derived from its farm (P-1).

    `source` is how its pages are read: ``api`` or ``replica``. `matching` and `without` select the pages (P-4): they
    are kept as written, and ``wiki/criteria`` interprets them. `settings` is the title of the wiki's settings page
    (B-1), empty = it is not read. `rules` are the parts ``links`` and ``dead_after`` of such a page, as far as given.
    """

    name: WikiName
    api: Address = ""
    source: Source = "api"
    settings: Title = SETTINGS_TITLE
    matching: Mapping[str, Any] = field(default_factory=dict)
    without: Table = field(default_factory=dict)
    rules: Table = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything an operator can set."""

    data: Path
    """The folder of the embedded database; empty = the usual place (docs/operating.md)."""
    database: str = ""
    """A PostgreSQL, as libpq's keywords or as an address; empty = the embedded one in `data`."""
    database_read: str = ""
    """A hot standby of that database, from which the webservice reads what it only shows; empty = none."""
    contact: str = ""
    """The way for owners of sites to reach you: it goes into the User-Agent."""
    net: NetConfig = NetConfig()
    crawl: CrawlConfig = CrawlConfig()
    feed: FeedConfig = FeedConfig()
    replica: ReplicaConfig = ReplicaConfig()
    web: WebConfig = WebConfig()
    people: PeopleConfig = PeopleConfig()
    policy: Policy = DEFAULT
    archive: ArchiveConfig = ArchiveConfig()
    robot: RobotConfig = RobotConfig()
    embedded: EmbeddedConfig = EmbeddedConfig()
    backup: BackupConfig = BackupConfig()
    farms: tuple[Farm, ...] = BUILT_IN
    wikis: tuple[WikiConfig, ...] = ()

    @property
    def own_farms(self) -> tuple[Farm, ...]:
        """The farms of the configured wikis, which no redirect leads to (C-13); all known farms if there are none."""
        names = {wiki.name.farm for wiki in self.wikis} or {farm.name for farm in self.farms}
        return tuple(farm for farm in self.farms if farm.name in names)


SECTIONS: Final[Mapping[str, type[Any]]] = {
    each.name: type(each.default) for each in fields(Config) if is_dataclass(each.default) and each.name != "archive"
}
"""The sections whose keys are values; ``archive``, ``wiki`` and ``farm`` have tables of their own."""

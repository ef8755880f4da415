"""Toolforge's wiki replicas: credentials, the names of hosts and databases, the list of wikis (P-1)."""

from configparser import Error as ConfigParserError
from configparser import RawConfigParser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from weboid.errors import ConfigError
from weboid.wiki.mariadb import Access, MariaDb, QueryPatience, statement

HOSTS: Final = "{db}.{cluster}.db.svc.wikimedia.cloud"
"""The pattern of the host names: ``db`` is the wiki's database, ``cluster`` is ``web`` or ``analytics``."""
CLUSTERS: Final = ("web", "analytics")
"""``web`` answers fast and kills queries after 300 s, ``analytics`` is for sweeps and kills them after three hours."""
_LINKS_APART: Final = frozenset({"commonswiki"})
"""Wikis whose link tables have had a host of their own since September 2026."""
_META: Final = "s7"


@dataclass(frozen=True, slots=True)
class ListedWiki:
    """A wiki that has a replica; ``shard`` is its section, such as ``s5``, and ``url`` its server's address."""

    dbname: str
    lang: str
    name: str
    family: str
    url: str
    shard: str


@dataclass(frozen=True, slots=True)
class Credentials:
    """The account that reads the replicas."""

    user: str
    password: str = field(repr=False)


class Replicas:
    """Addresses of the replicas. ``hosts`` is a pattern like `HOSTS`, also with a port (``127.0.0.1:4711``: a tunnel).

    A pattern that begins with a slash is the path of a Unix socket. Raises ConfigError for an unknown cluster or a
    pattern that can't be filled.
    """

    def __init__(self, credentials: Credentials, *, cluster: str = "web", hosts: str = HOSTS) -> None:
        if cluster not in CLUSTERS:
            raise ConfigError(f"replicas: there is no cluster {cluster!r}; take one of {', '.join(CLUSTERS)}")
        self._credentials = credentials
        self._cluster = cluster
        self._hosts = hosts
        self.access("testwiki")

    def access(self, dbname: str) -> Access:
        """The access to the database of a wiki, by its name there, such as ``dewiki``."""
        return self._access(dbname, f"{dbname}_p")

    def links_access(self, dbname: str) -> Access | None:
        """The access to the wiki's link tables if they are apart; None = they are with its pages."""
        return self._access(f"links.{dbname}", f"{dbname}_p") if dbname in _LINKS_APART else None

    async def list_wikis(self, patience: QueryPatience | None = None) -> list[ListedWiki]:
        """All wikis that are not closed, by name; raises SourceError."""
        meta = MariaDb(self._access(_META, "meta_p"), patience)
        try:
            rows = await meta.list_rows(statement("wikis"))
        finally:
            await meta.close()
        texts = ([(value or b"").decode(errors="replace") for value in row] for row in rows)
        return [
            ListedWiki(dbname, lang, name, family, url, shard.partition(".")[0])
            for dbname, lang, name, family, url, shard in texts
        ]

    def _access(self, host: str, database: str) -> Access:
        try:
            place = self._hosts.format(db=host, cluster=self._cluster)
            if place.startswith("/"):
                return Access(database, self._credentials.user, self._credentials.password, socket=place)
            name, _, port = place.partition(":")
            return Access(database, self._credentials.user, self._credentials.password, name, int(port or 3306))
        except (LookupError, ValueError) as error:
            raise ConfigError(f"replicas: the pattern of hosts {self._hosts!r} can't be filled: {error!r}") from None


def read_credentials(file: Path | None, user: str = "", password: str = "") -> Credentials:
    """User and password as given (``TOOL_REPLICA_USER``, ``TOOL_REPLICA_PASSWORD``), else from a ``replica.my.cnf``.

    Raises ConfigError if there are none.
    """
    if user and password:
        return Credentials(user, password)
    if file is None:
        raise ConfigError("replicas: no credentials; set TOOL_REPLICA_USER and TOOL_REPLICA_PASSWORD or name a file")
    parser = RawConfigParser(allow_no_value=True, strict=False)
    try:
        parser.read_string(file.read_text(encoding="utf-8"))
        found = {key: _unquoted(parser.get("client", key) or "") for key in ("user", "password")}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"replicas: cannot read {file}: {error}") from None
    except ConfigParserError:  # its text quotes the line
        raise ConfigError(f"replicas: {file} must have user and password in a section [client]") from None
    return Credentials(**found)


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value

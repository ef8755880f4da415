"""The configuration: frozen values from a file or a text of TOML and from variables (``config/reading``).

The rooms, from below: ``sections`` (what can be set), ``converters`` (raw values to those), ``names`` (keys and their
variables), ``environment`` (what variables set), ``places`` and ``tables``, ``reading``,
``sample`` and ``effective`` (both as text).
"""

from weboid.config.effective import effective_lines
from weboid.config.names import KeyPath, variable
from weboid.config.reading import ConfigReading, load_config, read_config
from weboid.config.sample import sample
from weboid.config.sections import (
    BY_CRAWLERS,
    MOST_WORKERS,
    PROJECT_CONTACT,
    PROJECT_URL,
    SETTINGS_TITLE,
    SOURCES,
    ArchiveConfig,
    BackupConfig,
    Config,
    CrawlConfig,
    EmbeddedConfig,
    FeedConfig,
    NetConfig,
    Network,
    PeopleConfig,
    ReplicaConfig,
    WebConfig,
    WikiConfig,
)
from weboid.config.tables import read_wikis

__all__ = [
    "BY_CRAWLERS",
    "MOST_WORKERS",
    "PROJECT_CONTACT",
    "PROJECT_URL",
    "SETTINGS_TITLE",
    "SOURCES",
    "ArchiveConfig",
    "BackupConfig",
    "Config",
    "ConfigReading",
    "CrawlConfig",
    "EmbeddedConfig",
    "FeedConfig",
    "KeyPath",
    "NetConfig",
    "Network",
    "PeopleConfig",
    "ReplicaConfig",
    "WebConfig",
    "WikiConfig",
    "effective_lines",
    "load_config",
    "read_config",
    "read_wikis",
    "sample",
    "variable",
]

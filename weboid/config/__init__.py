"""The configuration: frozen values from a file or a text of TOML and from variables (``config/reading``).

The rooms, from below: ``values`` (types and bounds), ``sections`` (what can be set), ``names`` (keys and their
variables), ``environment`` (keys that variables set), ``places`` and ``tables``, ``reading``, ``sample`` and
``effective`` (both as text).
"""

from weboid.config.effective import effective_lines
from weboid.config.environment import process_environment
from weboid.config.places import state_folder
from weboid.config.reading import ConfigReading, load_config, read_config
from weboid.config.sample import sample
from weboid.config.sections import (
    BY_CRAWLERS,
    PROJECT_CONTACT,
    PROJECT_URL,
    SETTINGS_TITLE,
    ArchiveConfig,
    BackupConfig,
    Config,
    CrawlConfig,
    EmbeddedConfig,
    NetConfig,
    PeopleConfig,
    RobotConfig,
    WebConfig,
    WikiConfig,
)
from weboid.config.tables import read_wikis
from weboid.config.values import MOST_WORKERS, Network

__all__ = [
    "BY_CRAWLERS",
    "MOST_WORKERS",
    "PROJECT_CONTACT",
    "PROJECT_URL",
    "SETTINGS_TITLE",
    "ArchiveConfig",
    "BackupConfig",
    "Config",
    "ConfigReading",
    "CrawlConfig",
    "EmbeddedConfig",
    "NetConfig",
    "Network",
    "PeopleConfig",
    "RobotConfig",
    "WebConfig",
    "WikiConfig",
    "effective_lines",
    "load_config",
    "process_environment",
    "read_config",
    "read_wikis",
    "sample",
    "state_folder",
]

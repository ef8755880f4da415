"""The configuration: frozen values from a file or a text of TOML and from variables (``config/reading``).

The rooms, from below: ``values`` (types and bounds), ``sections`` (what can be set), ``names`` (keys and their
variables), ``environment`` (keys that variables set), ``places`` and ``tables``, ``reading``, ``sample`` and
``effective`` (both as text).
"""

from weboid.config.effective import effective_lines as effective_lines
from weboid.config.environment import process_environment as process_environment
from weboid.config.places import state_folder as state_folder
from weboid.config.reading import ConfigReading as ConfigReading
from weboid.config.reading import load_config as load_config
from weboid.config.reading import read_config as read_config
from weboid.config.sample import sample as sample
from weboid.config.sections import BY_CRAWLERS as BY_CRAWLERS
from weboid.config.sections import PROJECT_CONTACT as PROJECT_CONTACT
from weboid.config.sections import PROJECT_URL as PROJECT_URL
from weboid.config.sections import SETTINGS_TITLE as SETTINGS_TITLE
from weboid.config.sections import ArchiveConfig as ArchiveConfig
from weboid.config.sections import BackupConfig as BackupConfig
from weboid.config.sections import Config as Config
from weboid.config.sections import CrawlConfig as CrawlConfig
from weboid.config.sections import EmbeddedConfig as EmbeddedConfig
from weboid.config.sections import NetConfig as NetConfig
from weboid.config.sections import PeopleConfig as PeopleConfig
from weboid.config.sections import RobotConfig as RobotConfig
from weboid.config.sections import WebConfig as WebConfig
from weboid.config.sections import WikiConfig as WikiConfig
from weboid.config.tables import read_wikis as read_wikis
from weboid.config.values import MOST_WORKERS as MOST_WORKERS
from weboid.config.values import Network as Network

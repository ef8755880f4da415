"""A complete ``weboid.toml`` with every key, its default, its meaning and its variables.

One law: it is made of the sections themselves, and read again, also with every key in force, it gives the defaults.
It is printed and not committed, so that it is always that of the version that runs.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from weboid.config.documented import documentation, toml_value
from weboid.config.names import KeyPath, nested_variable, variable
from weboid.config.sections import SECTIONS, ArchiveConfig, Config
from weboid.core.archive.configured import KEYS, NAMES

_INTRODUCTION: Final = """\
# The configuration of Weboid: every key with its default. Remove the # before a key to set it.
#
# It is read from --config FILE; else as WEBOID_CONFIG says, the name of a file or such a text itself; else from the
# first of ./weboid.toml, ~/.config/weboid/weboid.toml, /etc/xdg/weboid/weboid.toml, /etc/weboid/weboid.toml.
# Variables beat it: WEBOID_SECTION_KEY before TOOL_SECTION__KEY, that before PORT and TOOL_REPLICA_USER, _PASSWORD.
# A list in a variable is separated by commas; TOOL_ variables may have JSON as well.
# Passwords, tokens and keys belong into the environment. What holds now: weboid config --effective
"""
_TABLES: Final = """\
# The wikis to watch, each a table: source is "api" or "replica", settings the title of the wiki's settings page ("" =
# it is not read), api its api.php where it does not follow from the farm. The other keys select its pages; pages that
# match any of them are watched, or all pages if there is none. A table `without` has the same keys: what it matches is
# taken out again. As a variable: WEBOID_WIKI or TOOL_WIKI, all of this table as JSON, in place of what is written here.
#
#   [wiki."dewiki@WMF"]
#   source = "api"
#   settings = "MediaWiki:Weboid.json"
#   namespaces = [0]
#   categories = ["Physik"]
#   category_depth = 10
#   pages = ["Benutzer:Ann/Liste"]
#   templates = ["Literatur"]
#   properties = ["P31"]
#   without = {categories = ["Wikipedia:Archiv"]}

# Farms, besides WMF and wmflabs: code (from 2 on, never changed), api (perhaps with {dbname}), domains, and perhaps
# spam_wiki, the wiki that keeps a spam list for all of them. As a variable: WEBOID_FARM or TOOL_FARM, as JSON.
#
#   [farm.OSM]
#   code = 2
#   api = "https://wiki.openstreetmap.org/w/api.php"
#   domains = ["openstreetmap.org"]
"""
_SERVICE: Final = {
    "base": "Where it is asked.",
    "public": "Where readers are sent; it does not follow base.",
    "dialect": "How it is asked.",
    "per_minute": "Look-ups a minute, at most; 0 = no limit.",
    "replay_per_minute": "Copies that are visited a minute, at most; 0 = no limit.",
    "countries": "It is asked for URLs of these top-level domains; none = of all.",
    "languages": "It is asked for pages of wikis in these languages; none = in all.",
}


def sample() -> str:
    """The text of the file."""
    return "\n".join((_INTRODUCTION, *_lines(), _TABLES))


def _lines() -> Iterator[str]:
    texts = documentation(Config)[1]
    for key, value in (("data", ""), ("database", ""), ("contact", "")):
        yield from _key((key,), value, texts[key])
    for name, kind in SECTIONS.items():
        about, texts = documentation(kind)
        yield from (f"[{name}]", *_prose(about), "")
        for field in fields(kind):
            yield from _key((name, field.name), getattr(kind(), field.name), texts.get(field.name, ""))
    yield from _archive()


def _archive() -> Iterator[str]:
    about, texts = documentation(ArchiveConfig)
    services = ArchiveConfig().services
    yield from ("[archive]", *_prose(about), "")
    yield from _key(("archive", "services"), [service.name for service in services], texts["services"])
    for key in ("save_key", "save_secret"):
        yield from (*_prose(texts[key]), f"# {_variables(('archive', key))}", "")
    usual = services[0]
    yield from _prose(f"Each service may have a table, with any of these keys. Services: {', '.join(NAMES)}.")
    yield from (f"#[archive.{usual.name}]", "")
    for key in KEYS:
        yield from _key(("archive", usual.name, key), getattr(usual, key), _SERVICE[key])


def _key(path: KeyPath, value: Any, about: str) -> Iterator[str]:
    yield from _prose(about)
    yield f"# {_variables(path)}"
    yield f"#{path[-1]} = {toml_value(value)}"
    yield ""


def _variables(path: KeyPath) -> str:
    return f"{variable(path)}, {nested_variable(path)}"


def _prose(text: str) -> list[str]:
    return textwrap.wrap(text, 118, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)

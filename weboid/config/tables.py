"""The tables of wikis and farms, whose names are the operator's: each that cannot be used is a fault of its own."""

import json
from collections.abc import Mapping
from typing import Any, Final

from weboid.config.sections import WikiConfig
from weboid.config.values import Address, Source, Table, Title, convert, convert_each
from weboid.core.url.farms import BUILT_IN, Farm, WikiName, farm_named, parse_wiki_name
from weboid.core.wikitext.settings import SettingsError, parse_page
from weboid.errors import ConfigError

_FARM: Final = {"code": int, "api": str, "domains": tuple[str, ...], "spam_wiki": str}
_WIKI: Final = {"api": Address, "source": Source, "settings": Title, "without": Table}
_RULES: Final = ("links", "dead_after")
"""Parts of a wiki's settings page that may be configured, too (U-11)."""


def read_farms(tables: Mapping[str, Any], faults: list[str]) -> list[Farm]:
    """The farms of the tables ``[farm.OSM]`` with code, api and domains, and perhaps spam_wiki."""
    farms = []
    for name, given in tables.items():
        try:
            if unknown := given.keys() - _FARM:
                raise ValueError(f"unknown key {min(unknown)!r}")
            farm = convert_each(_FARM, given)
            farms.append(Farm(name=name, **farm | {"domains": frozenset(farm["domains"])}))
        except ConfigError as error:
            faults.append(str(error))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            faults.append(f"[farm.{name}]: it needs code, api and domains ({error})")
    codes = [farm.code for farm in (*BUILT_IN, *farms)]
    if len(codes) != len(set(codes)):
        faults.append("two farms have one code; 0 and 1 are taken by wmflabs and WMF")
    return farms


def read_wikis(tables: Mapping[str, Any], farms: tuple[Farm, ...], faults: list[str]) -> tuple[WikiConfig, ...]:
    """The wikis of the tables ``[wiki."dewiki@WMF"]``: api, source, settings, links, dead_after, without and
    criteria, all optional."""
    wikis: dict[WikiName, WikiConfig] = {}
    for name, given in tables.items():
        try:
            wiki = parse_wiki_name(name)
            farm_named(wiki.farm, farms)
            if wiki in wikis:
                raise ConfigError(f"{wiki} is named twice")
            rules = {key: given[key] for key in _RULES if key in convert(Table, given)}
            parse_page(json.dumps(rules))
            own = convert_each(_WIKI, given)
            matching = {key: given[key] for key in given if key not in own | rules}
            wikis[wiki] = WikiConfig(wiki, matching=matching, rules=rules, **own)
        except SettingsError as error:
            faults.extend(f"[wiki.{name[:100]!r}]: {fault}" for fault in error.faults)
        except (ConfigError, TypeError, ValueError) as error:
            faults.append(f"[wiki.{name[:100]!r}]: {error}")
    return tuple(wikis.values())

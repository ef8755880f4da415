"""The tables of wikis and farms, whose names are the operator's.

One law: of an entry that cannot be used the name is told, and the others are read all the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from weboid.config.converters import text, texts, whole
from weboid.config.sections import WikiConfig
from weboid.core.url.farms import BUILT_IN, Farm, farm_named, parse_wiki_name
from weboid.errors import ConfigError


def read_farms(tables: Mapping[str, Any], faults: list[str]) -> list[Farm]:
    """The farms of the tables ``[farm.OSM]`` with code, api and domains, and perhaps spam_wiki."""
    farms = []
    for name, given in tables.items():
        try:
            if unknown := given.keys() - _FARM_KEYS:
                raise ValueError(f"unknown key {min(unknown)!r}")
            farm = Farm(whole(given["code"]), name, text(given["api"]), frozenset(texts(given["domains"])))
            farms.append(replace(farm, spam_wiki=text(given.get("spam_wiki", ""))))
        except ConfigError as error:
            faults.append(str(error))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            faults.append(f"[farm.{name}]: it needs code, api and domains ({error})")
    codes = [farm.code for farm in (*BUILT_IN, *farms)]
    if len(codes) != len(set(codes)):
        faults.append("two farms have one code; 0 and 1 are taken by wmflabs and WMF")
    return farms


def read_wikis(tables: Mapping[str, Any], farms: tuple[Farm, ...], faults: list[str]) -> tuple[WikiConfig, ...]:
    """The wikis of the tables ``[wiki."dewiki@WMF"]``: api, source, settings, without and criteria, all optional."""
    return tuple(_each_wiki(tables, farms, faults))


def _each_wiki(tables: Mapping[str, Any], farms: tuple[Farm, ...], faults: list[str]) -> Iterator[WikiConfig]:
    for name, given in tables.items():
        try:
            wiki = parse_wiki_name(name)
            farm_named(wiki.farm, farms)
            if not isinstance(given, dict):
                raise TypeError(f'{given!r} must be a table, such as {{}} or {{"namespaces": [0]}}')
            own = {key: given[key] for key in ("api", "source", "without", "settings") if key in given}
            matching = {key: value for key, value in given.items() if key not in own}
            yield WikiConfig(wiki, matching=matching, **own)
        except ConfigError as error:
            faults.append(f"[wiki.{name[:100]!r}]: {error}")
        except (AttributeError, TypeError, ValueError) as error:
            faults.append(f"[wiki.{name[:100]!r}]: {error}")


_FARM_KEYS: Final = frozenset({"code", "api", "domains", "spam_wiki"})

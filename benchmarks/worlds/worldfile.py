"""Worlds in files: JSON as described in ``docs/worlds.md``, read into a world, its links and what is said of them.

Behaviours are read by `worldwords`, lives by `worldlives`, what befalls ourselves by `troubles`.
One law: what is not understood is an error that names its place in the file; nothing is guessed, nothing passed over.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn
from urllib.parse import quote, unquote, urlsplit

from benchmarks.worlds.sight import Sight
from benchmarks.worlds.troubles import MOST_NETWORKS, OwnTroubles, outages, own_troubles
from benchmarks.worlds.worldlives import life_of
from benchmarks.worlds.worldwords import (
    Place,
    WorldError,
    behaviour,
    host_behaviour,
    one_of,
    table,
    text,
    whole,
    words_of,
)
from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import WMFLABS
from weboid.core.url.hosts import InvalidUrl, host_form
from weboid.demo.world import Certificate, Host, HostState, Life, World

FORMAT: Final = 1
MOST_DAYS: Final = 4_000

_KEYS: Final = frozenset(
    {"weboid-world", "name", "note", "days", "named", "own-outages", "pauses", "kills", "clock", "delay", "hosts"}
    | {"links", "truth", "wiki"}
)
_HOST_KEYS: Final = frozenset({"scheme", "life", "certificate", "network", "others", "paths", "unlinked", "note"})
_SCHEMES: Final = {"http": ("http",), "https": ("https",), "both": ("http", "https")}
_SAFE: Final = "/?&=:@!$'()*+,;~%"


@dataclass(frozen=True, slots=True)
class WorldFile:
    """A world, its days that are reported, the URLs that pages link to, and what a person sees where that is said.

    URLs are as in the file: absolute, without ports.
    """

    name: str
    days: int
    world: World
    links: tuple[str, ...]
    truth: Mapping[str, Life[Sight]]
    notes: Mapping[str, str]
    """What the file says of hosts, for people."""
    troubles: OwnTroubles
    has_wiki: bool = True
    """Whether the API of a watched wiki answers, unless we are cut off ourselves."""


def read_world(file: Path) -> WorldFile:
    """The world of a file; raises WorldError, which names the file and the place in it."""
    try:
        return world_in(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise WorldError(f"{file}: cannot be read: {error}") from None
    except WorldError as error:
        raise WorldError(f"{file}: {error}") from None


def world_in(content: str) -> WorldFile:
    """The world of a file's content; raises WorldError, which names the place in it."""
    place = Place()
    given = table(_json(content), place, _KEYS, ("weboid-world", "days", "hosts"))
    whole(given["weboid-world"], place.at("weboid-world"), FORMAT, FORMAT)
    days = whole(given["days"], place.at("days"), 1, MOST_DAYS)
    named = given.get("named", {})
    if not isinstance(named, dict):
        place.at("named").fail("this must be an object of behaviours and lives by name")
    place = replace(place, named=named, days=days)
    for name, part in named.items():
        # Read once for its errors: what is never used must be right, too.
        life_of(part, place.at("named").at(name), host_behaviour)
    hosts, linked = _hosts(given["hosts"], place.at("hosts"))
    links = _links(given["links"], place.at("links"), hosts) if "links" in given else tuple(linked)
    if not links:
        place.fail("there is no link to watch: no host has paths")
    lost = outages(given, place, hosts)
    troubles = own_troubles(given, place)
    truth = _truth(given.get("truth", {}), place.at("truth"), links)
    notes = {name: text(host.get("note", ""), place.at("hosts").at(name)) for name, host in given["hosts"].items()}
    name = text(given.get("name", ""), place.at("name"))
    has_wiki = one_of(given.get("wiki", "up"), place.at("wiki"), {"up": True, "none": False})
    return WorldFile(name, days, World(hosts, lost), links, truth, notes, troubles, has_wiki)


def _json(content: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            raise WorldError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
        return found

    def no_number(word: str) -> NoReturn:
        raise WorldError(f"{word} is no number")

    try:
        return json.loads(content, object_pairs_hook=once, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise WorldError(f"line {error.lineno}, column {error.colno}: no JSON: {error.msg}") from None
    except RecursionError:
        raise WorldError("too deeply nested") from None
    except ValueError as error:
        raise error if isinstance(error, WorldError) else WorldError(f"no JSON: {error}") from None


def _hosts(given: Any, place: Place) -> tuple[Mapping[str, Host], list[str]]:
    """The hosts by name, and the URLs of their paths."""
    if not isinstance(given, dict) or not given:
        place.fail("this must be an object of hosts by name, at least one")
    hosts: dict[str, Host] = {}
    links: list[str] = []
    for name, host in given.items():
        here = place.at(name)
        try:
            form = host_form(name)
        except InvalidUrl as error:
            here.fail(f"this is no host name: {error}")
        if form != name or ":" in name or name.rpartition(".")[2].isdigit():
            here.fail(f"a host must be a name in its normal form ({form})")
        table(host, here, _HOST_KEYS)
        hosts[name] = _host(host, here)
        unlinked = host.get("unlinked", [])
        if not isinstance(unlinked, list):
            here.at("unlinked").fail("this must be a list of paths")
        for index, path in enumerate(unlinked):
            if not isinstance(path, str) or path not in hosts[name].paths:
                here.at("unlinked").at(index).fail(f"{path!r} is not among the paths of this host")
        schemes = one_of(host.get("scheme", "http"), here.at("scheme"), _SCHEMES)
        for path in [path for path in hosts[name].paths if path not in unlinked]:
            url = f"{name}{quote(path, safe=_SAFE)}"
            _require_watched(f"http://{url}", here.at("paths").at(path))
            links += [f"{scheme}://{url}" for scheme in schemes]
    return hosts, links


def _require_watched(url: str, place: Place) -> None:
    """What Weboid would not watch, or under another address, is no link of a world."""
    link = classify(url, WMFLABS)
    if link.url is None or link.kind is not UrlClass.WATCHED:
        place.fail(f"{url} would not be watched: its class is {link.kind.value}")
    given, normal = (unquote(each.split("/", 3)[3]) for each in (url, str(link.url)))
    if given != normal:
        place.fail(f"{url} is asked for as {link.url}: write it so")


def _host(given: Mapping[str, Any], place: Place) -> Host:
    paths = given.get("paths", {})
    if not isinstance(paths, dict):
        place.at("paths").fail("this must be an object of lives by path")
    for path in paths:
        if not path.startswith("/") or "#" in path:
            place.at("paths").at(path).fail("a path begins with / and has no fragment")
        text(path, place.at("paths"))
    certificates = words_of(Certificate)
    return Host(
        life_of(given.get("life", HostState.UP.value), place.at("life"), host_behaviour),
        {path: life_of(life, place.at("paths").at(path), behaviour) for path, life in paths.items()},
        life_of(given["others"], place.at("others"), behaviour) if "others" in given else None,
        life_of(
            given.get("certificate", Certificate.FINE.value),
            place.at("certificate"),
            lambda word, here: one_of(word, here, certificates),
        ),
        whole(given["network"], place.at("network"), 1, MOST_NETWORKS) if "network" in given else 0,
    )


def _links(given: Any, place: Place, hosts: Mapping[str, Host]) -> tuple[str, ...]:
    if not isinstance(given, list):
        place.fail("this must be a list of URLs")
    found: dict[str, None] = {}
    for index, url in enumerate(given):
        here = place.at(index)
        try:
            parts = urlsplit(text(url, here))
            right = parts.scheme in ("http", "https") and parts.path.startswith("/") and not parts.fragment
        except ValueError:
            right = False
        if not right:
            here.fail(f"{url!r} is no URL with http or https, a host and a path, without a fragment")
        if parts.netloc not in hosts:
            here.fail(f"the host {parts.netloc!r} is not in the file")
        _require_watched(url, here)
        if url in found:
            here.fail(f"{url!r} stands here twice")
        found[url] = None
    return tuple(found)


def _truth(given: Any, place: Place, links: tuple[str, ...]) -> Mapping[str, Life[Sight]]:
    if not isinstance(given, dict):
        place.fail("this must be an object of lives of seen, hidden and gone by URL")
    sights = words_of(Sight)
    known = set(links)
    truth: dict[str, Life[Sight]] = {}
    for url, life in given.items():
        if url not in known:
            place.at(url).fail("this URL is not among the links")
        truth[url] = life_of(life, place.at(url), lambda word, here: one_of(word, here, sights))
    return truth

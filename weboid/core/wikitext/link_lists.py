"""The lists in which a wiki itself classifies links: `permalive`, `permadead`, `subscription` (U-11, B-3).

An entry is a host, which means all its subdomains, too, whatever the scheme and port; or the beginning of a URL, which
is compared as text with normal forms, so that scheme, port and the case of the path count.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Final

from weboid.core.url.hosts import host_form, is_ip
from weboid.core.url.urls import Url, parse
from weboid.core.wikitext.shape import Form

PERMALIVE: Final = "permalive"
PERMADEAD: Final = "permadead"
SUBSCRIPTION: Final = "subscription"
"""The stable words of the flags: the names of the lists."""

NO_FLAGS: Final[frozenset[str]] = frozenset()
_FORM: Final = "'example.org' (with all its subdomains), or the beginning of a URL, 'https://example.org/shop/'"

_Site = tuple[str, str, int]


def _no_entry(text: str) -> str:
    try:
        _entry(text)
    except ValueError:
        return f"must be a host, such as {_FORM}"
    return ""


Entry = Annotated[str, Form(f"a host, such as {_FORM}", r"[^\u0000-\u0020\u007f#]+", 500, _no_entry)]


@dataclass
class _Beginnings:
    """The beginnings of paths on one site, with their flags, and the different `lengths` of them, ascending."""

    by_path: dict[str, frozenset[str]] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)

    def flags_of(self, path: str) -> frozenset[str]:
        flags = NO_FLAGS
        for length in self.lengths:
            if length > len(path):
                break
            flags |= self.by_path.get(path[:length], NO_FLAGS)
        return flags


@dataclass(frozen=True)
class LinkLists:
    """The lists of one wiki; a link has the flags of all entries that fit it."""

    permalive: tuple[Entry, ...] = ()
    permadead: tuple[Entry, ...] = ()
    subscription: tuple[Entry, ...] = ()

    @cached_property
    def is_empty(self) -> bool:
        """True if no link has a flag."""
        return not (self.permalive or self.permadead or self.subscription)

    def flags_of(self, url: Url) -> frozenset[str]:
        """The flags of a link."""
        flags = NO_FLAGS
        if hosts := self._hosts:
            for name in _names(url.host):
                flags |= hosts.get(name, NO_FLAGS)
        if self._sites and (site := self._sites.get(url[:3])):
            flags |= site.flags_of(url.path)
        return flags

    def hosts_of_permadead(self) -> set[str]:
        """The hosts on which, or below which, all links are that are always dead."""
        entries = map(_entry, self.permadead)
        return {entry.host if isinstance(entry, Url) else entry for entry in entries}

    def contradictions(self) -> Iterator[str]:
        """The entries that are in both `permalive` and `permadead`."""
        alive = {_entry(text) for text in self.permalive}
        for place, text in enumerate(self.permadead):
            if _entry(text) in alive:
                yield f"permadead[{place}]: {text[:60]!r} is in permalive, too"

    def _entries(self) -> Iterator[tuple[str | Url, str]]:
        for each in fields(self):
            for text in getattr(self, each.name):
                yield _entry(text), each.name

    @cached_property
    def _hosts(self) -> dict[str, frozenset[str]]:
        hosts: dict[str, frozenset[str]] = {}
        for entry, flag in self._entries():
            if not isinstance(entry, Url):
                hosts[entry] = hosts.get(entry, NO_FLAGS) | {flag}
        return hosts

    @cached_property
    def _sites(self) -> dict[_Site, _Beginnings]:
        sites: dict[_Site, _Beginnings] = {}
        for entry, flag in self._entries():
            if isinstance(entry, Url):
                by_path = sites.setdefault(entry[:3], _Beginnings()).by_path
                by_path[entry.path] = by_path.get(entry.path, NO_FLAGS) | {flag}
        for site in sites.values():
            site.lengths = sorted({len(path) for path in site.by_path})
        return sites


def _entry(text: str) -> str | Url:
    """A host in normal form, or the URL that is the beginning of others. Raises ValueError."""
    return parse(text) if "://" in text else host_form(text)


def _names(host: str) -> Iterator[str]:
    """The host, and the names above it."""
    yield host
    if not is_ip(host):
        while host := host.partition(".")[2]:
            yield host

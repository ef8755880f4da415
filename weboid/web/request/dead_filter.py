"""The parameters by which lists and feeds choose dead links (W-6, W-12)."""

from typing import Final

from weboid.core.url.hosts import InvalidUrl, host_form
from weboid.core.url.patterns import is_domain
from weboid.core.url.urls import parse
from weboid.store.lists.links import DeadFilter
from weboid.web.request.parameters import Parameters, copied_of, namespace_of, repaired_of
from weboid.web.request.problem import Problem

NAMES: Final = ("copy", "repaired", "domain", "path", "namespace", "category")
_PAGES: Final = frozenset({"category", "page", "pageid", "curid"})


def dead_filter_of(given: Parameters) -> DeadFilter:
    """The filter that is given, without the pages of its category, which the wiki knows; raises Problem."""
    if "domain" in given and _PAGES & given.keys():
        raise Problem(409, "domain-or-category")
    domain, namespace, copied = (
        domain_of(given["domain"]) if "domain" in given else "",
        namespace_of(given),
        copied_of(given),
    )
    return DeadFilter(domain, None, _path_of(given), namespace, copied, repaired_of(given))


def domain_of(text: str) -> str:
    """The domain in normal form; ``*.`` in front of it is ignored. Raises Problem."""
    try:
        domain = host_form(text.removeprefix("*."))
    except InvalidUrl:
        raise Problem(404, "domain") from None
    if not is_domain(domain):
        raise Problem(409, "domain-wide", domain)
    return domain


def _path_of(given: Parameters) -> str:
    """The given beginning of paths in the form in which paths are stored, empty if none is given."""
    if "path" not in given:
        return ""
    if "domain" not in given:
        raise Problem(409, "path")
    try:
        return parse(f"http://a.aa/{given['path'].removeprefix('/')}").path
    except InvalidUrl:
        raise Problem(404, "path") from None

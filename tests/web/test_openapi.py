"""W-12: the description of the API agrees with the routes, and with the answers to requests made from it literally."""

import asyncio
import json
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
import pytest
from aiohttp import web
from support.webservice import Site

from weboid.bot.decisions import RepairAction
from weboid.core.archive.copies import CopyOrigin, CopyState, DistanceTo
from weboid.core.record.reasons import status_outcome
from weboid.core.record.status import Status
from weboid.core.url.classify import UrlClass
from weboid.core.url.hosts import InvalidReason
from weboid.core.url.link_kind import LinkKind
from weboid.core.verdict.hints import HintKind
from weboid.core.verdict.link_report import Extent
from weboid.core.verdict.report_json import FROZEN, RevertReason
from weboid.core.verdict.verdict import Verdict
from weboid.core.wikitext.link_lists import PERMADEAD, PERMALIVE, SUBSCRIPTION
from weboid.store.archives.service_limit import RequestKind
from weboid.store.lists.dataset import SetKind
from weboid.store.lists.health import Exactness
from weboid.store.people.revert import RevertState
from weboid.web.answer.cards import CardState
from weboid.web.api.openapi import description
from weboid.web.app import make_app
from weboid.web.pages.spam_pages import SORTS
from weboid.web.request.route import ROUTES, Route

_FOR_MACHINES = ("/api/", "/changes", "/feeds/", "/lists/", "/data", "/status", "/metrics", "/healthz", "/externalLink")
_VARIABLE = re.compile(r"\{(\w+)\}")
_CONFIG = """
parameters = { dbname = "testwiki@wmflabs" }

[checks.positive_data_acceptance]
# The length of a whole request cannot be described.
expected-statuses = ["2xx", "401", "403", "404", "409", "413", "414", "503"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "414", "415"]
"""


def app_of(site: Site) -> web.Application:
    return make_app(site.config, site.wiki.pool, today=lambda: 1, sources=lambda _: None)


def routes_of(site: Site) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for route in app_of(site).router.routes():
        assert route.resource is not None
        found.setdefault(route.resource.canonical, set()).add(route.method)
    return found


def open_methods() -> dict[str, tuple[str, ...]]:
    return {route.path: route.methods for route in ROUTES if route.is_open}


def parameters_of(operation: dict[str, Any]) -> set[str]:
    shared = description()["components"]["parameters"]
    return {
        (shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each)["name"]
        for each in operation["parameters"]
    }


async def test_what_answers_is_the_table_of_routes_and_nothing_else(site: Site) -> None:
    table = {route.path: {*route.methods, *(["OPTIONS"] if route.is_open else [])} for route in ROUTES}
    assert routes_of(site) == table | {"/{path}/": {"*"}}
    assert len(table) == len(ROUTES) == len({route.name for route in ROUTES})


def fields_of(operation: dict[str, Any]) -> set[str]:
    schema = operation["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    return set(description()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"])


def test_the_description_is_the_table_of_routes_in_addresses_methods_parameters_and_fields() -> None:
    def described_in(route: Route) -> dict[str, set[str]]:
        names = {"GET": {*route.parameters, *_VARIABLE.findall(route.path)}, "POST": {*route.fields}}
        return {method.lower(): names[method] for method in route.methods if method != "HEAD"}

    described = {
        path: {
            method: fields_of(operation) if method == "post" else parameters_of(operation)
            for method, operation in operations.items()
        }
        for path, operations in description()["paths"].items()
    }
    assert described == {route.path: described_in(route) for route in ROUTES if route.is_described}
    assert {route.path for route in ROUTES if route.path.startswith(_FOR_MACHINES)} == described.keys()
    assert {route.name for route in ROUTES if route.is_open} < {route.name for route in ROUTES if route.is_described}


def test_what_tells_people_alone_is_not_open_and_the_rest_of_what_is_described_is() -> None:
    kinds = {
        path: {
            kind
            for operation in operations.values()
            for code, answer in operation["responses"].items()
            if code.startswith("20")
            for kind in answer["content"]
        }
        for path, operations in description()["paths"].items()
    }
    assert open_methods().keys() == {path for path, some in kinds.items() if some != {"text/html"}}


async def test_every_address_that_is_described_answers_head_but_those_that_do_something(site: Site) -> None:
    routes = routes_of(site)
    assert [path for path in description()["paths"] if "HEAD" not in routes[path]] == ["/api/ping", "/api/reverts"]


async def test_the_description_names_the_service_and_can_be_kept(site: Site) -> None:
    status, body, response = await site.fetch("/api/openapi.json")
    assert (status, response.content_type) == (200, "application/json")
    document = json.loads(body)
    assert document["servers"] == [{"url": "https://weboid.demo"}]
    assert document["openapi"].startswith("3.1.")
    assert (await site.fetch("/api/openapi.json", If_None_Match=response.headers["ETag"]))[0] == 304


async def test_every_parameter_answer_and_schema_of_the_description_is_used() -> None:
    text = json.dumps(description())
    for kind, named in description()["components"].items():
        if kind != "securitySchemes":
            for name in named:
                assert f'"#/components/{kind}/{name}"' in text, (kind, name)


async def test_scripts_of_web_pages_learn_what_they_may_do_and_need_no_credentials(site: Site) -> None:
    assert "/externalLinkInfo" not in open_methods()
    for path, methods in open_methods().items():
        status, body, response = await site.fetch(
            path.replace("{name}", "x"),
            method="OPTIONS",
            Origin="https://wiki.demo",
            Access_Control_Request_Method="GET",
        )
        assert (status, body) == (204, "")
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        allowed = response.headers["Access-Control-Allow-Methods"].split(", ")
        assert set(methods) <= set(allowed)
        headers = set(response.headers["Access-Control-Allow-Headers"].split(", "))
        assert headers >= {"Api-User-Agent", "Authorization", "Content-Type", "If-None-Match"}
        assert "Access-Control-Allow-Credentials" not in response.headers
        for method in {"GET", "HEAD", "POST", "PUT", "DELETE"} - set(allowed):
            status, _, refused = await site.fetch(path.replace("{name}", "x"), method=method)
            assert (status, refused.headers["Allow"]) == (405, response.headers["Allow"]), (path, method)


async def test_no_address_for_people_can_be_read_by_another_page(site: Site) -> None:
    files = ("/static/", "/source/", "/robots.txt", "/.well-known/", "/toolinfo.json")
    paths = [path for path in routes_of(site) if path not in open_methods() and not path.startswith(files)]
    assert {"/", "/url", "/externalLinkInfo"} <= set(paths)
    for path in paths:
        for method in ("GET", "POST", "OPTIONS"):
            query = "?dbname=testwiki@wmflabs&pageid=1&url=http://fine.demo/&format=json"
            async with site.client.request(
                method,
                f"{site.url}{path}{query}",
                headers={"Origin": "https://other.demo", "Accept": "application/json"},
                allow_redirects=False,
            ) as response:
                allowed = [name for name in response.headers if name.lower().startswith("access-control-")]
                assert not allowed, (path, method, response.status)


async def judge(site: Site, folder: Path, *more: str) -> None:
    """Has Schemathesis ask what the description allows, and what it does not, and compare the answers with it."""
    (folder / "schemathesis.toml").write_text(_CONFIG)
    site.source.members["Lighthouses"] = (1, 2)
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", "schemathesis.toml", "run"),
        f"{site.url}/api/openapi.json",
        *("--url", site.url, "--checks", "all", "--phases", "examples,coverage,fuzzing", "--max-examples", "3"),
        *("--generation-deterministic", "--no-color", "--no-shrink"),
        *("--continue-on-failure", "--suppress-health-check", "all", "--warnings", "off", *more),
    ]
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=PIPE, stderr=STDOUT)
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, output.decode()[-30_000:]
    assert b"No issues found" in output


@pytest.mark.long
@pytest.mark.timeout(280)
async def test_who_goes_by_the_description_alone_finds_it_true(site: Site, tmp_path: Path) -> None:
    await judge(site, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(120)
async def test_a_trusted_client_finds_it_true_as_well(trusting: Site, tmp_path: Path) -> None:
    paths = ("/api/pages", "/api/ping", "/api/reverts")
    wide = (*(word for path in paths for word in ("--include-path", path)), "--header", "Authorization: Bearer known")
    await judge(trusting, tmp_path, *wide)


async def test_forms_are_refused_that_the_description_does_not_allow_and_no_others(site: Site) -> None:
    wiki, page = {"dbname": "testwiki@wmflabs"}, {"dbname": "testwiki@wmflabs", "pageid": "1"}
    url, headers = "http://fine.demo/", {"Content-Type": "application/x-www-form-urlencoded"}
    forms: list[tuple[str, str, dict[str, str]]] = [
        ("/api/page", "PageForm", page),
        ("/api/page", "PageForm", {**wiki, "title": "Page 1|Page_2"}),
        ("/api/page", "PageForm", {**page, "other": "a", "\x08": "b"}),
        ("/api/page", "PageForm", {**wiki, "pageid": ""}),
        ("/api/page", "PageForm", {"pageid": "1"}),
        ("/api/page", "PageForm", {**page, "title": "Page 1"}),
        ("/api/page", "PageForm", {**page, "all": "1", "extent": "notes"}),
        ("/api/page", "PageForm", {**page, "other": "a\x08"}),
        *(("/api/page", "PageForm", {**wiki, "title": title}) for title in ("_ ", "a<b", "a||b", "a\tb", "\x7f")),
        ("/api/page", "PageForm", {**wiki, "pageid": "|".join(["1"] * 501)}),
        ("/api/ping", "PingForm", {**wiki, "curid": "1"}),
        ("/api/ping", "PingForm", wiki),
        ("/api/ping", "PingForm", {**page, "title": "Page 1"}),
        ("/api/normal", "UrlsForm", {"urls": f"{url}\n\n"}),
        ("/api/normal", "UrlsForm", {"urls": " \n"}),
        *(
            ("/api/repair", "RepairForm", {**page, "revid": "7", "text": "a", "choices": choices})
            for choices in ("{}", '{"a": "tag",\n"\\u00e9":"b"}', '{"\\ud800":"a"}', "", "[]", '{"a":1}', '{"a":"b",}')
        ),
    ]
    for path, name, fields in forms:
        is_allowed = jsonschema_rs.is_valid(description()["components"]["schemas"][name], fields)
        async with site.client.post(site.url + path, data=urlencode(fields), headers=headers) as response:
            assert (response.status != 400) is is_allowed, (path, fields, await response.text())


async def test_the_description_says_how_long_the_name_of_a_category_may_be(site: Site) -> None:
    known = description()["components"]
    places = [known["parameters"][name]["schema"] for name in ("category", "wholeCategory")]
    (most,) = {place["maxLength"] for place in (*places, known["schemas"]["PingForm"]["properties"]["category"])}
    for length, expected in ((most, 200), (most + 1, 404)):
        assert (await site.fetch(f"/feeds/dead?dbname=testwiki@wmflabs&category={'a' * length}"))[0] == expected


def examples_of(operation: dict[str, Any]) -> list[tuple[str, Any]]:
    """The examples of JSON in its answers, each with the name of its schema."""
    answers = [answer.get("content", {}).get("application/json", {}) for answer in operation["responses"].values()]
    return [(one["schema"]["$ref"].rpartition("/")[2], one["example"]) for one in answers if "example" in one]


async def test_the_examples_of_answers_have_the_keys_of_answers(site: Site) -> None:
    paths = description()["paths"]
    ((_, example),) = examples_of(paths["/api/page"]["get"])
    answer = json.loads((await site.fetch("/api/page?dbname=testwiki@wmflabs&title=Page_1"))[1])
    assert keys_in(example) == keys_in(answer)
    ((_, example),) = examples_of(paths["/api/normal"]["post"])
    (form,) = paths["/api/normal"]["post"]["requestBody"]["content"].values()
    async with site.client.post(f"{site.url}/api/normal", data=form["example"]) as response:
        answer = await response.json()
    assert example["urls"] == answer["urls"]
    assert keys_in(example) == keys_in(answer)


def enumerations(value: Any, name: str = "") -> Iterator[tuple[str, frozenset[str | None]]]:
    """The words of each enumeration in a part of the description, with the name of what has them."""
    if isinstance(value, dict):
        if "enum" in value:
            yield name, frozenset(value["enum"])
        for key, inner in value.items():
            yield from enumerations(inner, name if key in ("schema", "items") else key)
    elif isinstance(value, list):
        for inner in value:
            yield from enumerations(inner, name)


def test_the_words_of_the_description_are_those_of_the_program() -> None:
    nothing = (None,)
    known: dict[str, Collection[frozenset[str | None]]] = {
        "Verdict": [frozenset(verdict.word for verdict in Verdict)],
        "all": [frozenset("01"), frozenset(("0", "1", ""))],
        "archived": [frozenset((*CopyState, *nothing))],
        "class": [frozenset(UrlClass)],
        "copy": [frozenset(("with", "without", "")), frozenset(("with", "without", *nothing))],
        "distance_to": [frozenset((*DistanceTo, *nothing))],
        "exactness": [frozenset(Exactness)],
        "extent": [frozenset(Extent), frozenset((*Extent, ""))],
        "action": [frozenset(action.value for action in RepairAction if action is not RepairAction.NOTHING)],
        "flags": [frozenset((FROZEN, PERMADEAD, PERMALIVE, SUBSCRIPTION))],
        "kind": [
            frozenset((*LinkKind, *nothing)),
            frozenset(kind.name.lower() for kind in RequestKind),
            frozenset(HintKind),
            frozenset(kind.word for kind in SetKind),
        ],
        "listVerdict": [frozenset(("dead", "doubtful"))],
        "note": [frozenset(("redirects", "after", "similar", "before", *nothing))],
        "origin": [frozenset(CopyOrigin)],
        "outcome": [frozenset(status_outcome(status) for status in Status)],
        "pageSort": [frozenset(("", "place", "newest", "oldest"))],
        "reason": [frozenset((*InvalidReason, *nothing))],
        "repaired": [frozenset(("yes", "no")), frozenset(("yes", "no", *nothing)), frozenset(("", "yes", "no"))],
        "sort": [
            frozenset(("oldest", "newest")),
            frozenset(("oldest", "newest", *nothing)),
            frozenset((*SORTS, *nothing)),
        ],
        "spamSort": [frozenset(SORTS)],
        "state": [
            frozenset(state.name.lower() for state in RevertState),
            frozenset(("running", "missing")),
            frozenset(CardState),
        ],
        "verdict": [frozenset(("dead", "doubtful"))],
        "why": [frozenset(RevertReason)],
    }
    found = {(name, words) for name, words in enumerations(description()["components"]) if "format" not in name}
    assert {name for name, _ in found} == known.keys()
    assert not [(name, sorted(map(str, words))) for name, words in found if words not in known[name]]


def test_the_formats_of_the_description_are_those_of_the_address() -> None:
    for route in [route for route in ROUTES if "format" in route.parameters]:
        parts = description()["components"]
        for operation in description()["paths"][route.path].values():
            named = [each["$ref"].rpartition("/")[2] for each in operation.get("parameters", ()) if "$ref" in each]
            found = [parts["parameters"][name]["schema"]["enum"] for name in named if "format" in name]
            for form in operation.get("requestBody", {}).get("content", {}).values():
                found += [parts["schemas"][form["schema"]["$ref"].rpartition("/")[2]]["properties"]["format"]["enum"]]
            assert found
            assert all({*each} - {""} == {*route.formats.offered} for each in found), (route.path, found)


def keys_in(value: Any, at: str = "") -> set[str]:
    match value:
        case dict():
            return {f"{at}/{key}" for key in value}.union(
                *(keys_in(inner, f"{at}/{key}") for key, inner in value.items())
            )
        case list():
            return set().union(*(keys_in(inner, at) for inner in value))
    return set()

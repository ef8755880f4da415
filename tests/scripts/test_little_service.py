"""The small service of the scripts' tests answers as the real one is described, so tests against it say something."""

import json
from importlib.resources import files
from typing import Any

import jsonschema_rs
import pytest
import requests
from support.little_service import link
from support.repair_scene import Scene

WIKI = "testwiki@WMF"
COPIES = [("https://web.archive.org/web/20160502000000/http://a.demo/", "20160502000000")]
DESCRIBED: dict[str, Any] = json.loads((files("weboid.web.api") / "openapi.json").read_text(encoding="utf-8"))


@pytest.fixture
def known(scene: Scene) -> Scene:
    scene.service.pages = {
        1: [
            link("http://a.demo/", copies=COPIES),
            link("http://b.demo/", "working"),
            link("http://c.demo/", copies=None),
        ],
        2: [],
    }
    scene.service.add_change("http://a.demo/", {1: "A"})
    return scene


@pytest.mark.parametrize(
    ("method", "path", "fields", "schema"),
    [
        ("POST", "/api/page", {"dbname": WIKI, "pageid": "1|2|3", "extent": "all"}, "PageAnswer"),
        ("GET", "/changes", {"dbname": WIKI, "since": "0"}, "ChangeAnswer"),
    ],
)
def test_answers_are_as_described(known: Scene, method: str, path: str, fields: dict[str, str], schema: str) -> None:
    sent = {"params": fields} if method == "GET" else {"data": fields}
    answer = requests.request(method, f"{known.service.base}{path}", timeout=10, **sent).json()  # type: ignore[arg-type]
    rule = {"$ref": f"#/components/schemas/{schema}", "components": DESCRIBED["components"]}
    errors = [f"{error.instance_path}: {error.message[:200]}" for error in jsonschema_rs.iter_errors(rule, answer)]
    assert errors == []

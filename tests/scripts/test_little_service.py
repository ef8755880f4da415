"""The small service of the scripts' tests answers as the real one is described, so tests against it say something."""

import json
from importlib.resources import files
from typing import Any

import jsonschema_rs
import requests
from support.little_service import link
from support.repair_scene import Scene

WIKI = "testwiki@WMF"
COPIES = [("https://web.archive.org/web/20160502000000/http://a.demo/", "20160502000000")]
DESCRIBED: dict[str, Any] = json.loads((files("weboid.web.api") / "openapi.json").read_text(encoding="utf-8"))


def test_answers_are_as_described(scene: Scene) -> None:
    a, b, c = (
        link("http://a.demo/", copies=COPIES),
        link("http://b.demo/", "working"),
        link("http://c.demo/", copies=None),
    )
    scene.service.pages = {1: [a, b, c], 2: []}
    scene.service.add_change("http://a.demo/", {1: "A"})
    asked = {"dbname": WIKI, "pageid": "1|2|3", "extent": "all"}
    pages = requests.post(f"{scene.service.base}/api/page", asked, timeout=10).json()
    changes = requests.get(f"{scene.service.base}/changes?dbname={WIKI}&since=0", timeout=10).json()
    for schema, answer in (("PageAnswer", pages), ("ChangeAnswer", changes)):
        rule = {"$ref": f"#/components/schemas/{schema}", "components": DESCRIBED["components"]}
        errors = [f"{error.instance_path}: {error.message[:200]}" for error in jsonschema_rs.iter_errors(rule, answer)]
        assert errors == [], schema

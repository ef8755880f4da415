"""The benchmark under load asks at every route of the table by itself."""

import re

from benchmarks.load.routes import EXAMPLES, loads
from benchmarks.pages.seed import World
from weboid.web.request.route import ROUTES


def test_every_route_is_asked_under_load_and_every_placeholder_has_an_example() -> None:
    for route in ROUTES:
        for name in re.findall(r"{(\w+)}", route.path):
            assert {name, f"{route.name} {name}"} & EXAMPLES.keys(), f"no example of {name} in {route.path}"
    found = list(loads(World(1_000)))
    wanted = {
        f"{route.name} POST".removesuffix("" if method == "POST" else " POST")
        for route in ROUTES
        for method in {"GET", "POST"} & set(route.methods)
    }
    assert wanted <= {load.name for load in found}
    assert not any("{" in path for load in found for path, _, _ in load.asked)

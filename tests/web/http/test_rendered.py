"""What everybody gets alike is rendered once a second for all who ask."""

from collections import Counter
from typing import Any

import pytest
from support.webservice import Site

from weboid.web.formats import html
from weboid.web.health.metrics import Metrics
from weboid.web.http import rendered


async def test_what_everybody_gets_alike_is_rendered_once_for_all(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Counter[str]()
    render, text = html.render, Metrics.text

    def rendering(name: str, *rest: Any, **more: Any) -> str:
        made[name] += 1
        return render(name, *rest, **more)

    def measured(metrics: Metrics, status: Any) -> bytes:
        made["metrics"] += 1
        return text(metrics, status)

    monkeypatch.setattr(rendered, "KEPT_S", 60.0)
    monkeypatch.setattr(html, "render", rendering)
    monkeypatch.setattr(Metrics, "text", measured)
    for path in ("/", "/wikis", "/status", "/help", "/metrics"):
        answers = {(await site.fetch(path))[:2] for _ in range(5)}
        assert [status for status, _ in answers] == [200], path
    assert made == dict.fromkeys(("start.html", "wikis.html", "status.html", "help.html", "metrics"), 1)
    assert (await site.fetch("/help?lang=de"))[1] != (await site.fetch("/help"))[1]

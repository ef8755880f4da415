"""The examples for Prometheus and Grafana: they can be read, and a running service tells every metric they name."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import yaml
from prometheus_client.parser import text_string_to_metric_families
from support.webservice import TODAY, Site

from weboid.core.record.reasons import Reason
from weboid.store.pages.page_pass import record_end, record_start
from weboid.store.pages.stream import Position, record_move
from weboid.store.schedule.pace import record_checked
from weboid.store.schedule.process import ProcessRole, RunningProcess, reason_figure, record_seen, take_role
from weboid.store.upkeep.last_backup import GoodBackup, record_last_backup

MONITORING: Final = Path(__file__).resolve().parents[3] / "deploy" / "monitoring"
METRIC: Final = re.compile(r"\bweboid_\w+")


def _rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((MONITORING / "weboid.rules.yml").read_text(encoding="utf-8"))["groups"]
    rules = group["rules"]
    assert isinstance(rules, list)
    return rules


def _panels() -> list[dict[str, Any]]:
    panels = json.loads((MONITORING / "weboid-dashboard.json").read_text(encoding="utf-8"))["panels"]
    assert isinstance(panels, list)
    return panels


def _named() -> set[str]:
    expressions = [rule["expr"] for rule in _rules()]
    expressions += [target["expr"] for panel in _panels() for target in panel.get("targets", ())]
    assert len(expressions) > 30
    return {name for expression in expressions for name in METRIC.findall(expression)}


async def _reported(site: Site) -> tuple[set[str], set[str]]:
    """The names of all samples of a service with everything, and those of samples with a value by their labels."""
    async with site.wiki.pool.connection() as conn:
        crawler = RunningProcess(ProcessRole.CRAWL, "a", "host", "machine", 1, "1")
        await take_role(conn, crawler)
        await record_seen(conn, crawler, "", {reason_figure(Reason.OK): 1.0})
        await record_checked(conn, {TODAY - 1: 50})
        await record_move(conn, None, Position("recentchange", "[]", datetime.now(UTC)))
        await record_last_backup(conn, GoodBackup(100, datetime.now(UTC), 7, "file"))
        for begun, ended in ((100, 101), (102, None)):
            await record_start(conn, site.wiki.wiki.wiki, "", begun)
            if ended:
                await record_end(conn, site.wiki.wiki.wiki, begun, ended)
    await site.fetch("/bot")
    families = [*text_string_to_metric_families((await site.fetch("/metrics"))[1])]
    return {sample.name for family in families for sample in family.samples}, {family.name for family in families}


async def test_every_metric_in_rules_and_panels_is_reported_by_a_running_service(site: Site) -> None:
    samples, families = await _reported(site)
    # Two families have no sample before anything was refused, and while nothing waits for copies.
    answer = samples | {f"{family}_total" for family in families} | families
    assert _named() - answer == set()
    assert _named() - samples <= {"weboid_web_shed_total", "weboid_copy_queue"}


def test_rules_have_names_severities_and_words() -> None:
    rules = _rules()
    names = [rule["alert"] for rule in rules]
    assert len(set(names)) == len(names) > 8
    for rule in rules:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["expr"].count("(") == rule["expr"].count(")")
        assert re.fullmatch(r"\d+[mh]", rule.get("for", "1m"))

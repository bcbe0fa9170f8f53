"""Dashboard, alert rules and documentation name metrics that there are, with labels that they have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, ProcessCollector

from kadm.watch.serving.metrics import HEALTH, METRICS
from tests.examples.commands import EXAMPLES

WATCH = EXAMPLES / "watch"
LABELS = {metric.exposed: {*metric.labels, "job", "instance"} for metric in METRICS}
PROCESS = {
    sample.name for family in ProcessCollector(registry=CollectorRegistry()).collect() for sample in family.samples
}


def dashboard_queries() -> Iterator[tuple[str, str]]:
    dashboard = json.loads((WATCH / "grafana-dashboard.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]


def rules() -> list[dict[str, Any]]:
    found = yaml.safe_load((WATCH / "alerts.yaml").read_text(encoding="utf-8"))
    return [rule for group in found["groups"] for rule in group["rules"]]


QUERIES = [*dashboard_queries(), *((rule["alert"], rule["expr"]) for rule in rules())]


@pytest.mark.parametrize(("where", "query"), [pytest.param(*one, id=f"{one[0]}: {one[1]}") for one in QUERIES])
def test_every_metric_and_label_in_a_query_exists(where: str, query: str) -> None:
    named = re.findall(r"\b((?:kadm|process)_[a-z_]+)(?:\{([^}]*)\})?", query)
    assert named, f"{where} asks for nothing"
    for metric, matchers in named:
        assert metric in LABELS or metric in PROCESS
        used = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers))
        assert used <= LABELS.get(metric, {"job", "instance"})
        for codes in re.findall(r'health[=!]~"([^"]+)"', matchers):
            assert set(codes.split("|")) <= set(HEALTH)
    for grouped in re.findall(r"by \(([^)]*)\)", query):
        labels = {label.strip() for label in grouped.split(",")}
        assert all(labels <= LABELS.get(metric, {"job", "instance"}) for metric, _ in named)


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule["alert"]) for rule in rules()])
def test_an_alert_says_what_is_wrong_and_how_bad_it_is(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert rule["annotations"]["summary"].endswith(".")
    told = "".join(rule["annotations"].values())
    for label in re.findall(r"\$labels\.(\w+)", told):
        assert re.search(rf"by \([^)]*\b{label}\b|\b{label}\b", rule["expr"]) or any(
            label in LABELS[metric] for metric in re.findall(r"\bkadm_[a-z_]+", rule["expr"])
        )


def test_panels_do_not_overlap_and_have_ids_of_their_own() -> None:
    panels = json.loads((WATCH / "grafana-dashboard.json").read_text(encoding="utf-8"))["panels"]
    taken = [
        (x, y)
        for at in (panel["gridPos"] for panel in panels)
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert (len(taken), max(x for x, _ in taken)) == (len(set(taken)), 23)
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_the_documented_metrics_are_those_that_there_are() -> None:
    text = (WATCH / "README.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(kadm_\w+)` \| (\w+) \| ([^|]*) \| (.*) \|$", text, re.MULTILINE)
    assert told == [(one.exposed, one.type, ", ".join(one.labels), one.help) for one in METRICS]


def test_what_prometheus_is_told() -> None:
    found = yaml.safe_load((WATCH / "prometheus.yaml").read_text(encoding="utf-8"))
    scrape = found["scrape_configs"][0]
    assert (scrape["metrics_path"], scrape["authorization"]["type"]) == ("/metrics", "Bearer")

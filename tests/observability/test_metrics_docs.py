"""docs/observability.md and the code tell of the same metrics."""

import importlib
import re

import prometheus_client
import pytest
import yaml
from prometheus_client.metrics_core import Metric

from memoryproject.gauges import StoreGauges
from memoryproject.recent import Recent
from tests.architecture.sources import ROOT, name, python_files

FUNCTIONS = {"histogram_quantile", "avg_over_time", "clamp_min"}
GUIDE = (
    "memory_retrieval_p99_ms",
    "redis_session_eviction_rate",
    "episodic_write_failures",
    "memory_helpful_rate",
    "episodes_per_user_p99",
)
TEXT = (ROOT / "docs" / "observability.md").read_text()
PARTS = re.compile("_(bucket|sum|count)$")  # of a histogram
ROW = re.compile(r"^\| `(\w+)` \| (counter|gauge|histogram) \| ([\w, ]*)\| (.+) \|$", re.MULTILINE)


def defined() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Name as exposed, type and labels of every instrument of every layer."""
    for path in python_files():
        if path.stem == "metrics" and "tests" not in path.parts:
            importlib.import_module(name(path).removesuffix(".py").replace("/", "."))
    wrappers = {id(one): one for one in prometheus_client.REGISTRY._names_to_collectors.values()}.values()
    found = {exposed(one._name, one._type): (one._type, tuple(one._labelnames)) for one in wrappers}
    read = [*StoreGauges().collect(), *Recent().figures(prometheus_client.REGISTRY)]
    return found | {exposed(one.name, one.type): (one.type, labels(one)) for one in read}


def exposed(name: str, kind: str) -> str:
    return f"{name}_total" if kind == "counter" else name


def labels(metric: Metric) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for sample in metric.samples for label in sample.labels))


def test_every_metric_is_described_with_type_and_labels_and_no_other():
    described = {
        metric: (kind, tuple(label.strip() for label in labelled.split(",") if label.strip()))
        for metric, kind, labelled, _meaning in ROW.findall(TEXT)
    }
    assert described == defined()
    assert len(described) > 20


def rules() -> list[dict]:
    groups = yaml.safe_load((ROOT / "docs" / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_each_alert_asks_for_metrics_that_exist_and_says_what_to_do(rule):
    asked = set(re.findall(r"[a-z]+(?:_[a-z0-9]+)+", rule["expr"])) - FUNCTIONS
    assert asked
    assert {PARTS.sub("", metric) for metric in asked} <= set(defined())
    notes = rule["annotations"]
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert notes["summary"]
    assert notes["action"]
    page, _, heading = notes["runbook"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(), re.MULTILINE)
    assert heading in {one.lower().replace(" ", "-") for one in headings}


def test_what_the_guide_watches_has_an_alert_and_its_name():
    asked = "".join(rule["expr"] + rule["annotations"]["summary"] for rule in rules())
    for figure in GUIDE:
        assert figure in asked
        assert figure in set(defined()) | {metric.removesuffix("_total") for metric in defined()}

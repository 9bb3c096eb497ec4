"""docs/observability.md and the code tell of the same metrics."""

import importlib
import re

import prometheus_client
from prometheus_client.metrics_core import Metric

from memoryproject.gauges import StoreGauges
from tests.architecture.sources import ROOT, name, python_files

TEXT = (ROOT / "docs" / "observability.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| (counter|gauge|histogram) \| ([\w, ]*)\| (.+) \|$", re.MULTILINE)


def defined() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Name as exposed, type and labels of every instrument of every layer."""
    for path in python_files():
        if path.stem == "metrics" and "tests" not in path.parts:
            importlib.import_module(name(path).removesuffix(".py").replace("/", "."))
    wrappers = {id(one): one for one in prometheus_client.REGISTRY._names_to_collectors.values()}.values()
    found = {exposed(one._name, one._type): (one._type, tuple(one._labelnames)) for one in wrappers}
    return found | {exposed(one.name, one.type): (one.type, labels(one)) for one in StoreGauges().collect()}


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


def test_the_alerts_ask_for_metrics_that_exist():
    queries = "".join(re.findall(r"```promql\n(.+?)```", TEXT, re.DOTALL))
    asked = set(re.findall(r"\b([a-z]+_[a-z_]+)\b(?!_ms)", re.sub(r"#.*", "", queries)))
    names = {metric.removesuffix("_bucket") for metric in asked} - {"histogram_quantile"}
    assert names
    assert names <= set(defined())

"""Traces, seen by a real collector: one per request, down to the stores, with nothing that anybody said."""

import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryproject import tracing
from tests.architecture.sources import ROOT
from tests.faults.deployment import Deployment, RunningWeb, wait_until
from tests.observability.collector import Collector
from tests.observability.lines import lines_of

pytestmark = pytest.mark.processes
MARK = "marmalade"
SERVER, CLIENT, CONSUMER = 2, 3, 5
CALLER = "00-{trace}-00000000000000aa-01"


def traced(collector: Collector, **more: str) -> dict[str, str]:
    return {
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        **more,
    }


@pytest.fixture(scope="module")
def web(observed: Deployment, collector: Collector) -> Iterator[RunningWeb]:
    (observed.home / "web.log").unlink(missing_ok=True)
    running = observed.web(workers=2, **traced(collector))
    yield running
    running.stop()


def spans_of(collector: Collector, trace: str) -> list[dict]:
    """Of the trace, once the server's span has come; it ends last."""
    wait_until(lambda: any(one["kind"] in (SERVER, CONSUMER) for one in collector.of_trace(trace)), 15)
    return collector.of_trace(trace)


def test_a_request_is_one_trace_from_the_caller_to_the_stores(web, observed, collector):
    trace = "1" * 32
    answer = web.http.post(
        f"/api/v1/sessions/{MARK}/turns?user_id={MARK}",
        json={"turns": [{"role": "user", "content": MARK}]},
        headers={"traceparent": CALLER.format(trace=trace), "baggage": f"who={MARK}", "User-Agent": MARK},
    )
    assert answer.status_code == 200
    spans = spans_of(collector, trace)
    (server,) = [one for one in spans if one["kind"] == SERVER]
    assert server["parent"] == "00000000000000aa"
    assert server["name"] == "POST /api/v1/sessions/{session_id}/turns"
    assert server["attributes"]["http.response.status_code"] == 200
    assert server["resource"]["service.name"] == "strata"
    assert server["resource"]["strata.process"] == "web"
    systems = {one["attributes"]["db.system"] for one in spans if one["kind"] == CLIENT}
    assert systems == {"postgresql", "redis"}
    assert {one["parent"] for one in spans if one["kind"] == CLIENT} == {server["id"]}
    statements = [one["attributes"].get("db.statement", "") for one in spans]
    print(statements)
    assert any("INSERT INTO chat_events" in text and "%" in text for text in statements)
    assert "SET LOCAL app.tenant_id = ?" in statements
    (line,) = lines_of(observed.home / "web.log", message="request", trace_id=trace)
    assert line["span_id"] == server["id"]


def test_every_web_process_sends(web, collector):
    traces = [f"{number:032x}" for number in range(1, 13)]
    for trace in traces:
        httpx.get(f"{web.url}/health", headers={"traceparent": CALLER.format(trace=trace)})
    wait_until(lambda: all(collector.of_trace(trace) for trace in traces), 15)


def test_nothing_that_anybody_said_leaves_the_process(web, collector):
    everywhere = [
        ("POST", "/api/v1/episodes", {"text": MARK, "user_id": MARK, "agent_id": MARK}),
        ("POST", "/api/v1/recall", {"query": MARK, "user_id": MARK}),
        ("PUT", f"/working-memory/{MARK}", {"scratchpad": MARK}),
        ("POST", f"/ledger/{MARK}/mark", {"item_key": MARK}),
        ("GET", f"/{MARK}?{MARK}={MARK}", None),
        ("POST", "/api/v1/recall", {MARK: MARK}),
        (
            "POST",
            "/observations",
            {"session_id": "s", "type": "t", "project": "p", "title": MARK, "content": MARK},
        ),
        ("GET", f"/search?q={MARK}&project=p", None),
        ("GET", f"/context?query={MARK}&project=p", None),
        (MARK.upper(), "/health", None),
    ]
    trace = "2" * 32
    for method, path, body in everywhere:
        web.http.request(method, path, json=body, headers={"traceparent": CALLER.format(trace=trace)})
    wait_until(lambda: len([one for one in collector.of_trace(trace) if one["kind"] == SERVER]) == 10, 15)
    (told,) = [one for one in collector.of_trace(trace) if one["name"] == "memory.fetch_context"]
    assert told["attributes"]["memory.context.result_count"] == 1
    assert not [raw for raw in collector.raw if MARK.encode() in raw.lower()]


def test_an_error_of_postgresql_goes_out_by_its_type(web, observed, collector):
    trace = "3" * 32
    with psycopg.connect(observed.stores.postgres.superuser_url("strata"), autocommit=True) as connection:
        connection.execute(f"ALTER TABLE agent_episodes ADD CONSTRAINT no CHECK (text !~ '{MARK}') NOT VALID")
        try:
            sent = {"traceparent": CALLER.format(trace=trace)}
            answer = web.http.post("/api/v1/episodes", json={"text": MARK, "user_id": "x"}, headers=sent)
        finally:
            connection.execute("ALTER TABLE agent_episodes DROP CONSTRAINT no")
    assert answer.status_code == 500
    events = [event for one in spans_of(collector, trace) for event in one["events"]]
    assert {"exception.type": "psycopg.errors.CheckViolation"} in events
    assert not [raw for raw in collector.raw if MARK.encode() in raw.lower()]


PUBLISH = """
import django; django.setup()
from celery import current_app
from memoryproject import tracing
tracing.start("command")
with tracing.request_span({{"HTTP_TRACEPARENT": "{caller}", "HTTP_BAGGAGE": "a=b"}}, "GET"):
    current_app.send_task("memoryproject.heartbeat")
    current_app.send_task("episodic.embed_pending", args=["{mark}"])
"""


def test_a_task_belongs_to_the_trace_that_caused_it(observed, collector):
    log = observed.home / "worker.log"
    log.unlink(missing_ok=True)
    worker = observed.worker(**traced(collector))
    worker.start()
    trace = "4" * 32
    script = PUBLISH.format(caller=CALLER.format(trace=trace), mark=MARK)
    env = {**observed.environment, **traced(collector), "DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
    try:
        subprocess.run([sys.executable, "-c", script], env=env, cwd=ROOT, check=True)
        wait_until(lambda: len(of_worker(collector, trace)) >= 2, 25)
        tasks = {one["name"]: one for one in of_worker(collector, trace)}
        assert set(tasks) == {"run/memoryproject.heartbeat", "run/episodic.embed_pending"}
        heartbeat = tasks["run/memoryproject.heartbeat"]
        commands = [one for one in collector.of_trace(trace) if one["parent"] == heartbeat["id"]]
        assert [one["attributes"]["db.system"] for one in commands] == ["redis"]
        failed = tasks["run/episodic.embed_pending"]
        assert {"exception.type": "TypeError"} in failed["events"]
        assert not [raw for raw in collector.raw if MARK.encode() in raw.lower()]
        (line,) = lines_of(log, message="task", task="memoryproject.heartbeat", trace_id=trace)
        assert line["span_id"] == heartbeat["id"]
    finally:
        worker.stop()


def of_worker(collector: Collector, trace: str) -> list[dict]:
    return [one for one in collector.of_trace(trace) if one["kind"] == CONSUMER]


def test_polling_that_belongs_to_no_work_is_not_sent(web, collector):
    time.sleep(0.5)
    assert [one for one in collector.spans if one["kind"] == CLIENT and not one["parent"]] == []


def test_a_collector_that_is_away_holds_no_request_up(observed):
    small = {"OTEL_BSP_MAX_QUEUE_SIZE": "64", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "16"}
    nobody = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_BSP_SCHEDULE_DELAY": "50"}
    running = observed.web(OTEL_TRACES_EXPORTER="otlp", **small, **nobody)
    try:
        slowest = 0.0
        for _ in range(200):
            began = time.monotonic()
            assert running.http.get("/health").status_code == 200
            slowest = max(slowest, time.monotonic() - began)
        assert slowest < 5
    finally:
        began = time.monotonic()
        running.stop()
        assert time.monotonic() - began < 10


def test_without_an_exporter_nothing_that_makes_or_sends_spans_is_loaded(observed):
    script = """
import sys
import memoryproject.wsgi, memoryproject.celery
from memoryproject.tasks import heartbeat
heartbeat.delay()
parts = ("sdk.trace", "exporter", "instrumentation", "proto")
print([name for name in sys.modules if name.startswith(tuple(f"opentelemetry.{part}" for part in parts))])
print(not any(name.startswith("google.protobuf") for name in sys.modules))
"""
    for exporter in ("none", ""):
        env = {**observed.environment, "OTEL_TRACES_EXPORTER": exporter}
        argv = [sys.executable, "-c", script]
        done = subprocess.run(argv, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["[]", "True"]


def test_an_unknown_exporter_stops_the_start(settings):
    settings.OTEL_TRACES_EXPORTER = "jaeger"
    with pytest.raises(ImproperlyConfigured, match="one of none, otlp, console"):
        tracing.start("web")


def test_the_standard_sampler_decides(observed, collector):
    running = observed.web(**traced(collector, OTEL_TRACES_SAMPLER="always_off"))
    try:
        trace = "5" * 32
        sent = {"traceparent": CALLER.format(trace=trace)}
        assert running.http.get("/api/v1/sessions", headers=sent).status_code == 200
        time.sleep(1)
        assert collector.of_trace(trace) == []
        assert lines_of(observed.home / "web.log", message="request", trace_id=trace)
    finally:
        running.stop()

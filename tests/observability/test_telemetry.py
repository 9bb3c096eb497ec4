"""How spans of memories fail, cost and travel."""

import secrets
import timeit
from collections.abc import Iterator
from typing import get_args

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError
from opentelemetry.trace import StatusCode

from observations.observations import access_observation
from observations.validation import InvalidObservation
from tenants import telemetry
from tenants.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge, Unavailable
from tests.architecture.sources import ROOT
from tests.faults.deployment import Deployment, RunningWeb, wait_until
from tests.observability.collector import Collector
from tests.observability.recorded import Spans, attributes, events
from tests.observability.test_tracing import CALLER, SERVER, traced
from tests.observations.notes import note, search


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (NotFound("x"), "not_found"),
        (caused(OperationalError(), psycopg.errors.DeadlockDetected()), "db_locked"),
        (caused(OperationalError(), psycopg.errors.LockNotAvailable()), "db_locked"),
        (caused(OperationalError(), psycopg.errors.SerializationFailure()), "db_locked"),
        (caused(OperationalError(), psycopg.OperationalError()), "error"),
        (IntegrityError("x"), "constraint_violation"),
        (Conflict("x"), "constraint_violation"),
        (InvalidObservation("x"), "validation_error"),
        (Invalid("x"), "validation_error"),
        (DataError("x"), "invalid_input"),
        (Forbidden("x"), "invalid_input"),
        (TooLarge("x"), "invalid_input"),
        (Unavailable("x"), "error"),
        (KeyError("x"), "error"),
    ],
)
def test_errors_are_told_by_their_kind_and_pass_on(spans, error, told):
    with (
        pytest.raises(type(error)) as raised,
        telemetry.memory_span("search"),
        telemetry.store_span("search"),
    ):
        raise error
    assert raised.value is error
    for span in (spans.one("memory.search"), spans.one("store.search")):
        assert attributes(span)["error.type"] == told
        assert span.status.status_code is StatusCode.ERROR
        assert span.events == ()


def test_refusals_of_the_domain_are_errors_of_their_span(caller, spans):
    with pytest.raises(NotFound):
        access_observation(caller=caller, observation_id=1)
    with pytest.raises(InvalidObservation):
        note(caller, title="")
    told = {span.name: attributes(span)["error.type"] for span in spans.all()}
    assert told == {"memory.get_observation": "not_found", "memory.add_observation": "validation_error"}


def test_without_a_tracer_there_are_none_and_they_cost_next_to_nothing(caller):
    found = Spans()
    note(caller)
    search(caller, "cluster")
    with found.tracer.start_as_current_span("request"):
        telemetry.breadcrumb("hook.memory_saved", tool="bash")
    assert found.names() == ["request"]
    assert events(found.one("request")) == []

    def operation() -> None:
        with telemetry.memory_span("search", search_query="a", project="b") as span:
            span.set(search_results=1)
            with telemetry.store_span("search"):
                pass

    seconds = min(timeit.repeat(operation, number=2_000, repeat=7)) / 2_000
    print(f"{seconds * 1e6:.2f} µs")
    assert seconds < 10e-6  # two spans


def test_every_name_is_described():
    page = (ROOT / "docs" / "observability.md").read_text()
    spans = [f"memory.{operation}" for operation in get_args(telemetry.Operation)]
    names = {*spans, *telemetry.ATTRIBUTES, *telemetry.EVENTS, *telemetry.EVENT_ATTRIBUTES}
    told = {name for name in names if f"`{name}`" in page or f"`.{name.rpartition('.')[2]}`" in page}
    assert names - told == set()


@pytest.fixture(scope="module")
def web(observed: Deployment, collector: Collector) -> Iterator[RunningWeb]:
    running = observed.web(**traced(collector), TRACE_MEMORY_CONTENT="1")
    yield running
    running.stop()


SAVED = {"type": "decision", "title": "Pool size", "content": "The pool size is 40."}


def tool(name: str, **arguments: object) -> dict[str, object]:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def spans_of(web: RunningWeb, collector: Collector, calls: list[tuple[str, str, object]]) -> list[dict]:
    """Those of memories, in the order of the calls, once all have come: each within its request, and all in
    the trace that the caller names."""
    trace = secrets.token_hex(16)
    headers = {"traceparent": CALLER.format(trace=trace), "Accept": "application/json, text/event-stream"}
    for method, path, body in calls:
        answer = web.http.request(method, path, json=body, headers=headers)
        assert answer.status_code < 300, (path, answer.text)

    def told() -> list[dict]:
        return [one for one in collector.of_trace(trace) if one["name"].startswith("memory.")]

    def requests() -> list[dict]:
        return [one for one in collector.of_trace(trace) if one["kind"] == SERVER]

    wait_until(lambda: len(requests()) == len(calls) == len(told()), 15)
    assert {one["parent"] for one in requests()} == {"00000000000000aa"}
    parents = [one["parent"] for one in told()]
    assert sorted(parents) == sorted(one["id"] for one in requests())
    return told()


@pytest.mark.processes
def test_every_route_of_the_service_has_its_span(web, collector):
    body = {**SAVED, "session_id": "s1", "project": "rest"}
    one = web.http.post("/observations", json=body).json()["id"]
    exported = {"sessions": [], "observations": []}
    routes = {
        "create_session": ("POST", "/sessions", {"id": "s1", "project": "rest"}),
        "add_observation": ("POST", "/observations", body),
        "search": ("GET", "/search?q=pool&project=rest", None),
        "fetch_context": ("GET", "/context?query=pool&project=rest", None),
        "get_observation": ("GET", f"/observations/{one}", None),
        "update_observation": ("PATCH", f"/observations/{one}", {"title": "Size"}),
        "recent_observations": ("GET", "/observations/recent?project=rest", None),
        "timeline": ("GET", f"/timeline?observation_id={one}", None),
        "stats": ("GET", "/stats", None),
        "export": ("GET", "/export?project=rest", None),
        "import": ("POST", "/import", exported),
        "recent_sessions": ("GET", "/sessions/recent?project=rest", None),
        "delete_observation": ("DELETE", f"/observations/{one}", None),
        "end_session": ("POST", "/sessions/s1/end", {"messages": [{"role": "user", "content": "Hi"}]}),
    }
    found = {span["name"]: span for span in spans_of(web, collector, list(routes.values()))}
    assert set(found) == {f"memory.{name}" for name in routes}
    assert set(routes) == set(get_args(telemetry.Operation))
    assert found["memory.search"]["attributes"]["memory.search.query"] == "pool"
    assert found["memory.search"]["event_names"] == ["search.result"]
    (told,) = found["memory.fetch_context"]["events"]
    assert (told["memory.injected.observation_id"], told["memory.injected.title"]) == (one, "Pool size")


@pytest.mark.processes
def test_tools_have_the_same_spans(web, collector):
    calls = [tool("mem_save", **SAVED), tool("mem_search", query="pool"), tool("mem_context")]
    found = spans_of(web, collector, [("POST", "/mcp?project=mcp", call) for call in calls])
    names = {"memory.add_observation", "memory.search", "memory.fetch_context"}
    assert {span["name"] for span in found} == names
    assert {span["attributes"]["memory.project"] for span in found} == {"mcp"}

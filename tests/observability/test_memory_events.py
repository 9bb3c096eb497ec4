"""Each memory that was found, told in spans by the AgentOps contract (§3.3); and what must not be told."""

from django.utils import timezone

from observations.search import search_observations
from observations.types import ObservationFilter
from recall.context import ContextQuery, fetch_context
from recall.hooks.lookups import look_up
from recall.hooks.results import record_result
from recall.hooks.rules import ToolResult
from tenants import telemetry
from tenants.agents.agents import put_agent
from tenants.system import system_caller
from tests.observability.recorded import attributes, events
from tests.observations.notes import embed, note, search
from working.types import SessionAddress

FAR = "The export of invoices waits for the nightly batch."


def test_a_search_tells_each_result(caller, spans):
    first = note(caller, "The blue cluster runs the queue.", title="Blue" * 40).observation
    second = note(caller, "The green cluster runs nothing much at all, ever.", title="Green").observation
    spans.clear()
    hits = search(caller, "cluster runs")
    assert spans.names() == ["store.search", "memory.search"]
    span = spans.one("memory.search")
    assert attributes(span) == {
        "memory.operation": "search",
        "memory.project": "orders",
        "memory.search.query": "cluster runs",
        "memory.search.result_count": 2,
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "cluster runs",
        "gen_ai.retrieval.document_count": 2,
    }
    titles = {first.id: ("Blue" * 40)[:100], second.id: "Green"}
    assert events(span) == [
        (
            "search.result",
            {
                "memory.injected.observation_id": hit.observation.id,
                "memory.injected.type": "decision",
                "memory.injected.title": titles[hit.observation.id],
                "memory.injected.rank": hit.rank,
            },
        )
        for hit in hits
    ]


def test_a_context_tells_each_memory_and_how_it_was_found(caller, spans):
    found = note(caller, "The blue cluster runs the queue.", title="Blue").observation
    alike = note(caller, "The queue grew.", title="Queue").observation
    recent = note(caller, FAR, title="Invoices", type="config").observation
    embed(caller)
    spans.clear()
    query = ContextQuery(project="Orders", text="blue queue", limit=5, session_id="s1")
    fetch_context(caller=caller, query=query, now=timezone.now())
    assert spans.names() == ["store.fetch_context", "memory.fetch_context"]  # its search is no span
    span = spans.one("memory.fetch_context")
    assert attributes(span) == {
        "memory.operation": "fetch_context",
        "memory.project": "orders",
        "memory.session.id": "s1",
        "memory.query": "blue queue",
        "memory.context.query_used": True,
        "memory.context.result_count": 3,
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "blue queue",
        "gen_ai.retrieval.document_count": 3,
    }
    told = events(span)
    assert [name for name, _about in told] == ["context.injected"] * 3
    assert [about["memory.injected.observation_id"] for _name, about in told] == [
        found.id,
        alike.id,
        recent.id,
    ]
    assert [about["memory.injected.method"] for _name, about in told] == ["fts5_bm25", "hybrid", "recency"]
    assert told[0][1]["memory.injected.rank"] < 0
    assert told[2][1] == {
        "memory.injected.observation_id": recent.id,
        "memory.injected.type": "config",
        "memory.injected.title": "Invoices",
        "memory.injected.rank": 0.0,
        "memory.injected.method": "recency",
    }


def test_a_context_without_a_query_says_so(caller, spans):
    fetch_context(caller=caller, query=ContextQuery(project="orders", text=" "), now=timezone.now())
    assert attributes(spans.one("memory.fetch_context"))["memory.context.query_used"] is False


def test_queries_are_cut_in_bytes_between_characters(caller, spans):
    fetch_context(caller=caller, query=ContextQuery(project="orders", text="aé" * 400), now=timezone.now())
    search_observations(caller=caller, text="aé" * 400, where=ObservationFilter(project="orders"), limit=1)
    search_observations(caller=caller, text="half \ud800", where=ObservationFilter(project="orders"), limit=1)
    context = attributes(spans.one("memory.fetch_context"))["memory.query"]
    searched = [attributes(one)["memory.search.query"] for one in spans.all() if one.name == "memory.search"]
    assert context == "aé" * 166 + "a"  # the 500th byte is half a character
    assert searched == ["aé" * 66 + "a", "half ?"]


HOOKS = {
    "memorySaveRules": [
        {"tool": "bash", "matchOutput": "panic", "type": "bugfix"},
        {"tool": "bash", "matchOutput": "fatal"},
        {"tool": "bash", "matchArgs": {"path": "x"}},
        {"tool": "bash", "matchArgs": {"command": "x"}},
    ],
    "auditTools": ["bash"],
    "contextInjectTools": [
        {"tool": "bash", "query": "cluster"},
        {"tool": "bash", "query": "zeppelin"},
        {"tool": "ls", "query": "from_tool_args"},
    ],
}


def test_hooks_leave_events_on_the_span_of_the_request(acme, spans):
    document = {"memory": {"project": "orders"}, "toolHooks": HOOKS}
    put_agent(caller=system_caller(acme.tenant.id), name="coder", document=document, now=timezone.now())
    note(acme.caller)
    result = ToolResult("bash", {"command": "make"}, "panic: no", "", 12)
    asked = {"caller": acme.caller, "agent": "coder", "user_id": None, "session_id": None, "args": {}}
    with spans.tracer.start_as_current_span("request"):
        record_result(
            caller=acme.caller, agent="coder", address=SessionAddress("s1"), result=result, now=timezone.now()
        )
        look_up(**asked, tool="bash", now=timezone.now())
        look_up(**asked, tool="ls", now=timezone.now())
    skipped = "hook.memory_save_skipped"
    assert events(spans.one("request")) == [
        ("hook.memory_saved", {"tool": "bash"}),
        ("hook.audit_saved", {"tool": "bash"}),
        (skipped, {"tool": "bash", "reason": "output_not_matched"}),
        (skipped, {"tool": "bash", "reason": "arg_missing"}),
        (skipped, {"tool": "bash", "reason": "arg_not_matched"}),
        ("hook.context_injected", {"tool": "bash", "query": "cluster", "results": 1}),
        ("hook.context_inject_empty", {"tool": "bash", "query": "zeppelin"}),
        ("hook.context_inject_skipped", {"tool": "ls"}),
    ]


def test_as_delivered_no_query_and_no_title_is_told(caller, bare):
    note(caller, "The marmalade is in the blue cluster.", title="marmalade")
    search(caller, "marmalade")
    fetch_context(caller=caller, query=ContextQuery(project="orders", text="marmalade"), now=timezone.now())
    with bare.tracer.start_as_current_span("request"):
        telemetry.breadcrumb("hook.context_injected", tool="bash", query="marmalade", results=1)
    assert not [span for span in bare.all() if "marmalade" in span.to_json()]
    (found,) = events(bare.one("memory.search"))
    assert set(found[1]) == {f"memory.injected.{name}" for name in ("observation_id", "type", "rank")}
    (told,) = events(bare.one("memory.fetch_context"))
    assert set(told[1]) == {
        f"memory.injected.{name}" for name in ("observation_id", "type", "rank", "method")
    }
    assert attributes(bare.one("memory.fetch_context"))["memory.context.query_used"] is True


def test_of_very_many_results_the_best_are_told(spans):
    with telemetry.memory_span("search") as span:
        for number in range(200):
            span.event("search.result", observation_id=number)
    told = events(spans.one("memory.search"))
    assert [about["memory.injected.observation_id"] for _name, about in told] == list(range(100))

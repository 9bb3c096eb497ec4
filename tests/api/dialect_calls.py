"""The calls of the dialects: AEGIS, AgentOps, Redis Agent Memory Server and KAOS."""

from typing import Any

from api.aegis import views as aegis
from api.agentops import observations as notes
from api.agentops import recalling, transfer
from api.agentops import sessions as project_sessions
from api.ams import long_term, prompting, summary_views, tasks, working_memory
from api.kaos import memory as kaos_memory
from api.kaos import sessions as kaos_sessions
from api.views import DialectView
from tests.api.bodies import (
    EVENT,
    EXPORTED,
    FORGET,
    MESSAGES,
    NOTE,
    PROMPT,
    RECORD_CHANGES,
    RECORD_SEARCH,
    RECORDS,
    RUN_SUMMARY,
    RUN_SUMMARY_VIEW,
    SEARCH,
    STORE,
    SUMMARY_VIEW,
    WORKING_MEMORY,
)
from tests.api.call import Call


def _verb(view: type[DialectView], scope: str, **more: Any) -> tuple[Call, ...]:
    verb: str = view.verb  # type: ignore[attr-defined]
    path = f"/ledger/{{id}}/{verb}"
    return (
        Call(view, "POST", path, {"item_key": "skill:new", **more}, scope=scope),
        # An id that ends in the verb: the same routes as those of any other id.
        Call(view, "GET", path),
        Call(view, "DELETE", path, scope="write"),
    )


AGENTOPS = (
    Call(
        project_sessions.SessionsView,
        "POST",
        "/sessions",
        {"id": "{id}", "project": "apollo"},
        query=(),
        in_body=("project",),
        scope="write",
    ),
    Call(
        project_sessions.EndView,
        "POST",
        "/sessions/{id}/end",
        {"messages": [{"role": "user", "content": "hi"}]},
        query=(),
        scope="write",
    ),
    Call(
        notes.ObservationsView, "POST", "/observations", NOTE, query=(), in_body=("project",), scope="write"
    ),
    Call(notes.ObservationView, "GET", "/observations/{observation}", query=()),
    Call(
        notes.ObservationView,
        "PATCH",
        "/observations/{observation}",
        {"type": "pattern", "title": "Other", "content": "other", "tags": ["b"]},
        query=(),
        scope="write",
    ),
    Call(notes.ObservationView, "DELETE", "/observations/{observation}", query=(), scope="write"),
    *(
        Call(view, "GET", path, query=("project",))
        for view, path in (
            (project_sessions.RecentSessionsView, "/sessions/recent"),
            (notes.RecentObservationsView, "/observations/recent"),
            (recalling.SearchView, "/search"),
            (recalling.ContextView, "/context"),
            (recalling.StatsView, "/stats"),
            (transfer.ExportView, "/export"),
        )
    ),
    Call(recalling.TimelineView, "GET", "/timeline", query=()),
    Call(transfer.ImportView, "POST", "/import", EXPORTED, query=(), scope="write"),
)
AEGIS = (
    Call(aegis.WorkingMemoryView, "GET", "/working-memory/{id}"),
    Call(
        aegis.WorkingMemoryView,
        "PUT",
        "/working-memory/{id}",
        {"data": {"a": 1}, "ttl_seconds": None},
        scope="write",
    ),
    Call(aegis.WorkingMemoryView, "DELETE", "/working-memory/{id}", {"fields": ["a"]}, scope="write"),
    Call(aegis.StoreView, "POST", "/episodic/store", STORE, in_body=("user_id", "agent_id"), scope="write"),
    Call(aegis.StoreView, "GET", "/episodic/store"),
    Call(aegis.SearchView, "POST", "/episodic/search", SEARCH, in_body=("user_id", "agent_id")),
    Call(aegis.SearchView, "GET", "/episodic/search"),
    Call(aegis.ConversationView, "GET", "/episodic/{id}"),
    *_verb(aegis.LedgerCheckView, "read"),
    *_verb(aegis.LedgerMarkView, "write", value="1"),
    *_verb(aegis.LedgerClaimView, "write", value="1"),
    *_verb(aegis.LedgerEvictView, "write"),
    Call(aegis.LedgerView, "GET", "/ledger/{id}"),
    Call(aegis.LedgerView, "DELETE", "/ledger/{id}", scope="write"),
)
AMS = (
    Call(working_memory.WorkingMemoriesView, "GET", "/v1/working-memory"),
    *(
        call
        for view, path in (
            (working_memory.WorkingMemoryView, "/v1/working-memory/{id}"),
            # An id that ends in the verb, as in the ledger.
            (working_memory.MessagesView, "/v1/working-memory/{id}/messages"),
        )
        for call in (
            Call(view, "PUT", path, WORKING_MEMORY, in_body=("user_id",), scope="write"),
            Call(view, "GET", path),
            Call(view, "DELETE", path, scope="write"),
        )
    ),
    Call(
        working_memory.MessagesView,
        "POST",
        "/v1/working-memory/{id}/messages",
        MESSAGES,
        in_body=("user_id",),
        scope="write",
    ),
    Call(long_term.RecordsView, "POST", "/v1/long-term-memory", RECORDS, query=(), scope="write"),
    Call(long_term.RecordsView, "DELETE", "/v1/long-term-memory", scope="write"),
    Call(long_term.SearchView, "POST", "/v1/long-term-memory/search", RECORD_SEARCH, query=()),
    Call(long_term.ForgetView, "POST", "/v1/long-term-memory/forget", FORGET, scope="write"),
    Call(long_term.CompactView, "POST", "/v1/long-term-memory/compact", scope="write"),
    Call(long_term.RecordView, "GET", "/v1/long-term-memory/{record}"),
    Call(
        long_term.RecordView,
        "PATCH",
        "/v1/long-term-memory/{record}",
        RECORD_CHANGES,
        in_body=("user_id",),
        scope="write",
    ),
    Call(prompting.PromptView, "POST", "/v1/memory/prompt", PROMPT, query=()),
    Call(summary_views.SummaryViewsView, "GET", "/v1/summary-views", query=()),
    Call(summary_views.SummaryViewsView, "POST", "/v1/summary-views", SUMMARY_VIEW, query=(), scope="write"),
    Call(summary_views.SummaryViewView, "GET", "/v1/summary-views/{view}", query=()),
    Call(summary_views.SummaryViewView, "DELETE", "/v1/summary-views/{view}", query=(), scope="write"),
    Call(summary_views.PartitionsView, "GET", "/v1/summary-views/{view}/partitions"),
    Call(
        summary_views.RunPartitionView,
        "POST",
        "/v1/summary-views/{view}/partitions/run",
        RUN_SUMMARY,
        query=(),
        scope="write",
    ),
    Call(
        summary_views.RunView,
        "POST",
        "/v1/summary-views/{view}/run",
        RUN_SUMMARY_VIEW,
        query=(),
        scope="write",
    ),
    Call(tasks.TaskView, "GET", "/v1/tasks/{task}", query=()),
    # Records whose ids are the verbs.
    *(
        Call(view, method, f"/v1/long-term-memory/{verb}", body, query=(), scope=scope)
        for verb, view in (
            ("search", long_term.SearchView),
            ("forget", long_term.ForgetView),
            ("compact", long_term.CompactView),
        )
        for method, body, scope in (("GET", None, "read"), ("PATCH", RECORD_CHANGES, "write"))
    ),
)
KAOS = (
    Call(kaos_memory.EventsView, "GET", "/memory/events"),
    Call(kaos_memory.StatsView, "GET", "/memory/stats"),
    Call(kaos_memory.CleanUpView, "POST", "/memory/cleanup", {"max_age_hours": 24}, query=(), scope="write"),
    Call(kaos_sessions.SessionsView, "GET", "/memory/sessions"),
    Call(
        kaos_sessions.SessionsView,
        "POST",
        "/memory/sessions",
        {"app_name": "coder", "user_id": "", "session_id": "{id}", "create": "if_missing"},
        in_body=("user_id",),
        scope="write",
    ),
    Call(kaos_sessions.SessionView, "GET", "/memory/sessions/{id}"),
    Call(kaos_sessions.SessionEventsView, "GET", "/memory/sessions/{id}/events"),
    Call(kaos_sessions.SessionEventsView, "POST", "/memory/sessions/{id}/events", EVENT, scope="write"),
    Call(kaos_sessions.ContextView, "GET", "/memory/sessions/{id}/context"),
    Call(kaos_sessions.SessionView, "DELETE", "/memory/sessions/{id}", scope="write"),
)

"""The calls of the dialects: AEGIS and AgentOps."""

from typing import Any

from api.aegis import views as aegis
from api.agentops import observations as notes
from api.agentops import recalling, transfer
from api.agentops import sessions as project_sessions
from api.views import DialectView
from tests.api.bodies import (
    EXPORTED,
    NOTE,
    SEARCH,
    STORE,
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

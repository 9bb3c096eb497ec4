"""Every method of every REST route, with a request that is right.

`test_urls.py` compares this table with Django's URLs: a route that is missing here fails it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx
from django.urls import URLPattern, URLResolver, get_resolver

from api.aegis import views as aegis
from api.agentops import observations as notes
from api.agentops import recalling, transfer
from api.agentops import sessions as project_sessions
from api.agentops.errors import is_ours as is_agentops
from api.mcp.http import mcp_view
from api.native import agents, episodes, hooks, jobs, lifecycle, observations, policy, sessions, subjects
from api.views import DialectView
from memoryproject.metrics import metrics_view
from tests.api.bodies import (
    AGENT,
    BEFORE_TOOL,
    EPISODE,
    EVENT,
    EXPORTED,
    NOTE,
    POLICY,
    RECALL,
    ROLLBACK,
    SEARCH,
    SESSION,
    STORE,
    TOOL_RESULT,
    TURNS,
)
from tests.api.things import dead_letter, finished_export, noted
from tests.conftest import Member

HTTP_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True)
class Call:
    """`query` and `in_body`: which ids of a user, agent or project the route understands, and where.

    In paths, `{id}` is the id of a session, `{job}` that of a job, `{export}` that of a finished export,
    `{user}` a person, `{agent}` an agent that is declared and `{observation}` the number of an observation.
    """

    view: type[DialectView]
    method: str
    path: str
    body: Any = None
    query: tuple[str, ...] = ("user_id",)
    in_body: tuple[str, ...] = ()
    scope: str = field(default="read", kw_only=True)
    takes_any_json: bool = field(default=False, kw_only=True)  # and more of it than elsewhere

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_native(self) -> bool:
        return self.path.startswith("/api/v1/")

    @property
    def is_agentops(self) -> bool:
        return is_agentops(self.path)

    def url(self, session: str = "s", **query: str) -> str:
        path = self.path.replace("{id}", quoted(session)).replace("{job}", str(NO_JOB))
        path = path.replace("{export}", str(NO_JOB)).replace("{user}", "someone")
        path = path.replace("{agent}", "coder").replace("{observation}", NO_OBSERVATION)
        return f"{path}?{httpx.QueryParams(query)}" if query else path

    def send(self, member: Member, session: str = "s", *, body: Any = ..., **query: str) -> httpx.Response:
        """Sends the right request, or one with another body."""
        return member.http.send(self.request(member, session, body=body, **query))

    def request(self, member: Member, session: str = "s", *, body: Any = ..., **query: str) -> httpx.Request:
        """The request itself; what it works on is made."""
        sent = self.body_for(session) if body is ... else body
        query = ASKED.get(self.path, {}) | query
        if self.path == "/timeline":
            query["observation_id"] = str(noted(member))
        given = {} if sent is None else {"json": sent}
        url = self.url(session, **query)
        if "{job}" in self.path:
            url = url.replace(str(NO_JOB), str(dead_letter(member)))
        if "{export}" in self.path:
            url = url.replace(str(NO_JOB), str(finished_export(member)))
        if "{observation}" in self.path:
            url = url.replace(NO_OBSERVATION, str(noted(member)))
        if "{agent}" in self.path or "/hooks/" in self.path:
            declare_agent(member)
        if self.path.endswith("/checkpoint") and self.method == "GET":
            member.http.put(url, content="[1]")
        return member.http.build_request(self.method, url, **given)

    def by(self, member: Member, **bindings: str) -> Member:
        """The member with a key that may make this call."""
        if self.scope in {"read", "write"} and not bindings:
            return member
        if bindings:
            return member.with_key(scopes=("read", "write", self.scope), **bindings)
        return _able(member, self.scope)

    def body_for(self, session: str) -> Any:
        """The right body about that session."""
        return _filled(self.body, session)


_ABLE: dict[tuple[str, str], Member] = {}
NO_JOB = UUID(int=0)
ASKED = {"/search": {"q": "sesame"}, "/context": {"query": "sesame"}}
NO_OBSERVATION = "999999999999999999"


def _able(member: Member, scope: str) -> Member:
    """The member with an unbound key that also has that scope."""
    known = (member.key, scope)
    if known not in _ABLE:
        _ABLE[known] = member.with_key(scopes=("read", "write", scope))
    return _ABLE[known]


def declare_agent(member: Member) -> None:
    """The agent `coder`, within the reach of the member's key. By the server, which then knows it at once."""
    document = {
        "memory": {"project": member.caller.project or "apollo"},
        "toolHooks": AGENT["toolHooks"],
    }
    _able(member, "admin").http.put("/api/v1/agents/coder", json=document).raise_for_status()


def quoted(session: str) -> str:
    """Dots too: clients resolve `.` and `..` in a path before they send it."""
    return quote(session, safe="").replace(".", "%2E")


def _filled(body: Any, session: str) -> Any:
    if isinstance(body, dict):
        return {name: _filled(value, session) for name, value in body.items()}
    return session if body == "{id}" else body


def _verb(view: type[DialectView], scope: str, **more: Any) -> tuple[Call, ...]:
    verb: str = view.verb  # type: ignore[attr-defined]
    path = f"/ledger/{{id}}/{verb}"
    return (
        Call(view, "POST", path, {"item_key": "skill:new", **more}, scope=scope),
        # An id that ends in the verb: the same routes as those of any other id.
        Call(view, "GET", path),
        Call(view, "DELETE", path, scope="write"),
    )


OWNERS = ("user_id", "agent_id", "project")
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
CALLS = (
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
    *AGENTOPS,
    Call(observations.ObservationsView, "GET", "/api/v1/observations", query=("user_id", "project")),
    Call(observations.ObservationView, "GET", "/api/v1/observations/{observation}", query=()),
    Call(observations.RevisionsView, "GET", "/api/v1/observations/{observation}/revisions", query=()),
    Call(
        observations.RestoreView,
        "POST",
        "/api/v1/observations/{observation}/restore",
        query=(),
        scope="write",
    ),
    Call(sessions.SessionsView, "GET", "/api/v1/sessions", query=OWNERS),
    Call(sessions.SessionsView, "POST", "/api/v1/sessions", SESSION, in_body=OWNERS, scope="write"),
    Call(
        sessions.TurnsView,
        "POST",
        "/api/v1/sessions/{id}/turns",
        TURNS,
        in_body=("user_id", "agent_id"),
        scope="write",
    ),
    Call(sessions.EventsView, "GET", "/api/v1/sessions/{id}/events"),
    Call(sessions.EventsView, "POST", "/api/v1/sessions/{id}/events", EVENT, scope="write"),
    Call(sessions.WindowView, "GET", "/api/v1/sessions/{id}/window"),
    Call(sessions.EndView, "POST", "/api/v1/sessions/{id}/end", {}, scope="write"),
    Call(
        lifecycle.StartView,
        "POST",
        "/api/v1/sessions/{id}/start",
        {"user_id": "alice", "agent_id": None, "query": "sesame"},
        query=(),
        in_body=("user_id", "agent_id"),
        scope="write",
    ),
    Call(
        lifecycle.CheckpointView,
        "PUT",
        "/api/v1/sessions/{id}/checkpoint",
        {"step": [1]},
        scope="write",
        takes_any_json=True,
    ),
    Call(lifecycle.CheckpointView, "GET", "/api/v1/sessions/{id}/checkpoint"),
    Call(lifecycle.StatsView, "GET", "/api/v1/sessions/stats", query=()),
    Call(
        lifecycle.CleanUpView,
        "POST",
        "/api/v1/sessions/cleanup",
        {"max_age_hours": 87_600},
        query=(),
        scope="admin",
    ),
    Call(sessions.SessionView, "GET", "/api/v1/sessions/{id}"),
    Call(sessions.SessionView, "DELETE", "/api/v1/sessions/{id}", scope="write"),
    Call(episodes.EpisodesView, "GET", "/api/v1/episodes", query=OWNERS),
    Call(
        episodes.EpisodesView,
        "POST",
        "/api/v1/episodes",
        EPISODE,
        query=(),
        in_body=("user_id", "agent_id"),
        scope="write",
    ),
    Call(episodes.RecallView, "POST", "/api/v1/recall", RECALL, query=(), in_body=OWNERS),
    Call(agents.AgentsView, "GET", "/api/v1/agents", query=()),
    Call(agents.AgentView, "GET", "/api/v1/agents/{agent}", query=()),
    Call(agents.AgentView, "PUT", "/api/v1/agents/{agent}", AGENT, query=(), scope="admin"),
    Call(agents.AgentView, "DELETE", "/api/v1/agents/{agent}", query=(), scope="admin"),
    *(
        Call(view, "POST", f"/api/v1/hooks/{name}", body, query=(), in_body=("user_id",), scope="write")
        for view, name, body in (
            (hooks.ToolResultView, "tool-result", TOOL_RESULT),
            (hooks.BeforeToolView, "before-tool", BEFORE_TOOL),
        )
    ),
    Call(policy.PolicyView, "GET", "/api/v1/policy", query=("agent_id",)),
    Call(
        policy.PolicyView,
        "PATCH",
        "/api/v1/policy",
        POLICY,
        query=(),
        in_body=("agent_id",),
        scope="admin",
    ),
    Call(policy.VersionsView, "GET", "/api/v1/policy/versions", query=("agent_id",)),
    Call(policy.DiffView, "GET", "/api/v1/policy/diff", query=("agent_id",)),
    Call(
        policy.RollbackView,
        "POST",
        "/api/v1/policy/rollback",
        ROLLBACK,
        query=(),
        in_body=("agent_id",),
        scope="admin",
    ),
    Call(policy.SchemaView, "GET", "/api/v1/policy/schema", query=()),
    Call(jobs.JobsView, "GET", "/api/v1/jobs", query=()),
    Call(jobs.JobView, "GET", "/api/v1/jobs/{job}", query=()),
    Call(subjects.DownloadView, "GET", "/api/v1/jobs/{export}/download", query=(), scope="privacy"),
    Call(subjects.ExportView, "POST", "/api/v1/subjects/{user}/export", {}, query=(), scope="privacy"),
    Call(subjects.EraseView, "POST", "/api/v1/subjects/{user}/erase", {}, query=(), scope="privacy"),
    Call(subjects.ReceiptsView, "GET", "/api/v1/subjects/{user}/receipts", query=(), scope="privacy"),
    Call(jobs.ReplayView, "POST", "/api/v1/jobs/{job}/replay", query=(), scope="admin"),
)
WITH_BODY = tuple(call for call in CALLS if call.body is not None)
WITH_ID = tuple(call for call in CALLS if "{id}" in call.path)


def routes() -> Iterator[tuple[type[Any], str]]:
    """Every view of the URL table that is ours, with its pattern."""
    return _walk(get_resolver().url_patterns)


def _walk(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[type[Any], str]]:
    for one in patterns:
        where = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            if where != "admin/":
                yield from _walk(one.url_patterns, where)
        # For operators: tests/observability. Another protocol than REST: tests/mcp.
        elif one.callback not in {metrics_view, mcp_view}:
            yield getattr(one.callback, "view_class", one.callback), where


def methods(view: type[Any]) -> set[str]:
    return {method for method in HTTP_METHODS if hasattr(view, method.lower())}


def assert_refusal(answer: httpx.Response, call: Call, *statuses: int, sent: object = "") -> None:
    """A clear 4xx in the dialect's shape."""
    told = f"{call.name} {ascii(sent)[:300]}: {answer.status_code} {answer.text[:300]}"
    if call.is_agentops:
        assert_agentops_refusal(answer, statuses, told)
        return
    assert answer.status_code in statuses or (not statuses and 400 <= answer.status_code < 500), told
    if call.is_native:
        assert answer.headers["content-type"] == "application/problem+json", told
        assert answer.json().keys() >= {"type", "title", "status", "detail", "errors"}, told
        assert answer.json()["status"] == answer.status_code, told
        assert isinstance(answer.json()["detail"], str), told
    else:
        assert answer.headers["content-type"] == "application/json", told
        assert answer.json().keys() == {"detail"}, told
        detail = answer.json()["detail"]
        assert detail, told
        assert isinstance(detail, str) or all(set(one) == {"loc", "msg", "type"} for one in detail), told


def assert_agentops_refusal(answer: httpx.Response, statuses: tuple[int, ...], told: str) -> None:
    """What elsewhere is 422 is 400 in this dialect, and a missing method is told in plain text."""
    expected = {400 if status == 422 else status for status in statuses}
    assert answer.status_code in expected or (not expected and 400 <= answer.status_code < 500), told
    if answer.status_code == 405:
        assert answer.headers["content-type"] == "text/plain; charset=utf-8", told
        assert answer.text == "Method Not Allowed\n", told
    else:
        assert answer.headers["content-type"] == "application/json", told
        assert answer.json().keys() == {"error"}, told
        assert answer.json()["error"], told

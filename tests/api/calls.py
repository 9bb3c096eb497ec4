"""Every method of every REST route, with a request that is right.

`test_urls.py` compares this table with Django's URLs: a route that is missing here fails it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx
from django.urls import URLPattern, URLResolver, get_resolver

from api.aegis import views as aegis
from api.native import episodes, sessions
from api.views import DialectView
from tests.conftest import Member

HTTP_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True)
class Call:
    """`query` and `body_names`: which ids of a user, agent or project the route understands, and where."""

    view: type[DialectView]
    method: str
    path: str
    body: Any = None
    query: tuple[str, ...] = ("user_id",)
    in_body: tuple[str, ...] = ()
    scope: str = field(default="read", kw_only=True)

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_native(self) -> bool:
        return self.path.startswith("/api/v1/")

    def url(self, session: str = "s", **query: str) -> str:
        path = self.path.replace("{id}", quoted(session))
        return f"{path}?{httpx.QueryParams(query)}" if query else path

    def send(self, member: Member, session: str = "s", *, body: Any = ..., **query: str) -> httpx.Response:
        """The right request, or one with another body."""
        sent = self.body_for(session) if body is ... else body
        given = {} if sent is None else {"json": sent}
        return member.http.request(self.method, self.url(session, **query), **given)

    def body_for(self, session: str) -> Any:
        """The right body about that session."""
        return _filled(self.body, session)


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


STORE = {
    "agent_id": "coder", "conversation_id": "{id}", "summary": "short", "user_id": None, "key_decisions": 1,
    "entities_mentioned": [], "tools_called": {},
}  # fmt: skip
SEARCH = {"query": "sesame", "agent_id": "coder", "user_id": None, "top_k": 100}
TURN = {"id": "t1", "role": "user", "content": "hi", "tool_calls": [], "tool_call_id": "x", "name": "n",
        "created_at": "2026-01-01T00:00:00Z", "metadata": {"a": 1}}  # fmt: skip
TURNS = {"user_id": None, "agent_id": None, "turns": [TURN]}
EVENT = {
    "event_id": "e1",
    "event_type": "note",
    "content": {"any": ["thing"]},
    "timestamp": None,
    "metadata": {},
}
SESSION = {
    "session_id": "{id}",
    "user_id": None,
    "agent_id": None,
    "project": None,
    "namespace": None,
    "metadata": {},
}
EPISODE = {
    "text": "short", "user_id": None, "agent_id": None, "session_id": "{id}", "memory_type": "semantic",
    "topics": ["a"], "entities": ["b"], "outcome": "fine", "event_date": None, "metadata": {},
}  # fmt: skip
RECALL = {
    "query": "sesame", "user_id": None, "agent_id": None, "session_id": "{id}", "project": None,
    "memory_type": ["semantic"], "topics": ["a"], "since": None, "until": None, "top_k": 200,
    "explain": True,
}  # fmt: skip

OWNERS = ("user_id", "agent_id", "project")
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
        else:
            yield getattr(one.callback, "view_class", one.callback), where


def methods(view: type[Any]) -> set[str]:
    return {method for method in HTTP_METHODS if hasattr(view, method.lower())}


def assert_refusal(answer: httpx.Response, call: Call, *statuses: int, sent: object = "") -> None:
    """A clear 4xx in the dialect's shape."""
    told = f"{call.name} {ascii(sent)[:300]}: {answer.status_code} {answer.text[:300]}"
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

"""Somebody with a memory of every kind, and what is asked of it through every door."""

from dataclasses import dataclass
from typing import Any

from tests.conftest import Member
from tests.privacy.people import live

WORD = "sesame"


def meet(member: Member, user: str) -> None:
    """The person uses every door, and has a slot and a document."""
    live(member, user, word=WORD)
    for method, path, body in (
        ("PUT", f"/api/v1/entities/{user}/editor", {"value": f"{WORD} vim"}),
        ("POST", f"/ledger/talk/mark?user_id={user}", {"item_key": "skill:last", "value": f"{WORD} told"}),
        ("POST", "/api/v1/documents", {"title": "t", "content": f"{WORD} document", "user_id": user}),
    ):
        member.http.request(method, path, json=body).raise_for_status()


def restrict(member: Member, user: str) -> None:
    """By the server, which knows it at once."""
    officer = member.with_key(scopes=("read", "write", "privacy"))
    officer.http.post(f"/api/v1/subjects/{user}/restrict", json={"reason": "contested"}).raise_for_status()


def lift(member: Member, user: str) -> None:
    officer = member.with_key(scopes=("read", "write", "privacy"))
    officer.http.delete(f"/api/v1/subjects/{user}/restrict").raise_for_status()


@dataclass(frozen=True)
class Asked:
    """A request through some door, by default about Ann."""

    method: str
    path: str
    body: Any = None
    query: tuple[tuple[str, str], ...] = (("user_id", "ann"),)
    project: str = ""  # that the key is bound to

    @property
    def name(self) -> str:
        return f"{self.method} {self.path} {dict(self.query) or ''}".strip()

    def send(self, member: Member) -> Any:
        given = {} if self.body is None else {"json": self.body}
        member = member.with_key(project=self.project) if self.project else member
        return member.http.request(self.method, self.path, params=dict(self.query), **given)


NOBODY: tuple[tuple[str, str], ...] = ()
SESSION = "/api/v1/sessions/talk"
TURN = {"turns": [{"role": "user", "content": f"{WORD} again"}]}
MEMORY = {"agent_id": "coder", "conversation_id": "talk", "user_id": "ann", "summary": "again"}


def _mcp(tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


READS = (
    Asked("GET", SESSION),
    Asked("GET", SESSION, query=NOBODY),
    Asked("GET", f"{SESSION}/window"),
    Asked("GET", f"{SESSION}/window", query=NOBODY),
    Asked("GET", f"{SESSION}/events"),
    Asked("GET", f"{SESSION}/checkpoint"),
    Asked("GET", "/api/v1/sessions", query=NOBODY),
    Asked("GET", "/api/v1/episodes"),
    Asked("GET", "/api/v1/episodes", query=NOBODY),
    Asked("GET", "/api/v1/entities"),
    Asked("GET", "/api/v1/entities", query=NOBODY),
    Asked("GET", "/api/v1/entities/ann/editor", query=NOBODY),
    Asked("GET", "/api/v1/observations", query=NOBODY),
    Asked("GET", "/api/v1/injections", query=NOBODY),
    Asked("GET", "/api/v1/documents"),
    Asked("POST", "/api/v1/recall", {"query": WORD, "user_id": "ann"}, NOBODY),
    Asked("POST", "/api/v1/recall", {"query": WORD, "session_id": "talk", "mode": "keyword"}, NOBODY),
    Asked("POST", "/api/v1/recall", {"query": WORD, "agent_id": "coder"}, NOBODY),
    Asked("POST", "/api/v1/documents/search", {"query": WORD, "user_id": "ann"}, NOBODY),
    Asked("GET", "/working-memory/talk"),
    Asked("GET", "/ledger/talk"),
    Asked("POST", "/episodic/search", {"agent_id": "coder", "query": WORD, "user_id": "ann"}, NOBODY),
    Asked("GET", "/search", query=(("q", WORD), ("project", "elsewhere"))),
    Asked("GET", "/context", query=(("query", WORD), ("project", "elsewhere"))),
    Asked("GET", "/export", query=NOBODY),
    Asked("POST", "/mcp", _mcp("mem_search", query=WORD), NOBODY, project="elsewhere"),
    Asked("POST", "/mcp", _mcp("mem_context"), NOBODY, project="elsewhere"),
)
WRITES = (
    Asked("POST", "/api/v1/sessions", {"session_id": "talk"}),
    Asked("POST", f"{SESSION}/turns", TURN),
    Asked("POST", f"{SESSION}/turns", TURN, NOBODY),
    Asked("POST", "/api/v1/sessions/new/turns", TURN),
    Asked("POST", f"{SESSION}/events", {"event_type": "note", "content": "x"}),
    Asked("PUT", f"{SESSION}/checkpoint", {"step": 2}),
    Asked("POST", "/api/v1/episodes", {"text": "again"}),
    Asked("PUT", "/api/v1/entities/ann/editor", {"value": "emacs"}, NOBODY),
    Asked("DELETE", "/api/v1/entities/ann/editor", query=NOBODY),
    Asked("POST", "/api/v1/documents", {"title": "t", "content": "again", "user_id": "ann"}, NOBODY),
    Asked("PUT", "/working-memory/talk", {"data": {"scratchpad": "again"}}),
    Asked("POST", "/ledger/talk/mark", {"item_key": "skill:x", "value": "v"}),
    Asked("POST", "/ledger/talk/claim", {"item_key": "rule:x", "value": "v"}),
    Asked("POST", "/episodic/store", MEMORY, NOBODY),
    Asked(
        "POST",
        "/observations",
        {"session_id": "talk", "title": "t", "content": "again", "type": "decision", "project": "elsewhere"},
    ),
)

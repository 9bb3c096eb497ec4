"""A method of a REST route, with a request that is right."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx

from api.agentops.errors import is_ours as is_agentops
from api.views import DialectView
from tests.api.bodies import (
    AGENT,
)
from tests.api.things import (
    asked,
    dead_letter,
    deployed,
    finished_export,
    held,
    hooked,
    ingested,
    merged,
    noted,
    recorded,
    remembered,
    slot,
    tasked,
    undelivered,
    viewed,
)
from tests.conftest import Member


@dataclass(frozen=True)
class Call:
    """`query` and `in_body`: which ids of a user, agent or project the route understands, and where.

    In paths, `{id}` is the id of a session, `{job}` that of a job, `{export}` that of a finished export,
    `{episode}` that of an episode, `{decision}` that of a write that is held, `{user}` a person, `{another}`
    one that no other call speaks of, `{agent}` an agent that is declared, `{observation}` the number of an
    observation and `{whose}/{slot}` a user's slot, `{document}` a document, `{query}` a saved query,
    `{procedure}` the name of a procedure, `{record}` a record's, `{view}` a summary view, `{task}` a run
    of one, `{webhook}` a webhook and `{delivery}` a delivery to one.
    """

    view: type[DialectView]
    method: str
    path: str
    body: Any = None
    query: tuple[str, ...] = ("user_id",)
    in_body: tuple[str, ...] = ()
    scope: str = field(default="read", kw_only=True)
    or_scope: str = field(default="", kw_only=True)  # which is enough for some of what the route answers
    asks_inside: bool = field(default=False, kw_only=True)  # for another scope than read, if the body writes
    takes_any_json: bool = field(default=False, kw_only=True)  # and more of it than elsewhere
    not_by_agents: bool = field(default=False, kw_only=True)  # whose keys are refused
    decides: bool = field(default=False, kw_only=True)  # by the user's own key, or with scope privacy

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_native(self) -> bool:
        return self.path.startswith("/api/v1/")

    @property
    def is_agentops(self) -> bool:
        return is_agentops(self.path)

    @property
    def is_ams(self) -> bool:
        return self.path.startswith("/v1/")

    @property
    def is_kaos(self) -> bool:
        return self.path.startswith("/memory/")

    @property
    def names_nothing(self) -> bool:
        """Whether there is nothing of the id in the path, until a request makes it."""
        is_record = self.is_ams and self.method == "PATCH"
        return is_record or any(one in self.path for one in ("{episode}", "{observation}", "{view}"))

    def url(self, session: str = "s", **query: str) -> str:
        path = self.path.replace("{id}", quoted(session)).replace("{user}", "someone")
        path = path.replace("{another}", "another")
        path = path.replace("{agent}", "coder")
        for place, (nothing, _make) in THINGS.items():
            path = path.replace(place, nothing)
        path = path.replace("{whose}/{slot}", NO_SLOT)
        return f"{path}?{httpx.QueryParams(query)}" if query else path

    def send(self, member: Member, session: str = "s", *, body: Any = ..., **query: str) -> httpx.Response:
        """Sends the right request, or one with another body."""
        return member.http.send(self.request(member, session, body=body, **query))

    def request(self, member: Member, session: str = "s", *, body: Any = ..., **query: str) -> httpx.Request:
        """The request itself; what it works on is made."""
        sent = self.body_for(session) if body is ... else body
        query = ASKED.get(self.path, {}) | ASKED.get(self.name, {}) | query
        if self.path == "/timeline":
            query["observation_id"] = str(noted(member))
        if isinstance(sent, dict) and sent.get("memory_id") == NO_OBSERVATION:
            sent = {**sent, "memory_id": str(noted(member))}
        if self.path.endswith("/rectify") and isinstance(sent, dict) and sent.get("id") == session:
            sent = {**sent, "id": str(remembered(member, member.caller.user_id or "someone"))}
        given = {} if sent is None else {"json": sent}
        url = self.url(session, **query)
        for place, (nothing, make) in THINGS.items():
            if place in self.path:
                made = merged(member) if self.path.endswith("/unmerge") else make(member)
                url = url.replace(nothing, str(made))
        if "{slot}" in self.path:
            url = url.replace(NO_SLOT, slot(member, waits=self.path.endswith("/confirm")))
        self._make_lookalikes(member, url)
        self._make_item(member, query)
        if "{agent}" in self.path or "/hooks/" in self.path:
            declare_agent(member)
        if self.path.endswith("/checkpoint") and self.method == "GET":
            member.http.put(url, content="[1]")
        return member.http.build_request(self.method, url, **given)

    def _make_lookalikes(self, member: Member, url: str) -> None:
        """A record or a session whose id is, or ends in, a verb: other methods are about that."""
        if self.is_ams and self.path.endswith(RECORD_VERBS):
            recorded(member, self.path.rpartition("/")[2])
        if self.is_ams and self.path.endswith("/messages"):
            member.http.put(url, json={})

    def _make_item(self, member: Member, query: dict[str, str]) -> None:
        """The item of the store that the query names."""
        if self.name == "GET /api/v1/store/items":
            owners = {name: query[name] for name in ("user_id", "agent_id", "project") if query.get(name)}
            member.http.put(self.path, json={**STORE_ITEM, **owners, "namespace": ["notes"], "value": {}})

    def refuses(self, kind: str) -> bool:
        """Whether it is not for keys that are bound in this respect."""
        return (self.not_by_agents and kind == "agent_id") or (self.decides and kind != "user_id")

    def by(self, member: Member, **bindings: str) -> Member:
        """The member with a key that may make this call."""
        if self.decides and not bindings:
            return _able(member, "privacy")
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
NO_EPISODE = UUID(int=1)
NO_DECISION = UUID(int=2)
NO_DOCUMENT = UUID(int=3)
NO_QUERY = UUID(int=4)
NO_WEBHOOK = UUID(int=5)
NO_DELIVERY = UUID(int=6)
NO_VIEW = UUID(int=7)
NO_TASK = "no-such-task"
NO_PROCEDURE = "no-such-procedure"
STORE_ITEM = {"namespace": "notes", "key": "sesame"}
ASKED = {
    "/search": {"q": "sesame"},
    "/context": {"query": "sesame"},
    "GET /api/v1/store/items": STORE_ITEM,
    "DELETE /api/v1/store/items": STORE_ITEM,
}
NO_RECORD = "no-such-record"
RECORD_VERBS = ("/search", "/forget", "/compact")
NO_OBSERVATION = "999999999999999999"
# What a path names, the id of one that there is not, and what makes one.
THINGS: dict[str, tuple[str, Callable[[Member], object]]] = {
    "{job}": (str(NO_JOB), dead_letter),
    "{export}": (str(NO_JOB), finished_export),
    "{episode}": (str(NO_EPISODE), remembered),
    "{record}": (NO_RECORD, recorded),
    "{view}": (str(NO_VIEW), viewed),
    "{task}": (NO_TASK, tasked),
    "{observation}": (NO_OBSERVATION, noted),
    "{decision}": (str(NO_DECISION), held),
    "{document}": (str(NO_DOCUMENT), ingested),
    "{query}": (str(NO_QUERY), asked),
    "{procedure}": (NO_PROCEDURE, deployed),
    "{webhook}": (str(NO_WEBHOOK), hooked),
    "{delivery}": (str(NO_DELIVERY), undelivered),
}
NO_SLOT = "someone/nothing"


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

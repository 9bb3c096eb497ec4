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
from tests.api.things import dead_letter, deployed, finished_export, held, ingested, noted, remembered, slot
from tests.conftest import Member


@dataclass(frozen=True)
class Call:
    """`query` and `in_body`: which ids of a user, agent or project the route understands, and where.

    In paths, `{id}` is the id of a session, `{job}` that of a job, `{export}` that of a finished export,
    `{episode}` that of an episode, `{decision}` that of a write that is held, `{user}` a person, `{agent}` an
    agent that is declared, `{observation}` the number of an observation and `{whose}/{slot}` a user's slot,
    `{document}` a document and `{procedure}` the name of a procedure.
    """

    view: type[DialectView]
    method: str
    path: str
    body: Any = None
    query: tuple[str, ...] = ("user_id",)
    in_body: tuple[str, ...] = ()
    scope: str = field(default="read", kw_only=True)
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

    def url(self, session: str = "s", **query: str) -> str:
        path = self.path.replace("{id}", quoted(session)).replace("{user}", "someone")
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
        query = ASKED.get(self.path, {}) | query
        if self.path == "/timeline":
            query["observation_id"] = str(noted(member))
        if isinstance(sent, dict) and sent.get("memory_id") == NO_OBSERVATION:
            sent = {**sent, "memory_id": str(noted(member))}
        given = {} if sent is None else {"json": sent}
        url = self.url(session, **query)
        for place, (nothing, make) in THINGS.items():
            if place in self.path:
                url = url.replace(nothing, str(make(member)))
        if "{slot}" in self.path:
            url = url.replace(NO_SLOT, slot(member, waits=self.path.endswith("/confirm")))
        if "{agent}" in self.path or "/hooks/" in self.path:
            declare_agent(member)
        if self.path.endswith("/checkpoint") and self.method == "GET":
            member.http.put(url, content="[1]")
        return member.http.build_request(self.method, url, **given)

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
NO_PROCEDURE = "no-such-procedure"
ASKED = {"/search": {"q": "sesame"}, "/context": {"query": "sesame"}}
NO_OBSERVATION = "999999999999999999"
# What a path names, the id of one that there is not, and what makes one.
THINGS: dict[str, tuple[str, Callable[[Member], object]]] = {
    "{job}": (str(NO_JOB), dead_letter),
    "{export}": (str(NO_JOB), finished_export),
    "{episode}": (str(NO_EPISODE), remembered),
    "{observation}": (NO_OBSERVATION, noted),
    "{decision}": (str(NO_DECISION), held),
    "{document}": (str(NO_DOCUMENT), ingested),
    "{procedure}": (NO_PROCEDURE, deployed),
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

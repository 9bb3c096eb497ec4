"""What is declared of an agent now, asked on busy paths: from this process's memory.

`read_agent` for an agent whose name is known, `agent_of` for the one that a caller means with a project,
`agent_behind` for the one of a session.
"""

import threading
import time
from collections.abc import Callable, Iterable
from uuid import UUID

from django.conf import settings

from tenants.agents.spec import AgentSpec, agent_spec, normal_project
from tenants.caller import Caller
from tenants.models import Agent
from tenants.scope import scope

ANSWERS_KEPT = 4_000

Question = tuple[UUID, str, str]  # tenant, "name" or "project", and which


def read_agent(*, tenant_id: UUID, name: str) -> AgentSpec | None:
    """The agent of that name, None if none is declared.

    A change takes effect within `API_KEY_CACHE_SECONDS`. Reads from PostgreSQL at most once in that time,
    joining the scope of that tenant if one is open.
    """
    return _cache.get((tenant_id, "name", name), _ask_name) if name else None


def agent_of(*, caller: Caller, project: str) -> AgentSpec | None:
    """The agent that the key is bound to; for a key that is bound to none, the only one with that project.
    None if it is not declared, or several share the project. Kept as by `read_agent`."""
    return agent_behind(tenant_id=caller.tenant_id, agent_id=caller.agent_id, project=project)


def agent_behind(*, tenant_id: UUID, agent_id: str, project: str) -> AgentSpec | None:
    """Likewise for what has both, such as a session: the agent named, else the only one of the project."""
    if agent_id:
        return read_agent(tenant_id=tenant_id, name=agent_id)
    wanted = normal_project(project)
    return _cache.get((tenant_id, "project", wanted), _ask_project) if wanted else None


def forget(tenant_id: UUID, *, name: str, projects: Iterable[str]) -> None:
    """Has this process ask PostgreSQL again: whoever changes an agent sees the change at once."""
    _cache.forget([(tenant_id, "name", name), *((tenant_id, "project", one) for one in projects)])


def _ask_name(question: Question) -> AgentSpec | None:
    tenant_id, _kind, name = question
    with scope(tenant_id):
        found = Agent.objects.filter(tenant_id=tenant_id, name=name).values_list("name", "spec").first()
    return agent_spec(*found) if found else None


def _ask_project(question: Question) -> AgentSpec | None:
    tenant_id, _kind, project = question
    with scope(tenant_id):
        of_project = Agent.objects.filter(tenant_id=tenant_id, project=project)
        found = list(of_project.values_list("name", "spec")[:2])
    return agent_spec(*found[0]) if len(found) == 1 else None


class _AnswerCache:
    """Answers, also that there is none, each for `API_KEY_CACHE_SECONDS`."""

    def __init__(self, limit: int = ANSWERS_KEPT) -> None:
        self._kept: dict[Question, tuple[float, AgentSpec | None]] = {}
        self._lock = threading.Lock()
        self._changes = 0
        self._limit = limit

    def get(self, question: Question, ask: Callable[[Question], AgentSpec | None]) -> AgentSpec | None:
        kept = self._kept.get(question)
        if kept is not None and kept[0] > time.monotonic():
            return kept[1]
        expires = time.monotonic() + settings.API_KEY_CACHE_SECONDS  # from before the answer, not after it
        changes = self._changes
        answer = ask(question)
        with self._lock:
            if changes == self._changes:  # else it may be from before the change
                if len(self._kept) >= self._limit:
                    self._kept.clear()  # simple and rare; every entry lives for seconds anyway
                self._kept[question] = (expires, answer)
        return answer

    def forget(self, questions: Iterable[Question]) -> None:
        with self._lock:
            self._changes += 1
            for question in questions:
                self._kept.pop(question, None)


_cache = _AnswerCache()

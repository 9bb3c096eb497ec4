"""The calls of a KAOS agent, and what it needs of their answers."""

from typing import Any

from tests.conftest import Member


def headers(agent: str | None) -> dict[str, str]:
    return {} if agent is None else {"X-Agent": agent}


def begin(
    member: Member, session: str | None, user: str = "ana", *, agent: str | None = None, **more: Any
) -> str:
    body = {"app_name": "agent", "user_id": user, "session_id": session, **more}
    answer = member.http.post("/memory/sessions", json=body, headers=headers(agent))
    assert answer.status_code == 200, answer.text
    begun: str = answer.json()["session_id"]
    return begun


def add(member: Member, session: str, content: Any, *, agent: str | None = None, **more: Any) -> bool:
    body = {"event_type": "user_message", "content": content, **more}
    answer = member.http.post(f"/memory/sessions/{session}/events", json=body, headers=headers(agent))
    assert answer.status_code == 200, answer.text
    added: bool = answer.json()["added"]
    return added


def events(member: Member, *, agent: str | None = None, **query: Any) -> list[Any]:
    """The contents of `GET /memory/events`."""
    answer = member.http.get("/memory/events", params=query, headers=headers(agent)).json()
    assert answer["total"] == len(answer["events"])
    return [one["content"] for one in answer["events"]]


def known(member: Member, *, agent: str | None = None, **query: Any) -> list[str]:
    """The ids of `GET /memory/sessions`."""
    answer = member.http.get("/memory/sessions", params=query, headers=headers(agent)).json()
    assert answer["total"] == len(answer["sessions"])
    found: list[str] = answer["sessions"]
    return found


def stats(member: Member, *, agent: str | None = None) -> tuple[int, int, int]:
    answer = member.http.get("/memory/stats", headers=headers(agent)).json()
    return answer["total_sessions"], answer["total_events"], answer["avg_events_per_session"]


def declare(member: Member, agent: str, **block: Any) -> None:
    """Declares KAOS's memory block of an agent, by the server, which then knows it at once."""
    admin = member.with_key(scopes=("read", "write", "admin"))
    resource = {
        "apiVersion": "kaos.tools/v1alpha1",
        "kind": "Agent",
        "metadata": {"name": agent},
        "spec": {"config": {"memory": block}},
    }
    admin.http.put(f"/api/v1/agents/{agent}", json=resource).raise_for_status()

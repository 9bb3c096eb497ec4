"""What the tests of this dialect send and expect."""

from typing import Any

import httpx

from tests.conftest import Member

NOTE = {
    "session_id": "s1",
    "type": "config",
    "title": "Pool size",
    "content": "The REST pool holds 12 connections.",
    "project": "orders",
}


def save(member: Member, **fields: Any) -> dict[str, Any]:
    """What the server answers to an observation that is right."""
    answer = member.http.post("/observations", json=NOTE | fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


def read(member: Member, number: int) -> dict[str, Any]:
    answer = member.http.get(f"/observations/{number}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def recent(member: Member, **query: Any) -> list[dict[str, Any]]:
    return get(member, "/observations/recent", **{"project": "orders"} | query)


def get(member: Member, path: str, **query: Any) -> Any:
    """The JSON answer of a route that answers."""
    answer = member.http.get(path, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.text.endswith("\n")
    return answer.json()


def refused(answer: httpx.Response, status: int, error: str | None = None) -> str:
    """The sentence of an error, after the checks that every error must pass."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.text.endswith("}\n")
    assert answer.json().keys() == {"error"}
    if error is not None:
        assert answer.json()["error"] == error
    return answer.json()["error"]

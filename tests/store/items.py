"""Calls of the store, as its clients make them."""

from typing import Any

from tests.conftest import Member

URL = "/api/v1/store/items"
BATCH = "/api/v1/store/batch"
NAMESPACES = "/api/v1/store/namespaces"


def put(member: Member, namespace: list[str], key: str, value: dict[str, Any], **more: Any) -> None:
    body = {"namespace": namespace, "key": key, "value": value, **more}
    answer = member.http.put(URL, json=body)
    assert answer.status_code == 204, answer.text


def get(member: Member, namespace: list[str], key: str, **more: Any) -> dict[str, Any] | None:
    """The item; None if there is none."""
    answer = member.http.get(URL, params={"namespace": namespace, "key": key, **more})
    assert answer.status_code in (200, 404), answer.text
    return answer.json() if answer.status_code == 200 else None


def delete(member: Member, namespace: list[str], key: str, **more: Any) -> None:
    answer = member.http.delete(URL, params={"namespace": namespace, "key": key, **more})
    assert answer.status_code == 204, answer.text


def search(member: Member, *prefix: str, **asked: Any) -> list[dict[str, Any]]:
    answer = member.http.post(f"{URL}/search", json={"namespace_prefix": list(prefix), **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def keys(member: Member, *prefix: str, **asked: Any) -> list[str]:
    return [one["key"] for one in search(member, *prefix, **asked)]


def namespaces(member: Member, **asked: Any) -> list[list[str]]:
    answer = member.http.post(NAMESPACES, json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def batch(member: Member, *operations: dict[str, Any]) -> list[Any]:
    answer = member.http.post(BATCH, json={"operations": list(operations)})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]

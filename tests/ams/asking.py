"""What a client of this dialect sends, and what it reads of the answers."""

from typing import Any

import httpx

from tests.conftest import Member

SESSION = "/v1/working-memory/s"
RECORDS = "/v1/long-term-memory/"
SEARCH = "/v1/long-term-memory/search"


def message(text: str, **more: object) -> dict[str, object]:
    return {"id": text, "role": "user", "content": text} | more


def put(member: Member, *texts: str, headers: dict[str, str] | None = None, **more: object) -> httpx.Response:
    body = {"messages": [message(text) for text in texts], **more}
    return member.http.put(SESSION, json=body, headers=headers)


def texts(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["content"] for one in answer.json()["messages"]]


def save(member: Member, *records: dict[str, object]) -> None:
    answer = member.http.post(RECORDS, json={"memories": list(records)})
    assert answer.json() == {"status": "ok"}, answer.text


def search(member: Member, **body: object) -> dict[str, Any]:
    answer = member.http.post(SEARCH, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ids(found: dict[str, Any]) -> list[str]:
    return sorted(one["id"] for one in found["memories"])

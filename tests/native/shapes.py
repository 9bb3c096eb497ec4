"""The error shape of this dialect."""

import httpx


def problem(answer: httpx.Response, status: int, *fields: str) -> dict:
    """The body of an error, after the checks that every error must pass."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert body.keys() == {"type", "title", "status", "detail", "errors"}
    if fields:
        assert sorted(one["field"] for one in body["errors"]) == sorted(fields)
    return body

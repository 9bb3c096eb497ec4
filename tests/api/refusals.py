"""What a refusal looks like."""

import httpx

from tests.api.call import Call


def assert_refusal(answer: httpx.Response, call: Call, *statuses: int, sent: object = "") -> None:
    """A clear 4xx in the dialect's shape."""
    told = f"{call.name} {ascii(sent)[:300]}: {answer.status_code} {answer.text[:300]}"
    if call.is_agentops:
        assert_agentops_refusal(answer, statuses, told)
        return
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
        shape = {"loc", "msg", "type"} | ({"input"} if call.is_ams or call.is_kaos else set())
        assert isinstance(detail, str) or all(set(one) - {"ctx"} == shape for one in detail), told
        assert not call.is_ams or isinstance(detail, str) != (answer.status_code == 422), told


def assert_agentops_refusal(answer: httpx.Response, statuses: tuple[int, ...], told: str) -> None:
    """What elsewhere is 422 is 400 in this dialect, and a missing method is told in plain text."""
    expected = {400 if status == 422 else status for status in statuses}
    assert answer.status_code in expected or (not expected and 400 <= answer.status_code < 500), told
    if answer.status_code == 405:
        assert answer.headers["content-type"] == "text/plain; charset=utf-8", told
        assert answer.text == "Method Not Allowed\n", told
    else:
        assert answer.headers["content-type"] == "application/json", told
        assert answer.json().keys() == {"error"}, told
        assert answer.json()["error"], told

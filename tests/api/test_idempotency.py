"""Every write but that of fields honours `Idempotency-Key`: its answer is committed with what it did."""

import secrets
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from api.idempotency import _write_of
from tenants.caller import Caller
from tenants.models import StoredAnswer
from tenants.scope import scope
from tests.api.call import Call
from tests.api.calls import CALLS
from tests.api.refusals import assert_refusal

WRITES = [
    call
    for call in CALLS
    # Fields are written by value, and Redis alone holds them. An import adds what is not there yet.
    if call.method != "GET"
    # What an assembly tells is entered, unless a key that only reads asks for the rest.
    and (call.scope != "read" or call.path == "/api/v1/assemble")
    and not call.path.startswith(("/working-memory/", "/import"))
]
by_name = pytest.mark.parametrize("call", WRITES, ids=lambda call: call.name)
EPISODES = "/api/v1/episodes"


def keyed(request: httpx.Request, key: str) -> httpx.Request:
    request.headers["Idempotency-Key"] = key
    return request


def stored(member) -> list[StoredAnswer]:
    with scope(member.tenant.id):
        return list(StoredAnswer.objects.filter(tenant_id=member.tenant.id))


@by_name
def test_a_write_that_is_sent_again_is_answered_again(acme, call: Call):
    acme.http.post("/api/v1/sessions", json={"session_id": "s"})
    member, key = call.by(acme), secrets.token_hex(8)
    request = keyed(call.request(member), key)
    first, second = member.http.send(request), member.http.send(request)
    assert first.is_success, first.text
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (second.status_code, second.content) == (first.status_code, first.content)
    for name in ("ETag", "Location", "Content-Type"):
        assert second.headers.get(name) == first.headers.get(name)
    assert len(stored(acme)) == 1


@by_name
def test_the_same_key_for_another_request_is_a_conflict(acme, call: Call):
    acme.http.post("/api/v1/sessions", json={"session_id": "s"})
    member, key = call.by(acme), secrets.token_hex(8)
    assert member.http.send(keyed(call.request(member), key)).is_success
    assert_refusal(member.http.send(keyed(call.request(member, format="json"), key)), call, 409)
    elsewhere = member.http.post(EPISODES, json={"text": "x"}, headers={"Idempotency-Key": key})
    assert elsewhere.status_code == 409


def test_of_many_at_once_one_does_the_work(acme):
    key = secrets.token_hex(8)
    body = {"text": "only once"}

    def post(_number: int) -> httpx.Response:
        return httpx.post(
            f"{acme.http.base_url}{EPISODES}",
            json=body,
            headers={"Authorization": f"Bearer {acme.key}", "Idempotency-Key": key},
            timeout=30,
        )

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(post, range(16)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(acme.http.get(EPISODES).json()["results"]) == 1
    assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1


def test_turns_that_carry_no_ids_are_appended_once(acme):
    body = {"turns": [{"role": "user", "content": "hello"}]}
    for _time in range(3):
        answer = acme.http.post(
            "/api/v1/sessions/s/turns", json=body, headers={"Idempotency-Key": "first hello"}
        )
        assert answer.json()["accepted"] == 1
    assert len(acme.http.get("/api/v1/sessions/s/events").json()["results"]) == 1
    window = acme.http.get("/api/v1/sessions/s/window").json()["messages"]
    assert [message["content"] for message in window] == ["hello"]


def test_two_callers_may_choose_the_same_key(acme, globex):
    other = acme.with_key()
    for member in (acme, other, globex):
        answer = member.http.post(EPISODES, json={"text": "mine"}, headers={"Idempotency-Key": "k"})
        assert "Idempotency-Replayed" not in answer.headers


def test_a_refused_write_leaves_its_key_free(acme):
    headers = {"Idempotency-Key": "k"}
    assert acme.http.post(EPISODES, json={"text": ""}, headers=headers).status_code == 422
    assert stored(acme) == []
    assert acme.http.post(EPISODES, json={"text": "x"}, headers=headers).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_that_is_none_is_refused(acme, key):
    answer = acme.http.post(EPISODES, json={"text": "x"}, headers={"Idempotency-Key": key})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"


def test_the_aegis_store_honours_it_too(acme):
    body = {"agent_id": "a", "conversation_id": "c", "summary": "once"}
    headers = {"Idempotency-Key": "k"}
    first = acme.http.post("/episodic/store", json=body, headers=headers)
    second = acme.http.post("/episodic/store", json=body, headers=headers)
    assert (first.json(), first.status_code) == (second.json(), second.status_code)
    assert acme.http.get("/episodic/c").json()["total"] == 1


def test_a_claim_whose_answer_was_lost_is_still_won(acme):
    body, headers = {"item_key": "skill:x"}, {"Idempotency-Key": "k"}
    first = acme.http.post("/ledger/c/claim", json=body, headers=headers).json()
    assert acme.http.post("/ledger/c/claim", json=body, headers=headers).json() == first
    assert acme.http.post("/ledger/c/claim", json=body).json() != first


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", "/ledger/s/evict", {"item_key": "skill:a"}), ("DELETE", "/ledger/s", None)],
)
def test_what_did_nothing_does_nothing_when_it_is_sent_again(acme, method, path, body):
    """There was no session: one that has come since keeps its marks."""

    def send() -> httpx.Response:
        return acme.http.request(method, path, json=body, headers={"Idempotency-Key": "k"})

    first = send()
    acme.http.post("/ledger/s/mark", json={"item_key": "skill:a"})
    assert send().json() == first.json()
    assert acme.http.get("/ledger/s").json() == {"skill:a": "1"}


def test_what_an_answer_shows_belongs_to_its_user(acme):
    acme.http.post(EPISODES, json={"text": "x", "user_id": "ana"}, headers={"Idempotency-Key": "k"})
    assert [answer.user_id for answer in stored(acme)] == ["ana"]


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
def test_the_same_write_under_another_precondition_is_another_write(acme, header):
    """Its sender would take the old answer for what is so under the new precondition."""
    url, headers = "/api/v1/sessions/s/checkpoint", {"Idempotency-Key": "k"}
    acme.http.put(url, json=0)
    assert acme.http.put(url, json=1, headers=headers).status_code == 200
    with_other = acme.http.put(url, json=1, headers=headers | {header: "*"})
    assert (with_other.status_code, with_other.json()["detail"]) == (
        409,
        "This Idempotency-Key was used for another request.",
    )
    without = acme.http.put(url, json=1, headers=headers)
    assert without.headers["Idempotency-Replayed"] == "true"


def request_of(caller: Caller) -> Request:
    request = Request(APIRequestFactory().post(EPISODES, {"text": "x"}, format="json"))
    request.auth = caller
    return request


def test_an_answer_is_not_for_a_caller_of_the_same_name_who_reaches_less(acme):
    """A token's name is its subject's, whatever else it carries."""
    wide, narrow = (
        Caller(
            tenant_id=acme.tenant.id,
            tenant=acme.tenant.slug,
            key_id="x",
            scopes=frozenset(scopes),
            user_id=user,
        )
        for scopes, user in ((("read", "write"), ""), (("read", "write"), "ann"))
    )
    digests = {_write_of(request_of(caller), "k").digest for caller in (wide, narrow)}
    assert len(digests) == 2

"""Contract row 13."""

import pytest


def check(member, item_key, session="c"):
    return member.http.post(f"/ledger/{session}/check", json={"item_key": item_key})


def test_an_item_that_was_injected_is_known_with_its_value(acme):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a", "value": "injected"})
    answer = check(acme, "skill:a")
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "conversation_id": "c",
            "item_key": "skill:a",
            "injected": True,
            "exists": True,
            "value": "injected",
        },
    )


@pytest.mark.parametrize("session", ["c", "nobody"])
def test_any_other_item_is_unknown(acme, session):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
    assert check(acme, "skill:b", session).json() == {
        "conversation_id": session,
        "item_key": "skill:b",
        "injected": False,
        "exists": False,
        "value": None,
    }


def test_an_empty_value_is_injected_all_the_same(acme):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a", "value": ""})
    assert check(acme, "skill:a").json()["injected"] is True


def test_checking_does_not_create_a_session(acme):
    check(acme, "skill:a", "nobody")
    assert acme.http.get("/api/v1/sessions").json()["results"] == []


@pytest.mark.parametrize(
    "body", [{}, {"item_key": ""}, {"item_key": None}, {"item_key": 1}, {"item_key": "x" * 513}]
)
@pytest.mark.parametrize("verb", ["check", "mark", "claim", "evict"])
def test_an_item_needs_a_key(acme, verb, body):
    answer = acme.http.post(f"/ledger/c/{verb}", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "item_key"]
    assert acme.http.get("/ledger/c").json() == {}


@pytest.mark.parametrize(
    "item_key",
    ["skill:a", "entity:1", "artifact:x/y", "episode:0", "observation:é", "x" * 512, " ", "💡", "a\nb"],
)
def test_any_kind_of_item_can_be_marked_and_checked(acme, item_key):
    acme.http.post("/ledger/c/mark", json={"item_key": item_key})
    assert check(acme, item_key).json()["injected"] is True
    assert acme.http.get("/ledger/c").json() == {item_key: "1"}

"""Contract row 15."""

import pytest

from tests.aegis import stores


def evict(member, item_key="skill:a", session="c"):
    return member.http.post(f"/ledger/{session}/evict", json={"item_key": item_key})


def test_an_evicted_item_is_unknown(acme):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:b"})
    answer = evict(acme)
    assert (answer.status_code, answer.json()) == (
        200,
        {"conversation_id": "c", "item_key": "skill:a", "evicted": True},
    )
    assert acme.http.get("/ledger/c").json() == {"skill:b": "1"}
    assert stores.ledger_hash(acme, "c") == {"skill:b": "1"}


@pytest.mark.parametrize("session", ["c", "nobody"])
def test_an_unknown_item_is_not_evicted(acme, session):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:b"})
    assert evict(acme, session=session).json()["evicted"] is False


def test_evicting_twice_is_once(acme):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
    assert [evict(acme).json()["evicted"] for _ in range(2)] == [True, False]


def test_globex_evicts_nothing_of_acme(acme, globex):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
    assert evict(globex).json()["evicted"] is False
    assert acme.http.get("/ledger/c").json() == {"skill:a": "1"}


def test_the_log_remembers_both_marks(acme):
    for _ in range(2):
        acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
        evict(acme)
    assert [row["released_at"] is not None for row in stores.injections(acme, "c")] == [True, True]

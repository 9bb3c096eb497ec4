"""Contract row 16: the ledger goes with the conversation, its durable log stays."""

import time

import pytest

from tests.aegis import stores

WAYS = {
    "its own deletion": ("DELETE", "/ledger/c"),
    "the end": ("POST", "/api/v1/sessions/c/end"),
    "the session's deletion": ("DELETE", "/api/v1/sessions/c"),
}


@pytest.fixture
def marked(acme):
    for item_key in ("skill:a", "artifact:b"):
        acme.http.post("/ledger/c/mark", json={"item_key": item_key})
    acme.http.get("/ledger/c")
    assert stores.ledger_hash(acme, "c")
    return acme


@pytest.mark.parametrize("way", WAYS)
def test_it_clears_the_ledger_and_keeps_the_log(marked, way):
    method, path = WAYS[way]
    assert marked.http.request(method, path).is_success
    assert marked.http.get("/ledger/c").json() == {}
    assert marked.http.post("/ledger/c/check", json={"item_key": "skill:a"}).json()["injected"] is False
    assert stores.ledger_hash(marked, "c") == {}
    rows = stores.injections(marked, "c")
    assert [row["item_key"] for row in rows] == ["skill:a", "artifact:b"]
    assert all(row["released_at"] is not None for row in rows)


@pytest.mark.parametrize("way", WAYS)
def test_afterwards_an_item_can_be_claimed_anew(marked, way):
    method, path = WAYS[way]
    marked.http.request(method, path)
    assert marked.http.post("/ledger/c/claim", json={"item_key": "skill:a"}).json() == {"claimed": True}
    assert marked.http.get("/ledger/c").json() == {"skill:a": "1"}


def test_deleting_says_how_many_there_were(marked):
    assert marked.http.delete("/ledger/c").json() == {"conversation_id": "c", "deleted": 2}
    assert marked.http.delete("/ledger/c/").json() == {"conversation_id": "c", "deleted": 0}
    assert marked.http.delete("/ledger/nobody").json() == {"conversation_id": "nobody", "deleted": 0}


def test_deleting_the_ledger_keeps_the_working_memory(marked, put):
    put({"a": 1})
    marked.http.delete("/ledger/c")
    assert marked.http.get("/working-memory/c").json() == {"a": 1}


def test_deleting_the_session_takes_the_working_memory_along(marked, put):
    put({"a": 1})
    assert marked.http.delete("/api/v1/sessions/c").status_code == 204
    assert marked.http.get("/working-memory/c").json() == {}
    assert stores.raw(marked, "c") == {}


def test_globex_clears_nothing_of_acme(marked, globex):
    assert globex.http.delete("/ledger/c").json()["deleted"] == 0
    assert marked.http.get("/ledger/c").json() == {"skill:a": "1", "artifact:b": "1"}


def test_the_expiry_of_the_conversation_clears_the_ledger_and_keeps_the_log(marked, put):
    put({"a": 1}, ttl_seconds=1)
    time.sleep(1.3)
    assert marked.http.get("/working-memory/c").json() == {}
    assert marked.http.get("/ledger/c").json() == {}
    assert stores.ledger_hash(marked, "c") == {}
    assert all(row["released_at"] is not None for row in stores.injections(marked, "c"))
    assert marked.http.post("/ledger/c/claim", json={"item_key": "skill:a"}).json() == {"claimed": True}


def test_asking_the_ledger_keeps_the_conversation_alive(marked, put):
    put({"a": 1})
    for _ in range(2):
        stores.shorten(marked, "c", 100)
        assert marked.http.post("/ledger/c/check", json={"item_key": "skill:a"}).json()["injected"] is True
        assert stores.ttl(marked, "c") > stores.DAY - 60
    assert marked.http.get("/working-memory/c").json() == {"a": 1}

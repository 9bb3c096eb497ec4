"""Contract row 12."""


def test_an_unknown_ledger_is_an_empty_object(acme):
    answer = acme.http.get("/ledger/nobody")
    assert (answer.status_code, answer.json()) == (200, {})


def test_items_are_answered_as_bare_strings(acme):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:spacing", "value": "injected"})
    acme.http.post("/ledger/c/mark", json={"item_key": "entity:7"})
    assert acme.http.get("/ledger/c").json() == {"skill:spacing": "injected", "entity:7": "1"}
    assert acme.http.get("/ledger/c/").json() == acme.http.get("/ledger/c").json()


def test_globex_sees_nothing_of_acme(acme, globex):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
    assert globex.http.get("/ledger/c").json() == {}


def test_reading_does_not_create_a_session(acme):
    acme.http.get("/ledger/nobody")
    assert acme.http.get("/api/v1/sessions").json()["results"] == []

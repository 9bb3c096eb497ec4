"""Contract row 1."""


def test_an_unknown_conversation_is_an_empty_object(acme):
    answer = acme.http.get("/working-memory/nobody")
    assert (answer.status_code, answer.json()) == (200, {})
    assert answer.headers["content-type"] == "application/json"


def test_all_fields_are_answered_bare(acme, put):
    put({"scratchpad": "notes", "entities": [{"type": "well", "id": "42-1", "name": "Mitchell"}]})
    assert acme.http.get("/working-memory/c").json() == {
        "scratchpad": "notes",
        "entities": [{"type": "well", "id": "42-1", "name": "Mitchell"}],
    }


def test_the_envelope_adds_hold_and_size(acme, put):
    put({"well_api": "42-301-12345"})
    assert acme.http.get("/working-memory/c?envelope=1").json() == {
        "conversation_id": "c",
        "data": {"well_api": "42-301-12345"},
        "ttl_seconds": 86_400,
        "size_bytes": put({}).json()["size_bytes"],
    }


def test_the_envelope_of_an_unknown_conversation_is_empty(acme):
    assert acme.http.get("/working-memory/nobody?envelope=1").json() == {
        "conversation_id": "nobody",
        "data": {},
        "ttl_seconds": 0,
        "size_bytes": 0,
    }


def test_reading_does_not_create_a_session(acme):
    acme.http.get("/working-memory/nobody")
    assert acme.http.get("/api/v1/sessions").json()["results"] == []


def test_globex_sees_nothing_of_acme(put, globex):
    put({"a": 1})
    assert globex.http.get("/working-memory/c").json() == {}


def test_with_and_without_trailing_slash_is_one_conversation(acme):
    acme.http.put("/working-memory/c/", json={"data": {"a": 1}})
    assert acme.http.get("/working-memory/c").json() == acme.http.get("/working-memory/c/").json() == {"a": 1}

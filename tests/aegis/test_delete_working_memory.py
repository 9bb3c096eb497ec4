"""Contract row 6: a body that is not understood never deletes everything."""

import pytest

ALL = {"a": 1, "b": 2, "c": 3}


@pytest.fixture
def delete(acme, put):
    """Deletes from a conversation that has three fields; what was answered and what is left."""
    put(ALL)

    def _delete(query="", **sent):
        answer = acme.http.request("DELETE", f"/working-memory/c{query}", **sent)
        return answer, acme.http.get("/working-memory/c").json()

    return _delete


def test_the_named_fields_go(delete):
    answer, left = delete(json={"fields": ["a", "c", "unknown"]})
    assert (answer.status_code, answer.json()) == (200, {"conversation_id": "c", "deleted": ["a", "c"]})
    assert left == {"b": 2}


@pytest.mark.parametrize(
    "sent",
    [{}, {"content": b""}, {"json": {}}, {"json": {"fields": None}}, {"content": b"null"}],
    ids=["no body", "empty body", "empty object", "fields null", "null"],
)
def test_without_fields_all_go(delete, sent):
    answer, left = delete(**sent)
    assert answer.status_code == 200
    assert sorted(answer.json()["deleted"]) == ["a", "b", "c"]
    assert left == {}


def test_an_empty_list_deletes_nothing(delete):
    answer, left = delete(json={"fields": []})
    assert (answer.status_code, answer.json()["deleted"], left) == (200, [], ALL)


@pytest.mark.parametrize(
    "content",
    [b"{", b"fields=a", b" ", b'{"fields": ["a"]', b"[]", b'"a"', b"3", b"false", b'{"fields": "a"}',
     b'{"fields": {}}', b'{"fields": [1]}', b'{"fields": [null]}', b'{"fields": false}', b"\xff",
     b"\xed\xa0\x80"],
)  # fmt: skip
def test_a_body_that_is_not_understood_deletes_nothing(delete, content):
    answer, left = delete(content=content)
    assert (answer.status_code, left) == (422, ALL)


def test_fields_may_stand_in_the_query(delete):
    answer, left = delete("?fields=a&fields=b")
    assert (answer.json()["deleted"], left) == (["a", "b"], {"c": 3})


def test_an_empty_field_in_the_query_is_a_name_not_everything(delete):
    answer, left = delete("?fields=")
    assert (answer.json()["deleted"], left) == ([], ALL)


@pytest.mark.parametrize("body", [{}, {"fields": None}])
def test_a_body_that_names_nothing_leaves_it_to_the_query(delete, body):
    answer, left = delete("?fields=a", json=body)
    assert (answer.json()["deleted"], left) == (["a"], {"b": 2, "c": 3})


def test_a_chunked_body_is_read(delete):
    answer, left = delete(content=iter([b'{"fields"', b': ["a"]}']))
    assert answer.request.headers["transfer-encoding"] == "chunked"
    assert (answer.json()["deleted"], left) == (["a"], {"b": 2, "c": 3})


def test_a_chunked_body_that_is_broken_deletes_nothing(delete):
    answer, left = delete(content=iter([b'{"fields"', b": ["]))
    assert (answer.status_code, left) == (422, ALL)


def test_a_field_with_an_odd_name_goes(acme, put):
    put({"": 1, "a b": 2, "ü/💡": 3})
    answer = acme.http.request("DELETE", "/working-memory/c", json={"fields": ["", "ü/💡"]})
    assert answer.json()["deleted"] == ["", "ü/💡"]


def test_an_unknown_conversation_has_nothing_to_delete(acme):
    answer = acme.http.delete("/working-memory/nobody")
    assert (answer.status_code, answer.json()) == (200, {"conversation_id": "nobody", "deleted": []})
    assert acme.http.get("/api/v1/sessions").json()["results"] == []


def test_the_ledger_and_the_log_stay(acme, delete):
    acme.http.post("/ledger/c/mark", json={"item_key": "skill:a"})
    acme.http.post("/api/v1/sessions/c/turns", json={"turns": [{"role": "user", "content": "hi"}]})
    delete()
    assert acme.http.get("/ledger/c").json() == {"skill:a": "1"}
    assert acme.http.get("/api/v1/sessions/c/window").json()["messages"] == [
        {"role": "user", "content": "hi"}
    ]


def test_globex_deletes_nothing_of_acme(acme, put, globex):
    put(ALL)
    assert globex.http.delete("/working-memory/c").json()["deleted"] == []
    assert acme.http.get("/working-memory/c").json() == ALL

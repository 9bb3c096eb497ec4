"""Contract row 14, marking."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.aegis import stores


def mark(member, session="c", **body):
    return member.http.post(f"/ledger/{session}/mark", json={"item_key": "skill:a", **body})


def test_the_value_is_1_unless_given(acme):
    answer = mark(acme)
    assert (answer.status_code, answer.json()) == (
        200,
        {"conversation_id": "c", "item_key": "skill:a", "value": "1", "marked": True, "created": True},
    )


def test_a_second_mark_overwrites(acme):
    mark(acme)
    assert mark(acme, value="injected").json()["created"] is False
    assert acme.http.get("/ledger/c").json() == {"skill:a": "injected"}


@pytest.mark.parametrize("value", [1, True, None, [], {}, "x" * 65_537])
def test_a_value_that_is_no_text_is_refused(acme, value):
    answer = mark(acme, value=value)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "value"]


def test_of_sixteen_marks_at_once_one_is_the_first(acme):
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: mark(acme, value=str(number)).json(), range(16)))
    assert [one["created"] for one in answers].count(True) == 1
    (row,) = stores.injections(acme, "c")
    assert acme.http.get("/ledger/c").json() == {"skill:a": row["value"]}


def test_the_ledger_never_expires_by_itself(acme):
    mark(acme)
    acme.http.get("/ledger/c")
    assert stores.ledger_hash(acme, "c") == {"skill:a": "1"}
    assert stores.ledger_ttl(acme, "c") == -1

"""`DELETE /observations/{id}`"""

import os

import httpx
import pytest

from tests.agentops.shapes import get, recent, refused, save
from tests.plugin import HOME
from tests.processes import Web


def delete(member, number, **query):
    return member.http.delete(f"/observations/{number}", params=query)


def test_it_is_gone_and_the_answer_has_no_body(acme):
    number = save(acme)["id"]
    answer = delete(acme, number)
    assert (answer.status_code, answer.content) == (204, b"")
    assert recent(acme) == []
    assert get(acme, "/search", q="pool", project="orders") == []
    assert get(acme, "/context", query="pool", project="orders")["recent_observations"] == []
    assert get(acme, "/stats")["total_observations"] == 0


def test_it_comes_back_from_the_trash(acme):
    number = save(acme)["id"]
    delete(acme, number)
    assert acme.http.post(f"/api/v1/observations/{number}/restore").status_code == 200
    assert [one["id"] for one in get(acme, "/search", q="pool", project="orders")] == [number]


@pytest.mark.parametrize("hard", [{}, {"hard": "true"}])
def test_deleting_it_again_and_again_leaves_search_whole(acme, hard):
    kept = save(acme, title="Kept", content="The pool of the worker.")["id"]
    number = save(acme)["id"]
    for query in ({}, {}, hard, hard, {}):
        assert delete(acme, number, **query).status_code == 204
        found = get(acme, "/search", q="pool", project="orders")
        assert [one["id"] for one in found] == [kept]


def test_only_the_word_true_deletes_for_good(acme):
    number = save(acme)["id"]
    delete(acme, number, hard="1")
    trash = acme.http.get("/api/v1/observations", params={"state": "trash"}).json()["results"]
    assert [one["id"] for one in trash] == [number]
    delete(acme, number, hard="true")
    assert acme.http.get("/api/v1/observations", params={"state": "trash"}).json()["results"] == []


def test_an_unknown_one_is_204_and_a_bad_id_400(acme, globex):
    assert delete(acme, 999_999_999).status_code == 204
    refused(delete(acme, "x"), 400, "invalid observation id")
    number = save(acme)["id"]
    assert delete(globex, number).status_code == 204
    assert len(recent(acme)) == 1


def test_its_topic_and_content_are_free_again(acme):
    number = save(acme, topic_key="a/b")["id"]
    delete(acme, number)
    again = save(acme, topic_key="a/b")
    assert (again["action"], again["id"] != number) == ("created", True)


def test_where_it_is_set_the_console_gets_its_body(acme):
    web = Web({**os.environ, "AGENTOPS_DELETE_BODY": "1"}, log=HOME / "delete-body.log")
    try:
        url = web.wait_until_alive().url
        headers = {"Authorization": f"Bearer {acme.key}"}
        answer = httpx.delete(f"{url}/observations/{save(acme)['id']}", headers=headers)
    finally:
        web.stop()
    assert (answer.status_code, answer.text) == (200, '{"ok":true}\n')

"""One session, whichever way it is read and written."""

import pytest

from tests.conftest import Member

SESSION = "/v1/working-memory/s"


def put(member: Member, *texts: str, **more: object) -> dict[str, object]:
    messages = [{"id": text, "role": "user", "content": text} for text in texts]
    answer = member.http.put(SESSION, json={"messages": messages, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def texts(answer: dict[str, object]) -> list[str]:
    return [one["content"] for one in answer["messages"]]


def test_what_is_put_is_read_by_the_other_ways_in(acme):
    put(acme, "hello", "bye", data={"step": 1, "none": None})
    assert acme.http.get("/working-memory/s").json() == {"step": 1, "none": None}
    assert texts(acme.http.get("/api/v1/sessions/s/window").json()) == ["hello", "bye"]
    events = acme.http.get("/api/v1/sessions/s/events").json()["results"]
    assert [one["event_id"] for one in events] == ["hello", "bye"]


def test_what_the_other_ways_in_write_is_in_the_session(acme):
    acme.http.put("/working-memory/s", json={"data": {"step": 1, "none": None}})
    turns = [{"id": "t1", "role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    acme.http.post("/api/v1/sessions/s/turns", json={"turns": turns})
    found = acme.http.get(SESSION).json()
    assert texts(found) == ["hello", "hi"]
    assert found["messages"][0]["id"] == "t1"
    assert found["data"] == {"step": 1}  # the client takes no null for a value


def test_turns_of_the_other_ways_in_survive_a_client_that_read_before(acme):
    """It sends back the `updated_at` that it has read."""
    read = put(acme, "hello")
    acme.http.post("/api/v1/sessions/s/turns", json={"turns": [{"role": "user", "content": "between"}]})
    done = put(acme, "hello", "bye", updated_at=read["updated_at"])
    assert texts(done) == texts(acme.http.get(SESSION).json()) == ["hello", "between", "bye"]


def test_a_field_that_a_client_leaves_out_is_gone_everywhere(acme):
    put(acme, "hello", data={"a": 1, "b": 2})
    acme.http.put("/working-memory/s", json={"data": {"c": 3}})
    put(acme, "hello", data={"a": 1})
    assert acme.http.get("/working-memory/s").json() == {"a": 1, "c": 3}


@pytest.mark.parametrize("path", ["/v1/working-memory/a%2Fb%3Fc%20d", "/v1/working-memory/a%2Fmessages"])
def test_ids_of_any_characters_with_and_without_a_slash_at_the_end(acme, path):
    acme.http.put(path, json={"messages": [{"role": "user", "content": "hello"}]})
    for one in (path, f"{path}/"):
        answer = acme.http.get(one)
        assert (answer.status_code, texts(answer.json())) == (200, ["hello"])
    appended = acme.http.post(f"{path}/messages/", json={"messages": [{"role": "user", "content": "bye"}]})
    assert texts(appended.json()) == ["hello", "bye"]


def test_records_are_episodes(acme):
    body = {"memories": [{"id": "r1", "text": "Ana likes tea", "user_id": "ana", "topics": ["tea"]}]}
    assert acme.http.post("/v1/long-term-memory", json=body).json() == {"status": "ok"}
    (episode,) = acme.http.get("/api/v1/episodes?user_id=ana").json()["results"]
    assert (episode["text"], episode["topics"]) == ("Ana likes tea", ["tea"])
    made = acme.http.post("/api/v1/episodes", json={"text": "Ana has a cat", "user_id": "ana"}).json()
    found = acme.http.get(f"/v1/long-term-memory/{made['id']}").json()
    assert (found["id"], found["text"], found["user_id"]) == (made["id"], "Ana has a cat", "ana")
    search = {"text": "what does she drink?", "user_id": {"eq": "ana"}}
    shown = acme.http.post("/v1/long-term-memory/search", json=search).json()
    assert [one["text"] for one in shown["memories"]] == ["Ana likes tea", "Ana has a cat"]

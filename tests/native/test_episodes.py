from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.native.shapes import problem

URL = "/api/v1/episodes"
FULL = {
    "text": "Kim prefers trains.\n", "user_id": "u1", "agent_id": "ada", "session_id": "s1",
    "memory_type": "semantic", "topics": ["travel", "ä"], "entities": ["Kim"], "outcome": "booked",
    "event_date": "2026-01-02T03:04:05Z", "metadata": {"k": [1, None]},
}  # fmt: skip


def store(member, text="something", **named):
    answer = member.http.post(URL, json={"text": text, **named})
    assert answer.status_code == 201, answer.text
    return answer.json()


def listed(member, query=""):
    return member.http.get(f"{URL}?{query}").json()["results"]


def test_every_part_of_an_episode_comes_back(acme):
    stored = store(acme, **FULL)
    assert FULL.items() <= stored.items()
    assert (stored["embedded"], stored["covers_turns"], stored["project"]) == (True, None, None)
    assert stored.pop("supersedes") == []
    assert listed(acme) == [stored | {"last_accessed_at": None, "access_count": 0}]


def test_text_alone_suffices(acme):
    stored = store(acme)
    assert (stored["memory_type"], stored["topics"], stored["metadata"]) == ("episodic", [], {})
    assert stored["user_id"] is None


@pytest.mark.parametrize(
    "text", [" x ", "ä😀\u2028", "x" * 100_000, "'; DROP TABLE agent_episodes; --", "%s %(x)s {}"]
)
def test_any_text_is_kept_to_the_letter(acme, text):
    assert store(acme, text)["text"] == listed(acme)[0]["text"] == text


def test_filters(acme):
    store(acme, "a", user_id="u1", agent_id="ada", session_id="s1")
    store(acme, "b", user_id="u1", agent_id="bob", memory_type="semantic")
    store(acme, "c", user_id="u2", agent_id="ada", memory_type="message")

    def found(query):
        return sorted(one["text"] for one in listed(acme, query))

    assert found("user_id=u1") == ["a", "b"]
    assert found("agent_id=ada") == ["a", "c"]
    assert found("user_id=u1&agent_id=ada") == ["a"]
    assert found("session_id=s1") == ["a"]
    assert found("memory_type=semantic&memory_type=message") == ["b", "c"]
    assert found("project=p") == []


@pytest.mark.parametrize("size", [1, 4, 50])
def test_pages_show_every_episode_once_newest_first(acme, size):
    with ThreadPoolExecutor(4) as pool:
        stored = list(pool.map(lambda n: store(acme, f"{n}", user_id="u1"), range(12)))
    seen, cursor = [], ""
    while cursor is not None:
        page = acme.http.get(URL, params={"user_id": "u1", "limit": size, "cursor": cursor}).json()
        seen += page["results"]
        cursor = page["next"]
    expected = sorted(stored, key=lambda one: (one["created_at"], one["id"]), reverse=True)
    assert [one["id"] for one in seen] == [one["id"] for one in expected]


@pytest.mark.parametrize(("change", "field"), [
    ({"text": ""}, "text"), ({"text": " \n\u00a0"}, "text"), ({"text": "\u200b\ufeff\u2060\u3164"}, "text"),
    ({"text": None}, "text"), ({"text": 7}, "text"), ({"colour": "red"}, "colour"),
    ({"memory_type": "dream"}, "memory_type"), ({"topics": "travel"}, "topics"),
    ({"topics": [""]}, "topics.0"),
    ({"event_date": "soon"}, "event_date"), ({"metadata": 1}, "metadata"),
    ({"user_id": "x" * 256}, "user_id"),
    ({"embedded": True}, "embedded"),
])  # fmt: skip
def test_what_is_not_valid_is_named(acme, change, field):
    problem(acme.http.post(URL, json={"text": "x", **change}), 422, field)
    assert listed(acme) == []


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "memory_type=dream", "cursor=x", "user_id=%00"])
def test_what_is_not_valid_in_the_query_is_named(acme, query):
    problem(acme.http.get(f"{URL}?{query}"), 422, query.split("=")[0])


def test_globex_cannot_read_acme_episode(acme, globex):
    store(acme, user_id="u1")
    assert listed(globex) == listed(globex, "user_id=u1") == []


def test_a_bound_key_stores_and_lists_within_its_bounds(acme):
    store(acme, "other", user_id="u2", agent_id="ada")
    bound = acme.with_key(user_id="u1", agent_id="ada")
    stored = store(bound, "mine")
    assert (stored["user_id"], stored["agent_id"]) == ("u1", "ada")
    assert [one["text"] for one in listed(bound)] == ["mine"]
    problem(bound.http.post(URL, json={"text": "x", "user_id": "u2"}), 403)
    problem(bound.http.get(f"{URL}?agent_id=bob"), 403)


def test_a_read_only_key_reads_and_does_not_write(acme):
    store(acme)
    reader = acme.with_key(scopes=("read",))
    assert len(listed(reader)) == 1
    problem(reader.http.post(URL, json={"text": "x"}), 403)

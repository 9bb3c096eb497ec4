import pytest

from tests.native.shapes import problem


def say(member, *contents, role="user", session="s"):
    turns = [{"role": role, "content": content} for content in contents]
    assert member.http.post(f"/api/v1/sessions/{session}/turns", json={"turns": turns}).status_code == 200


def end(member, session="s", body=None):
    answer = member.http.post(f"/api/v1/sessions/{session}/end", json=body or {})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_summary_has_the_wording_of_the_seed(acme):
    say(acme, "Where is my parcel?")
    say(acme, "On its way.", role="assistant")
    say(acme, "Thank you.")
    ended = end(acme)
    assert ended.keys() == {"session_id", "summary", "episode_id", "message_count"}
    assert ended["summary"] == 'Session with 3 messages. Started: "Where is my parcel?" — Ended: "Thank you."'
    assert (ended["session_id"], ended["message_count"]) == ("s", 3)


def test_first_and_last_are_cut_to_two_hundred_characters(acme):
    say(acme, "ä" * 201, "😀" * 250)
    assert end(acme)["summary"] == f'Session with 2 messages. Started: "{"ä" * 200}" — Ended: "{"😀" * 200}"'


def test_turns_in_which_no_user_spoke_leave_no_episode(acme):
    say(acme, "Hello?", role="assistant")
    assert end(acme) == {"session_id": "s", "summary": "", "episode_id": None, "message_count": 0}
    assert acme.http.get("/api/v1/episodes?session_id=s").json()["results"] == []
    say(acme, "Hi.")
    assert end(acme)["summary"] == 'Session with 2 messages. Started: "Hi." — Ended: "Hi."'


def test_a_last_word_of_the_assistant_leaves_no_second_episode(acme):
    say(acme, "Bye.")
    first = end(acme)
    say(acme, "Bye!", role="assistant")
    assert end(acme) == first


def test_system_and_tool_turns_are_not_messages(acme):
    say(acme, "rules", role="system")
    say(acme, "42", role="tool")
    say(acme, "hi")
    assert end(acme)["message_count"] == 1


def test_the_summary_is_kept_as_an_episode_that_says_which_turns_it_covers(acme):
    acme.http.post("/api/v1/sessions", json={"session_id": "s", "agent_id": "ada", "project": "p"})
    say(acme, "a", "b")
    ended = end(acme)
    (episode,) = acme.http.get("/api/v1/episodes?session_id=s").json()["results"]
    assert (episode["id"], episode["text"]) == (ended["episode_id"], ended["summary"])
    assert (episode["covers_turns"], episode["memory_type"]) == ([1, 2], "episodic")
    assert (episode["agent_id"], episode["project"], episode["embedded"]) == ("ada", "p", True)


def test_the_summary_can_be_recalled_at_once(acme):
    say(acme, "My dog is called Rex")
    ended = end(acme)
    found = acme.http.post("/api/v1/recall", json={"query": "name of the dog", "session_id": "s"}).json()
    assert [one["id"] for one in found["results"]] == [ended["episode_id"]]


def test_ending_twice_changes_nothing_and_answers_the_same(acme):
    say(acme, "a")
    first = end(acme)
    ended_at = acme.http.get("/api/v1/sessions/s").json()["ended_at"]
    assert end(acme) == first
    assert acme.http.get("/api/v1/sessions/s").json()["ended_at"] == ended_at
    assert len(acme.http.get("/api/v1/episodes?session_id=s").json()["results"]) == 1


def test_eight_ends_at_once_leave_one_episode(acme):
    from concurrent.futures import ThreadPoolExecutor

    say(acme, "a", "b")
    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(lambda _n: end(acme), range(8)))
    assert len({one["episode_id"] for one in ended}) == 1
    assert len(acme.http.get("/api/v1/episodes?session_id=s").json()["results"]) == 1


def test_a_session_resumed_after_its_end_is_active_and_its_next_end_covers_the_new_turns(acme):
    say(acme, "a", "b")
    first = end(acme)
    assert acme.http.get("/api/v1/sessions/s").json()["ended_at"] is not None
    say(acme, "c")
    assert acme.http.get("/api/v1/sessions/s").json()["ended_at"] is None
    second = end(acme)
    assert second["episode_id"] != first["episode_id"]
    assert second["summary"] == 'Session with 1 message. Started: "c" — Ended: "c"'
    newest, oldest = acme.http.get("/api/v1/episodes?session_id=s").json()["results"]
    assert (newest["covers_turns"], oldest["covers_turns"]) == ([3, 3], [1, 2])


def test_an_empty_session_leaves_no_episode(acme):
    acme.http.post("/api/v1/sessions", json={"session_id": "s"})
    assert end(acme) == {"session_id": "s", "summary": "", "episode_id": None, "message_count": 0}
    assert acme.http.get("/api/v1/sessions/s").json()["ended_at"] is not None
    assert acme.http.get("/api/v1/episodes?session_id=s").json()["results"] == []


def test_an_empty_session_under_a_deleted_id_does_not_answer_the_old_summary(acme):
    say(acme, "old")
    end(acme)
    acme.http.delete("/api/v1/sessions/s")
    acme.http.post("/api/v1/sessions", json={"session_id": "s"})
    assert end(acme)["episode_id"] is None


def test_the_end_empties_the_ledger(acme):
    say(acme, "a")
    acme.http.post("/ledger/s/mark", json={"item_key": "i"})
    end(acme)
    assert acme.http.get("/ledger/s").json() == {}


def test_the_end_of_one_users_session_leaves_the_others_alone(acme):
    for user in ("u1", "u2"):
        acme.http.post(
            "/api/v1/sessions/s/turns", json={"user_id": user, "turns": [{"role": "user", "content": user}]}
        )
    problem(acme.http.post("/api/v1/sessions/s/end", json={}), 409)
    ended = acme.http.post("/api/v1/sessions/s/end?user_id=u1", json={}).json()
    assert 'Started: "u1"' in ended["summary"]
    assert acme.http.get("/api/v1/sessions/s?user_id=u2").json()["ended_at"] is None


@pytest.mark.parametrize("body", [{"reason": "done"}, [], 7])
def test_the_body_is_empty(acme, body):
    say(acme, "a")
    problem(acme.http.post("/api/v1/sessions/s/end", json=body), 422)


def test_an_unknown_session_cannot_end(acme, globex):
    say(acme, "a")
    problem(globex.http.post("/api/v1/sessions/s/end", json={}), 404)

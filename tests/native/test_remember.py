"""`POST /api/v1/remember`."""

import pytest

from tests.native.shapes import problem

URL = "/api/v1/remember"


def told(member, message="My name is Ada.", **more):
    body = {"session_id": "s1", "user_id": "ada", "user_message": message} | more
    return member.http.post(URL, json=body)


def remembered(member, *given, **more):
    answer = told(member, *given, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def slots(member):
    found = member.http.get("/api/v1/entities?user_id=ada").json()["results"]
    return {one["key"]: one for one in found}


def test_the_answer_says_what_was_written_and_what_was_not(acme):
    turns = {"user_id": "ada", "turns": [{"role": "user", "content": "My name is Ada. Maybe I like tea."}]}
    acme.http.post("/api/v1/sessions/s1/turns", json=turns).raise_for_status()
    answer = remembered(
        acme, "My name is Ada. Maybe I like tea.", agent_id="coder", assistant_message="Hello Ada."
    )
    slot = slots(acme)["name"]
    (written,) = answer["written"]
    assert written == {"kind": "entity", "id": written["id"], "key": "name", "text": "name: Ada"}
    assert answer["skipped"] == [{"text": "preference:tea: likes tea", "reason": "low_confidence"}]
    assert answer["extractor"] == "rules"
    assert (slot["value"], slot["source_session"], slot["source_turn"]) == ("Ada", "s1", 1)


def test_a_highlight_is_written_where_the_policy_wants_highlights(acme):
    admin = acme.with_key(scopes=("admin",))
    document = {"document": {"write": {"episodes": "selective"}}}
    admin.http.patch("/api/v1/policy", json=document).raise_for_status()
    (written,) = remembered(acme, "We decided to use PostgreSQL.")["written"]
    episode = acme.http.get(f"/api/v1/episodes/{written['id']}").json()
    assert written == {"kind": "episode", "id": episode["id"], "text": "We decided to use PostgreSQL."}
    assert (episode["session_id"], episode["user_id"]) == ("s1", "ada")


def test_what_was_not_written_is_among_the_write_decisions(acme):
    remembered(acme, "My card is 4111 1111 1111 1111.")
    (decision,) = acme.http.get("/api/v1/write-decisions?user_id=ada").json()["results"]
    assert (decision["reason"], "4111" in decision["text"]) == ("blocklist", False)


def test_what_waits_is_confirmed_by_the_person(acme):
    answer = remembered(acme, "My email is ada@example.org.")
    assert [one["reason"] for one in answer["skipped"]] == ["unconfirmed"]
    (decision,) = acme.http.get("/api/v1/write-decisions?user_id=ada").json()["results"]
    assert slots(acme) == {}
    ada = acme.with_key(user_id="ada")
    confirmed = ada.http.post(f"/api/v1/write-decisions/{decision['id']}/confirm")
    assert confirmed.is_success, confirmed.text
    assert slots(acme)["email"]["value"] == "ada@example.org"


def test_the_user_may_be_the_keys_or_the_querys(acme):
    bound = acme.with_key(user_id="ada")
    assert remembered(bound, user_id=None)["written"]
    body = {"session_id": "s1", "user_message": "I like tea."}
    assert acme.http.post(f"{URL}?user_id=ada", json=body).json()["written"]
    assert set(slots(acme)) == {"name", "preference:tea"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"user_id": None}, "user_id"),
        ({"session_id": ""}, "session_id"),
        ({"user_message": ""}, "user_message"),
        ({"user_message": 7}, "user_message"),
        ({"assistant_message": []}, "assistant_message"),
        ({"more": 1}, "more"),
    ],
)
def test_what_is_not_valid_is_named(acme, change, field):
    problem(told(acme, **change), 422, field)


def test_the_same_write_twice_is_answered_twice_and_done_once(acme):
    key = {"Idempotency-Key": "once"}
    body = {"session_id": "s1", "user_id": "ada", "user_message": "My name is Ada."}
    first, again = (acme.http.post(URL, json=body, headers=key) for _ in range(2))
    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert acme.http.post(URL, json=body).json()["skipped"] == [{"text": "name: Ada", "reason": "duplicate"}]


def test_globex_and_other_users_see_nothing_of_it(acme, globex):
    remembered(acme)
    assert slots(globex) == {}
    problem(told(acme.with_key(user_id="bob")), 403)


def test_a_read_only_key_remembers_nothing(acme):
    problem(told(acme.with_key(scopes=("read",))), 403)
    assert slots(acme) == {}

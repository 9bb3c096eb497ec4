from datetime import timedelta

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from recall import sessions
from tests.aegis import stores
from tests.ledger.told import mark, trusted
from tests.native.shapes import problem
from tests.working.conversation import append, state, turn
from tests.working.idleness import let_pass
from working import keys, memory
from working.types import SessionAddress


@pytest.fixture
def admin(acme):
    return acme.with_key(scopes=("read", "write", "admin"))


def clean_up(member, hours=24):
    answer = member.http.post("/api/v1/sessions/cleanup", json={"max_age_hours": hours})
    assert answer.status_code == 200, answer.text
    return answer.json()


def say(member, session):
    turns = {"turns": [{"role": "user", "content": "hi"}]}
    assert member.http.post(f"/api/v1/sessions/{session}/turns", json=turns).status_code == 200


def names(member):
    return {one["session_id"] for one in member.http.get("/api/v1/sessions").json()["results"]}


def test_sessions_that_nobody_used_for_so_long_are_deleted_and_their_memories_stay(admin, globex):
    say(admin, "old")
    admin.http.put("/working-memory/old", json={"data": {"a": 1}})
    admin.http.post("/api/v1/sessions/old/end", json={})
    say(globex, "theirs")
    for member in (admin, globex):
        let_pass(member.caller, 25 * 3_600)
    say(admin, "new")
    assert clean_up(admin) == {"removed": 1}
    assert (names(admin), names(globex)) == ({"new"}, {"theirs"})
    assert stores.raw(admin, "old") == {}
    assert len(admin.http.get("/api/v1/episodes?session_id=old").json()["results"]) == 1
    assert clean_up(admin) == {"removed": 0}


def test_one_that_was_read_since_is_left(admin):
    say(admin, "s")
    let_pass(admin.caller, 25 * 3_600)
    ref = stores.ref(admin, "s")
    redis = get_redis_connection()
    redis.zadd(keys.IDLE, {keys.tag(ref): redis.time()[0] + 600})
    assert clean_up(admin) == {"removed": 0}
    assert names(admin) == {"s"}


def test_one_call_deletes_only_so_many(admin, monkeypatch):
    for number in range(5):
        say(admin, f"s{number}")
    let_pass(admin.caller, 25 * 3_600)
    monkeypatch.setattr(sessions, "MOST_CLEANED", 3)
    assert [clean_up_here(admin) for _ in range(3)] == [3, 2, 0]


def test_it_needs_an_admins_key(acme):
    problem(acme.http.post("/api/v1/sessions/cleanup", json={"max_age_hours": 1}), 403)


@pytest.mark.parametrize("hours", [-1, None, "x", 1.5, 100_000])
def test_hours_are_a_whole_number(admin, hours):
    answer = admin.http.post("/api/v1/sessions/cleanup", json={"max_age_hours": hours})
    problem(answer, 422, "max_age_hours")


@pytest.mark.parametrize("use", ["a turn", "a field", "a mark"])
def test_a_session_that_is_used_while_others_are_deleted_stays_whole(admin, monkeypatch, use):
    """It was found unused, like the first: the answer to its use must stay true."""
    for session in ("first", "used"):
        say(admin, session)
        admin.http.put(f"/working-memory/{session}", json={"data": {"a": 1}})
        admin.http.post(f"/ledger/{session}/mark", json={"item_key": "skill:a"})
    let_pass(admin.caller, 25 * 3_600)
    real = sessions._delete

    def used_meanwhile(caller, session, *args, **given):
        if session.external_id == "first":
            USES[use](caller, SessionAddress("used"))
        return real(caller, session, *args, **given)

    monkeypatch.setattr(sessions, "_delete", used_meanwhile)
    assert clean_up_here(admin) == 1
    assert names(admin) == {"used"}
    assert_whole(admin, "used")


def test_a_turn_that_is_committed_just_before_the_row_is_locked_is_kept(admin, monkeypatch):
    say(admin, "s")
    admin.http.put("/working-memory/s", json={"data": {"a": 1}})
    admin.http.post("/ledger/s/mark", json={"item_key": "skill:a"})
    let_pass(admin.caller, 25 * 3_600)
    real = sessions.suspend_items

    def turn_comes_in(**given):
        token = real(**given)
        say(admin, "s")
        return token

    monkeypatch.setattr(sessions, "suspend_items", turn_comes_in)
    assert clean_up_here(admin) == 0
    assert_whole(admin, "s", turns=2)


def test_one_that_another_has_deleted_meanwhile_does_not_count(admin, monkeypatch):
    say(admin, "s")
    let_pass(admin.caller, 25 * 3_600)
    real = sessions.suspend_items

    def deleted_meanwhile(**given):
        monkeypatch.setattr(sessions, "suspend_items", real)
        assert admin.http.delete("/api/v1/sessions/s").status_code == 204
        return real(**given)

    monkeypatch.setattr(sessions, "suspend_items", deleted_meanwhile)
    assert clean_up_here(admin) == 0
    assert stores.raw(admin, "s") == {}


# In this process: the server's would not believe that hours have passed.
USES = {
    "a turn": lambda caller, address: append(caller, turn("user", "wait"), address=address),
    "a field": lambda caller, address: memory.put_fields(
        caller=caller, address=address, data={"a": 1}, now=timezone.now()
    ),
    "a mark": lambda caller, address: mark(caller, "skill:a", address=address),
}


def clean_up_here(member):
    """In this process, where the test can come between."""
    now = timezone.now()
    since = now - timedelta(hours=24)
    return sessions.clean_up_sessions(caller=member.caller, unused_since=since, now=now).removed


def assert_whole(member, session, turns=None):
    window = member.http.get(f"/api/v1/sessions/{session}/window").json()["messages"]
    events = member.http.get(f"/api/v1/sessions/{session}/events").json()["results"]
    assert len(window) == len(events) == (turns or len(events)) > 0
    assert member.http.get(f"/working-memory/{session}").json() == {"a": 1}
    assert member.http.get(f"/ledger/{session}").json() == {"skill:a": "1"}
    address = SessionAddress(session)
    assert trusted(member.caller, address), "no mark is left that would keep Redis out of the ledger"
    assert not [field for field in state(member.caller, address) if field.startswith("d:")]

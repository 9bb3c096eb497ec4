import pytest
from django_redis import get_redis_connection

from recall import sessions
from tests.aegis import stores
from tests.native.shapes import problem
from tests.working.idleness import let_pass
from working import keys


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
    from datetime import timedelta

    from django.utils import timezone

    for number in range(5):
        say(admin, f"s{number}")
    let_pass(admin.caller, 25 * 3_600)
    monkeypatch.setattr(sessions, "MOST_CLEANED", 3)
    now = timezone.now()
    since = now - timedelta(hours=24)
    removed = [
        sessions.clean_up_sessions(caller=admin.caller, unused_since=since, now=now).removed for _ in range(3)
    ]
    assert removed == [3, 2, 0]


def test_it_needs_an_admins_key(acme):
    problem(acme.http.post("/api/v1/sessions/cleanup", json={"max_age_hours": 1}), 403)


@pytest.mark.parametrize("hours", [-1, None, "x", 1.5, 100_000])
def test_hours_are_a_whole_number(admin, hours):
    answer = admin.http.post("/api/v1/sessions/cleanup", json={"max_age_hours": hours})
    problem(answer, 422, "max_age_hours")

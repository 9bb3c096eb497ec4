"""A session that its agent has left, as the API shows it before and after."""

from django.utils import timezone
from django_redis import get_redis_connection

from tests.aegis import stores
from tests.recall.left_alone import run_jobs, sweep
from tests.working.idleness import IDLE, let_pass
from working import activity, keys
from working.turns import read_window
from working.types import SessionAddress


def say(member, *contents):
    turns = [{"role": "user", "content": content} for content in contents]
    assert member.http.post("/api/v1/sessions/s/turns", json={"turns": turns}).status_code == 200


def leave_alone(member, seconds=IDLE * 1.2):
    """Time passes, for the age of Redis' knowledge too; beat rings; the worker works."""
    let_pass(member.caller, seconds)
    get_redis_connection().zadd(keys.IDLE, {activity.BEGUN: -1})
    sweep()
    run_jobs()


def session(member):
    return member.http.get("/api/v1/sessions/s").json()


def test_it_ends_as_if_somebody_had_ended_it(acme):
    say(acme, "Where is my parcel?", "Thank you.")
    leave_alone(acme)
    summary = 'Session with 2 messages. Started: "Where is my parcel?" — Ended: "Thank you."'
    assert session(acme)["ended_at"] is not None
    assert session(acme)["summary"] == summary
    (episode,) = acme.http.get("/api/v1/episodes?session_id=s").json()["results"]
    assert (episode["text"], episode["embedded"]) == (summary, True)
    by_hand = acme.http.post("/api/v1/sessions/s/end", json={}).json()
    assert (by_hand["episode_id"], by_hand["message_count"]) == (episode["id"], 2)
    assert len(acme.http.get("/api/v1/episodes?session_id=s").json()["results"]) == 1
    window = acme.http.get("/api/v1/sessions/s/window").json()
    assert [one["content"] for one in window["messages"]][-2:] == ["Where is my parcel?", "Thank you."]


def test_its_ledger_goes_and_the_log_of_it_stays(acme):
    say(acme, "hi")
    acme.http.post("/ledger/s/mark", json={"item_key": "skill:a"})
    leave_alone(acme)
    assert stores.ledger_hash(acme, "s") == {}
    assert all(row["released_at"] for row in stores.injections(acme, "s"))
    assert acme.http.post("/ledger/s/claim", json={"item_key": "skill:a"}).json() == {"claimed": True}


def test_the_ledger_of_an_expired_conversation_goes_without_anybody_asking(acme):
    acme.http.put("/working-memory/s", json={"data": {"a": 1}})
    acme.http.post("/ledger/s/mark", json={"item_key": "skill:a"})
    get_redis_connection().delete(*keys.all_of(stores.ref(acme, "s")))
    assert stores.ledger_hash(acme, "s") != {}
    leave_alone(acme)
    assert stores.ledger_hash(acme, "s") == {}
    assert [bool(row["released_at"]) for row in stores.injections(acme, "s")] == [True]
    assert acme.http.get("/api/v1/episodes?session_id=s").json()["results"] == []


def test_the_working_memory_keeps_its_hold(acme):
    acme.http.put("/working-memory/s", json={"data": {"a": 1}, "ttl_seconds": 172_800})
    leave_alone(acme)
    assert acme.http.get("/working-memory/s").json() == {"a": 1}
    assert stores.ttl(acme, "s") > 172_000


def test_reading_keeps_it_open(acme):
    """In this process: the server's would not believe that hours have passed."""
    say(acme, "hi")
    for _ in range(3):
        leave_alone(acme, IDLE * 0.8)
        read_window(caller=acme.caller, address=SessionAddress("s"), now=timezone.now())
    assert session(acme)["ended_at"] is None


def test_new_turns_reopen_it_and_its_next_end_covers_them_alone(acme):
    say(acme, "a", "b")
    leave_alone(acme)
    say(acme, "c")
    assert session(acme)["ended_at"] is None
    leave_alone(acme)
    newest, oldest = acme.http.get("/api/v1/episodes?session_id=s").json()["results"]
    assert (newest["covers_turns"], oldest["covers_turns"]) == ([3, 3], [1, 2])

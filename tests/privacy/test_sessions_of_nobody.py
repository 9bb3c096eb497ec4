"""A session without a user whose working memory says whose it is: exported and erased as that person's."""

import json

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from ledger.models import Injection
from tenants.models import Job
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tests.plugin import STORES
from tests.privacy import people
from working import privacy
from working.models import Checkpoint, Event, Session

ZOE = "zoe-77f"
OWNED = [
    {"user_id": ZOE},
    {"user_id": f"jwt:{ZOE}"},
    {"user_id": ZOE, "entities": [{"type": "user", "id": "bob"}]},
    {"entities": {"user": ZOE}},
    {"entities": {"user": {"id": ZOE, "name": "Zoe"}}},
    {"entities": [{"type": "User", "id": ZOE}, {"type": "order", "id": "bob"}]},
]
NOT_OWNED = [
    {"user_id": "bob", "entities": {"user": ZOE}},
    {"entities": [{"type": "user", "id": ZOE}, {"type": "user", "id": "bob"}]},
    {"entities": [{"type": "friend", "id": ZOE}]},
    {"profile": {"who": [ZOE]}},
]


def keep(member, data, session="conv-9", **asked):
    text = {"scratchpad": "sesame field"}
    member.http.put(f"/working-memory/{session}", params=asked, json={"data": data | text}).raise_for_status()


def talk(member, session="conv-9"):
    """What else can hang on a session that no user was named for."""
    path = f"/api/v1/sessions/{session}"
    turn = {"turns": [{"role": "user", "content": "sesame turn"}]}
    member.http.post(f"{path}/turns", json=turn).raise_for_status()
    member.http.put(f"{path}/checkpoint", json={"step": "sesame checkpoint"}).raise_for_status()
    mark = {"item_key": "skill:sesame", "value": "sesame mark"}
    member.http.post(f"/ledger/{session}/mark", json=mark).raise_for_status()


def held(member):
    return [key for key in people.redis_keys(member.tenant.id) if "///conv-9}" in key]


@pytest.mark.parametrize("data", OWNED)
def test_a_session_that_says_it_is_hers_is_erased_with_all_that_hangs_on_it(acme, data):
    keep(acme, data)
    talk(acme)
    keep(acme, {"user_id": "bob"}, "bobs")
    talk(acme, "bobs")
    assert len(held(acme)) >= 4
    receipt = people.erase(acme, ZOE).receipt
    assert (receipt["residue"], receipt["passes"]) == ({}, 1)
    counts = {name: receipt["erased"][name] for name in ("session", "event", "checkpoint", "injection")}
    assert counts == {"session": 1, "event": 1, "checkpoint": 1, "injection": 1}
    assert held(acme) == []
    assert not [
        tag for tag in get_redis_connection().zrange("strata:sessions:idle", 0, -1) if "///conv-9" in tag
    ]
    with scope(acme.tenant.id):
        left = [model.objects.count() for model in (Session, Event, Checkpoint, Injection)]
    assert left == [1, 1, 1, 1]  # bob's
    assert acme.http.get("/working-memory/bobs").json()["scratchpad"] == "sesame field"


@pytest.mark.parametrize("data", NOT_OWNED)
def test_a_session_that_names_her_and_is_not_hers_is_told(acme, data):
    keep(acme, data)
    talk(acme)
    receipt = people.erase(acme, ZOE).receipt
    assert receipt["residue"] == {"redis.values": 1}
    assert receipt["erased"]["session"] == 0
    assert acme.http.get("/working-memory/conv-9").json()["scratchpad"] == "sesame field"


def test_the_session_of_somebody_else_stays_theirs_whatever_it_says(acme):
    keep(acme, {"user_id": ZOE}, user_id="bob")
    assert people.erase(acme, ZOE).receipt["residue"] == {"redis.values": 1}
    assert acme.http.get("/working-memory/conv-9", params={"user_id": "bob"}).json()["user_id"] == ZOE


def test_ids_that_only_look_alike_keep_their_sessions(acme, globex):
    for number, who in enumerate(("zoe-77", "zoe-77ff", "Zoe-77f", "zoe-77f ")):
        keep(acme, {"user_id": who}, f"c{number}")
    keep(globex, {"user_id": ZOE})
    assert people.erase(acme, ZOE).receipt["residue"] == {}
    for number in range(4):
        assert acme.http.get(f"/working-memory/c{number}").json()["scratchpad"]
    assert globex.http.get("/working-memory/conv-9").json()["scratchpad"]


def test_a_number_as_an_id_is_its_digits(acme):
    keep(acme, {"user_id": 4711})
    keep(acme, {"user_id": True}, "other")
    assert people.erase(acme, "4711").receipt["erased"]["session"] == 1
    assert held(acme) == []


def test_what_she_says_there_is_in_the_export(acme):
    keep(acme, {"user_id": ZOE})
    talk(acme)
    keep(acme, {"user_id": "bob", "friend": ZOE}, "bobs")
    records = people.export(acme, ZOE)
    assert [one["data"] for one in records if one["kind"] == "working_memory"] == [
        {"user_id": ZOE, "scratchpad": "sesame field"}
    ]
    assert {one["kind"] for one in records} >= {"session", "event", "checkpoint", "injection"}
    assert all(f"sesame {word}" in str(records) for word in ("turn", "checkpoint", "mark"))
    assert [one["external_id"] for one in records if one["kind"] == "session"] == ["conv-9"]


def test_a_session_called_by_the_id_is_told_in_redis_too(acme):
    keep(acme, {}, ZOE)
    receipt = people.erase(acme, ZOE).receipt
    assert receipt["residue"] == {"working_session.external_id": 1, "redis.sessions": 1}


def test_a_worker_that_was_stopped_after_the_tables_finds_the_session_again(acme):
    keep(acme, {"user_id": ZOE})
    talk(acme)
    with scope(acme.tenant.id):
        Session.objects.all().delete()
    assert people.erase(acme, ZOE).receipt["residue"] == {}
    assert held(acme) == []


def test_it_is_tried_again_while_redis_is_away(acme):
    keep(acme, {"user_id": ZOE})
    job = begin_erasure(tenant_id=acme.tenant.id, user_id=ZOE, actor="test", now=timezone.now())
    STORES.redis.stop()
    try:
        people.run_jobs()
        with scope(acme.tenant.id):
            assert Job.objects.get(id=job.id).error == "Redis is away."
            assert Session.objects.count() == 1
    finally:
        STORES.redis.start()


def test_fields_are_looked_at_many_at_a_time(acme, monkeypatch):
    monkeypatch.setattr(privacy, "HASHES_AT_ONCE", 3)
    for number in range(8):
        keep(acme, {"user_id": ZOE, "entities": json.dumps([number])}, f"many-{number}")
    assert people.erase(acme, ZOE).receipt["erased"]["session"] == 8

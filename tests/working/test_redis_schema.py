"""What a session looks like in Redis: keys, types, contents, and when they go."""

import json

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from recall.sessions import end_session
from recall.start import start_session
from tests.recall.talking import decide, exchanges, tell
from tests.working.conversation import contents, reference, state, window
from working import keys
from working.deletion import delete_session
from working.sessions import access_session
from working.types import SessionAddress

ANN = SessionAddress("s", "ann")
DAY = 86_400


def redis_keys(caller):
    redis = get_redis_connection()
    found = [key for key in redis.scan_iter(match=f"*{caller.tenant_id.hex}*") if key != keys.IDLE]
    return {key: redis.type(key) for key in found}


@pytest.fixture
def compacted(caller):
    """A session with turns and a running summary."""
    decide(caller, summary={"every_turns": 8})
    tell(caller, *exchanges(1, 4), address=ANN)
    return reference(caller, ANN)


def test_turns_are_a_list_the_summary_a_string_and_the_rest_a_hash(caller, compacted):
    tag = f"{{{caller.tenant_id.hex}//ann/s}}"
    assert redis_keys(caller) == {
        f"agent:session:{tag}:turns": "list",
        f"agent:session:{tag}:summary": "string",
        f"agent:session:{tag}:meta": "hash",
    }


def test_the_list_holds_messages_as_json_newest_at_the_tail(caller, compacted):
    entries = get_redis_connection().lrange(keys.turns(compacted), 0, -1)
    assert json.loads(entries[-1]) == {"seq": 8, "role": "assistant", "content": "a4"}
    assert [json.loads(one)["seq"] for one in entries] == [5, 6, 7, 8]


def test_the_hash_names_tenant_and_user_and_counts_the_turns(caller, compacted):
    meta = state(caller, ANN)
    assert (meta["tenant_id"], meta["user_id"], meta["turn_count"]) == (str(caller.tenant_id), "ann", "8")
    get_redis_connection().delete(*keys.all_of(compacted))
    contents(caller, ANN)
    meta = state(caller, ANN)
    assert (meta["tenant_id"], meta["user_id"], meta["turn_count"]) == (str(caller.tenant_id), "ann", "8")


def test_the_summary_is_the_running_one(caller, compacted):
    stored = get_redis_connection().get(keys.summary(compacted))
    assert stored == window(caller, ANN).summary == access_session(caller=caller, address=ANN).summary != ""


def test_a_turn_begins_the_hold_of_all_keys_anew(caller, compacted):
    redis = get_redis_connection()
    for key in redis_keys(caller):
        redis.expire(key, 100)
    tell(caller, *exchanges(5, 5), address=ANN)
    assert all(DAY - 60 < redis.ttl(key) <= DAY for key in redis_keys(caller))


def test_a_start_sets_the_hold_before_the_first_turn(caller):
    start_session(caller=caller, address=ANN, agent_id=None, query=None, now=timezone.now())
    assert DAY - 60 < get_redis_connection().ttl(keys.meta(reference(caller, ANN))) <= DAY


def test_an_end_trims_the_list_and_leaves_the_summary(caller, compacted):
    end_session(caller=caller, address=ANN, now=timezone.now())
    assert set(redis_keys(caller).values()) == {"string", "hash"}


def test_a_deletion_leaves_no_key(caller, compacted):
    session = access_session(caller=caller, address=ANN)
    delete_session(caller=caller, session=session, now=timezone.now(), also=lambda _locked: None)
    assert redis_keys(caller) == {}
    tell(caller, *exchanges(1, 1), address=ANN)
    assert contents(caller, ANN) == ["u1", "a1"]
    assert state(caller, ANN)["turn_count"] == "2"

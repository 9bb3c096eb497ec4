"""The window stays right whatever happens to the copy in Redis."""

import itertools
import random
import time
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from tenants.errors import Conflict, NotFound
from tenants.scope import scope
from tests.working.conversation import (
    S,
    append,
    at_once,
    cached_entries,
    contents,
    logged,
    logged_entries,
    reference,
    state,
    turn,
    window,
)
from working import keys, querysets, store
from working.deletion import delete_session
from working.sessions import access_session, open_session
from working.turns import read_window
from working.types import SessionAddress


def talk(caller, pairs, address=S, start=0):
    for n in range(start, start + pairs):
        append(caller, turn("user", f"q{n}"), turn("assistant", f"a{n}"), address=address)


def lose(caller):
    get_redis_connection().delete(*keys.all_of(reference(caller)))


def test_a_window_after_the_loss_of_redis_is_the_same(caller):
    calls = [{"type": "function", "id": "x", "function": {"name": "f", "arguments": '{"b": 1, "a": 2}'}}]
    append(caller, turn("user", 'Grüße\n"quoted" \\ \u2028 😀'), turn("assistant", None, tool_calls=calls))
    append(caller, turn("tool", "42", tool_call_id="x", name="f"), turn("assistant", ""))
    before, entries = window(caller), cached_entries(caller)
    get_redis_connection().flushdb()
    assert window(caller) == before
    assert cached_entries(caller) == entries


def test_writes_go_on_after_the_loss_of_redis(caller):
    talk(caller, 2)
    get_redis_connection().flushdb()
    talk(caller, 1, start=2)
    assert contents(caller) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    assert cached_entries(caller) == logged_entries(caller)


def test_a_list_put_back_from_a_backup_is_not_trusted_by_the_next_writer(caller):
    """The same run of the server, an older state of the session: the number before does not fit."""
    redis, ref = get_redis_connection(), reference_after(caller, 2)
    raw = raw_connection()
    dumped = [(key, raw.dump(key)) for key in keys.all_of(ref) if redis.exists(key)]
    talk(caller, 2, start=2)
    for key, content in dumped:
        raw.restore(key, 0, content, replace=True)
    talk(caller, 1, start=4)
    assert contents(caller) == [f"{who}{n}" for n in range(5) for who in "qa"]
    assert cached_entries(caller) == logged_entries(caller)


def test_a_list_of_another_run_of_the_server_is_not_trusted(caller):
    redis, ref = get_redis_connection(), reference_after(caller, 2)
    redis.hset(keys.meta(ref), "run", "0" * 40)
    redis.rpop(keys.turns(ref))
    assert contents(caller) == ["q0", "a0", "q1", "a1"]
    assert state(caller)["run"] == redis.info("server")["run_id"]
    assert cached_entries(caller) == logged_entries(caller)


def test_a_turn_whose_writer_died_before_settling_is_in_the_window_at_once(caller):
    talk(caller, 1)
    die_after_commit(caller, "from the dead")
    assert contents(caller) == ["q0", "a0", "from the dead"]
    assert len(cached_entries(caller)) == 2, "nobody may say yet that the list is whole"


def test_redis_heals_when_the_mark_of_a_dead_writer_has_aged(caller):
    talk(caller, 1)
    die_after_commit(caller, "from the dead")
    for later in (store.MARK_DIES_AFTER - 2, store.MARK_DIES_AFTER + 2):
        now = timezone.now() + timedelta(seconds=later)
        found = read_window(caller=caller, address=S, now=now, pairs=100)
        assert len(found.window.turns) == 3
    assert cached_entries(caller) == logged_entries(caller)
    assert not [name for name in state(caller) if name.startswith("d:")]


def test_writers_after_a_dead_one_do_not_hide_its_turn(caller):
    talk(caller, 1)
    die_after_commit(caller, "from the dead")
    talk(caller, 1, start=1)
    assert contents(caller) == ["q0", "a0", "from the dead", "q1", "a1"]


def test_a_writer_that_committed_nothing_leaves_the_list_as_it_was(caller):
    talk(caller, 1)
    now = timezone.now().timestamp()
    store.mark(caller=caller, ref=reference(caller), now=now, token="t")
    store.settle(caller=caller, ref=reference(caller), now=now, token="t", committed=None)
    assert cached_entries(caller) == logged_entries(caller)
    assert len(window(caller).window.turns) == 2


def test_a_rebuild_that_a_writer_overtook_is_not_stored(caller):
    talk(caller, 1)
    ref, now = reference(caller), timezone.now().timestamp()
    seen = store.read_turns(caller=caller, ref=ref, now=now, count=10)
    old = cached_entries(caller)
    talk(caller, 1, start=1)
    store.rebuild(
        caller=caller, ref=ref, now=now, generation=seen.generation, seq=2, summary="", turn_count=2,
        compacted=0, entries=old,
    )  # fmt: skip
    assert cached_entries(caller) == logged_entries(caller)
    assert len(contents(caller)) == 4


def test_a_rebuild_begun_under_another_server_is_not_stored(caller):
    """After a failover the counter of writers may stand where it stood, although one came between."""
    talk(caller, 1)
    ref, now = reference(caller), timezone.now().timestamp()
    counter = store.read_turns(caller=caller, ref=ref, now=now, count=10).generation.partition("@")[0]
    store.rebuild(
        caller=caller, ref=ref, now=now, generation=f"{counter}@elsewhere", seq=2, summary="", turn_count=2,
        compacted=0, entries=[],
    )  # fmt: skip
    assert cached_entries(caller) == logged_entries(caller)


def test_no_reader_sees_a_stale_window_while_writers_flushes_and_rebuilds_race(caller):
    """Every turn that was acknowledged before a read began is in that read, and nothing is out of order."""
    append(caller, turn("user", "0"))
    acknowledged, reads, began = [0], [0, 0], time.monotonic()
    chance, redis = random.Random(7), get_redis_connection()
    counter = itertools.count(1)

    def under_way():
        return time.monotonic() < began + (60 if min(reads) <= 20 else 2.5)

    def write():
        while under_way():
            seq = append(caller, turn("user", f"{next(counter)}")).numbers[0]
            acknowledged.append(seq)
            time.sleep(chance.random() / 200)

    def read(reader):
        while under_way():
            known = max(acknowledged)
            seqs = [one.seq for one in window(caller, pairs=200).window.turns]
            assert seqs == list(range(seqs[0], seqs[-1] + 1))
            assert seqs[-1] >= known, "an acknowledged turn is missing"
            reads[reader] += 1

    def damage():
        ref = reference(caller)
        while under_way():
            chance.choice([
                lambda: redis.hdel(keys.meta(ref), "seq"),
                lambda: redis.delete(keys.turns(ref), keys.meta(ref)),
                lambda: redis.hset(keys.meta(ref), "run", "other"),
            ])()  # fmt: skip
            time.sleep(0.02)

    at_once(write, write, write, lambda: read(0), lambda: read(1), damage)
    assert min(reads) > 20
    stored = [event.seq for event in logged(caller)]
    assert stored == list(range(1, len(stored) + 1))
    assert [one.seq for one in window(caller).window.turns] == stored[-1000:]
    window(caller)
    entries = cached_entries(caller)
    assert entries == logged_entries(caller)[-len(entries) :]
    assert state(caller)["seq"] == str(stored[-1])


def test_a_window_longer_than_the_list_comes_from_postgresql(caller, settings):
    """Six exchanges of an agent that makes many calls are more than the list holds."""
    settings.WORKING_LIST_LENGTH = 16
    for n in range(3):
        trace = [
            one
            for step in range(12)
            for one in (
                turn("assistant", None, tool_calls=[{"id": f"{n}-{step}"}]),
                turn("tool", "ok", tool_call_id=f"{n}-{step}"),
            )
        ]
        append(caller, turn("user", f"q{n}"), *trace, turn("assistant", f"a{n}"))
    assert len(cached_entries(caller)) == 16
    found = window(caller, pairs=2).window
    assert [one.seq for one in found.turns] == list(range(27, 79))
    assert found.truncated
    everything = window(caller, pairs=3).window
    assert (len(everything.turns), everything.truncated) == (78, False)
    lose(caller)
    assert window(caller, pairs=2).window == found


@pytest.mark.parametrize("pairs", [1, 5, 6, 7, 23, 24, 25, 40, 63, 64, 65])
def test_every_number_of_pairs_is_answered_right_from_redis_and_from_postgresql(caller, pairs, settings):
    settings.WORKING_LIST_LENGTH = 64
    append(
        caller,
        turn("system", "be kind"),
        *[turn(r, f"{n}") for n in range(40) for r in ("user", "assistant")],
    )
    cached = window(caller, pairs=pairs).window
    lose(caller)
    fresh = window(caller, pairs=pairs).window
    assert cached == fresh
    expected = 2 * pairs if pairs < 40 else 81
    assert (len(cached.turns), cached.truncated) == (expected, pairs < 40)


def test_the_summary_comes_with_the_window_from_either_store(caller):
    from recall.sessions import end_session

    talk(caller, 1)
    end_session(caller=caller, address=S, now=timezone.now())
    talk(caller, 1, start=1)
    cached = window(caller)
    assert cached.summary.startswith("Session with 2 messages.")
    lose(caller)
    assert window(caller) == cached


def test_an_unknown_session_has_no_window(caller):
    with pytest.raises(NotFound):
        window(caller)


def test_a_session_without_turns_has_an_empty_window(caller):
    open_session(caller=caller, address=S, now=timezone.now())
    assert window(caller).window.turns == ()
    lose(caller)
    assert (window(caller).window.turns, window(caller).window.truncated) == ((), False)


def test_which_session_is_meant_does_not_depend_on_what_redis_knows(caller):
    append(caller, turn("user", "plain"))
    append(caller, turn("user", "in a namespace"), address=SessionAddress("s", namespace="n"))
    assert contents(caller) == ["plain"]
    get_redis_connection().flushdb()
    assert contents(caller) == ["plain"]


def test_two_users_with_the_same_session_id_must_be_told_apart(caller):
    append(caller, turn("user", "one"), address=SessionAddress("s", user_id="u1"))
    assert contents(caller) == ["one"], "the only one of that id"
    append(caller, turn("user", "two"), address=SessionAddress("s", user_id="u2"))
    with pytest.raises(Conflict):
        contents(caller)
    assert contents(caller, SessionAddress("s", user_id="u2")) == ["two"]


def test_readers_of_a_session_that_is_being_deleted_see_it_or_do_not(caller):
    for n in range(10):
        address = SessionAddress(f"doomed {n}")
        talk(caller, 2, address)

        def read(address=address):
            for _ in range(15):
                lose_quietly(caller, address)
                try:
                    assert len(contents(caller, address)) in (4, 0)
                except NotFound:
                    return

        session = access_session(caller=caller, address=address)
        at_once(read, read, partial(delete, caller, session))
        with pytest.raises(NotFound):
            contents(caller, address)


def delete(caller, session):
    delete_session(caller=caller, session=session, now=timezone.now(), also=lambda found: None)


def lose_quietly(caller, address):
    from working.sessions import exact_ref

    get_redis_connection().delete(*keys.all_of(exact_ref(caller, address)))


def die_after_commit(caller, content):
    """What a writer leaves behind that is killed between its commit and its word to Redis."""
    ref, now = reference(caller), timezone.now()
    assert store.mark(caller=caller, ref=ref, now=now.timestamp(), token="dead")
    with scope(caller.tenant_id):
        session, _created = querysets.open_session(ref=ref, agent_id="", project="", metadata={}, now=now)
        querysets.append_events(session=session, events=[turn("user", content)], now=now)


def reference_after(caller, pairs):
    talk(caller, pairs)
    return reference(caller)


def raw_connection():
    """DUMP answers bytes, which the product's connection would decode."""
    import redis
    from django.conf import settings

    return redis.from_url(settings.REDIS_URL)

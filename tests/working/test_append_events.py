import random
from functools import partial

import pytest
from django.db import OperationalError
from django.utils import timezone

from tenants.errors import Forbidden
from tests.working.conversation import (
    S,
    append,
    at_once,
    cached_entries,
    contents,
    logged,
    logged_entries,
    numbers,
    state,
    turn,
)
from working import events
from working.listing import list_sessions
from working.sessions import access_session, open_session
from working.types import NewEvent, SessionAddress


def test_events_are_numbered_from_one_in_the_order_given(caller):
    assert append(caller, turn("user", "a"), turn("assistant", "b")).numbers == (1, 2)
    assert append(caller, turn("user", "c")).numbers == (3,)
    assert [(e.seq, e.content) for e in logged(caller)] == [(1, "a"), (2, "b"), (3, "c")]


def test_only_turns_are_counted_as_turns(caller):
    note = NewEvent("note", {"any": ["json", 1, None]}, timezone.now())
    appended = append(caller, turn("user", "a"), note, turn("assistant", "b"))
    assert (appended.accepted, appended.turn_count, appended.numbers) == (3, 2, (1, 2, 3))
    assert contents(caller) == ["a", "b"]


def test_sixteen_writers_at_once_leave_no_gap_and_no_double(caller):
    each = 6

    def write(writer: int) -> list[int]:
        mine: list[int] = []
        for n in range(each):
            pair = (turn("user", f"{writer} {n} q"), turn("assistant", f"{writer} {n} a"))
            mine += append(caller, *pair).numbers
        return mine

    answered = at_once(*(lambda writer=writer: write(writer) for writer in range(16)))
    stored = logged(caller)
    assert numbers(stored) == list(range(1, 16 * each * 2 + 1))
    by_number = {event.seq: event.content for event in stored}
    for writer, mine in enumerate(answered):
        expected = [f"{writer} {n} {who}" for n in range(each) for who in "qa"]
        assert [by_number[seq] for seq in mine] == expected, "each writer's own order is kept"
        assert all(b == a + 1 for a, b in zip(mine[::2], mine[1::2], strict=True)), "a batch stays together"
    assert access_session(caller=caller, address=S).turn_count == len(stored)
    assert contents(caller) == [event.content for event in stored]


def test_an_id_counts_once_within_a_batch(caller):
    appended = append(caller, turn("user", "a", id="1"), turn("user", "again", id="1"), turn("user", "b"))
    assert (appended.accepted, appended.duplicates, appended.numbers) == (2, 1, (1, 2))
    assert contents(caller) == ["a", "b"]


def test_an_id_counts_once_between_batches(caller):
    append(caller, turn("user", "a", id="1"))
    appended = append(caller, turn("user", "again", id="1"), turn("assistant", "b", id="2"))
    assert (appended.accepted, appended.duplicates, appended.numbers) == (1, 1, (2,))
    assert contents(caller) == ["a", "b"]


def test_a_batch_of_duplicates_changes_nothing(caller):
    append(caller, turn("user", "a", id="1"))
    before = (logged_entries(caller), cached_entries(caller))
    appended = append(caller, turn("user", "a", id="1"))
    assert (appended.accepted, appended.duplicates, appended.turn_count) == (0, 1, 1)
    assert (logged_entries(caller), cached_entries(caller)) == before


def test_the_same_batch_from_eight_threads_is_stored_once(caller):
    batch = [turn(role, f"{n}", id=f"{n}") for n, role in enumerate(["user", "assistant"] * 5)]
    answers = at_once(*[lambda: append(caller, *batch)] * 8)
    assert sorted(answer.accepted for answer in answers) == [0] * 7 + [10]
    assert {answer.turn_count for answer in answers} == {10}
    assert [event.content for event in logged(caller)] == [f"{n}" for n in range(10)]
    assert contents(caller) == [f"{n}" for n in range(10)]


def test_the_same_id_in_two_sessions_is_two_turns(caller):
    append(caller, turn("user", "a", id="1"))
    assert append(caller, turn("user", "b", id="1"), address=SessionAddress("other")).accepted == 1


def test_the_redis_list_equals_postgresql_after_random_interleavings(caller):
    chance = random.Random(4411)
    for round_ in range(12):
        address = SessionAddress(f"round {round_}")

        def write(seed: int, address: SessionAddress = address) -> None:
            mine = random.Random(seed)
            for n in range(mine.randint(1, 4)):
                known = mine.choice([None, f"{mine.randint(1, 6)}"])
                roles = mine.choices(["user", "assistant", "tool"], k=mine.randint(1, 3))
                batch = [
                    turn(role, f"{seed}/{n}/{role}", id=None if at else known)
                    for at, role in enumerate(roles)
                ]
                append(caller, *batch, address=address)
                if mine.random() < 0.3:
                    contents(caller, address)

        at_once(*(partial(write, chance.random()) for _ in range(chance.randint(2, 6))))
        contents(caller, address)  # rebuilds what the writers gave up
        assert cached_entries(caller, address) == logged_entries(caller, address)
        assert state(caller, address)["seq"] == str(len(logged(caller, address)))
        assert not [name for name in state(caller, address) if name.startswith("d:")]
        append(caller, turn("user", "one more"), address=address)
        assert cached_entries(caller, address) == logged_entries(caller, address)


def test_a_turn_is_cached_as_postgresql_gives_it_back(caller):
    """PostgreSQL orders keys and writes numbers in its own way; a window must not change with its source."""
    calls = [
        {"type": "function", "id": "a", "function": {"arguments": "{}", "name": "f", "n": [1e16, 1.0, -0.0]}}
    ]
    append(
        caller,
        turn("user", "q"),
        turn("assistant", None, tool_calls=calls),
        turn("tool", "r", tool_call_id="a"),
    )
    append(
        caller, turn("assistant", {"zz": 1, "a": 1e22}), turn("assistant", "null"), turn("assistant", None)
    )
    assert cached_entries(caller) == logged_entries(caller)


def test_agent_and_project_are_filled_in_by_the_first_who_names_them(caller):
    append(caller, turn("user", "a"))
    append(caller, turn("user", "b"), agent_id="ada", project="apollo")
    append(caller, turn("user", "c"), agent_id="bob", project="gemini")
    session = access_session(caller=caller, address=S)
    assert (session.agent_id, session.project) == ("ada", "apollo")


@pytest.mark.parametrize("how", ["turns", "session"])
def test_a_key_bound_to_the_agent_reaches_a_session_that_was_given_to_it_later(acme, how):
    append(acme.caller, turn("user", "a"))
    bound = acme.with_key(agent_id="ada").caller
    with pytest.raises(Forbidden):
        contents(bound)
    if how == "turns":
        append(acme.caller, turn("user", "b"), agent_id="ada")
    else:
        open_session(caller=acme.caller, address=S, agent_id="ada", now=timezone.now())
    assert contents(bound)[0] == "a"
    assert append(bound, turn("user", "from ada")).accepted == 1
    with pytest.raises(Forbidden):
        append(acme.with_key(agent_id="bob").caller, turn("user", "from bob"))


def test_a_key_bound_to_a_user_writes_into_that_users_session(acme):
    append(acme.caller, turn("user", "nobody's"))
    append(acme.with_key(user_id="u1").caller, turn("user", "mine"))
    assert contents(acme.caller) == ["nobody's"]
    assert contents(acme.caller, SessionAddress("s", user_id="u1")) == ["mine"]
    assert len(list_sessions(caller=acme.caller, limit=10)) == 2


def test_globex_cannot_read_a_session_of_acme(acme, globex):
    append(acme.caller, turn("user", "ours"))
    append(globex.caller, turn("user", "theirs"))
    assert (contents(acme.caller), contents(globex.caller)) == (["ours"], ["theirs"])


def test_a_commit_whose_answer_was_lost_is_in_the_window_and_a_retry_is_a_duplicate(caller, monkeypatch):
    """The connection broke after PostgreSQL had committed: nobody may trust the list that lacks the turn."""
    append(caller, turn("user", "a"))
    commit = events._commit

    def commit_and_lose_the_answer(*args):
        commit(*args)
        raise OperationalError

    monkeypatch.setattr(events, "_commit", commit_and_lose_the_answer)
    with pytest.raises(OperationalError):
        append(caller, turn("user", "b", id="b"))
    monkeypatch.undo()
    assert contents(caller) == ["a", "b"]
    assert append(caller, turn("user", "b", id="b")).duplicates == 1
    append(caller, turn("user", "c"))
    assert contents(caller) == ["a", "b", "c"]

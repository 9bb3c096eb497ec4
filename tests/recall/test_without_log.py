"""With the event log off, turns live in Redis alone: whatever is made of them is made of what it holds."""

from itertools import chain

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from recall.sessions import end_session
from recall.transcripts import Message, end_with_transcript
from tenants.privacy.erasure import request_erasure
from tenants.privacy.registry import Subject, handlers
from tests.recall.talking import decide, episodes, exchanges, run_jobs, session_of, spans, tell, words
from tests.working.conversation import (
    S,
    at_once,
    cached_entries,
    contents,
    logged,
    reference,
    state,
    turn,
    window,
)
from working import keys, store
from working.redis import RedisAway
from working.types import SessionAddress

OFF = {"events": "off"}


@pytest.fixture
def caller(acme):
    decide(acme.caller, write=OFF)
    return acme.caller


def end(caller):
    return end_session(caller=caller, address=S, now=timezone.now())


def lose(caller):
    get_redis_connection().delete(*keys.all_of(reference(caller)))


def test_the_window_and_the_counts_work_and_the_log_is_empty(caller):
    first = tell(caller, *exchanges(1, 2)).appended
    second = tell(caller, *exchanges(3, 3)).appended
    assert (first.numbers, second.numbers, second.turn_count) == ((1, 2, 3, 4), (5, 6), 6)
    assert contents(caller) == words(1, 3)
    assert logged(caller) == []
    session = session_of(caller)
    assert (session.turn_count, session.last_seq) == (6, 6)
    assert state(caller)["turn_count"] == "6"


def test_an_id_counts_once_as_long_as_redis_knows_it(caller):
    tell(caller, turn("user", "a", id="1"))
    again = tell(caller, turn("user", "a", id="1"), turn("assistant", "b", id="2")).appended
    assert (again.accepted, again.duplicates, again.turn_count) == (1, 1, 2)
    assert contents(caller) == ["a", "b"]
    assert "external_id" not in window(caller).window.turns[0].message()


def test_writers_at_once_lose_nothing_and_keep_the_order_of_their_numbers(caller):
    tell(caller, turn("user", "0"))

    def talk(writer):
        return [tell(caller, turn("user", f"{writer}/{n}")).appended.numbers[0] for n in range(6)]

    numbers = sorted(chain.from_iterable(at_once(*(lambda w=w: talk(w) for w in range(8)))))
    assert numbers == list(range(2, 50))
    assert [one.seq for one in window(caller).window.turns] == list(range(1, 50))
    assert len(cached_entries(caller)) == 49
    assert not [name for name in state(caller) if name.startswith("d:")]


def test_words_that_reach_redis_late_are_put_where_they_belong(caller, monkeypatch):
    tell(caller, turn("user", "a"))
    late, real = [], store.settle
    with monkeypatch.context() as slow:
        slow.setattr(store, "settle", lambda **given: late.append(given))
        tell(caller, turn("user", "b"))
    tell(caller, turn("user", "c"))
    assert contents(caller) == ["a", "c"]
    real(**late[0])
    assert contents(caller) == ["a", "b", "c"]


def test_the_end_summarises_what_redis_still_holds_and_leaves_it_there(caller):
    tell(caller, *exchanges(1, 2))
    ended = end(caller)
    assert ended.summary == 'Session with 4 messages. Started: "u1" — Ended: "u2"'
    assert (spans(caller), ended.message_count) == ([[1, 4]], 4)
    found = window(caller)
    assert ([one.content for one in found.window.turns], found.summary) == (words(1, 2), ended.summary)
    tell(caller, *exchanges(3, 3))
    assert end(caller).summary == 'Session with 2 messages. Started: "u3" — Ended: "u3"'
    assert spans(caller) == [[1, 4], [5, 6]]


def test_what_redis_has_lost_is_gone_and_the_session_goes_on(caller):
    tell(caller, *exchanges(1, 2))
    lose(caller)
    assert contents(caller) == []
    tell(caller, *exchanges(3, 3))
    assert contents(caller) == words(3, 3)
    assert session_of(caller).turn_count == 6
    assert end(caller).summary == 'Session with 2 messages. Started: "u3" — Ended: "u3"'


def test_a_compaction_trims_the_list(caller):
    decide(caller, summary={"every_turns": 8})
    assert [tell(caller, *exchanges(n, n)).summarised for n in range(1, 7)] == [
        False, False, False, True, False, True]  # fmt: skip
    assert spans(caller) == [[1, 4], [5, 8]]
    assert contents(caller) == words(5, 6)
    assert len(cached_entries(caller)) == 4
    assert window(caller).summary == session_of(caller).summary
    assert window(caller).include_summary


def test_turns_are_summarised_before_the_list_forgets_them(caller, settings):
    settings.WORKING_LIST_LENGTH = 16
    decide(caller, summary={"every_turns": 1_000})
    assert [tell(caller, *exchanges(n, n)).summarised for n in range(1, 9)] == [False] * 7 + [True]
    assert spans(caller) == [[1, 4]]
    assert contents(caller) == words(3, 8)


def test_switching_it_off_and_on_again_works(acme):
    caller = acme.caller
    tell(caller, turn("user", "a", id="1"))
    decide(caller, write=OFF)
    assert tell(caller, turn("user", "a", id="1"), turn("user", "b")).appended.duplicates == 1
    assert contents(caller) == ["a", "b"]
    decide(caller, write={"events": "always"})
    tell(caller, turn("user", "c"))
    assert contents(caller) == ["a", "b", "c"]
    assert [(one.seq, one.content) for one in logged(caller)] == [(1, "a"), (3, "c")]
    lose(caller)
    assert contents(caller) == ["a", "c"], "what was in no log went with Redis"


def test_what_the_log_has_from_before_is_shown_beside(acme):
    caller = acme.caller
    tell(caller, *exchanges(1, 1))
    end(caller)  # after which Redis holds no turns
    decide(caller, write=OFF)
    tell(caller, *exchanges(2, 2))
    assert len(cached_entries(caller)) == 2
    assert contents(caller) == words(1, 2)
    assert end(caller).summary == 'Session with 2 messages. Started: "u2" — Ended: "u2"'


def test_turns_that_redis_did_not_take_are_refused(caller, monkeypatch):
    tell(caller, *exchanges(1, 1))
    script = store._settle

    def away(keys, args):
        raise RedisAway("Redis is away.")

    monkeypatch.setattr(store, "_settle", away)
    with pytest.raises(RedisAway):
        tell(caller, *exchanges(2, 2))
    monkeypatch.setattr(store, "_settle", script)
    assert contents(caller) == words(1, 1)


def test_one_agent_may_do_without_a_log(acme):
    from tenants.policy.versions import Level, write_policy

    caller = acme.caller
    write_policy(level=Level(caller.tenant_id, "ada"), actor="test", changes={"write": OFF})
    tell(caller, *exchanges(1, 1), agent_id="ada")
    tell(caller, *exchanges(2, 2))
    assert (contents(caller), logged(caller)) == (words(1, 2), [])
    tell(caller, *exchanges(1, 1), address=SessionAddress("other"))
    assert len(logged(caller, SessionAddress("other"))) == 2


def test_a_transcript_that_was_told_on_the_way_is_not_told_twice(caller):
    tell(caller, turn("user", "a"), turn("assistant", "b"))
    said = [Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    ended = end_with_transcript(caller=caller, address=S, messages=said, now=timezone.now())
    assert ended.summary == 'Session with 3 messages. Started: "a" — Ended: "c"'
    assert contents(caller) == ["a", "b", "c"]


def test_a_person_gets_their_turns_exported_and_erased(acme):
    caller, ann = acme.caller, SessionAddress("s", "ann")
    tell(caller, turn("user", "logged"), address=ann)
    decide(caller, write=OFF)
    tell(caller, turn("user", "kept in Redis"), address=ann)
    subject = Subject(caller.tenant_id, "ann", timezone.now())
    told = [one for one in handlers()["session_key"].export(subject) if one["kind"] == "turn"]
    assert [(one["content"], one["seq"]) for one in told] == [("kept in Redis", 2)]
    request_erasure(caller=caller, user_id="ann", now=timezone.now())
    run_jobs()
    assert not get_redis_connection().keys(f"*{caller.tenant_id.hex}/*/ann/*")
    assert episodes(caller) == []

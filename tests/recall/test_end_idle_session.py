"""An idle session is ended once, whoever does it and whatever dies on the way."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone
from django_redis import get_redis_connection

from ledger import injections
from ledger import keys as ledger_keys
from recall import sessions
from recall.sessions import end_session
from tenants.scope import scope
from tests.ledger import told
from tests.recall.left_alone import (
    end,
    episodes,
    has_ended,
    jobs,
    run_jobs,
    session_of,
    sweep,
    tell,
)
from tests.working.conversation import S, append, at_once, contents, turn, window
from tests.working.idleness import IDLE, let_pass
from working import keys, memory, store
from working.models import Session


class Crash(BaseException):
    """The process dies here."""


def test_a_use_between_sweep_and_job_keeps_it_open(caller, ref):
    let_pass(caller, IDLE * 1.1)
    sweep()
    window(caller)
    run_jobs()
    assert not has_ended(caller)
    assert episodes(caller) == []
    assert injections.read_items(caller=caller, address=S, now=timezone.now()) == {"skill:a": "1"}
    let_pass(caller, IDLE * 1.1)
    sweep()
    run_jobs()
    assert has_ended(caller)


def test_the_condition_is_asked_again_with_the_session_locked(caller, ref, monkeypatch):
    let_pass(caller, IDLE * 1.1)
    real = sessions.suspend_items

    def turn_comes_in(**given):
        token = real(**given)
        append(caller, turn("user", "wait"))
        return token

    monkeypatch.setattr(sessions, "suspend_items", turn_comes_in)
    assert not end(caller)
    assert (has_ended(caller), episodes(caller)) == (False, [])
    assert contents(caller) == ["My dog is called Rex", "Noted.", "wait"]
    tell(caller, "skill:b")
    assert injections.read_items(caller=caller, address=S, now=timezone.now()).keys() == {
        "skill:a",
        "skill:b",
    }


def test_eight_sweeps_and_ends_at_once_leave_one_episode(caller, ref):
    let_pass(caller, IDLE * 1.1)
    at_once(*[sweep] * 4)
    assert len(jobs(caller)) == 1
    at_once(*[lambda: end(caller)] * 6, run_jobs, run_jobs)
    assert has_ended(caller)
    assert len(episodes(caller)) == 1


def test_an_end_by_hand_and_by_idleness_at_once_leave_one_episode(caller, ref):
    let_pass(caller, IDLE * 1.1)
    by_hand = lambda: end_session(caller=caller, address=S, now=timezone.now())  # noqa: E731
    at_once(*[by_hand] * 3, *[lambda: end(caller)] * 3)
    assert len(episodes(caller)) == 1


@pytest.mark.parametrize("where", ["before the commit", "after the commit", "before it is embedded"])
def test_a_crash_on_the_way_leaves_one_episode_after_the_next_try(caller, ref, monkeypatch, where):
    let_pass(caller, IDLE * 1.1)

    def die(*args, **given):
        raise Crash

    places = {
        "before the commit": (sessions, "release_items"),
        "after the commit": (store, "settle"),
        "before it is embedded": (sessions, "_embed"),
    }
    with monkeypatch.context() as broken:
        broken.setattr(*places[where], die)
        with pytest.raises(Crash):
            end(caller)
        assert len(episodes(caller)) == (0 if where == "before the commit" else 1)
    end(caller)
    assert has_ended(caller)
    assert len(episodes(caller)) == 1
    assert contents(caller) == ["My dog is called Rex", "Noted."]
    assert window(caller).summary == episodes(caller)[0].text
    assert injections.read_items(caller=caller, address=S, now=timezone.now()) == {}


@pytest.mark.parametrize("act", [end_session, sessions.delete_session])
def test_what_fails_leaves_no_mark_behind(caller, ref, monkeypatch, act):
    """A mark would send each check of the ledger, and each window, to PostgreSQL for a minute."""

    def fail(**given):
        raise ZeroDivisionError

    monkeypatch.setattr(sessions, "release_items", fail)
    with pytest.raises(ZeroDivisionError):
        act(caller=caller, address=S, now=timezone.now())
    redis = get_redis_connection()
    held = [*redis.hkeys(ledger_keys.state(ref)), *redis.hkeys(keys.meta(ref))]
    assert "gen" in held
    assert not [field for field in held if field.startswith("d:")]
    assert contents(caller) == ["My dog is called Rex", "Noted."]


def test_an_end_whose_outcome_is_unknown_leaves_its_mark(caller, ref, monkeypatch):
    def lose_connection(**given):
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(sessions, "release_items", lose_connection)
    with pytest.raises(OperationalError):
        end_session(caller=caller, address=S, now=timezone.now())
    assert not told.trusted(caller)


def test_a_session_without_turns_ends_without_an_episode(caller):
    memory.put_fields(caller=caller, address=S, data={"x": 1}, now=timezone.now())
    let_pass(caller, IDLE * 1.1)
    sweep()
    run_jobs()
    assert (has_ended(caller), episodes(caller)) == (True, [])


def test_reads_do_not_reopen_it_and_turns_do(caller, ref):
    let_pass(caller, IDLE * 1.1)
    end(caller)
    window(caller)
    memory.read_fields(caller=caller, address=S, now=timezone.now())
    assert has_ended(caller)
    append(caller, turn("user", "One more thing"))
    assert not has_ended(caller)
    assert session_of(caller).opened_at > timezone.now() - timedelta(seconds=60)
    let_pass(caller, IDLE * 1.1)
    end(caller)
    assert [one.covers_turns for one in episodes(caller)] == [[1, 2], [3, 3]]


@pytest.mark.parametrize("trigger", ["summary", "write"])
def test_the_policy_can_want_no_summary(caller, ref, trigger):
    from tenants.policy.versions import Level, write_policy

    changes = {"summary": {"summary": {"on_idle": False}}, "write": {"write": {"episodes": "off"}}}[trigger]
    write_policy(level=Level(caller.tenant_id), actor="test", changes=changes)
    let_pass(caller, IDLE * 1.1)
    end(caller)
    assert (has_ended(caller), episodes(caller)) == (True, [])
    assert get_redis_connection().hgetall(ledger_keys.items(ref)) == {}
    write_policy(
        level=Level(caller.tenant_id),
        actor="test",
        changes={"summary": {"on_idle": True}, "write": {"episodes": "periodic"}},
    )
    append(caller, turn("user", "later"))
    assert end_session(caller=caller, address=S, now=timezone.now()).message_count == 3, "nothing is lost"


def test_a_deleted_session_and_an_unknown_one_are_no_error(caller, ref):
    session = session_of(caller)
    let_pass(caller, IDLE * 1.1)
    sweep()
    with scope(caller.tenant_id):
        Session.objects.filter(id=session.id).delete()
    run_jobs()
    assert jobs(caller) == []
    assert episodes(caller) == []

"""How long Redis keeps a session: its hold, renewed by every use, and never longer than its age permits."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from tests.working.conversation import S, append, reference, turn, window
from working import keys, memory
from working.turns import read_window

DAY = 86_400


@pytest.fixture
def session(caller):
    """A session with all four keys."""
    from recall.sessions import end_session

    append(caller, turn("user", "a"))
    memory.put_fields(caller=caller, address=S, data={"x": 1}, now=timezone.now())
    end_session(caller=caller, address=S, now=timezone.now())
    window(caller)  # the end drops the list of turns; this puts it back
    return reference(caller)


def holds(ref):
    return [get_redis_connection().ttl(key) for key in keys.all_of(ref)]


def test_all_keys_of_a_session_expire_together(session):
    left = holds(session)
    assert max(left) - min(left) <= 2  # they are read one after another
    assert 0 < min(left) <= max(left) <= DAY


@pytest.mark.parametrize("use", [
    window,
    lambda caller: append(caller, turn("user", "b")),
    lambda caller: memory.read_fields(caller=caller, address=S, now=timezone.now()),
    lambda caller: memory.put_fields(caller=caller, address=S, data={"y": 2}, now=timezone.now()),
    lambda caller: memory.delete_fields(caller=caller, address=S, names=["z"], now=timezone.now()),
])  # fmt: skip
def test_every_use_renews_the_hold_of_all_keys(caller, session, use):
    for key in keys.all_of(session):
        get_redis_connection().expire(key, 50)
    use(caller)
    assert all(DAY - 5 <= hold <= DAY for hold in holds(session))


def test_a_longer_hold_is_not_shortened_by_later_use(caller, session):
    memory.put_fields(caller=caller, address=S, data={"y": 2}, ttl_seconds=3 * DAY, now=timezone.now())
    window(caller)
    append(caller, turn("user", "b"))
    assert all(3 * DAY - 5 <= hold <= 3 * DAY for hold in holds(session))


def test_no_key_outlives_a_week_from_the_session_s_birth_in_redis(caller, session):
    memory.put_fields(caller=caller, address=S, data={"y": 2}, ttl_seconds=30 * DAY, now=timezone.now())
    assert all(7 * DAY - 5 <= hold <= 7 * DAY for hold in holds(session))
    later = timezone.now() + timedelta(days=6, hours=23)
    read_window(caller=caller, address=S, now=later)
    assert all(3_500 <= hold <= 3_600 for hold in holds(session))


def test_a_session_in_use_at_the_end_of_its_week_begins_another_with_nothing_lost(caller, session):
    later = timezone.now() + timedelta(days=7, seconds=5)
    found = read_window(caller=caller, address=S, now=later)
    assert [one.content for one in found.window.turns] == ["a"]
    written = memory.put_fields(caller=caller, address=S, data={"z": 3}, now=later)
    assert written.data == {"z": 3}, "what the old week left has expired"
    assert written.ttl_seconds == DAY

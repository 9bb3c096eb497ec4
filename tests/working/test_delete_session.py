import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from tests.working.conversation import S, append, cached_entries, contents, logged, numbers, reference, turn
from working import keys, memory
from working.deletion import delete_session
from working.sessions import access_session, find_session


def delete(caller, also=lambda session: None):
    session = access_session(caller=caller, address=S)
    delete_session(caller=caller, session=session, now=timezone.now(), also=also)


def test_nothing_of_the_session_is_left(caller):
    append(caller, turn("user", "a"))
    memory.put_fields(caller=caller, address=S, data={"x": 1}, now=timezone.now())
    ref = reference(caller)
    delete(caller)
    assert find_session(caller=caller, address=S) is None
    assert get_redis_connection().exists(*keys.all_of(ref)) == 0
    assert memory.read_fields(caller=caller, address=S, now=timezone.now()) is None


def test_a_session_of_the_same_id_begins_from_one_with_nothing_of_the_old(caller):
    append(caller, turn("user", "old", id="1"))
    delete(caller)
    append(caller, turn("user", "new", id="1"))
    assert (numbers(logged(caller)), contents(caller)) == ([1], ["new"])
    assert len(cached_entries(caller)) == 1


def test_a_deletion_that_fails_leaves_the_session_whole(caller):
    append(caller, turn("user", "a"))

    def fail(session):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        delete(caller, also=fail)
    assert contents(caller) == ["a"]


def test_a_death_after_the_commit_does_not_leave_readable_turns(caller):
    """A reader had rebuilt the list between the first look at Redis and the commit."""
    append(caller, turn("user", "private"))

    def read_meanwhile(session):
        assert contents(caller) == ["private"]
        raise KeyboardInterrupt  # as far as the process gets

    with pytest.raises(KeyboardInterrupt):
        delete(caller, also=read_meanwhile)
    assert cached_entries(caller) == []

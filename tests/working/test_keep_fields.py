"""The data of a whole session, which other clients see as fields in Redis."""

from django.utils import timezone
from django_redis import get_redis_connection

from tests.working.conversation import (
    S,
    reference,
)
from tests.working.workspaces import (
    put,
    seen,
)
from working import keys, store
from working.memory import delete_fields, put_fields, read_fields
from working.types import SessionAddress

ANN = SessionAddress("s", "ann")
RECORD = {"id": "r", "text": "Ann likes tea.", "memory_type": "semantic"}


def test_its_fields_are_those_of_the_other_dialect(caller):
    put(caller, data={"x": 1, "text": "hello", "deep": {"a": [1, None]}})
    assert read_fields(caller=caller, address=S, now=timezone.now()).data == {
        "x": 1, "text": "hello", "deep": {"a": [1, None]},
    }  # fmt: skip
    put_fields(caller=caller, address=S, data={"x": 2, "scratchpad": "note"}, now=timezone.now())
    assert seen(caller).data == {"x": 2, "text": "hello", "deep": {"a": [1, None]}, "scratchpad": "note"}
    put(caller, data={"x": 3})
    assert seen(caller).data == {"x": 3, "scratchpad": "note"}, "what others have put there stays"


def test_fields_that_are_deleted_in_the_other_dialect_are_gone(caller):
    put(caller, data={"x": 1, "y": 2, "z": 3})
    assert delete_fields(caller=caller, address=S, names=["x", "none"], now=timezone.now()) == ["x"]
    assert seen(caller).data == {"y": 2, "z": 3}
    get_redis_connection().delete(*keys.all_of(reference(caller)))
    assert seen(caller).data == {"y": 2, "z": 3}
    delete_fields(caller=caller, address=S, names=None, now=timezone.now())
    assert not seen(caller).data


def test_fields_survive_redis_and_stand_beside_those_that_come_then(caller):
    put(caller, data={"x": 1})
    get_redis_connection().delete(*keys.all_of(reference(caller)))
    assert seen(caller).data == {"x": 1}
    put_fields(caller=caller, address=S, data={"y": 2}, now=timezone.now())
    assert seen(caller).data == {"x": 1, "y": 2}


def test_the_fields_of_the_last_commit_hold_whoever_tells_redis_first(caller, monkeypatch):
    put(caller, data={"x": 0, "old": 1})
    late = []
    keep = store.keep_fields
    monkeypatch.setattr(store, "keep_fields", lambda **named: late.append(named))
    put(caller, data={"x": 1, "a": 1})
    put(caller, data={"x": 2, "b": 2})
    assert seen(caller).data == {"x": 2, "b": 2}, "Redis knows of neither"
    for named in reversed(late):
        keep(**named)
        assert seen(caller).data == {"x": 2, "b": 2}
    assert read_fields(caller=caller, address=S, now=timezone.now()).data == {"x": 2, "b": 2}

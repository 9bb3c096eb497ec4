"""What new turns cause: jobs that look for what is worth remembering, in the same commit."""

import pytest
from django.utils import timezone

from recall import turns
from recall.remember.queue import REMEMBER
from recall.transcripts import Message, end_with_transcript
from tenants.models import Job
from tenants.scope import scope
from tests.recall.talking import decide, tell
from tests.working.conversation import S, append, contents, turn
from working.types import SessionAddress

ANN = SessionAddress("s", "ann")


@pytest.fixture
def caller(acme):
    decide(acme.caller, write={"on_turn": True})
    return acme.caller


def spans(caller):
    with scope(caller.tenant_id):
        found = Job.objects.filter(tenant_id=caller.tenant_id, kind=REMEMBER).order_by("id")
        return [(job.payload["first"], job.payload["last"]) for job in found]


def test_the_users_turns_are_looked_at_with_what_came_with_them(caller):
    tell(caller, turn("user", "My name is Ann"), turn("assistant", "Hello Ann"), address=ANN)
    tell(caller, turn("assistant", "Anything else?"), address=ANN)
    tell(caller, turn("user", "I live in Oslo"), address=ANN)
    assert spans(caller) == [(1, 2), (4, 4)]


def test_a_transcript_brings_turns_as_well(caller):
    append(caller, turn("user", "hello"), address=ANN)
    said = [Message("user", "hello"), Message("user", "My name is Ann")]
    end_with_transcript(caller=caller, address=ANN, messages=said, now=timezone.now())
    assert spans(caller) == [(2, 2)]


@pytest.mark.parametrize("changes", [{"on_turn": False}, {"events": "off"}], ids=["not wanted", "no log"])
def test_nothing_is_looked_for(caller, changes):
    decide(caller, write=changes)
    tell(caller, turn("user", "My name is Ann"), address=ANN)
    assert spans(caller) == []


def test_a_duplicate_is_not_looked_at_again(caller):
    for _time in range(2):
        tell(caller, turn("user", "My name is Ann", id="1"), address=ANN)
    assert spans(caller) == [(1, 1)]


def test_no_turn_is_there_without_its_job(caller, monkeypatch):
    def fail(**given):
        raise ZeroDivisionError

    monkeypatch.setattr(turns, "enqueue_remember", fail)
    append(caller, turn("user", "before"))
    with pytest.raises(ZeroDivisionError):
        tell(caller, turn("user", "My name is Ann"))
    assert contents(caller, S) == ["before"]

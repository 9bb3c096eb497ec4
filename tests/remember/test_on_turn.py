"""Turns remembered when they come in, by a job, where the policy says so."""

import pytest
from django.db import connections
from django.utils import timezone

from recall.remember.queue import AT_ONCE, REMEMBER, enqueue_remember
from recall.sessions import delete_session
from recall.turns import append_turns
from tenants.jobs import runner
from tenants.models import Job
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tests.remember.conftest import Person, found
from tests.working.conversation import turn
from working.sessions import access_session


def come_in(person, *texts):
    """User and assistant in turn."""
    events = [turn(role, text) for text, role in zip(texts, ["user", "assistant"] * len(texts), strict=False)]
    append_turns(
        caller=person.caller, address=person.address, events=events, now=timezone.now(), agent_id="coder"
    )


def jobs(person):
    with scope(person.caller.tenant_id):
        return list(
            Job.objects.filter(tenant_id=person.caller.tenant_id, kind=REMEMBER).order_by("created_at", "id")
        )


def work():
    while runner.run_jobs(slow=True):
        pass


@pytest.fixture
def ann(ann):
    ann.decide(write={"on_turn": True, "episodes": "both"})
    return ann


def test_it_is_off_by_default(acme):
    bob = Person(acme.caller, "bob")
    come_in(bob, "My name is Bob.")
    assert jobs(bob) == []


def test_what_comes_in_is_remembered_with_its_turn_and_agent(ann):
    come_in(ann, "Hello.", "Hello.", "My name is Ada.", "Noted.", "We decided to use PostgreSQL.")
    (job,) = jobs(ann)
    assert "Ada" not in str(job.payload)
    work()
    assert jobs(ann) == []
    (row,) = ann.rows()
    assert (row.value, row.source_turn, row.agent_id, row.source_session) == ("Ada", 3, "coder", "s")
    assert ann.episodes()[0].covers_turns == [5, 5]


def test_nobodys_turns_and_those_of_the_agent_alone_are_left_alone(ann):
    come_in(Person(ann.caller, ""), "My name is Ada.")
    append_turns(
        caller=ann.caller,
        address=ann.address,
        events=[turn("assistant", "My name is Bot.")],
        now=timezone.now(),
    )
    assert jobs(ann) == []


def test_a_job_that_is_done_twice_writes_once(ann):
    come_in(ann, "My name is Ada. We decided to use PostgreSQL.")
    (job,) = jobs(ann)
    work()
    with scope(ann.caller.tenant_id):
        job.state = "queued"
        job.save(force_insert=True)
    work()
    assert jobs(ann) == []
    assert (len(ann.rows()), len(ann.episodes())) == (1, 1)


def test_many_turns_are_several_jobs(ann):
    come_in(ann, "My name is Ada.")
    session = access_session(caller=ann.caller, address=ann.address)
    with scope(ann.caller.tenant_id):
        enqueue_remember(session=session, first_seq=2, last_seq=2 * AT_ONCE + 2, now=timezone.now())
    spans = [(job.payload["first"], job.payload["last"]) for job in jobs(ann)[1:]]
    assert sorted(spans) == [
        (2, AT_ONCE + 1),
        (AT_ONCE + 2, 2 * AT_ONCE + 1),
        (2 * AT_ONCE + 2, 2 * AT_ONCE + 2),
    ]
    work()
    assert jobs(ann) == []


def test_the_model_sees_what_was_answered(ann, llm):
    llm.control(says=found(("name", "Ada", 0.9)))
    come_in(ann, "It is Ada.", "Nice to meet you, Ada.")
    work()
    body = str([one["body"] for one in llm.requests])
    assert "It is Ada." in body
    assert "Nice to meet you" in body
    assert ann.slots() == {"name": "Ada"}


def test_a_policy_that_has_changed_its_mind_is_heeded(ann):
    come_in(ann, "My name is Ada.")
    ann.decide(write={"on_turn": False})
    work()
    assert (jobs(ann), ann.rows()) == ([], [])


def test_a_deleted_session_leaves_nothing_to_remember(ann):
    come_in(ann, "My name is Ada.")
    delete_session(caller=ann.caller, address=ann.address, now=timezone.now())
    work()
    assert (jobs(ann), ann.rows()) == ([], [])


def test_a_person_erased_while_it_is_extracted_leaves_nothing(ann, monkeypatch):
    from recall.remember import remember as module

    come_in(ann, "My name is Ada. We decided to use PostgreSQL. Maybe I like tea.")
    extract = module.extract_turn
    officer = ann.caller

    def meanwhile(turn, **given):
        answer = extract(turn, **given)
        begin_erasure(caller=officer, user_id="ann", now=timezone.now())
        return answer

    monkeypatch.setattr(module, "extract_turn", meanwhile)
    work()
    connections.close_all()
    assert (ann.rows(), ann.episodes(), ann.decisions()) == ([], [], [])

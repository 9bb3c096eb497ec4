"""Turns remembered when they come in, by a job, where the policy says so."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from threading import BoundedSemaphore

import pytest
from django.db import connections
from django.utils import timezone

from episodic.entities import NewEntity, confirm_entity, delete_entity, put_entity
from recall.remember.queue import AT_ONCE, REMEMBER, enqueue_remember, remember_kind
from recall.sessions import delete_session
from recall.turns import append_turns
from tenants.errors import NotFound
from tenants.jobs import runner
from tenants.jobs.kinds import Task
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


def backwards(person):
    """Does the jobs, the last that was recorded first."""
    for job in reversed(jobs(person)):
        task = Task(
            id=job.id, tenant_id=job.tenant_id, kind=job.kind, payload=job.payload, user_id=job.user_id,
            since=job.created_at, attempts=1, max_attempts=5, lease=job.id,
        )  # fmt: skip
        kind = remember_kind()
        prepared = kind.prepare(task)
        with scope(task.tenant_id):
            kind.apply(task, prepared)


def at_once(person, *, youngest_first):
    """Does the jobs with several workers, of whom the first sees the youngest or the oldest job first."""
    mine = jobs(person)
    for age, job in enumerate(reversed(mine) if youngest_first else mine):
        job.run_at = timezone.now() - timedelta(minutes=10 - age)
        with scope(job.tenant_id):
            job.save(update_fields=["run_at"])

    def one(_number):
        work()
        connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(one, range(3)))
    assert jobs(person) == []


@pytest.mark.parametrize("sessions", ["one session", "two sessions"])
@pytest.mark.parametrize("youngest_first", [False, True])
@pytest.mark.parametrize(("said", "holds"), [
    (("I live in Oslo.", "I no longer live in Oslo."), {}),
    (("I no longer live in Oslo.", "I live in Oslo."), {"home_city": "Oslo"}),
    (("I speak Spanish.", "I also speak German."), {"language": "Spanish, German"}),
    (("My name is Anna.", "Actually my name is Ann, not Anna."), {"name": "Ann"}),
])  # fmt: skip
def test_what_takes_back_or_adds_comes_after_what_it_is_about(
    ann, monkeypatch, said, holds, youngest_first, sessions
):
    monkeypatch.setattr(runner, "_slow_places", BoundedSemaphore(3))
    for number, text in enumerate(said):
        person = replace(ann, session_id=f"s{number}") if sessions == "two sessions" else ann
        come_in(person, text)
    at_once(ann, youngest_first=youngest_first)
    assert ann.slots() == holds
    if not holds:
        assert [(row.value, row.status) for row in ann.rows()] == [("Oslo", "retracted")]
        assert ann.decisions() == []


def test_of_turns_that_are_looked_at_in_reverse_the_last_said_holds(ann):
    for city in ("Turin", "Oslo", "Bern"):
        come_in(ann, f"I live in {city}.")
    backwards(ann)
    assert ann.slots() == {"home_city": "Bern"}
    ranked = sorted(ann.rows(), key=lambda row: row.valid_from)
    assert [(row.value, row.status) for row in ranked] == [
        ("Turin", "superseded"), ("Oslo", "superseded"), ("Bern", "current"),
    ]  # fmt: skip
    assert [one.valid_to for one in ranked[:2]] == [one.valid_from for one in ranked[1:]]


def test_turns_that_came_in_at_once_are_told_apart_by_their_order(ann):
    come_in(ann, "I live in Turin.", "Nice.", *["Hm."] * AT_ONCE, "I live in Oslo.")
    assert len(jobs(ann)) == 2
    backwards(ann)
    assert ann.slots() == {"home_city": "Oslo"}


@pytest.mark.parametrize("value", ["Turin", "Bern"])
def test_what_somebody_wrote_after_the_turn_stays(ann, value):
    """Whether it is another value than before or the one that held already."""
    put(ann, "Turin")
    come_in(ann, "I live in Oslo.")
    put(ann, value)
    work()
    assert ann.slots() == {"home_city": value}


def test_what_was_said_again_before_a_turn_does_not_outlive_it(ann):
    come_in(ann, "I live in Turin.")
    come_in(ann, "I live in Turin.")
    come_in(ann, "I live in Oslo.")
    work()
    assert ann.slots() == {"home_city": "Oslo"}


def test_what_was_confirmed_or_waits_since_the_turn_stays(ann):
    come_in(ann, "My email is old@example.org.")
    ann.tell("My email is new@example.org.")
    backwards(ann)
    (waits,) = [row.value for row in ann.rows() if row.status == "pending"]
    assert waits == "new@example.org"
    confirm_entity(caller=ann.caller, user_id="ann", key="email", now=timezone.now())
    backwards(ann)
    assert (ann.slots(), [row.status for row in ann.rows()]) == ({"email": "new@example.org"}, ["current"])


def test_a_slot_that_was_written_since_is_not_ended_by_a_turn(ann):
    put(ann, "Acme", key="employer")
    come_in(ann, "I no longer work at Acme.")
    put(ann, "Acme", key="employer")
    work()
    assert ann.slots() == {"employer": "Acme"}
    assert [one.reason for one in ann.decisions()] == ["outdated"]


@pytest.mark.parametrize("before", [None, "Rome"])
def test_a_slot_that_was_removed_stays_away_though_a_turn_from_before_names_it(ann, before):
    if before:
        put(ann, before)
    come_in(ann, "I live in Oslo.")
    remove(ann)
    work()
    assert (jobs(ann), ann.rows()) == ([], [])
    assert [(one.reason, one.key, one.text, one.held) for one in ann.decisions()] == [
        ("outdated", "", "", None)
    ]
    come_in(ann, "I live in Bern.")
    work()
    assert ann.slots() == {"home_city": "Bern"}


@pytest.mark.parametrize("text", ["Maybe I live in Oslo.", "I no longer live in Oslo."])
def test_of_a_removed_slot_a_turn_from_before_leaves_no_word(ann, text):
    put(ann, "Oslo")
    come_in(ann, text)
    remove(ann)
    work()
    assert ann.rows() == []
    assert "Oslo" not in str([(one.text, one.held, one.key) for one in ann.decisions()])


def test_removed_while_it_is_extracted_it_stays_away(ann, monkeypatch):
    from recall.remember import remember as module

    extract = module.extract_turn

    def meanwhile(turn, **given):
        answer = extract(turn, **given)
        remove(ann)
        return answer

    monkeypatch.setattr(module, "extract_turn", meanwhile)
    put(ann, "Rome")
    ann.tell("I live in Oslo.")
    assert ann.rows() == []


def remove(person, key="home_city"):
    with suppress(NotFound):  # of what does not stand there yet
        delete_entity(caller=person.caller, user_id=person.user_id, key=key, hard=True, now=timezone.now())


def put(person, value, key="home_city"):
    new = NewEntity(user_id=person.user_id, key=key, value=value)
    put_entity(caller=person.caller, new=new, now=timezone.now())


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

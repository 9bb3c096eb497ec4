"""What happens to a session while the language model thinks counts."""

import threading

import pytest
from django.db import connections
from django.utils import timezone

from providers.fake import server
from recall.working_memory import delete_working_memory
from tenants.privacy.erasure import request_erasure
from tests.extracting.talk import (
    ANN,
    CHAT,
    OSLO,
    WIDE,
    extract,
    jobs,
    make_due,
    marks,
    memory,
    notes,
    put,
    records,
    run_jobs,
    says,
    seen,
    talk,
    texts,
)
from tests.recall.talking import run_jobs as run_all_jobs
from tests.recall.whole_sessions import add
from tests.restrictions.people import lift, restrict
from tests.working.conversation import S
from tests.working.workspaces import ids

SUMMARY = {"strategy": "summary", "config": {}}
TWO = says(memory("User lives in Oslo.", messages=[1]), memory("User works at Acme.", messages=[2]))


@pytest.fixture
def thinking(caller, llm, monkeypatch):
    """Runs the job, and what it is given while the model thinks."""
    llm.control(says=TWO)
    complete, asked, done = server.completion, threading.Event(), threading.Event()

    def think(control, body):
        monkeypatch.setattr(server, "completion", complete)  # the next question is answered at once
        asked.set()
        done.wait(50)
        return complete(control, body)

    def run(meanwhile):
        monkeypatch.setattr(server, "completion", think)
        make_due(caller)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            assert asked.wait(60)
            meanwhile()
        finally:
            done.set()
            thread.join()

    def work():
        try:
            run_jobs()
        finally:
            connections.close_all()

    return run


def test_messages_that_came_stay_to_be_looked_at(caller, thinking, llm):
    put(caller, *talk(OSLO, "I work at Acme."))
    thinking(lambda: add(caller, *talk("I like tea.", first=3)))
    (job,) = jobs(caller)
    assert (job.state, job.attempts) == ("queued", 0)
    assert job.run_at > timezone.now(), "for which the session is to be quiet again"
    assert marks(caller) == [True, True, False]
    assert ids(seen(caller)) == ["m1", "m2", "m3"]
    assert len(records(caller)) == 2
    llm.control(says=says(memory("User likes tea.")))
    extract(caller)
    assert marks(caller) == [True] * 3
    assert texts(caller) == {"User lives in Oslo.", "User works at Acme.", "User likes tea."}


def test_a_run_that_fails_keeps_what_those_before_it_have_done(caller, thinking, llm):
    put(caller, *talk(*notes(4)), window=WIDE)
    thinking(lambda: llm.control(dead=-1))
    assert marks(caller) == [True, True, False, False]
    (job,) = jobs(caller)
    assert (job.state, job.attempts) == ("queued", 1)
    llm.control(dead=0)
    extract(caller)
    assert (marks(caller), jobs(caller)) == ([True] * 4, [])


def test_what_was_left_out_is_not_remembered(caller, thinking):
    put(caller, *talk(OSLO, "I work at Acme."))
    thinking(lambda: put(caller, *talk("I work at Acme.", first=2)))
    assert texts(caller) == {"User works at Acme."}
    extract(caller)
    assert jobs(caller) == []


def test_what_was_said_otherwise_is_looked_at_anew(caller, thinking, llm):
    put(caller, *talk(OSLO, "I work at Acme."))
    thinking(lambda: put(caller, *talk("I live in Bergen.", "I work at Acme.")))
    assert "User lives in Oslo." not in texts(caller)
    llm.control(says=says(memory("User lives in Bergen.", messages=[1])))
    extract(caller)
    assert "User lives in Bergen." in texts(caller)
    assert marks(caller) == [True, True]


def test_a_summary_of_what_was_left_out_is_not_kept(caller, thinking, llm):
    llm.control(says='{"summary": "User lives in Oslo.", "topics": [], "entities": []}')
    put(caller, *talk(OSLO, "Hello."), strategy=SUMMARY)
    thinking(lambda: put(caller, *talk("Hello.", first=2), strategy=SUMMARY))
    assert records(caller) == []
    llm.control(says='{"summary": "User said hello.", "topics": [], "entities": []}')
    extract(caller)
    assert texts(caller) == {"User said hello."}


def test_a_session_that_was_deleted_leaves_nothing(caller, thinking):
    put(caller, *talk(OSLO, "I work at Acme."), address=ANN)
    thinking(lambda: delete_working_memory(caller=caller, address=ANN, now=timezone.now()))
    assert (records(caller), jobs(caller)) == ([], [])


def test_one_that_begins_anew_is_another(caller, thinking):
    put(caller, *talk(OSLO, "I work at Acme."))

    def begin_anew():
        delete_working_memory(caller=caller, address=S, now=timezone.now())
        put(caller, *talk("Hello."))

    thinking(begin_anew)
    assert records(caller) == []
    assert marks(caller) == [False]


def test_a_person_who_was_erased_leaves_nothing(caller, thinking):
    put(caller, *talk(OSLO, "I work at Acme."), address=ANN)
    thinking(lambda: request_erasure(caller=caller, user_id="ann", now=timezone.now()))
    run_all_jobs()
    assert (records(caller), jobs(caller)) == ([], [])


def test_of_a_restricted_person_nothing_is_remembered_until_that_is_lifted(acme, thinking):
    caller = acme.caller
    put(caller, *talk(OSLO, "I work at Acme."), address=ANN)
    thinking(lambda: restrict(acme, "ann"))
    (job,) = jobs(caller)
    assert job.state == "queued"
    lift(acme, "ann")
    assert records(caller) == []
    extract(caller)
    assert len(records(caller)) == 2


def test_of_two_jobs_for_the_same_messages_one_writes(caller, thinking, llm):
    put(caller, *talk(OSLO, "I work at Acme."))

    def another():
        add(caller, *talk("I like tea.", first=3))
        extract(caller)

    thinking(another)
    assert llm.count(CHAT) == 2
    assert sorted(one.text for one in records(caller)) == ["User lives in Oslo.", "User works at Acme."]
    assert marks(caller) == [True] * 3
    assert jobs(caller) == []

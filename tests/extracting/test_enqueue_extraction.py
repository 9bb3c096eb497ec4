"""Whether and when the messages of a session are looked through."""

from datetime import timedelta

from django.utils import timezone

from recall.working_memory import delete_working_memory
from tests.extracting.talk import OSLO, extract, jobs, put, records, run_jobs, talk
from tests.recall.talking import decide
from tests.recall.whole_sessions import add
from tests.working.conversation import S


def test_a_job_waits_for_the_quiet_and_each_write_has_it_wait_anew(caller, settings):
    settings.EXTRACTION_DEBOUNCE_SECONDS = 600
    put(caller, *talk(OSLO))
    (first,) = jobs(caller)
    assert first.run_at > timezone.now() + timedelta(seconds=500)
    run_jobs()
    assert records(caller) == []
    add(caller, *talk("I work at Acme.", first=2))
    (second,) = jobs(caller)
    assert (second.id, second.run_at > first.run_at) == (first.id, True)
    extract(caller)
    assert len(records(caller)) == 2


def test_what_is_no_longer_waited_for_is_done(caller, settings):
    settings.EXTRACTION_DEBOUNCE_SECONDS = 0
    put(caller, *talk(OSLO))
    run_jobs()
    assert len(records(caller)) == 1


def test_it_can_be_switched_off(caller, settings):
    settings.ENABLE_DISCRETE_MEMORY_EXTRACTION = False
    put(caller, *talk(OSLO))
    settings.ENABLE_DISCRETE_MEMORY_EXTRACTION, settings.LONG_TERM_MEMORY = True, False
    put(caller, *talk(OSLO))
    assert jobs(caller) == []


def test_without_messages_there_is_none(caller):
    put(caller, data={"x": 1})
    assert jobs(caller) == []


def test_without_a_log_there_is_none(caller):
    decide(caller, write={"events": "off"})
    put(caller, *talk(OSLO))
    assert jobs(caller) == []


def test_of_a_session_that_was_deleted_nothing_is_remembered(caller):
    put(caller, *talk(OSLO))
    delete_working_memory(caller=caller, address=S, now=timezone.now())
    extract(caller)
    assert (records(caller), jobs(caller)) == ([], [])

"""Whatever the language model does, the session is kept and the work is done later, or told as undone."""

from datetime import timedelta

import pytest
from django.utils import timezone

from recall.extracting.jobs import EXTRACT
from tenants.jobs.queue import replay_all
from tests.extracting.talk import (
    CHAT,
    OSLO,
    extract,
    jobs,
    make_due,
    marks,
    memory,
    put,
    records,
    run_jobs,
    says,
    talk,
    texts,
)
from tests.recall.faults import AWAY, WRONG, impatient, recover, try_again
from tests.working.workspaces import ids, seen

__all__ = ["impatient"]
GOOD = says(memory("User lives in Oslo."))


def again(llm):
    recover(llm, says=GOOD)


@pytest.mark.parametrize("fault", AWAY.values(), ids=AWAY)
def test_a_model_that_is_away_is_asked_later(caller, impatient, fault):
    impatient.control(**fault)
    put(caller, *talk(OSLO))
    assert ids(seen(caller)) == ["m1"]
    extract(caller)
    (job,) = jobs(caller)
    assert (job.state, job.attempts) == ("queued", 1)
    assert job.error
    assert OSLO not in job.error
    assert job.run_at > timezone.now()
    assert (records(caller), marks(caller)) == ([], [False])
    again(impatient)
    extract(caller)
    assert (texts(caller), marks(caller), jobs(caller)) == ({"User lives in Oslo."}, [True], [])


@pytest.mark.parametrize("fault", AWAY.values(), ids=AWAY)
def test_one_that_stays_away_leaves_a_dead_letter_that_can_be_replayed(caller, impatient, fault):
    impatient.control(**fault)
    put(caller, *talk(OSLO))
    try_again(caller, EXTRACT, attempts=7)
    (job,) = jobs(caller)
    assert job.run_at > timezone.now() + timedelta(seconds=100), "each pause is longer"
    try_again(caller, EXTRACT, attempts=job.max_attempts - 1)
    (job,) = jobs(caller)
    assert job.state == "failed"
    assert job.error
    assert OSLO not in job.error
    assert (ids(seen(caller)), marks(caller)) == (["m1"], [False])
    again(impatient)
    replay_all(tenant_id=caller.tenant_id, actor="test")
    run_jobs()
    assert (texts(caller), marks(caller), jobs(caller)) == ({"User lives in Oslo."}, [True], [])


@pytest.mark.parametrize("strategy", ["discrete", "summary", "preferences", "custom"])
def test_each_strategy_waits_for_the_model_and_never_falls_back_to_rules(caller, llm, strategy):
    llm.control(wrong=-1)
    put(caller, *talk(OSLO), strategy={"strategy": strategy, "config": {"custom_prompt": "Where they live."}})
    extract(caller)
    (job,) = jobs(caller)
    assert (job.state, job.attempts, records(caller)) == ("queued", 1, [])
    recover(llm, says="")
    extract(caller)
    assert jobs(caller) == []
    assert {one.metadata["extractor"] for one in records(caller)} == {"llm"}
    assert {one.extraction["strategy"] for one in records(caller)} == {strategy}


def test_it_is_left_alone_for_as_long_as_it_asks(caller, llm):
    llm.control(rate_limited=-1, retry_after="120")
    put(caller, *talk(OSLO))
    extract(caller)
    (job,) = jobs(caller)
    assert job.run_at > timezone.now() + timedelta(seconds=100)
    put(caller, *talk(OSLO, "Hello."))
    assert jobs(caller)[0].run_at == job.run_at


@pytest.mark.parametrize("fault", WRONG.values(), ids=WRONG)
def test_one_that_answers_with_anything_else_is_asked_three_times_and_then_a_person(caller, llm, fault):
    llm.control(**fault)
    put(caller, *talk(OSLO))
    for attempts in (1, 2):
        extract(caller)
        (job,) = jobs(caller)
        assert (job.state, job.attempts) == ("queued", attempts)
        assert job.run_at > timezone.now()
    extract(caller)
    (job,) = jobs(caller)
    assert (job.state, job.attempts) == ("failed", 3)
    assert job.error
    assert OSLO not in job.error
    assert (records(caller), marks(caller)) == ([], [False])
    again(llm)
    replay_all(tenant_id=caller.tenant_id, actor="test")
    run_jobs()
    assert (texts(caller), jobs(caller)) == ({"User lives in Oslo."}, [])


def test_after_a_dead_letter_the_next_write_has_all_of_it_looked_at(caller, llm):
    llm.control(refusal=-1)
    put(caller, *talk(OSLO))
    for _attempt in range(3):
        extract(caller)
    again(llm)
    put(caller, *talk(OSLO, "Hello."))
    make_due(caller)
    run_jobs()
    assert (texts(caller), marks(caller)) == ({"User lives in Oslo."}, [True, True])
    llm.control(says=says(memory("Doubled.")))
    replay_all(tenant_id=caller.tenant_id, actor="test")
    run_jobs()
    assert (texts(caller), jobs(caller)) == ({"User lives in Oslo."}, [])


def test_one_that_needs_a_second_word_is_understood(caller, llm):
    llm.control(off_schema=1, says="")
    put(caller, *talk(OSLO))
    extract(caller)
    assert jobs(caller) == []
    assert llm.count(CHAT) == 2
    assert marks(caller) == [True]


def test_without_vectors_the_records_are_kept_all_the_same(caller, llm, monkeypatch):
    from episodic import records as saving

    monkeypatch.setattr(saving, "try_embed", lambda texts, **given: None)
    llm.control(says=GOOD)
    put(caller, *talk(OSLO))
    extract(caller)
    (one,) = records(caller)
    assert one.embed_pending

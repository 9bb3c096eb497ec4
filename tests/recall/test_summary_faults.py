"""Whatever the language model does, a full window is summarised at once; in the model's words later, or a
dead letter says why not."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from recall.rewriting import REWRITE
from tenants.jobs.queue import replay_all
from tests.recall.faults import CHAT, FAULTS, WRONG, impatient, jobs_of, recover, try_again
from tests.recall.talking import episodes, spans
from tests.recall.whole_sessions import add, put
from tests.working.workspaces import ids, said, seen

__all__ = ["impatient"]
SHIP = "We decided to ship INC-4711 on Friday."
MADE = "They ship INC-4711 on Friday."
GOOD = json.dumps({"summary": MADE, "topics": ["shipping"], "outcome": ""})


def fill(caller):
    """More messages than a window shows."""
    return put(caller, *said("d", content=SHIP), *said(*(f"m{n}" for n in range(1, 51))))


def summary(caller):
    (episode,) = episodes(caller)
    return episode


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_write_is_kept_and_the_model_asked_later_and_in_the_end_by_a_person(caller, impatient, fault):
    impatient.control(**fault)
    told = fill(caller).context
    assert SHIP in told
    assert (len(ids(seen(caller))), impatient.count(CHAT)) == (20, 0)
    try_again(caller, REWRITE)
    (job,) = jobs_of(caller, REWRITE)
    assert (job.state, job.attempts, seen(caller).context) == ("queued", 1, told)
    assert job.run_at > timezone.now()
    try_again(caller, REWRITE, attempts=job.max_attempts - 1)
    (job,) = jobs_of(caller, REWRITE)
    assert (job.state, seen(caller).context, summary(caller).text) == ("failed", told, told)
    assert job.error
    assert "INC-4711" not in job.error
    add(caller, *said("next"))
    assert ids(seen(caller))[-1] == "next"
    recover(impatient, says=GOOD)
    replay_all(tenant_id=caller.tenant_id, actor="test")
    try_again(caller, REWRITE)
    assert jobs_of(caller, REWRITE) == []
    assert (seen(caller).context, summary(caller).text, spans(caller)) == (MADE, MADE, [[1, 31]])


def test_each_pause_is_longer(caller, llm):
    llm.control(wrong=-1)
    fill(caller)
    try_again(caller, REWRITE, attempts=7)
    (job,) = jobs_of(caller, REWRITE)
    assert job.run_at > timezone.now() + timedelta(seconds=100)


def test_it_is_left_alone_for_as_long_as_it_asks(caller, llm):
    llm.control(rate_limited=-1, retry_after="120")
    fill(caller)
    try_again(caller, REWRITE)
    (job,) = jobs_of(caller, REWRITE)
    assert job.run_at > timezone.now() + timedelta(seconds=100)


@pytest.mark.parametrize("fault", WRONG.values(), ids=WRONG)
def test_a_model_that_answers_with_anything_else_is_asked_three_times(caller, llm, fault):
    llm.control(**fault)
    fill(caller)
    for attempts in (1, 2):
        try_again(caller, REWRITE)
        (job,) = jobs_of(caller, REWRITE)
        assert (job.state, job.attempts) == ("queued", attempts)
    try_again(caller, REWRITE)
    (job,) = jobs_of(caller, REWRITE)
    assert (job.state, job.attempts) == ("failed", 3)


def test_the_summary_says_who_wrote_it(caller, llm):
    told = fill(caller).context
    assert summary(caller).metadata["summariser"] == "deterministic.v2"
    recover(llm, says=GOOD)
    try_again(caller, REWRITE)
    found = summary(caller).metadata
    assert (found["provider"], found["model"], found["prompt"], found["deterministic"]) == (
        "openai", "gpt-4.1-mini", "session_summary.v1", told,
    )  # fmt: skip

"""Sessions that end leave the queries that episodes were recalled for, by a share."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from ledger.cases import saved_queries
from ledger.expiry import expire_sampled
from ledger.models import EvaluationQuery
from recall.sampling import SAMPLE
from tenants.jobs import runner
from tenants.models import Job
from tenants.policy.versions import Level, write_policy
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tests.native.test_assemble import assemble, items, say
from tests.native.test_feedback import episode, judged
from tests.native.test_idle import leave_alone

QUERY = "What does Ann drink?"


@pytest.fixture
def sampled(acme):
    """Acme, whose every session is sampled."""
    share(acme, 1.0)
    return acme


def share(member, value):
    """Decided before the server has asked for the tenant's policy."""
    changes = {"evaluation": {"session_share": value}}
    write_policy(level=Level(member.tenant.id), actor="test", changes=changes)


def end(member, session="s"):
    member.http.post(f"/api/v1/sessions/{session}/end?user_id=ann").raise_for_status()


def work(member):
    """Half a day passes, and the worker works."""
    with scope(member.tenant.id):
        Job.objects.filter(kind=SAMPLE).update(run_at=timezone.now())
    while runner.run_jobs(slow=True):
        pass


def jobs(member):
    with scope(member.tenant.id):
        return list(Job.objects.filter(kind=SAMPLE).values_list("payload", "user_id"))


def asked(member):
    return [(one.text, one.relevant, one.source) for one in saved_queries(tenant_id=member.tenant.id)]


def talk(member, query=QUERY):
    """A turn that an episode is recalled for; the episode's id."""
    memory = episode(member, "Ann drinks tea in the morning.")
    say(member, "Hello.", "Hello Ann.")
    found = assemble(member, query)
    assert memory in items(found, "episode", "id")
    say(member, query, "Tea.")
    return memory


def test_what_an_episode_was_recalled_for_is_kept_with_what_helped(sampled):
    memory = talk(sampled)
    end(sampled)
    judged(sampled, memory, session_id="s")  # after the end, too
    assert asked(sampled) == []
    work(sampled)
    assert asked(sampled) == [(QUERY, (memory,), "sampled")]
    (one,) = saved_queries(tenant_id=sampled.tenant.id)
    assert (one.user_id, one.session) == ("ann", "s")


@pytest.mark.parametrize("verdicts", [{}, {"s": "not_helpful"}, {"s": "harmful"}, {"another": "helpful"}])
def test_without_a_verdict_that_it_helped_it_has_no_label(sampled, verdicts):
    memory = talk(sampled)
    for session, verdict in verdicts.items():
        judged(sampled, memory, verdict, session_id=session)
    end(sampled)
    work(sampled)
    assert asked(sampled) == [(QUERY, (), "sampled")]


def test_a_turn_that_comes_before_its_assembly_counts_as_well(sampled):
    memory = episode(sampled, "Ann drinks tea in the morning.")
    say(sampled, QUERY)
    assert items(assemble(sampled, QUERY), "episode", "id") == [memory]
    end(sampled)
    work(sampled)
    assert [text for text, _, _ in asked(sampled)] == [QUERY]


def test_a_session_that_is_left_alone_is_sampled_too(sampled):
    talk(sampled)
    leave_alone(sampled)
    work(sampled)
    assert [text for text, _, _ in asked(sampled)] == [QUERY]


def test_ended_again_it_brings_nothing_twice(sampled):
    memory = talk(sampled)
    end(sampled)
    end(sampled)
    assert len(jobs(sampled)) == 1
    work(sampled)
    say(sampled, "What does Ann like in her tea?")
    episode(sampled, "Ann takes lemon in her tea.")
    assemble(sampled, "What does Ann like in her tea?")
    end(sampled)
    work(sampled)
    assert [text for text, _, _ in asked(sampled)] == [QUERY, "What does Ann like in her tea?"]
    assert memory


def test_a_job_holds_ids_and_no_words(sampled):
    talk(sampled)
    end(sampled)
    ((payload, user),) = jobs(sampled)
    assert user == "ann"
    assert "drink" not in json.dumps(payload)


@pytest.mark.parametrize("query", ["Which tea goes with card 4111 1111 1111 1111?", "go on"])
def test_what_is_sensitive_or_says_nothing_is_not_kept(sampled, query):
    episode(sampled, "Ann drinks tea in the morning.")
    say(sampled, "Tell me about tea.")
    assemble(sampled, query)
    say(sampled, query)
    end(sampled)
    work(sampled)
    assert asked(sampled) == []


def test_a_session_that_was_told_no_episode_leaves_no_job(sampled):
    say(sampled, QUERY)
    end(sampled)
    assert jobs(sampled) == []


def test_with_a_share_of_0_there_is_no_job(acme):
    share(acme, 0.0)
    talk(acme)
    end(acme)
    assert jobs(acme) == []


def test_a_session_that_is_deleted_takes_them_with_it(sampled):
    talk(sampled)
    end(sampled)
    work(sampled)
    assert asked(sampled) != []
    sampled.http.delete("/api/v1/sessions/s?user_id=ann").raise_for_status()
    assert asked(sampled) == []


def test_a_session_that_is_deleted_before_leaves_none(sampled):
    talk(sampled)
    end(sampled)
    sampled.http.delete("/api/v1/sessions/s?user_id=ann").raise_for_status()
    work(sampled)
    assert asked(sampled) == []


def test_who_is_erased_leaves_none(sampled):
    talk(sampled)
    end(sampled)
    begin_erasure(tenant_id=sampled.tenant.id, user_id="ann", actor="test", now=timezone.now())
    work(sampled)
    assert asked(sampled) == []


def test_they_go_when_what_sessions_leave_goes_and_saved_ones_stay(sampled):
    talk(sampled)
    end(sampled)
    work(sampled)
    sampled.http.post(
        "/api/v1/evaluation/queries", json={"text": "saved", "user_id": "ann"}
    ).raise_for_status()
    now = timezone.now()
    expire_sampled(now=now + timedelta(days=89))
    assert len(asked(sampled)) == 2
    with scope(sampled.tenant.id):
        assert EvaluationQuery.objects.filter(source="sampled").exists()
    expire_sampled(now=now + timedelta(days=91))
    assert asked(sampled) == [("saved", (), "saved")]

"""Forgetting by age, by use and by number."""

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from episodic.forgetting import (
    ForgetPolicy,
    enqueue_forgetting,
    forget_records,
    nightly_policy,
)
from episodic.models import Episode
from episodic.types import EpisodeFilter
from tenants.audit import list_entries
from tenants.errors import Forbidden
from tenants.policy.document import Policy
from tenants.scope import scope
from tenants.ulids import new_ulid
from tests.records.saving import done_by_jobs, record, save
from tests.records.stored import put
from tests.retention.test_expire_memory import decide

NOW = timezone.now()


def ago(days):
    return NOW - timedelta(days=days)


def aged(caller, *ages, **named):
    """Records by their age in days, or by age and days of disuse."""
    pairs = [age if isinstance(age, tuple) else (age, None) for age in ages]
    return put(
        caller,
        *(
            {"text": str(age), "external_id": f"{age}-{unused}", "user_id": "alice", "created_at": ago(age)}
            | ({} if unused is None else {"last_accessed": ago(unused)})
            | named
            for age, unused in pairs
        ),
    )


def forget(caller, *, dry_run=False, pinned=(), limit=1_000, user_id="alice", **policy):
    return forget_records(
        caller=caller,
        policy=ForgetPolicy(**policy),
        where=EpisodeFilter(user_id=user_id),
        pinned_ids=pinned,
        limit=limit,
        dry_run=dry_run,
        now=NOW,
    )


def left(caller):
    with scope(caller.tenant_id):
        return sorted(float(one) for one in Episode.objects.values_list("text", flat=True))


def test_what_is_too_old_or_unused_for_too_long_goes_by_one_threshold(acme):
    aged(acme.caller, 5, 11, (20, 1))
    assert forget(acme.caller, max_age_days=10, dry_run=True).deleted_ids == ("20-1", "11-None")
    assert forget(acme.caller, max_inactive_days=10).deleted_ids == ("11-None",)
    assert left(acme.caller) == [5, 20]


def test_by_both_what_is_old_and_unused_goes_or_very_old(acme):
    aged(acme.caller, (5, 5), (20, 1), (20, 15), (121, 1), (119, 1))
    done = forget(acme.caller, max_age_days=10, max_inactive_days=10)
    assert done.deleted_ids == ("121-1", "20-15")
    assert (done.scanned, done.deleted) == (5, 2)
    assert forget(acme.caller, max_age_days=10, max_inactive_days=10, hard_age_multiplier=11).deleted == 1


def test_the_budget_leaves_the_most_recent(acme):
    aged(acme.caller, 1, 40, 400, (500, 0), 100_000)
    assert forget(acme.caller, budget=2, dry_run=True).deleted_ids == ("100000-None", "400-None", "40-None")
    assert forget(acme.caller, budget=2, max_age_days=450).deleted == 3  # two of them are too old
    assert left(acme.caller) == [1, 40]
    assert forget(acme.caller, budget=0).deleted == 2


def test_the_budget_is_of_all_whatever_is_looked_at(acme):
    aged(acme.caller, *range(1, 21))
    assert forget(acme.caller, budget=15, limit=3).deleted_ids == ("20-None", "19-None", "18-None")
    assert forget(acme.caller, budget=15, limit=10).deleted_ids == ("17-None", "16-None")
    assert left(acme.caller) == list(range(1, 16))


def test_pinned_ones_stay_and_take_nobody_s_place(acme):
    aged(acme.caller, 50, pinned_at=NOW)
    first, *_rest = aged(acme.caller, 40, 30, 20)
    done = forget(acme.caller, max_age_days=10, pinned=[str(first.id)], dry_run=True)
    assert done.scanned == 4
    assert done.deleted == 2
    assert forget(acme.caller, budget=1, pinned=[str(first.id)]).deleted == 1
    assert left(acme.caller) == [20, 40, 50]


def test_only_allowed_types_go(acme):
    aged(acme.caller, 50, memory_type="semantic")
    aged(acme.caller, 60, memory_type="episodic")
    assert forget(acme.caller, max_age_days=10, memory_types=("episodic",)).deleted_ids == ("60-None",)
    assert forget(acme.caller, max_age_days=10, memory_types=()).deleted == 0


def test_a_dry_run_deletes_nothing_and_tells_the_same(acme):
    aged(acme.caller, *range(1, 30))
    told = forget(acme.caller, max_age_days=10, dry_run=True)
    assert len(left(acme.caller)) == 29
    assert told == forget(acme.caller, max_age_days=10)
    assert len(left(acme.caller)) == 10
    assert len(list_entries(caller=acme.caller, limit=50, action="episode.delete")) == 19


def test_what_sessions_left_behind_is_retention_s(acme):
    aged(acme.caller, 50, origin="session")
    assert forget(acme.caller, max_age_days=10).scanned == 0


def test_another_s_stays(acme, globex):
    aged(acme.caller, 50)
    aged(acme.caller, 51, user_id="bob")
    aged(globex.caller, 52)
    bob = acme.with_key(user_id="bob").caller
    with pytest.raises(Forbidden):
        forget(bob, max_age_days=10)
    assert forget(bob, user_id=None, max_age_days=10).deleted_ids == ("51-None",)
    assert forget(acme.caller, user_id="bob", max_age_days=10).deleted == 0
    assert (left(acme.caller), left(globex.caller)) == ([50], [52])


def test_a_merged_record_goes_with_its_sources(acme):
    save(acme.caller, record("User likes tea.", id="a"), record("User likes tea, especially green.", id="b"))
    assert forget(acme.caller, budget=0).deleted == 1
    with scope(acme.tenant.id):
        assert not Episode.objects.exists()


def test_without_a_policy_nothing_goes(acme):
    aged(acme.caller, 50_000)
    assert forget(acme.caller).deleted == 0
    assert left(acme.caller) == [50_000]


def expected(rows, *, max_age, max_unused, budget, multiplier):
    """The contract in Python: rows of (age, disuse, pinned), oldest first; the places of those that go."""
    gone, rest = set(), []
    for place, (age, unused, pinned) in enumerate(rows):
        if pinned:
            continue
        if max_age is not None and max_unused is not None:
            goes = age > max_age * multiplier or (age > max_age and unused > max_unused)
        else:
            goes = (max_age is not None and age > max_age) or (max_unused is not None and unused > max_unused)
        (gone.add if goes else rest.append)(place)
    rest.sort(key=lambda one: (-0.6 * 2 ** (-rows[one][1] / 7) - 0.4 * 2 ** (-rows[one][0] / 30), -one))
    return gone | set(rest[budget:] if budget is not None else ())


days = some.integers(0, 60)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=some.lists(some.tuples(days, days, some.booleans()), max_size=12),
    max_age=some.none() | days,
    max_unused=some.none() | days,
    budget=some.none() | some.integers(0, 12),
    multiplier=some.integers(1, 4),
)
def test_it_is_what_the_contract_says(acme, rows, max_age, max_unused, budget, multiplier):
    rows = sorted(((age + 0.5, min(unused, age) + 0.5, pinned) for age, unused, pinned in rows), reverse=True)
    user = new_ulid()
    put(
        acme.caller,
        *(
            {"user_id": user, "external_id": str(place), "created_at": ago(age), "last_accessed": ago(unused),
             "pinned_at": NOW if pinned else None}
            for place, (age, unused, pinned) in enumerate(rows)
        ),
    )  # fmt: skip
    done = forget(
        acme.caller, user_id=user, max_age_days=max_age, max_inactive_days=max_unused, budget=budget,
        hard_age_multiplier=multiplier, dry_run=True,
    )  # fmt: skip
    wanted = expected(rows, max_age=max_age, max_unused=max_unused, budget=budget, multiplier=multiplier)
    ages = sorted(rows[place][:2] for place in wanted)
    assert sorted(rows[int(place)][:2] for place in done.deleted_ids) == ages
    assert done.scanned == len(rows)


def test_every_night_if_the_policy_says_so(acme, globex):
    assert nightly_policy(Policy()) is None
    decide(acme, {"records": {"forgetting": True, "max_age_days": 10}})
    decide(globex, {"records": {"max_age_days": 10}})
    aged(acme.caller, 5, 50)
    assert enqueue_forgetting(now=NOW, tenants=[acme.tenant.id, globex.tenant.id]) == 1
    assert done_by_jobs(acme, "records.forget") == [{"deleted": 1}]
    assert left(acme.caller) == [5]

"""Dead letters: counted, replayed, dropped; only by whoever runs the whole tenant."""

import pytest

from tenants.errors import Conflict, Forbidden
from tenants.jobs import dead_letters
from tenants.models import AuditEntry, Job
from tenants.scope import scope
from tests.console.injected import job


@pytest.fixture
def admin(acme):
    return acme.with_key(scopes=("admin",)).caller


def left(caller):
    with scope(caller.tenant_id):
        return sorted(Job.objects.filter(tenant_id=caller.tenant_id).values_list("kind", "state"))


def test_they_are_counted_by_kind(admin, globex):
    made = [job(admin.tenant_id, kind=kind) for kind in ("b", "a", "b")]
    job(admin.tenant_id, kind="a", state="done")
    job(globex.tenant.id, kind="a")
    assert dict(dead_letters.count_dead(caller=admin)) == {"a": 1, "b": 2}
    assert dict(dead_letters.count_dead(caller=admin, kind="b")) == {"b": 2}
    assert dict(dead_letters.count_dead(caller=admin, job_ids=[made[0].id])) == {"b": 1}


def test_those_that_are_dropped_are_gone_and_no_others(admin, globex):
    gone, _stays = job(admin.tenant_id, kind="a"), job(admin.tenant_id, kind="b")
    waits, foreign = job(admin.tenant_id, kind="c", state="queued"), job(globex.tenant.id, kind="a")
    assert dead_letters.drop_dead(caller=admin, job_ids=[gone.id, waits.id, foreign.id]) == 1
    assert left(admin) == [("b", "failed"), ("c", "queued")]
    assert left(globex.caller) == [("a", "failed")]
    with scope(admin.tenant_id):
        (entry,) = AuditEntry.objects.filter(tenant_id=admin.tenant_id, action="job.drop")
    assert entry.details == {"kinds": {"a": 1}}


def test_an_erasure_is_owed_to_a_person_and_stays(admin):
    erasure, _other = job(admin.tenant_id, kind="subject.erase"), job(admin.tenant_id, kind="a")
    with pytest.raises(Conflict):
        dead_letters.drop_dead(caller=admin, job_ids=[erasure.id])
    assert dead_letters.drop_dead(caller=admin) == 1
    assert left(admin) == [("subject.erase", "failed")]


def test_they_are_replayed_with_all_their_attempts(admin):
    one = job(admin.tenant_id, kind="a", attempts=12)
    assert dead_letters.replay_dead(caller=admin) == 1
    with scope(admin.tenant_id):
        found = Job.objects.get(tenant_id=admin.tenant_id, id=one.id)
        Job.objects.filter(tenant_id=admin.tenant_id).delete()
    assert (found.state, found.attempts) == ("queued", 0)


@pytest.mark.parametrize("bindings", [{"scopes": ("write",)}, {"scopes": ("admin",), "user_id": "ann"}])
def test_others_may_not(acme, bindings):
    caller = acme.with_key(**bindings).caller
    for deed in (dead_letters.count_dead, dead_letters.replay_dead, dead_letters.drop_dead):
        with pytest.raises(Forbidden):
            deed(caller=caller)

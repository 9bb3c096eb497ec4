"""Whose job a caller may look at."""

from uuid import UUID

import pytest

from tenants.errors import NotFound
from tenants.jobs.queue import access_job, list_jobs
from tests.jobs import work


@pytest.fixture
def job_of(acme):
    def add(member, **options) -> UUID:
        return work.add(acme.tenant, work.kind(), requested_by=member.caller.principal, **options)

    return add


def sees(member, job_id: UUID) -> bool:
    listed = job_id in [job.id for job in list_jobs(caller=member.caller, limit=200)]
    try:
        access_job(caller=member.caller, job_id=job_id)
    except NotFound:
        assert not listed
        return False
    assert listed
    return True


def test_one_sees_what_one_has_asked_for(acme, job_of):
    other = acme.with_key()
    job_id = job_of(acme)
    assert sees(acme, job_id)
    assert not sees(other, job_id)


@pytest.mark.parametrize("scope", ["privacy", "admin"])
def test_an_officer_sees_those_of_the_tenant(acme, globex, job_of, scope):
    job_id = job_of(acme, user_id="ann")
    assert sees(acme.with_key(scopes=("read", scope)), job_id)
    assert not sees(globex.with_key(scopes=("read", scope)), job_id)
    assert sees(acme.with_key(scopes=("read", scope), user_id="ann"), job_id)
    assert not sees(acme.with_key(scopes=("read", scope), user_id="bob"), job_id)


def test_who_may_not_read_sees_exports_and_erasures_alone(acme, globex):
    ids = {
        for_privacy: work.add(acme.tenant, work.kind(for_privacy=for_privacy))
        for for_privacy in (False, True)
    }
    officer = acme.with_key(scopes=("privacy",))
    assert {one: sees(officer, job_id) for one, job_id in ids.items()} == {False: False, True: True}
    assert not sees(globex.with_key(scopes=("privacy",)), ids[True])


@pytest.mark.parametrize("bound", [{"agent_id": "coder"}, {"project": "apollo"}])
def test_an_officer_of_one_agent_or_project_sees_none_but_his_own(acme, job_of, bound):
    officer = acme.with_key(scopes=("read", "admin"), **bound)
    assert not sees(officer, job_of(acme))
    assert sees(officer, job_of(officer))

"""Restricting a person's memory: who may, what it leaves behind, and what goes on meanwhile."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tenants import restrictions
from tenants.audit import list_entries, record
from tenants.errors import Forbidden, Invalid, Restricted
from tenants.jobs.kinds import Kind, register
from tenants.jobs.queue import enqueue
from tenants.models import Job, Restriction
from tenants.privacy.export import export_file
from tenants.restrictions import (
    lift_restriction,
    list_restrictions,
    refuse_restricted,
    restrict_subject,
    restriction_of,
)
from tenants.scope import restricted_shown, scope
from tenants.subjects import pseudonym
from tenants.tombstones import refuse_erased, subject_of
from tests.privacy.people import erase, live, run_jobs
from tests.restrictions.people import WORD, meet, restrict


def restrict_here(member, user="ann", reason="contested"):
    return restrict_subject(caller=member.caller, user_id=user, reason=reason, now=timezone.now())


def test_it_is_done_at_once_and_told_by_a_job(acme):
    officer = acme.with_key(scopes=("read", "privacy"))
    path = "/api/v1/subjects/ann/restrict"
    assert officer.http.get(path).json()["restricted"] is False
    answer = officer.http.post(path, json={"reason": "contested"})
    assert (answer.status_code, answer.json()["state"]) == (202, "done")
    assert officer.http.get(answer.headers["Location"]).json()["result"]["restricted"] is True
    assert "ann" not in answer.text
    shown = officer.http.get(path).json()
    assert (shown["restricted"], shown["reason"]) == (True, "contested")
    assert officer.http.delete(path).status_code == 204
    assert officer.http.get(path).json()["restricted"] is False


def test_a_second_time_keeps_the_first_day_and_reason(acme):
    restrict_here(acme)
    first = restriction_of(caller=acme.caller, user_id="ann")
    restrict_here(acme, reason="another")
    again = restriction_of(caller=acme.caller, user_id="ann")
    assert (again.since, again.reason) == (first.since, "contested")


def test_the_audit_log_names_the_person_by_keyed_hash(acme):
    restrict_here(acme)
    lift_restriction(caller=acme.caller, user_id="ann", now=timezone.now())
    lift_restriction(caller=acme.caller, user_id="ann", now=timezone.now())
    officer = acme.with_key(scopes=("privacy",)).caller
    found = list_entries(caller=officer, limit=9, subject="ann")
    assert [one.action for one in found] == ["subject.lift_restriction", "subject.restrict"]
    assert {one.target for one in found} == {pseudonym(tenant_id=acme.tenant.id, user_id="ann")}
    assert list_entries(caller=officer, limit=9, subject="bob") == []


def test_entries_with_the_hash_alone_are_found_as_well(acme):
    bare = subject_of(tenant_id=acme.tenant.id, user_id="ann")[:12]
    with scope(acme.tenant.id):
        for action in ("subject.restrict", "memory.forget", "episode.delete"):
            record(tenant_id=acme.tenant.id, actor="test", action=action, target=bare)
    officer = acme.with_key(scopes=("privacy",)).caller
    found = [one.action for one in list_entries(caller=officer, limit=9, subject="ann")]
    assert found == ["memory.forget", "subject.restrict"]


@pytest.mark.parametrize("bound", [{"user_id": "bob"}, {"agent_id": "coder"}, {"project": "p"}])
def test_a_key_that_does_not_reach_all_of_the_person_is_refused(bound, acme):
    with pytest.raises(Forbidden):
        restrict_here(acme.with_key(**bound))


def test_nobody_cannot_be_restricted(acme):
    with pytest.raises(Invalid):
        restrict_here(acme, user="")


def test_they_are_listed_newest_first_page_by_page(acme):
    for user in ("ann", "bob", "cid"):
        restrict_here(acme, user)
    page = list_restrictions(caller=acme.caller, limit=2)
    assert [one.user_id for one in page] == ["cid", "bob"]
    rest = list_restrictions(caller=acme.caller, limit=2, before=(page[-1].since, page[-1].id))
    assert [one.user_id for one in rest] == ["ann"]


def test_another_tenants_person_of_that_name_is_not_restricted(acme, globex):
    restrict_here(acme)
    assert restriction_of(caller=globex.caller, user_id="ann") is None
    refuse_restricted(tenant_id=globex.tenant.id, user_id="ann")
    with pytest.raises(Restricted):
        refuse_restricted(tenant_id=acme.tenant.id, user_id="ann")


def test_every_write_learns_of_it_with_the_question_whether_the_person_was_erased(acme):
    restrict_here(acme)
    now = timezone.now()
    with pytest.raises(Restricted), scope(acme.tenant.id):
        refuse_erased(tenant_id=acme.tenant.id, user_id="ann", since=now)
    with restricted_shown(), scope(acme.tenant.id):
        refuse_erased(tenant_id=acme.tenant.id, user_id="ann", since=now)


def test_another_process_knows_it_once_what_it_remembers_is_old(acme, monkeypatch):
    monkeypatch.setattr(restrictions, "FRESH", 600.0)
    refuse_restricted(tenant_id=acme.tenant.id, user_id="ann")
    with scope(acme.tenant.id):  # as another process does
        row = Restriction(tenant_id=acme.tenant.id, user_id="ann", since=timezone.now(), requested_by="test")
        row.save(force_insert=True)
    refuse_restricted(tenant_id=acme.tenant.id, user_id="ann")
    monkeypatch.setattr(restrictions, "FRESH", -1.0)
    with pytest.raises(Restricted):
        refuse_restricted(tenant_id=acme.tenant.id, user_id="ann")


def test_work_on_the_person_waits_and_is_done_once_it_is_lifted(acme):
    done = []
    register(Kind("test.waits", lambda task, _prepared: done.append(task.user_id), attempts=1))
    register(Kind("test.waits_slow", lambda task, _prepared: done.append("slow"), slow=True,
                  prepare=lambda task: done.append("prepared"), attempts=1))  # fmt: skip
    restrict_here(acme)
    with scope(acme.tenant.id):
        for kind, user in (("test.waits", "ann"), ("test.waits", "bob"), ("test.waits_slow", "ann")):
            enqueue(kind, payload={}, user_id=user, now=timezone.now() - timedelta(seconds=1))
    run_jobs()
    assert done == ["bob"]
    with scope(acme.tenant.id):
        waiting = Job.objects.filter(user_id="ann").values_list("state", "attempts")
        assert list(waiting) == [("queued", 0)] * 2
    lift_restriction(caller=acme.caller, user_id="ann", now=timezone.now())
    run_jobs()
    assert sorted(done) == ["ann", "bob", "prepared", "slow"]


def test_the_person_is_still_exported(acme):
    live(acme, "ann")
    before = b"".join(export_file(tenant_id=acme.tenant.id, user_id="ann", actor="t", now=timezone.now()))
    restrict(acme, "ann")
    after = b"".join(export_file(tenant_id=acme.tenant.id, user_id="ann", actor="t", now=timezone.now()))
    assert len(after) > len(before) * 0.9
    officer = acme.with_key(scopes=("read", "privacy"))
    job = officer.http.post("/api/v1/subjects/ann/export").json()
    run_jobs()
    assert officer.http.get(f"/api/v1/jobs/{job['id']}").json()["state"] == "done"


def test_the_person_is_erased_and_the_restriction_with_it(acme):
    meet(acme.with_key(scopes=("read", "write", "ingest")), "ann")
    restrict(acme, "ann")
    receipt = erase(acme, "ann").receipt
    assert receipt["residue"] == {}
    assert receipt["erased"]["episode"] > 0
    assert receipt["erased"]["restriction"] == 1
    assert restriction_of(caller=acme.caller, user_id="ann") is None
    assert WORD not in acme.http.get("/api/v1/episodes").text

"""What people asked for, as an operator sees it: receipts to read, and jobs that failed for good."""

import json
import re

import httpx
import pytest
from django.utils import timezone

from tenants.models import AuditEntry, Job, Tombstone
from tenants.privacy import erasure, export
from tenants.privacy.receipts import is_genuine
from tenants.router import admin_role
from tests.jobs import work
from tests.privacy.people import run_jobs
from tests.tenants.test_admin_site import admin, form_token, login, operator, visitor

__all__ = ["admin", "login", "operator", "visitor"]
JOBS = "/admin/tenants/job/"


def act(admin: httpx.Client, action: str, ids: list, **fields: str) -> httpx.Response:
    form = {"csrfmiddlewaretoken": form_token(admin.get(JOBS)), "action": action, **fields}
    return admin.post(JOBS, data=form | {"_selected_action": [str(one) for one in ids]})


@pytest.fixture
def receipt(acme) -> Tombstone:
    """Of Ann, of whom there was one episode."""
    acme.http.post("/api/v1/episodes", json={"user_id": "ann", "text": "Ann likes email."}).raise_for_status()
    officer = acme.with_key(scopes=("read", "privacy"))
    officer.http.post("/api/v1/subjects/ann/erase").raise_for_status()
    run_jobs()
    with admin_role():
        return Tombstone.objects.get(tenant=acme.tenant)


def test_a_receipt_is_read_as_a_page_and_downloaded(admin, receipt):
    path = f"/admin/tenants/tombstone/{receipt.id}"
    shown = admin.get(f"{path}/change/").text
    assert "verified: yes" in shown
    assert "nothing was found afterwards" in shown
    assert re.search(r">episode</th><td>1<", shown), shown
    assert receipt.receipt["digests"]["episode"] in shown
    downloaded = admin.get(f"{path}/receipt.json")
    assert "attachment" in downloaded.headers["Content-Disposition"]
    assert is_genuine(json.loads(downloaded.text))
    assert "likes email" not in shown + downloaded.text


def test_a_receipt_that_was_changed_is_not_verified(admin, receipt):
    with admin_role():
        receipt.receipt["erased"]["episode"] = 0
        receipt.save(update_fields=["receipt"])
    assert "verified: no" in admin.get(f"/admin/tenants/tombstone/{receipt.id}/change/").text


def test_a_receipt_of_nobody_is_not_found(admin):
    for path in ("change/", "receipt.json"):
        gone = admin.get(f"/admin/tenants/tombstone/00000000-0000-0000-0000-000000000000/{path}")
        assert gone.status_code in (302, 404)


@pytest.fixture
def failed(acme, globex) -> dict[str, Job]:
    """Requests that have failed for good."""
    jobs = {
        "export": Job(tenant=acme.tenant, kind=export.KIND, user_id="ann"),
        "erasure": Job(tenant=acme.tenant, kind=erasure.KIND, payload={"user_id": "ann"}),
        "other": Job(tenant=globex.tenant, kind=export.KIND, user_id="bob"),
    }
    for one in jobs.values():
        one.state, one.max_attempts, one.error = "failed", 5, "away"
        one.run_at = one.created_at = timezone.now()
        with admin_role():
            one.save(force_insert=True)
    return jobs


def states(jobs: dict[str, Job]) -> dict[str, str]:
    with admin_role():
        return {name: found.state for name, one in jobs.items() for found in Job.objects.filter(id=one.id)}


def test_failed_requests_are_retried(admin, acme, failed):
    assert act(admin, "replay", [failed["export"].id, failed["erasure"].id]).status_code == 302
    assert states(failed) == {"export": "queued", "erasure": "queued", "other": "failed"}
    with admin_role():
        Job.objects.filter(id__in=[one.id for one in failed.values()]).delete()


def test_failed_exports_are_given_up_and_erasures_never(admin, acme, globex, failed):
    ids = [one.id for one in failed.values()]
    asked = act(admin, "give_up", ids)
    assert asked.status_code == 200, asked.text
    assert f"{acme.tenant.slug}, subject.export" in asked.text
    assert len(states(failed)) == 3
    assert act(admin, "give_up", ids, confirmed="yes").status_code == 302
    assert "2 jobs are given up." in admin.get(JOBS).text
    assert states(failed) == {"erasure": "failed"}
    with admin_role():
        entries = AuditEntry.objects.filter(tenant__in=[acme.tenant, globex.tenant], action="job.drop")
        assert [one.actor for one in entries] == ["admin:admin"] * 2
    assert act(admin, "give_up", [failed["erasure"].id], confirmed="yes").status_code == 302
    assert "owed to a person" in admin.get(JOBS).text
    assert states(failed) == {"erasure": "failed"}


def test_work_that_has_not_failed_is_not_given_up(admin, acme):
    waiting = work.add(acme.tenant, work.kind())
    assert act(admin, "give_up", [waiting], confirmed="yes").status_code == 302
    assert work.job(acme.tenant, waiting).state == "queued"

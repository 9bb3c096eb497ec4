"""The operator's page of jobs, over the running server."""

import io
import json
from collections.abc import Iterator

import httpx
import pytest
from django.core.management import call_command

from tenants.models import AuditEntry
from tenants.scope import scope
from tests.jobs import work
from tests.tenants.test_admin_site import form_token, log_in

PAGE = "/admin/tenants/job/"


@pytest.fixture
def admin(server: str) -> Iterator[httpx.Client]:
    out = io.StringIO()
    call_command("demo_tenant", stdout=out)
    demo = json.loads(out.getvalue())
    with httpx.Client(base_url=server, timeout=30) as client:
        assert log_in(client, demo["admin_user"], demo["admin_password"]).status_code == 302
        yield client


def test_a_dead_letter_is_shown_with_its_reason_and_replayed_from_the_list(admin, acme, globex):
    name = work.kind(work.fail_for_good)
    dead, others = (work.add(member.tenant, name) for member in (acme, globex))
    work.run()
    page = admin.get(PAGE, params={"state__exact": "failed", "kind": name})
    for shown in (str(dead), str(others), "off schema"):
        assert shown in page.text
    form = {"action": "replay", "_selected_action": [str(dead)], "csrfmiddlewaretoken": form_token(page)}
    answer = admin.post(PAGE, data=form)
    assert answer.status_code == 302, answer.text
    assert (work.job(acme.tenant, dead).state, work.job(globex.tenant, others).state) == ("queued", "failed")
    with scope(acme.tenant.id):
        entry = AuditEntry.objects.get(tenant_id=acme.tenant.id, action="job.replay")
    assert (entry.actor, entry.details) == ("admin:admin", {"kinds": {name: 1}})


def test_a_job_can_be_looked_at_and_not_changed(admin, acme):
    job_id = work.add(acme.tenant, work.kind(), payload={"n": "shown-payload"})
    page = admin.get(f"{PAGE}{job_id}/change/")
    assert (page.status_code, "shown-payload" in page.text) == (200, True)
    form = {"csrfmiddlewaretoken": form_token(admin.get(PAGE)), "state": "done"}
    assert admin.post(f"{PAGE}{job_id}/change/", data=form).status_code == 403
    for refused in (f"{job_id}/delete/", "add/"):
        assert admin.get(PAGE + refused).status_code == 403
    assert "delete_selected" not in admin.get(PAGE).text

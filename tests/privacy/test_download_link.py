"""An export by its link, without a key."""

from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from django.core import signing
from django.utils import timezone

from tenants.errors import Gone
from tenants.models import AuditEntry, Job, Tenant
from tenants.privacy.erasure import begin_erasure
from tenants.privacy.export import request_export
from tenants.privacy.links import SALT, access_link, link_to
from tenants.scope import scope
from tests.conftest import make_member
from tests.native.shapes import problem
from tests.privacy import people


@pytest.fixture(scope="module")
def house(server):
    return make_member("acme", server)


@pytest.fixture(scope="module")
def job(house):
    people.live(house, "ann")
    return exported(house, "ann")


def exported(member, user):
    job = request_export(caller=member.caller, user_id=user, now=timezone.now())
    people.run_jobs()
    with scope(member.tenant.id):
        return Job.objects.get(id=job.id)


def told(member, job, **bindings):
    return member.with_key(scopes=("read", "privacy"), **bindings).http.get(f"/api/v1/jobs/{job.id}").json()


def plain(url):
    """By somebody who has nothing but the link."""
    return httpx.get(url)


def downloads(member):
    with scope(member.tenant.id):
        return list(AuditEntry.objects.filter(action="export.download").order_by("at", "id"))


def test_the_finished_job_tells_a_link_that_downloads_without_a_key(house, job, server):
    result = told(house, job)["result"]
    assert result.keys() == {"records", "bytes", "download_url", "expires_at"}
    ahead = timezone.datetime.fromisoformat(result["expires_at"]) - timezone.now()
    assert timedelta(hours=23) < ahead <= timedelta(hours=24)
    assert result["download_url"].startswith(f"{server}/api/v1/exports/")
    assert "ann" not in urlsplit(result["download_url"]).path.split("/")[-1]
    answer = plain(result["download_url"])
    assert answer.status_code == 200
    assert "sesame turn" in str(people.lines(answer.content))
    assert b"<!doctype html>" in people.member_of(answer.content, "index.html")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"].startswith('attachment; filename="export-')
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_each_download_is_in_the_audit_log_without_a_name(house, job):
    before = len(downloads(house))
    url = told(house, job)["result"]["download_url"]
    assert len(downloads(house)) == before  # to be told a link downloads nothing
    plain(url)
    officer = house.with_key(scopes=("privacy",))
    officer.http.get(f"/api/v1/jobs/{job.id}/download")
    by_link, by_key = downloads(house)[before:]
    assert (by_link.actor, by_key.actor) == ("link", officer.caller.principal)
    assert by_link.target == by_key.target
    assert by_link.target.startswith("subject:")


CHANGES = [lambda t: t[:-1], lambda t: t + "x", lambda t: "x" + t, lambda t: "x", lambda t: t.swapcase(),
           lambda t: t.split(":")[0], lambda t: ":é:"]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_link_that_was_changed_leads_nowhere(house, job, server, change):
    token = link_to(job, caller=officer_of(house), now=timezone.now()).token
    before = len(downloads(house))
    problem(plain(f"{server}/api/v1/exports/{change(token)}"), 404)
    assert len(downloads(house)) == before


def officer_of(member):
    return member.with_key(scopes=("privacy",)).caller


def test_what_was_signed_for_something_else_is_no_link(house, job, server):
    meant = [house.tenant.id.hex, job.id.hex, 2**33]
    for salt in ("another", "django.core.signing"):
        problem(plain(f"{server}/api/v1/exports/{signing.Signer(salt=salt).sign_object(meant)}"), 404)
    good = signing.Signer(salt=SALT).sign_object(meant)
    assert plain(f"{server}/api/v1/exports/{good}").status_code == 200


def test_an_expired_link_is_gone(house, job, server, settings):
    settings.EXPORT_LINK_SECONDS = 60
    past = link_to(job, caller=officer_of(house), now=timezone.now() - timedelta(seconds=61))
    problem(plain(f"{server}/api/v1/exports/{past.token}"), 410)
    now = timezone.now().replace(microsecond=0)
    link = link_to(job, caller=officer_of(house), now=now)
    access_link(token=link.token, now=now + timedelta(seconds=59))
    with pytest.raises(Gone):
        access_link(token=link.token, now=now + timedelta(seconds=60))


def test_who_may_not_download_is_told_no_link(house, job):
    assert link_to(job, caller=house.caller, now=timezone.now()) is None  # reads and writes, not privacy
    mine = exported(house, "bob")
    answer = house.http.get(f"/api/v1/jobs/{mine.id}").json()["result"]
    assert answer.keys() == {"records", "bytes"}
    erasure = begin_erasure(tenant_id=house.tenant.id, user_id="nobody", actor="test", now=timezone.now())
    people.run_jobs()
    assert "download_url" not in told(house, erasure)["result"]


def test_a_link_ends_with_the_persons_memory_and_at_once(acme, server):
    people.live(acme, "ann")
    job = exported(acme, "ann")
    url = told(acme, job)["result"]["download_url"]
    begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=timezone.now())
    problem(plain(url), 410)
    people.run_jobs()
    problem(plain(url), 410)


def test_a_link_ends_with_its_tenant(globex, server):
    job = exported(globex, "ann")
    url = told(globex, job)["result"]["download_url"]
    assert plain(url).status_code == 200
    Tenant.objects.using("owner").filter(id=globex.tenant.id).update(disabled_at=timezone.now())
    problem(plain(url), 410)


def test_only_reading_is_possible_and_nothing_else_is_asked(house, job, server):
    url = told(house, job)["result"]["download_url"]
    for method in ("POST", "PUT", "DELETE"):
        problem(httpx.request(method, url), 405)
    problem(plain(f"{url}?x=1"), 422)
    assert plain(f"{url}/").status_code == 200
    assert httpx.get(f"{server}/api/v1/receipts/key").json().keys() == {"algorithm", "id", "public_key"}

"""Webhooks are told that an export of a person is ready."""

import json

from django.utils import timezone

from tenants.privacy.erasure import begin_erasure
from tenants.privacy.export import request_export
from tenants.restrictions import lift_restriction, restrict_subject
from tests.privacy import people
from tests.webhooks.receiver import deliver, deliveries, hook

HOOK = "http://127.0.0.1:9/"
USER = "ann-4711"


def exported(member, user=USER):
    caller = member.with_key(scopes=("privacy",)).caller
    return request_export(caller=caller, user_id=user, now=timezone.now())


def test_it_is_told_once_when_it_can_be_downloaded(acme, receiver):
    webhook = hook(acme, receiver.url, events=["subject.exported"])
    other = hook(acme, HOOK, events=["memory.created", "subject.erased"])
    job = exported(acme)
    assert deliveries(acme) == []
    people.run_jobs()
    deliver(webhook)
    (message,) = receiver.messages()
    assert message["type"] == "subject.exported"
    assert message["data"] == {"user_id": USER, "job_id": str(job.id), "url": f"/api/v1/jobs/{job.id}"}
    officer = acme.with_key(scopes=("privacy",))
    assert officer.http.get(f"{message['data']['url']}/download").content[:2] == b"PK"
    assert [one.webhook_id for one in deliveries(acme)] == [webhook.id]
    assert other.id != webhook.id


def test_of_a_restricted_person_it_waits_until_that_is_lifted(acme, receiver):
    webhook = hook(acme, receiver.url)
    caller = acme.with_key(scopes=("privacy",)).caller
    restrict_subject(caller=caller, user_id=USER, reason="", now=timezone.now())
    exported(acme)
    people.run_jobs()
    deliver(webhook)
    assert receiver.received == []
    lift_restriction(caller=caller, user_id=USER, now=timezone.now())
    deliver(webhook)
    assert [one["type"] for one in receiver.messages()] == ["subject.exported"]


def test_an_erasure_takes_it_along(acme):
    hook(acme, HOOK)
    exported(acme)
    people.run_jobs()
    assert [one.user_id for one in deliveries(acme)] == [USER]
    assert people.erase(acme, USER).receipt["residue"] == {}
    rows = deliveries(acme)
    assert [one.event for one in rows] == ["subject.erased"]
    assert USER not in json.dumps([one.data for one in rows])


def test_one_that_an_erasure_has_overtaken_is_never_told(acme):
    hook(acme, HOOK)
    exported(acme)
    begin_erasure(tenant_id=acme.tenant.id, user_id=USER, actor="test", now=timezone.now())
    people.run_jobs()
    assert [one.event for one in deliveries(acme)] == ["subject.erased"]

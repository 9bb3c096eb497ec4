"""What is announced arrives, signed, at least once."""

import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.episodes import store_episode
from episodic.types import NewEpisode
from tenants.jobs import runner
from tenants.models import AuditEntry, Job, Restriction
from tenants.scope import scope
from tests.processes import ROOT
from tests.webhooks.receiver import deliver, deliveries, hook, is_signed, make_due
from webhooks import delivering, sending
from webhooks.delivering import ATTEMPTS, sweep
from webhooks.models import Webhook
from webhooks.webhooks import rotate_secret, show_secret


def remember(member, text="we chose Postgres", **given):
    return store_episode(caller=member.caller, new=NewEpisode(text=text, **given), now=timezone.now())


def webhook_of(webhook):
    with scope(webhook.tenant_id):
        return Webhook.objects.get(id=webhook.id)


def admin(member):
    return member.with_key(scopes=("admin",)).caller


def test_a_memory_is_told_signed_and_without_its_text(acme, receiver):
    webhook = hook(acme, receiver.url)
    episode = remember(acme, user_id="ann", session_id="s")
    deliver(webhook)
    (one,) = receiver.received
    assert one.message["type"] == "memory.created"
    assert one.message["data"] == {
        "kind": "episode", "id": str(episode.id), "ids": [str(episode.id)], "user_id": "ann",
        "agent_id": None, "project": None, "session_id": "s", "url": f"/api/v1/episodes/{episode.id}",
    }  # fmt: skip
    assert is_signed(one, show_secret(caller=admin(acme), webhook_id=webhook.id).secret)
    (row,) = deliveries(acme)
    assert (row.state, row.attempts, row.last_status) == ("delivered", 1, 204)
    assert one.headers["webhook-id"] == f"evt_{row.event_id.hex}"
    assert one.headers["content-type"] == "application/json"


def test_the_job_sends_it(acme, receiver):
    webhook = hook(acme, receiver.url)
    remember(acme)
    with scope(acme.tenant.id):
        Job.objects.exclude(kind="webhook.deliver").delete()
    while runner.run_jobs(slow=True):
        pass
    assert len(receiver.received) == 1
    assert webhook_of(webhook).failures == 0


def test_the_text_is_told_to_who_asks_for_it(acme, receiver):
    webhook = hook(acme, receiver.url, include_text=True)
    remember(acme, text="ü" * 20_000)
    deliver(webhook)
    assert receiver.messages()[0]["data"]["text"] == "ü" * 10_000


def test_after_a_rotation_both_secrets_sign_for_a_day(acme, receiver):
    webhook, caller = hook(acme, receiver.url), admin(acme)
    old = show_secret(caller=caller, webhook_id=webhook.id).secret
    rotate_secret(caller=caller, webhook_id=webhook.id, now=timezone.now())
    new = show_secret(caller=caller, webhook_id=webhook.id).secret
    remember(acme)
    deliver(webhook)
    assert old != new
    assert is_signed(receiver.received[0], old)
    assert is_signed(receiver.received[0], new)
    with scope(acme.tenant.id):
        Webhook.objects.update(rotated_at=timezone.now() - timedelta(hours=25))
    remember(acme, text="another")
    deliver(webhook)
    assert not is_signed(receiver.received[1], old)
    assert is_signed(receiver.received[1], new)


@pytest.mark.parametrize(
    ("status", "error"), [(500, "status 500"), (302, "status 302"), (0, "the connection broke off")]
)
def test_what_fails_is_sent_again_under_the_same_id(acme, receiver, status, error):
    receiver.statuses = [status, 200]
    receiver.headers = {"Location": f"{receiver.url}&elsewhere"}
    webhook = hook(acme, receiver.url)
    remember(acme)
    begun = timezone.now()
    deliver(webhook)
    (row,) = deliveries(acme)
    assert (row.state, row.last_error, row.attempts) == ("pending", error, 1)
    assert begun <= row.due_at - timedelta(seconds=5) <= timezone.now()
    deliver(webhook)
    assert len(receiver.received) == 1  # not before it is due
    make_due(webhook)
    deliver(webhook)
    assert len({one.headers["webhook-id"] for one in receiver.received}) == 1
    assert [one.body for one in receiver.received] == [receiver.received[0].body] * 2
    assert deliveries(acme)[0].state == "delivered"


def test_one_that_hangs_is_left_in_time(acme, receiver, monkeypatch):
    monkeypatch.setattr(sending, "TOTAL_SECONDS", 0.2)
    receiver.statuses = [-1]
    webhook = hook(acme, receiver.url)
    remember(acme)
    deliver(webhook)
    (row,) = deliveries(acme)
    assert (row.state, row.last_error) == ("pending", "timeout")


def test_one_that_refuses_connections_is_tried_again(acme, receiver):
    url = receiver.url.replace(receiver.url.split(":")[2].split("/")[0], "9")
    webhook = hook(acme, url)
    remember(acme)
    deliver(webhook)
    assert deliveries(acme)[0].last_error == "no connection"


def test_after_the_last_attempt_it_is_given_up(acme, receiver):
    receiver.statuses = [500]
    webhook = hook(acme, receiver.url)
    remember(acme)
    for _attempt in range(ATTEMPTS):
        make_due(webhook)
        deliver(webhook)
    assert [(row.state, row.attempts) for row in deliveries(acme)] == [("failed", ATTEMPTS)]
    assert len(receiver.received) == ATTEMPTS


def test_one_that_keeps_failing_is_paused_and_then_switched_off(acme, receiver, settings):
    settings.WEBHOOK_DISABLE_AFTER = 3
    receiver.statuses = [503]
    webhook = hook(acme, receiver.url)
    for number in range(4):
        remember(acme, text=f"number {number}")
    deliver(webhook)
    assert len(receiver.received) == 2  # the first failure may be the memory's, not the receiver's
    make_due(webhook)
    deliver(webhook)
    assert len(receiver.received) == 3
    off = webhook_of(webhook)
    assert (off.is_active, off.failures) == (False, 3)
    assert off.disabled_reason == "3 attempts in a row failed, the last: status 503"
    with scope(acme.tenant.id):
        assert AuditEntry.objects.filter(action="webhook.disable", target=str(webhook.id)).count() == 1


def test_who_says_gone_is_told_no_more(acme, receiver):
    receiver.statuses = [410]
    webhook = hook(acme, receiver.url)
    remember(acme)
    remember(acme, text="another")
    deliver(webhook)
    assert len(receiver.received) == 1
    assert webhook_of(webhook).disabled_reason == "the receiver answered 410 Gone"


def test_the_sweeper_finds_what_is_due(acme, receiver):
    webhook = hook(acme, receiver.url)
    remember(acme)
    with scope(acme.tenant.id):
        Job.objects.all().delete()  # lost
    sweep(now=timezone.now())
    with scope(acme.tenant.id):
        (job,) = Job.objects.filter(kind="webhook.deliver")
    assert job.payload == {"webhook": str(webhook.id)}


def test_what_is_about_a_restricted_person_waits(acme, receiver):
    webhook = hook(acme, receiver.url)
    remember(acme, user_id="ann")
    with scope(acme.tenant.id):
        Job.objects.all().delete()
        Restriction.objects.create(
            tenant_id=acme.tenant.id, user_id="ann", since=timezone.now(), requested_by="test"
        )
    deliver(webhook)
    sweep(now=timezone.now())
    with scope(acme.tenant.id):
        assert not Job.objects.filter(kind="webhook.deliver").exists()
        Restriction.objects.all().delete()
    assert receiver.received == []
    deliver(webhook)
    assert len(receiver.received) == 1


KILLED = """
import django, os
django.setup()
from uuid import UUID
from django.conf import settings
from webhooks import delivering
settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
delivering._record = lambda *args: os._exit(9)
delivering.deliver_due(tenant_id=UUID("{tenant}"), webhook_id=UUID("{webhook}"))
"""


def test_a_worker_that_dies_while_it_sends_leaves_it_to_be_sent_again(acme, receiver):
    webhook = hook(acme, receiver.url)
    remember(acme)
    code = KILLED.format(tenant=webhook.tenant_id, webhook=webhook.id)
    died = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=60)
    assert died.returncode == 9
    (row,) = deliveries(acme)
    assert (row.state, len(receiver.received)) == ("pending", 1)
    assert row.due_at - timezone.now() <= timedelta(seconds=delivering.CLAIM_SECONDS)
    make_due(webhook)
    deliver(webhook)
    assert [one.headers["webhook-id"] for one in receiver.received] == [f"evt_{row.event_id.hex}"] * 2
    assert deliveries(acme)[0].state == "delivered"

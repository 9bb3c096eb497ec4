"""Webhooks over their routes: made, changed, shown, tried, deleted; deliveries listed and put back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tenants.models import AuditEntry, StoredAnswer
from tenants.scope import scope
from tests.webhooks.receiver import deliver, deliveries, hook, is_signed
from tests.webhooks.test_deliver import remember
from webhooks import webhooks as domain
from webhooks.clearing import clear_deliveries
from webhooks.models import Delivery

URL = "https://93.184.215.14/hook?token=4711"


def admin(member, **bindings):
    return member.with_key(scopes=("admin",), **bindings).http


def made(member, **given):
    answer = admin(member).post("/api/v1/webhooks", json={"url": URL, **given})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_one_is_made_with_every_event_and_no_secret_in_the_answer(acme):
    one = made(acme)
    assert one["events"] == domain.EVENTS
    assert (one["kinds"], one["include_text"], one["is_active"]) == ([], False, True)
    assert "secret" not in one
    assert admin(acme).get("/api/v1/webhooks").json() == {"results": [one], "next": None}


def test_every_change_is_in_the_audit_log_without_the_url(acme):
    path = f"/api/v1/webhooks/{made(acme)['id']}"
    http = admin(acme)
    http.patch(path, json={"description": "x"})
    http.patch(path, json={"description": "x"})  # no change
    http.get(f"{path}/secret")
    http.post(f"{path}/rotate")
    http.post(f"{path}/test")
    http.delete(path)
    with scope(acme.tenant.id):
        entries = list(AuditEntry.objects.filter(action__startswith="webhook.").order_by("id"))
    deeds = ["create", "change", "secret", "rotate", "test", "delete"]
    assert [one.action for one in entries] == [f"webhook.{deed}" for deed in deeds]
    assert not any("4711" in str(one.details) for one in entries)
    assert http.get(path).status_code == 404
    assert deliveries(acme) == []  # they went along


def test_the_secret_is_shown_and_stored_nowhere(acme):
    path = f"/api/v1/webhooks/{made(acme)['id']}"
    http = admin(acme)
    first = http.get(f"{path}/secret")
    assert first.headers["Cache-Control"] == "no-store"
    secret = first.json()["secret"]
    http.post(f"{path}/rotate", headers={"Idempotency-Key": "k"})
    assert http.get(f"{path}/secret").json()["secret"] != secret
    with scope(acme.tenant.id):
        assert not any("whsec_" in one.body for one in StoredAnswer.objects.all())


def test_a_key_of_a_part_of_the_tenant_reaches_none(acme):
    path = f"/api/v1/webhooks/{made(acme)['id']}"
    for bindings in ({"user_id": "ann"}, {"agent_id": "coder"}, {"project": "apollo"}):
        http = admin(acme, **bindings)
        for answer in (http.get("/api/v1/webhooks"), http.get(path), http.get(f"{path}/secret")):
            assert answer.status_code == 403
        assert http.get("/api/v1/webhooks/deliveries").status_code == 403


def test_globex_reaches_none_of_acmes(acme, globex, receiver):
    webhook = hook(acme, receiver.url)
    remember(acme)
    (row,) = deliveries(acme)
    http, path = admin(globex), f"/api/v1/webhooks/{webhook.id}"
    for answer in (
        http.get(path),
        http.get(f"{path}/secret"),
        http.get(f"{path}/deliveries"),
        http.post(f"{path}/rotate"),
        http.post(f"{path}/test"),
        http.patch(path, json={"is_active": False}),
        http.delete(path),
        http.get(f"/api/v1/webhooks/deliveries/{row.id}"),
        http.post(f"/api/v1/webhooks/deliveries/{row.id}/replay"),
    ):
        assert answer.status_code == 404
    assert http.get("/api/v1/webhooks").json()["results"] == []
    assert http.get("/api/v1/webhooks/deliveries").json()["results"] == []


@pytest.mark.parametrize(
    "body", [{}, {"url": ""}, {"url": URL, "events": []}, {"url": URL, "events": ["webhook.test"]},
             {"url": URL, "events": ["x"]}, {"url": URL, "kinds": ["turn"]}, {"url": URL, "secret": "mine"}],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(acme, body):
    assert admin(acme).post("/api/v1/webhooks", json=body).status_code == 422


def test_a_test_is_sent_whatever_is_wanted(acme, receiver):
    webhook = hook(acme, receiver.url, events=["memory.erased"])
    answer = admin(acme).post(f"/api/v1/webhooks/{webhook.id}/test")
    assert answer.status_code == 202
    deliver(webhook)
    (one,) = receiver.received
    assert one.message["type"] == "webhook.test"
    secret = admin(acme).get(f"/api/v1/webhooks/{webhook.id}/secret").json()["secret"]
    assert is_signed(one, secret)
    shown = admin(acme).get(f"/api/v1/webhooks/deliveries/{answer.json()['id']}").json()
    assert (shown["state"], shown["last_status"], shown["next_attempt_at"]) == ("delivered", 204, None)


def test_deliveries_are_listed_in_pages_and_put_back(acme, receiver):
    receiver.statuses = [410, 200]
    webhook = hook(acme, receiver.url)
    for number in range(3):
        remember(acme, text=f"number {number}")
    deliver(webhook)  # the first fails for good, and switches the webhook off
    http, path = admin(acme), f"/api/v1/webhooks/{webhook.id}"
    page = http.get(f"{path}/deliveries", params={"limit": 2}).json()
    rest = http.get(f"{path}/deliveries", params={"limit": 2, "cursor": page["next"]}).json()
    listed = [one["id"] for one in (*page["results"], *rest["results"])]
    assert listed == [str(row.id) for row in reversed(deliveries(acme))]
    (failed,) = http.get("/api/v1/webhooks/deliveries", params={"state": "failed"}).json()["results"]
    assert (failed["last_status"], failed["last_error"]) == (410, "status 410")
    replay = f"/api/v1/webhooks/deliveries/{failed['id']}/replay"
    assert http.post(replay).status_code == 409  # it is switched off
    on = http.patch(path, json={"is_active": True}).json()
    assert (on["failures"], on["disabled_reason"]) == (0, None)
    assert http.post(replay).json()["state"] == "pending"
    assert http.post(replay).status_code == 409  # it waits already
    deliver(webhook)
    assert {row.state for row in deliveries(acme)} == {"delivered"}
    assert len({one.headers["webhook-id"] for one in receiver.received}) == 3


def test_one_that_is_switched_off_says_since_when(acme):
    path = f"/api/v1/webhooks/{made(acme)['id']}"
    off = admin(acme).patch(path, json={"is_active": False}).json()
    assert off["disabled_at"] is not None
    assert off["disabled_reason"] == "switched off"
    assert admin(acme).post(f"{path}/test").status_code == 409


def test_old_deliveries_are_cleared(acme, settings):
    hook(acme, "http://127.0.0.1:9/")
    remember(acme)
    remember(acme, text="another")
    old, new = deliveries(acme)
    now = timezone.now()
    with scope(acme.tenant.id):
        before = now - timedelta(days=settings.WEBHOOK_DELIVERY_DAYS, seconds=1)
        Delivery.objects.filter(id=old.id).update(created_at=before)
    clear_deliveries(now=now)
    assert [row.id for row in deliveries(acme)] == [new.id]


def test_there_is_an_end_to_how_many(acme, monkeypatch):
    monkeypatch.setattr(domain, "MOST", 1)
    hook(acme, "http://127.0.0.1:9/")
    with pytest.raises(domain.Conflict):
        hook(acme, "http://127.0.0.1:9/")

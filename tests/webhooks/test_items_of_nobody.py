"""Items of the store that nobody has, in a namespace that names a person: what webhooks are told of them is
the person's."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tenants.models import Job
from tenants.scope import scope
from tests.privacy.people import erase, export
from tests.restrictions.people import lift, restrict
from tests.store.items import delete, put
from tests.webhooks.receiver import deliver, deliveries, hook, make_due
from webhooks.delivering import sweep
from webhooks.models import Webhook

ANA = "ana-of-the-webhooks"


@pytest.fixture
def webhook(acme, receiver):
    """Told of an item under Ana's name and one under Bob's, and not yet sent anything."""
    made = hook(acme, receiver.url, include_text=True, events=["memory.created", "memory.erased"])
    with scope(acme.tenant.id):
        Webhook.objects.update(resume_at=timezone.now() + timedelta(hours=1))
    put(acme, ["users", ANA, "notes"], "k", {"text": "Ana drinks quercitron tea."})
    put(acme, ["users", "bob"], "k", {"text": "Bob drinks coffee."})
    return made


def texts(receiver):
    return [one["data"].get("text") for one in receiver.messages()]


def test_an_erasure_takes_them_also_those_that_wait(acme, webhook, receiver):
    delete(acme, ["users", ANA, "notes"], "k")
    put(acme, ["users", ANA, "notes"], "k", {"text": "Ana drinks quercitron tea again."})
    assert len(deliveries(acme)) == 4
    receipt = erase(acme, ANA).receipt
    assert (receipt["erased"]["webhook_delivery"], receipt["residue"]) == (3, {})
    assert "quercitron" not in json.dumps([one.data for one in deliveries(acme)])
    make_due(webhook)
    deliver(webhook)
    assert texts(receiver) == ["Bob drinks coffee."]


def test_they_are_in_the_export(acme, webhook):
    (told,) = [one for one in export(acme, ANA) if one["kind"] == "webhook_delivery"]
    assert told["data"]["text"] == "Ana drinks quercitron tea."


def test_while_the_person_is_restricted_they_wait_and_are_not_seen(acme, webhook, receiver):
    restrict(acme, ANA)
    make_due(webhook)
    deliver(webhook)
    assert texts(receiver) == ["Bob drinks coffee."]
    assert ANA not in json.dumps([one.names for one in deliveries(acme)])
    with scope(acme.tenant.id):
        Job.objects.all().delete()
    sweep(now=timezone.now())
    with scope(acme.tenant.id):
        assert not Job.objects.filter(kind="webhook.deliver").exists()
    lift(acme, ANA)
    deliver(webhook)
    assert texts(receiver) == ["Bob drinks coffee.", "Ana drinks quercitron tea."]

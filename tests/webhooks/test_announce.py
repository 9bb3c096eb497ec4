"""What happens to memories is told to whoever wants to know, and only if it is committed."""

import json
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from episodic.editing import edit_episode
from episodic.entities import NewEntity, confirm_entity, delete_entity, put_entity
from episodic.inserting import insert_episode
from episodic.models import Episode
from episodic.retention import expire_memory
from episodic.retraction import delete_episode, retract_episode
from knowledge.documents import delete_document
from knowledge.ingesting import ingest_document
from knowledge.types import NewDocument
from observations.editing import edit_observation
from observations.saving import save_observation
from observations.transfer import ImportedObservation, import_observations
from observations.trash import delete_observation, restore_observation
from observations.types import Changes, NewObservation
from tenants.models import Tombstone
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tests.privacy import people
from tests.webhooks.receiver import deliveries, hook
from tests.webhooks.test_deliver import remember
from webhooks.models import Delivery, Webhook

HOOK = "http://127.0.0.1:9/"  # where nobody listens: nothing is sent here


def told(member) -> list[tuple[str, str, str]]:
    return [(one.event.removeprefix("memory."), one.kind, one.memory_id) for one in deliveries(member)]


def test_what_happens_to_an_episode(acme):
    hook(acme, HOOK)
    now, caller = timezone.now(), acme.caller
    one = remember(acme)
    edit_episode(caller=caller, episode_id=one.id, changes={"text": "we chose MySQL"}, now=now)
    edit_episode(caller=caller, episode_id=one.id, changes={"text": "we chose MySQL"}, now=now)
    for _time in range(2):
        retract_episode(caller=caller, episode_id=one.id, now=now)
    delete_episode(caller=caller, episode_id=one.id, hard=True, now=now)
    deeds = ["created", "updated", "retracted", "erased"]
    assert told(acme) == [(deed, "episode", str(one.id)) for deed in deeds]


def test_what_a_fact_closes_is_retracted(acme):
    hook(acme, HOOK, events=["memory.retracted"])
    old = remember(acme, text="Ana's favourite colour is red", memory_type="semantic", user_id="ana")
    new = remember(acme, text="Ana's favourite colour is blue", memory_type="semantic", user_id="ana")
    assert new.supersedes == (old.id,)
    assert told(acme) == [("retracted", "episode", str(old.id))]


def test_what_happens_to_a_slot(acme):
    hook(acme, HOOK)
    now, caller = timezone.now(), acme.caller

    def put(value, **given):
        return put_entity(
            caller=caller, new=NewEntity(user_id="ann", key="email", value=value, **given), now=timezone.now()
        ).entity

    first, _again, second = put("a@x.org"), put("a@x.org"), put("b@x.org")
    waits = put("c@x.org", extracted=True)
    assert waits.status == "pending"
    confirm_entity(caller=caller, user_id="ann", key="email", now=timezone.now())
    delete_entity(caller=caller, user_id="ann", key="email", hard=False, now=timezone.now())
    assert told(acme) == [
        ("created", "entity", str(first.id)),
        ("updated", "entity", str(second.id)),
        ("updated", "entity", str(waits.id)),
        ("retracted", "entity", str(waits.id)),
    ]
    delete_entity(caller=caller, user_id="ann", key="email", hard=True, now=now)
    assert {one for one in told(acme) if one[0] == "erased"} == {
        ("erased", "entity", str(one.id)) for one in (first, second, waits)
    }


def test_what_happens_to_an_observation(acme):
    hook(acme, HOOK, include_text=True)
    now, caller = timezone.now(), acme.caller
    new = NewObservation(session_id="s", type="decision", title="DB", content="Postgres", project="apollo")
    one = save_observation(caller=caller, new=new, now=now).observation
    save_observation(caller=caller, new=new, now=now)  # seen again
    edit_observation(caller=caller, observation_id=one.id, changes=Changes(title="The DB"), now=now)
    delete_observation(caller=caller, observation_id=one.id, hard=False, now=now)
    restore_observation(caller=caller, observation_id=one.id, now=now)
    assert deliveries(acme)[0].data["text"] == "DB\n\nPostgres"
    delete_observation(caller=caller, observation_id=one.id, hard=True, now=now)
    deeds = ["created", "updated", "retracted", "created", "erased"]
    assert told(acme) == [(deed, "observation", str(one.id)) for deed in deeds]
    assert not any("text" in row.data for row in deliveries(acme))  # it is gone there, too


def test_what_is_imported_is_created(acme):
    hook(acme, HOOK)
    now = timezone.now()
    rows = [
        ImportedObservation(
            place=str(number),
            new=NewObservation(session_id="s", type="decision", title="t", content=f"{number}", project="p"),
            created_at=now,
            updated_at=now,
        )
        for number in range(3)
    ]
    import_observations(caller=acme.caller, rows=rows, now=now)
    assert [one[:2] for one in told(acme)] == [("created", "observation")] * 3


def test_what_happens_to_a_document(acme):
    hook(acme, HOOK)
    now, caller = timezone.now(), acme.caller

    def ingest(text):
        new = NewDocument(data=text, title="Doors", source="doors.md")
        return ingest_document(caller=caller, new=new, now=now).shown.document

    one = ingest(b"Open sesame.")
    ingest(b"Open sesame.")
    ingest(b"Close sesame.")
    delete_document(caller=caller, document_id=one.id)
    deeds = ["created", "updated", "erased"]
    assert told(acme) == [(deed, "document", str(one.id)) for deed in deeds]


def test_what_retention_deletes_is_told_together_by_whose_it_was(acme):
    hook(acme, HOOK, events=["memory.erased"])
    now = timezone.now()
    with scope(acme.tenant.id):
        for user_id, number in (("ann", 3), ("bob", 2)):
            Episode.objects.bulk_create(
                Episode(
                    tenant_id=acme.tenant.id, user_id=user_id, text="x", origin="session",
                    created_at=now - timedelta(days=400),
                )
                for _one in range(number)
            )  # fmt: skip
    expire_memory(tenant_id=acme.tenant.id, tenant=acme.tenant.slug, actor="test", now=now)
    found = {row.user_id: row for row in deliveries(acme)}
    assert {user: len(row.data["ids"]) for user, row in found.items()} == {"ann": 3, "bob": 2}
    assert found["ann"].data["id"] is None


def test_what_is_rolled_back_was_never_told(acme):
    hook(acme, HOOK)
    episode = Episode(tenant_id=acme.tenant.id, text="x", created_at=timezone.now())
    with suppress(ZeroDivisionError), scope(acme.tenant.id):
        insert_episode(episode)
        assert Delivery.objects.filter(tenant_id=acme.tenant.id).exists()
        raise ZeroDivisionError
    assert deliveries(acme) == []


@pytest.mark.parametrize(
    ("wanted", "is_told"),
    [
        ({}, True),
        ({"kinds": ["episode", "entity"]}, True),
        ({"kinds": ["observation"]}, False),
        ({"events": ["memory.updated"]}, False),
        ({"agent_id": "coder"}, True),
        ({"agent_id": "spy"}, False),
        ({"project": "Apollo"}, True),
        ({"project": "zeus"}, False),
        ({"is_active": False}, False),
    ],
)
def test_each_is_told_what_it_wants(acme, wanted, is_told):
    hook(acme, HOOK, **wanted)
    remember(acme, agent_id="coder", project="apollo")
    assert bool(deliveries(acme)) == is_told


def test_every_webhook_is_told_under_one_event_id(acme):
    hook(acme, HOOK)
    hook(acme, HOOK)
    remember(acme)
    first, second = deliveries(acme)
    assert first.webhook_id != second.webhook_id
    assert first.event_id == second.event_id


def test_globex_is_told_nothing_of_acme(acme, globex):
    hook(globex, HOOK)
    remember(acme)
    assert deliveries(globex) == deliveries(acme) == []


def test_without_webhooks_a_write_asks_once_in_five_seconds(acme):
    queries = []
    for _time in range(2):
        with scope(acme.tenant.id), CaptureQueriesContext(connection) as captured:
            insert_episode(Episode(tenant_id=acme.tenant.id, text="x", created_at=timezone.now()))
        queries.append(sum("webhooks_" in one["sql"] for one in captured))
    assert queries == [1, 0]


def test_an_erasure_is_told_by_a_pseudonym_and_takes_what_was_told_along(acme):
    hook(acme, HOOK, include_text=True)
    remember(acme, text="Ann likes tea", user_id="ann-4711")
    remember(acme, text="Bob likes coffee", user_id="bob")
    begin_erasure(tenant_id=acme.tenant.id, user_id="ann-4711", actor="test", now=timezone.now())
    with scope(acme.tenant.id):
        Webhook.objects.update(resume_at=timezone.now() + timedelta(hours=1))
    people.run_jobs()
    rows = deliveries(acme)
    assert [(row.event, row.user_id) for row in rows] == [("memory.created", "bob"), ("subject.erased", "")]
    with scope(acme.tenant.id):
        tombstone = Tombstone.objects.get()
    assert rows[1].data["subject"] == tombstone.subject
    assert tombstone.receipt["erased"]["webhook_delivery"] == 1
    assert tombstone.receipt["residue"] == {}
    assert "ann" not in json.dumps([row.data for row in rows]).lower()

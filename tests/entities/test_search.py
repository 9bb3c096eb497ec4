"""Slots found by what they mean, and the sweeper that makes those found that were not embedded at once."""

import pytest
from django.utils import timezone

from episodic import entity_embedding
from episodic.entities import EntityFilter, confirm_entity, delete_entity, nearest_slots, search_entities
from episodic.entity_embedding import embed_pending_slots, slot_vectors
from episodic.models import Entity
from episodic.tasks import embed_pending_episodes
from providers.embeddings import reset_embedder
from tenants import embedding as tenants_embedding
from tenants.embedding import embed_query
from tenants.errors import Forbidden, Invalid, Unavailable
from tenants.router import admin_role
from tenants.scope import scope
from tenants.vectors import count_unread
from tests.entities.facts import KIM, embedded, rows, say
from tests.episodic.conftest import model_away  # noqa: F401  a fixture
from tests.working.conversation import at_once


@pytest.fixture
def kim(caller):
    """Whose slots are embedded."""
    for key, value in (("favourite_food", "pizza and pasta"), ("pet", "a grey cat"), ("job", "train driver")):
        say(caller, value, key=key)
    return caller


def search(caller, query, *, limit=9, **where):
    where = EntityFilter(**{"user_id": KIM} | where)
    return search_entities(caller=caller, where=where, query=query, limit=limit)


def keys(found):
    return [one.key for one, _score in found]


@pytest.mark.parametrize(
    ("query", "first"),
    [("What does he like to eat?", "favourite_food"), ("kitten", "pet"), ("railway work", "job")],
)
def test_the_slot_that_means_it_comes_first(kim, query, first):
    found = search(kim, query)
    scores = [score for _one, score in found]
    assert (found[0][0].key, len(found), scores) == (first, 3, sorted(scores, reverse=True))
    assert all(-1 <= score <= 1 for score in scores)
    assert keys(search(kim, query, limit=1)) == [first]


def test_every_slot_of_a_user_is_compared_and_no_other(kim):
    for number in range(30):
        say(kim, f"cat {number}", key=f"pet{number}", user_id="lee", extracted=True)
    embed_pending_slots()
    assert sorted(keys(search(kim, "cat"))) == ["favourite_food", "job", "pet"]
    assert len(search(kim, "cat", user_id="lee", limit=100)) == 30


def test_history_is_not_found(kim):
    say(kim, "a brown dog", key="pet")
    delete_entity(caller=kim, user_id=KIM, key="job", hard=False, now=timezone.now())
    assert sorted((one.key, one.value) for one, _score in search(kim, "cat")) == [
        ("favourite_food", "pizza and pasta"), ("pet", "a brown dog"),
    ]  # fmt: skip


def test_what_waits_is_found_among_what_waits(kim):
    say(kim, "kim@example.com", key="email", extracted=True)
    embed_pending_slots()
    assert "email" not in keys(search(kim, "mail"))
    assert keys(search(kim, "mail", status="pending")) == ["email"]
    confirm_entity(caller=kim, user_id=KIM, key="email", now=timezone.now())
    assert search(kim, "mail")[0][0].key == "email"
    assert keys(search(kim, "mail", key="pet")) == ["pet"]


def test_nearest_slots_are_those_of_a_vector(kim):
    vector = embed_query("kitten", tenant_id=kim.tenant_id)
    found = nearest_slots(caller=kim, user_id=KIM, vector=vector, limit=2)
    assert (keys(found)[0], len(found)) == ("pet", 2)
    assert nearest_slots(caller=kim, user_id="", vector=vector, limit=2) == []


@pytest.mark.parametrize(("where", "field"), [
    ({"user_id": None}, "user_id"), ({"as_of": timezone.now()}, "as_of"),
    ({"status": "superseded"}, "status"), ({"status": "retracted"}, "status"),
    ({"status": "dreamt"}, "status"),
])  # fmt: skip
def test_what_cannot_be_searched_is_refused(caller, where, field):
    with pytest.raises(Invalid) as refused:
        search(caller, "cat", **where)
    assert refused.value.field == field


def test_others_slots_are_not_found(acme, globex, kim):
    bound = acme.with_key(user_id="lee").caller
    assert search(globex.caller, "cat") == search(bound, "cat", user_id=None) == []
    with pytest.raises(Forbidden):
        search(bound, "cat")
    with pytest.raises(Forbidden):
        nearest_slots(caller=bound, user_id=KIM, vector=embed_query("cat", tenant_id=kim.tenant_id), limit=1)


def test_what_was_written_without_the_model_is_found_after_the_sweep(caller, request):
    drain()
    request.getfixturevalue("model_away")
    assert say(caller, "a grey cat", key="pet").entity.embed_pending
    with pytest.raises(Unavailable):
        search(caller, "kitten")
    assert embed_pending_slots() == 0
    reset_embedder()
    assert embed_pending_episodes() >= 1, "by the task of the episodes, with what other tests left"
    assert keys(search(caller, "kitten")) == ["pet"]


def drain():
    """What other tests left waiting would take turns with this one's."""
    with admin_role():
        Entity.objects.filter(embed_pending=True).update(embed_pending=False)


def test_what_is_extracted_is_embedded_by_the_sweeper(caller):
    drain()
    for number in range(5):
        say(caller, f"v{number}", key=f"k{number}", extracted=True)
    assert embedded(caller) == set()
    assert embed_pending_slots(limit=3) == 3
    assert at_once(embed_pending_slots, embed_pending_slots)
    assert embedded(caller) == {f"v{number}" for number in range(5)}
    assert embed_pending_slots() == 0


def test_what_became_history_while_it_was_being_embedded_gets_no_vector(caller, monkeypatch):
    drain()
    for value in ("Turin", "blue"):
        say(caller, value, key=value, extracted=True)
    think = tenants_embedding._embed

    def change_meanwhile(texts, tenant_id):
        say(caller, "Oslo", key="Turin", extracted=True)
        return think(texts, tenant_id)

    monkeypatch.setattr(tenants_embedding, "_embed", change_meanwhile)
    embed_pending_slots(limit=2)
    assert embedded(caller) == {"blue"}
    assert [row.embed_pending for row in rows(caller, "turin")] == [False, True]


def test_two_tenants_take_turns(acme, globex, monkeypatch):
    drain()
    monkeypatch.setattr("episodic.embedding.BATCH", 2)
    order = []
    sweep = entity_embedding._embed_batch
    monkeypatch.setattr(
        entity_embedding, "_embed_batch", lambda one, size: order.append(one) or sweep(one, size)
    )
    for member in (acme, globex):
        for number in range(4):
            say(member.caller, number, key=f"k{number}", extracted=True)
    embed_pending_slots()
    assert order[:4] == [acme.tenant.id, globex.tenant.id] * 2


def test_a_text_is_not_embedded_with_more_than_it_says(caller):
    say(caller, {"b": [1, None], "a": "ä"}, key="k")
    with scope(caller.tenant_id):
        (row,) = Entity.objects.filter(tenant_id=caller.tenant_id)
    assert entity_embedding.text_of(row) in ('k: {"b":[1,null],"a":"ä"}', 'k: {"a":"ä","b":[1,null]}')


def test_another_model_reads_what_stands_and_nothing_is_lost_meanwhile(caller):
    for value in ("a brown dog", "a grey cat"):
        say(caller, value, key="pet")
    assert count_unread(slot_vectors(), tenant_id=caller.tenant_id, model="another") == 1, "no history"
    assert keys(search(caller, "kitten")) == ["pet"]

"""Items of a person: exported, erased, restricted and told of with the rest of the memory."""

from uuid import uuid4

import pytest
from django.db import ProgrammingError

from episodic.models import Episode, Item, ItemVector
from tenants.scope import restricted_shown, scope
from tests.native.shapes import problem
from tests.privacy.people import erase, export
from tests.restrictions.people import lift, restrict
from tests.store.items import URL, get, keys, namespaces, put, search

ANA = "ana-of-the-store"
MORE = {"vectors": [{"path": "text", "vector": [1.0, 0.0]}]}


def left(member):
    with restricted_shown(), scope(member.tenant.id):
        rows = (Item, ItemVector, Episode)
        return [table.objects.filter(tenant_id=member.tenant.id).count() for table in rows]


def test_a_person_s_items_are_in_the_export(acme):
    put(acme, ["a", "b"], "k", {"text": "Ana drinks tea."}, user_id=ANA)
    put(acme, ["a"], "other", {"text": "Bob drinks tea."}, user_id="bob")
    found = [one for one in export(acme, ANA) if one["kind"] == "store_item"]
    assert [(one["path"], one["key"], one["value"]) for one in found] == [
        ("a.b.", "k", {"text": "Ana drinks tea."})
    ]


def test_an_erasure_takes_them_and_those_of_nobody_under_the_name(acme):
    put(acme, ["a"], "k", {"text": "tea"}, user_id=ANA, **MORE)
    put(acme, ["users", ANA, "notes"], "k", {"text": "tea"}, **MORE)
    put(acme, [ANA], "k", {"text": "tea"}, **MORE)
    put(acme, [f"{ANA}x"], "k", {"text": "tea"}, **MORE)
    put(acme, ["a"], "k", {"text": "tea"}, user_id="bob", **MORE)
    erase(acme, ANA)
    assert left(acme) == [2, 2, 2]
    assert get(acme, [f"{ANA}x"], "k") is not None
    assert get(acme, ["a"], "k", user_id="bob") is not None


def test_an_id_with_a_dot_names_nobody_s_items(acme):
    """Labels hold none: two of them beside each other are no such id."""
    user_id = f"{ANA}.smith"
    for namespace in (["team", ANA, "smith"], [ANA, "smith"]):
        put(acme, namespace, "k", {"text": "tea"}, **MORE)
    put(acme, ["a"], "mine", {"text": "tea"}, user_id=user_id, **MORE)
    exported = [one["key"] for one in export(acme, user_id) if one["kind"] == "store_item"]
    assert exported == ["mine"]
    erase(acme, user_id)
    assert left(acme) == [2, 2, 2]
    assert keys(acme) == ["k", "k"]


def test_a_restricted_person_s_items_are_neither_seen_nor_put_nor_deleted(acme):
    put(acme, ["a"], "k", {"text": "tea"}, user_id=ANA, **MORE)
    restrict(acme, ANA)
    assert get(acme, ["a"], "k", user_id=ANA) is None
    assert keys(acme, user_id=ANA) == keys(acme, user_id=ANA, vector=[1.0, 0.0]) == []
    body = {"namespace": ["a"], "key": "new", "value": {}, "user_id": ANA}
    problem(acme.http.put(URL, json=body), 423)
    problem(acme.http.delete(URL, params={"namespace": "a", "key": "k", "user_id": ANA}), 423)
    lift(acme, ANA)
    assert keys(acme, user_id=ANA) == ["k"]


def test_so_are_those_of_nobody_under_the_name(acme):
    for namespace in ([ANA], ["users", ANA, "notes"], ["users", f"{ANA}x"]):
        put(acme, namespace, "k", {"text": f"The tea of {len(namespace)}."}, **MORE)
        put(acme, namespace, "by meaning", {"text": f"The cup of {len(namespace)}."})
    restrict(acme, ANA)
    assert [one["namespace"] for one in search(acme)] == [["users", f"{ANA}x"]] * 2
    assert namespaces(acme) == [["users", f"{ANA}x"]]
    assert keys(acme, vector=[1.0, 0.0]) == ["k"]
    assert keys(acme, query="cup") == ["by meaning"]
    assert get(acme, [ANA], "k") is None
    assert len(acme.http.get("/api/v1/episodes").json()["results"]) == 2
    problem(acme.http.put(URL, json={"namespace": ["users", ANA], "key": "new", "value": {}}), 423)
    problem(acme.http.delete(URL, params={"namespace": ANA, "key": "k"}), 423)
    assert len([one for one in export(acme, ANA) if one["kind"] == "store_item"]) == 4
    lift(acme, ANA)
    assert len(keys(acme)) == 6


def test_the_database_itself_takes_none_of_nobody_under_the_name(acme):
    put(acme, [ANA], "k", {"text": "tea"})
    with scope(acme.tenant.id):
        item = Item.objects.get(tenant_id=acme.tenant.id)
        episode = Episode.objects.get(tenant_id=acme.tenant.id, id=item.id)
    restrict(acme, ANA)
    item.id = episode.id = uuid4()
    item.digest, episode.external_id = "another", "item:another"
    for row in (episode, item):
        with pytest.raises(ProgrammingError, match='policy "restricted"'), scope(acme.tenant.id):
            row.save(force_insert=True)

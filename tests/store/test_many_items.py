"""Where an owner has so many items that the signs of their vectors are compared first."""

import json

import numpy as np
import pytest
from django.utils import timezone

from episodic import item_queries, items
from episodic.item_types import ItemName, ItemScope, ItemSearch, path_text
from episodic.models import ITEMS_NAMESPACE, Item
from episodic.sizes import forget_sizes
from tenants.embedding import Embedding, knowing, model_behind
from tenants.scope import scope
from tests.conftest import make_member
from tests.recall.test_large_subjects import clustered
from tests.recall.vectors import fill

COUNT, MANY, FEW = 2_500, 1_200, 7
WHOSE = ItemScope(user_id="ann")


@pytest.fixture(scope="module")
def filled(server):
    """Items of one user, seven of which are in a namespace of their own."""
    member = make_member("acme", server)
    episodes = fill(member.caller, clustered(COUNT), user_id="ann", namespace=ITEMS_NAMESPACE)
    now, rows = timezone.now(), []
    for number, one in enumerate(episodes):
        name = ItemName(WHOSE, ("few",) if number < FEW else ("many",), str(number))
        rows.append(
            Item(
                id=one.id, tenant_id=one.tenant_id, user_id="ann", digest=name.digest, key=name.key,
                path=path_text(name.path), value={"half": number % 2}, created_at=now, updated_at=now,
            )
        )  # fmt: skip
    with scope(member.tenant.id):
        Item.objects.bulk_create(rows, batch_size=2_000)
    forget_sizes()
    return member


@pytest.fixture(autouse=True)
def _many_are_fewer_here(monkeypatch):
    monkeypatch.setattr(items, "ALL_UP_TO", MANY)
    monkeypatch.setattr(item_queries, "ALL_UP_TO", MANY)


def found(member, vector, *prefix, where=None, limit=10):
    told = vector.view(Embedding)
    told.model = model_behind(None, tenant_id=member.tenant.id)
    asked = ItemSearch(WHOSE, prefix, "asked", where=where or {}, limit=limit)
    with knowing("asked", told):
        (answer,) = items.read_items(caller=member.caller, reads=[asked], now=timezone.now())
    return [one["key"] for one in json.loads(answer)]


@pytest.mark.parametrize("where", [None, {"half": 1}], ids=["all", "filtered"])
def test_nearly_all_of_the_nearest_are_found(filled, monkeypatch, where):
    queries = clustered(30, seed=5)
    by_signs = [found(filled, one, "many", where=where) for one in queries]
    monkeypatch.setattr(items, "ALL_UP_TO", COUNT)
    exact = [found(filled, one, "many", where=where) for one in queries]
    assert {len(one) for one in by_signs} == {10}
    shares = [len({*one} & {*other}) / 10 for one, other in zip(by_signs, exact, strict=True)]
    assert np.mean(shares) >= 0.98


def test_as_many_are_found_as_there_are(filled):
    (query,) = clustered(1, seed=6)
    assert len(found(filled, query, "few", limit=10)) == FEW
    assert len(found(filled, query, "many", limit=200)) == 200
    assert found(filled, query, "none") == []

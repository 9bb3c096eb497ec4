"""Rows of the store's items."""

import secrets
from uuid import UUID

import numpy as np
from django.utils import timezone

from episodic.models import Episode, Item, ItemVector
from tests.isolation.registry import factory, store


@factory(Item)
def item(tenant_id: UUID) -> Item:
    now = timezone.now()
    parent = store(Episode(tenant_id=tenant_id, text="an item", created_at=now, embed_pending=False))
    return Item(
        id=parent.id,
        tenant_id=tenant_id,
        digest=secrets.token_hex(32),
        path="notes.",
        key="k",
        value={},
        created_at=now,
        updated_at=now,
    )


@factory(ItemVector)
def item_vector(tenant_id: UUID) -> ItemVector:
    parent, vector = store(item(tenant_id)), np.ones(4, dtype=np.float32)
    return ItemVector(
        tenant_id=tenant_id,
        item_id=parent.id,
        field="$",
        dimensions=4,
        embedding=vector,
        created_at=timezone.now(),
    )

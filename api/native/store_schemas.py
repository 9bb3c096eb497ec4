"""The shape of items of the store, for the OpenAPI document alone: PostgreSQL makes them."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON


class StoreItem(serializers.Serializer[Any]):
    """A JSON object under its name."""

    namespace = serializers.ListField(child=serializers.CharField())
    key = serializers.CharField()
    value = serializers.DictField(child=AnyJSON())
    created_at = serializers.DateTimeField(help_text="When it was put first.")
    updated_at = serializers.DateTimeField(help_text="When it was put last.")


class FoundStoreItem(StoreItem):
    """An item that was searched for."""

    score = serializers.FloatField(
        allow_null=True, help_text="How near it is: the more, the nearer; null without a query."
    )


class FoundStoreItems(serializers.Serializer[Any]):
    results = serializers.ListField(child=FoundStoreItem())


class StoreNamespaces(serializers.Serializer[Any]):
    results = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))


class StoreBatch(serializers.Serializer[Any]):
    results = serializers.ListField(
        child=AnyJSON(),
        help_text="Of each operation: an item or null, items, namespaces, or null for what was written.",
    )

"""The shape of receipts, their key and the audit log, for the OpenAPI document alone."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON


class SignedReceipt(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    id = serializers.UUIDField()
    tenant = serializers.CharField()
    subject = serializers.CharField(help_text="Keyed hash of the user id.")
    erased_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField()
    erased = serializers.DictField(child=serializers.IntegerField())
    digests = serializers.DictField(child=serializers.CharField(), help_text="Of what was erased, by store.")
    residue = serializers.DictField(child=serializers.IntegerField())
    coincidences = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="Where the same word means another thing, by place; from version 3 on.",
    )
    passes = serializers.IntegerField()
    seconds = serializers.FloatField()
    algorithm = serializers.CharField()
    key = serializers.CharField(help_text="Id of the key that signed it.")
    signature = serializers.CharField(help_text="Over all the rest; in base64.")


class ReceiptKey(serializers.Serializer[Any]):
    algorithm = serializers.CharField()
    id = serializers.CharField()
    public_key = serializers.CharField(help_text="32 bytes in base64.")


class AuditEntry(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    actor = serializers.CharField()
    action = serializers.CharField()
    target = serializers.CharField(allow_blank=True)
    details = serializers.DictField(child=AnyJSON())


class AuditPage(serializers.Serializer[Any]):
    results = AuditEntry(many=True)
    next = serializers.CharField(allow_null=True)

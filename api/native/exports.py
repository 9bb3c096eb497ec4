"""What needs no key: an export by its link, and the public key of receipts. Whoever was erased has no key any
more, and may still want to know that a receipt is genuine."""

from typing import Any

from django.http import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.native import privacy_schemas
from api.native.subjects import FILE, file_of
from api.native.views import NativeView
from tenants.privacy.links import access_link
from tenants.privacy.receipts import public_key


class KeylessView(NativeView):
    """A view for whoever comes."""

    authentication_classes: Any = []
    permission_classes: Any = []


class ExportLinkView(KeylessView):
    """`/api/v1/exports/{token}`"""

    @extend_schema(summary="The file of an export, by its link", auth=[], responses=FILE)
    def get(self, request: Request, token: str) -> HttpResponseBase:
        return file_of(*access_link(token=token, now=timezone.now()))


class ReceiptKeyView(KeylessView):
    """`/api/v1/receipts/key`"""

    @extend_schema(
        summary="The public key that receipts are verified with",
        auth=[],
        responses=privacy_schemas.ReceiptKey,
    )
    def get(self, request: Request) -> Response:
        return Response(public_key())

"""Webhooks, their secrets, and what was delivered to them."""

from functools import partial
from typing import cast
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import webhook_schemas as schemas
from api.native.cursors import page, position_of
from api.native.views import NativeView, page_size
from api.views import caller_of, json_body, validated
from tenants.errors import Invalid, NotFound
from webhooks.deliveries import access_delivery, list_deliveries, replay_delivery
from webhooks.models import Delivery, DeliveryState, Webhook
from webhooks.types import Changes
from webhooks.webhooks import (
    ABSENT,
    DeletedWebhook,
    access_webhook,
    change_webhook,
    create_webhook,
    delete_webhook,
    list_webhooks,
    rotate_secret,
    send_test,
    show_secret,
)

STATE = OpenApiParameter(
    "state", str, enum=DeliveryState.values, description="Only deliveries in this state."
)


class WebhooksView(NativeView):
    """`/api/v1/webhooks`"""

    scopes = {"GET": "admin", "POST": "admin"}

    @extend_schema(
        operation_id="webhooks_list",
        summary="Webhooks, newest first",
        parameters=parameters.LIST,
        responses=schemas.WebhookPage,
    )
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        found = list_webhooks(caller=caller_of(request), limit=limit + 1, before=position_of(request))
        return Response(page(found, limit, moment=lambda one: one.created_at, show=schemas.webhook))

    @extend_schema(
        summary="Have a URL told of memories from now on",
        request=schemas.NewWebhook,
        responses={201: schemas.Webhook},
    )
    def post(self, request: Request) -> Response:
        new = cast("Changes", validated(schemas.NewWebhook, json_body(request)))
        create = partial(create_webhook, caller=caller_of(request), new=new, now=timezone.now())
        return once(request, Webhook, create, _created)


class WebhookView(NativeView):
    """`/api/v1/webhooks/{webhook_id}`"""

    scopes = {"GET": "admin", "PATCH": "admin", "DELETE": "admin"}

    @extend_schema(summary="A webhook", responses=schemas.Webhook)
    def get(self, request: Request, webhook_id: str) -> Response:
        found = access_webhook(caller=caller_of(request), webhook_id=_uuid(webhook_id))
        return Response(schemas.webhook(found))

    @extend_schema(
        summary="Change a webhook, or switch it on or off",
        request=schemas.WebhookChanges,
        responses=schemas.Webhook,
    )
    def patch(self, request: Request, webhook_id: str) -> Response:
        change = partial(
            change_webhook,
            caller=caller_of(request),
            webhook_id=_uuid(webhook_id),
            changes=cast("Changes", validated(schemas.WebhookChanges, json_body(request))),
            now=timezone.now(),
        )
        return once(request, Webhook, change, _shown)

    @extend_schema(summary="Delete a webhook with its deliveries", responses={204: None})
    def delete(self, request: Request, webhook_id: str) -> Response:
        delete = partial(delete_webhook, caller=caller_of(request), webhook_id=_uuid(webhook_id))
        return once(request, DeletedWebhook, delete, lambda _done: Response(status=204))


class SecretView(NativeView):
    """`/api/v1/webhooks/{webhook_id}/secret`"""

    scopes = {"GET": "admin"}

    @extend_schema(
        summary="What a webhook's messages are signed with; entered in the audit log",
        responses=schemas.WebhookSecret,
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        shown = show_secret(caller=caller_of(request), webhook_id=_uuid(webhook_id))
        one = shown.webhook
        answer = {"id": one.id, "secret": shown.secret, "version": one.secret_version}
        return Response(answer, headers={"Cache-Control": "no-store"})


class RotateView(NativeView):
    """`/api/v1/webhooks/{webhook_id}/rotate`"""

    scopes = {"POST": "admin"}

    @extend_schema(
        summary="Give a webhook another secret; the former signs along for 24 hours",
        request=None,
        responses=schemas.Webhook,
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        rotate = partial(
            rotate_secret, caller=caller_of(request), webhook_id=_uuid(webhook_id), now=timezone.now()
        )
        return once(request, Webhook, rotate, _shown)


class TestView(NativeView):
    """`/api/v1/webhooks/{webhook_id}/test`"""

    scopes = {"POST": "admin"}

    @extend_schema(
        summary="Send a webhook a message that means nothing", request=None, responses={202: schemas.Delivery}
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        send = partial(send_test, caller=caller_of(request), webhook_id=_uuid(webhook_id))
        return once(request, Delivery, send, _accepted)


class DeliveriesView(NativeView):
    """`/api/v1/webhooks/deliveries`"""

    scopes = {"GET": "admin"}

    @extend_schema(
        operation_id="webhook_deliveries_list",
        summary="Deliveries to all webhooks, newest first; `state=failed` were given up",
        parameters=[*parameters.LIST, STATE],
        responses=schemas.DeliveryPage,
    )
    def get(self, request: Request) -> Response:
        return _listed(request, None)


class DeliveriesOfView(NativeView):
    """`/api/v1/webhooks/{webhook_id}/deliveries`"""

    scopes = {"GET": "admin"}

    @extend_schema(
        operation_id="webhook_deliveries_of_one_list",
        summary="Deliveries to one webhook, newest first",
        parameters=[*parameters.LIST, STATE],
        responses=schemas.DeliveryPage,
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        return _listed(request, _uuid(webhook_id))


class DeliveryView(NativeView):
    """`/api/v1/webhooks/deliveries/{delivery_id}`"""

    scopes = {"GET": "admin"}

    @extend_schema(summary="What became of a delivery", responses=schemas.Delivery)
    def get(self, request: Request, delivery_id: str) -> Response:
        found = access_delivery(caller=caller_of(request), delivery_id=_uuid(delivery_id))
        return Response(schemas.delivery(found))


class ReplayDeliveryView(NativeView):
    """`/api/v1/webhooks/deliveries/{delivery_id}/replay`"""

    scopes = {"POST": "admin"}

    @extend_schema(
        summary="Send a delivery again, under the same event id",
        request=None,
        responses={202: schemas.Delivery},
    )
    def post(self, request: Request, delivery_id: str) -> Response:
        replay = partial(
            replay_delivery, caller=caller_of(request), delivery_id=_uuid(delivery_id), now=timezone.now()
        )
        return once(request, Delivery, replay, _accepted)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound(ABSENT) from error


def _listed(request: Request, webhook_id: UUID | None) -> Response:
    limit, before = page_size(request), position_of(request)
    state = request.query_params.get("state")
    if state is not None and state not in DeliveryState.values:
        raise Invalid(f"Must be one of {', '.join(DeliveryState.values)}.", "state")
    found = list_deliveries(
        caller=caller_of(request),
        webhook_id=webhook_id,
        state=state,
        before=before[1] if before else None,
        limit=limit + 1,
    )
    return Response(page(found, limit, moment=lambda one: one.created_at, show=schemas.delivery))


def _created(webhook: Webhook) -> Response:
    location = {"Location": f"/api/v1/webhooks/{webhook.id}"}
    return Response(schemas.webhook(webhook), status=201, headers=location)


def _shown(webhook: Webhook) -> Response:
    return Response(schemas.webhook(webhook))


def _accepted(delivery: Delivery) -> Response:
    return Response(schemas.delivery(delivery), status=202)

# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `webhooks`."""

from ..calls import Operation
from ..models.webhooks import Delivery, DeliveryPage, Webhook, WebhookPage, WebhookSecret

LIST: Operation[WebhookPage] = Operation("GET", "/api/v1/webhooks", answer=WebhookPage)
CREATE: Operation[Webhook] = Operation("POST", "/api/v1/webhooks", answer=Webhook, is_write=True)
GET: Operation[Webhook] = Operation("GET", "/api/v1/webhooks/{webhook_id}", answer=Webhook)
CHANGE: Operation[Webhook] = Operation(
    "PATCH", "/api/v1/webhooks/{webhook_id}", answer=Webhook, is_write=True
)
DELETE: Operation[None] = Operation("DELETE", "/api/v1/webhooks/{webhook_id}", is_write=True)
DELIVERIES_OF: Operation[DeliveryPage] = Operation(
    "GET", "/api/v1/webhooks/{webhook_id}/deliveries", answer=DeliveryPage
)
ROTATE_SECRET: Operation[Webhook] = Operation(
    "POST", "/api/v1/webhooks/{webhook_id}/rotate", answer=Webhook, is_write=True
)
SECRET: Operation[WebhookSecret] = Operation(
    "GET", "/api/v1/webhooks/{webhook_id}/secret", answer=WebhookSecret
)
TEST: Operation[Delivery] = Operation(
    "POST", "/api/v1/webhooks/{webhook_id}/test", answer=Delivery, is_write=True
)
DELIVERIES: Operation[DeliveryPage] = Operation("GET", "/api/v1/webhooks/deliveries", answer=DeliveryPage)
DELIVERY: Operation[Delivery] = Operation("GET", "/api/v1/webhooks/deliveries/{delivery_id}", answer=Delivery)
REPLAY_DELIVERY: Operation[Delivery] = Operation(
    "POST", "/api/v1/webhooks/deliveries/{delivery_id}/replay", answer=Delivery, is_write=True
)

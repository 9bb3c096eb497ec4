"""What webhooks were told, and what became of it."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cursors import SIZE, Rows
from console.operations.forms import DeliveriesForm, page_after
from console.operations.jobs import rows_by_id
from console.pages import Page
from webhooks.deliveries import access_delivery, list_deliveries, replay_delivery


class DeliveriesPage(Page):
    """`deliveries`"""

    section = "webhooks"
    scopes = {"GET": "admin"}

    def get(self, request: HttpRequest) -> HttpResponse:
        form = DeliveriesForm(request.GET)
        if not form.is_valid():
            return self.show("operations/deliveries", form=form, rows=Rows(()), status=422)
        given = form.cleaned_data
        found = list_deliveries(
            caller=self.caller,
            limit=SIZE + 1,
            webhook_id=given["webhook"],
            state=given["state"] or None,
            before=page_after(request.GET),
        )
        narrowed = any(given.values())
        return self.show(
            "operations/deliveries", form=form, rows=rows_by_id(request, found), narrowed=narrowed
        )


class DeliveryPage(Page):
    """`deliveries/<id>`"""

    section = "webhooks"
    scopes = {"GET": "admin"}

    def get(self, request: HttpRequest, delivery_id: UUID) -> HttpResponse:
        return self.show(
            "operations/delivery", one=access_delivery(caller=self.caller, delivery_id=delivery_id)
        )


class DeliveryReplayPage(Page):
    """`deliveries/<id>/replay`"""

    section = "webhooks"
    scopes = {"POST": "admin"}

    def post(self, request: HttpRequest, delivery_id: UUID) -> HttpResponse:
        replay_delivery(caller=self.caller, delivery_id=delivery_id, now=timezone.now())
        self.say("It is sent again, under the same event id.")
        return self.to("delivery", delivery_id=delivery_id)

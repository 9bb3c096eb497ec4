"""Whom the tenant tells of what happens to its memories."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cursors import SIZE, position_of, rows_of
from console.operations.forms import WebhookForm
from console.pages import Page, add_error
from tenants.errors import Invalid
from webhooks.deliveries import list_deliveries
from webhooks.models import Webhook
from webhooks.webhooks import (
    access_webhook,
    change_webhook,
    create_webhook,
    delete_webhook,
    list_webhooks,
    rotate_secret,
    send_test,
    show_secret,
)

NEWEST = 10  # deliveries on a webhook's page


class WebhooksPage(Page):
    """`webhooks`"""

    section = "webhooks"
    scopes = {"GET": "admin"}

    def get(self, request: HttpRequest) -> HttpResponse:
        found = list_webhooks(caller=self.caller, limit=SIZE + 1, before=position_of(request))
        rows = rows_of(request, found, moment=lambda one: one.created_at)
        return self.show("operations/webhooks", rows=rows)


class WebhookNewPage(Page):
    """`webhooks/new`"""

    section = "webhooks"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("operations/webhook_form", form=WebhookForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = WebhookForm(request.POST)
        if form.is_valid():
            try:
                made = create_webhook(caller=self.caller, new=form.changes(), now=timezone.now())
            except Invalid as error:
                add_error(form, error)
            else:
                self.say("Created. Its receiver needs the secret: show it, then send a test.")
                return self.to("webhook", webhook_id=made.id)
        return self.show("operations/webhook_form", form=form, status=422)


class WebhookPage(Page):
    """`webhooks/<id>`"""

    section = "webhooks"
    scopes = {"GET": "admin"}

    def get(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        one = access_webhook(caller=self.caller, webhook_id=webhook_id)
        newest = list_deliveries(caller=self.caller, limit=NEWEST, webhook_id=webhook_id)
        return self.show("operations/webhook", one=one, newest=newest)


class WebhookEditPage(Page):
    """`webhooks/<id>/edit`"""

    section = "webhooks"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        one = access_webhook(caller=self.caller, webhook_id=webhook_id)
        return self.show("operations/webhook_form", form=WebhookForm(initial=shown(one)), one=one)

    def post(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        form, now = WebhookForm(request.POST), timezone.now()
        if form.is_valid():
            try:
                change_webhook(caller=self.caller, webhook_id=webhook_id, changes=form.changes(), now=now)
            except Invalid as error:
                add_error(form, error)
            else:
                self.say("Saved.")
                return self.to("webhook", webhook_id=webhook_id)
        one = access_webhook(caller=self.caller, webhook_id=webhook_id)
        return self.show("operations/webhook_form", form=form, one=one, status=422)


class WebhookSwitchPage(Page):
    """`webhooks/<id>/switch`: on, or off"""

    section = "webhooks"
    scopes = {"POST": "admin"}

    def post(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        on = request.POST.get("on") == "yes"
        change_webhook(
            caller=self.caller, webhook_id=webhook_id, changes={"is_active": on}, now=timezone.now()
        )
        self.say("Switched on; what waited is sent." if on else "Switched off.")
        return self.to("webhook", webhook_id=webhook_id)


class WebhookSecretPage(Page):
    """`webhooks/<id>/secret`: shown to whoever asks, whom the audit log names"""

    section = "webhooks"
    scopes = {"POST": "admin"}

    def post(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        found = show_secret(caller=self.caller, webhook_id=webhook_id)
        return self.show("operations/webhook_secret", one=found.webhook, secret=found.secret)


class WebhookRotatePage(Page):
    """`webhooks/<id>/rotate`"""

    section = "webhooks"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        one = access_webhook(caller=self.caller, webhook_id=webhook_id)
        return self.show("operations/webhook_rotate", one=one)

    def post(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        rotate_secret(caller=self.caller, webhook_id=webhook_id, now=timezone.now())
        found = show_secret(caller=self.caller, webhook_id=webhook_id)
        return self.show("operations/webhook_secret", one=found.webhook, secret=found.secret, is_new=True)


class WebhookTestPage(Page):
    """`webhooks/<id>/test`"""

    section = "webhooks"
    scopes = {"POST": "admin"}

    def post(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        delivery = send_test(caller=self.caller, webhook_id=webhook_id)
        self.say("A test is on its way.")
        return self.to("delivery", delivery_id=delivery.id)


class WebhookDeletePage(Page):
    """`webhooks/<id>/delete`"""

    section = "webhooks"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        one = access_webhook(caller=self.caller, webhook_id=webhook_id)
        return self.show("operations/webhook_delete", one=one)

    def post(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        delete_webhook(caller=self.caller, webhook_id=webhook_id)
        self.say("The webhook is deleted, and its deliveries with it.")
        return self.to("webhooks")


def shown(one: Webhook) -> dict[str, object]:
    """What the form says of it."""
    return {name: getattr(one, name) for name in WebhookForm.base_fields}

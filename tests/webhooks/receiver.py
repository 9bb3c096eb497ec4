"""A receiver of webhooks on a port of this machine, and a tenant's webhook that leads to it."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.utils import timezone

from tenants.scope import scope
from tests.conftest import Member
from webhooks import announcing, delivering
from webhooks.models import Delivery, Webhook
from webhooks.webhooks import create_webhook


@dataclass
class Received:
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        return json.loads(self.body)


@dataclass
class Receiver:
    """`statuses` are answered one after the other, the last one from then on; 0 breaks off, -1 hangs."""

    url: str
    statuses: list[int] = field(default_factory=lambda: [204])
    received: list[Received] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)

    def messages(self) -> list[dict[str, Any]]:
        return [one.message for one in self.received]

    def next_status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def listening() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append(Received({k.lower(): v for k, v in self.headers.items()}, body))
            status = receiver.next_status()
            if status < 0:
                receiver.ended.wait(20)
            if status <= 0:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Quietly."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook?token=a%20b")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        server.shutdown()
        server.server_close()


def hook(member: Member, url: str, **given: Any) -> Webhook:
    webhook = create_webhook(
        caller=member.with_key(scopes=("admin",)).caller, new={"url": url, **given}, now=timezone.now()
    )
    announcing.forget(member.tenant.id)
    return webhook


def deliver(webhook: Webhook) -> None:
    delivering.deliver_due(tenant_id=webhook.tenant_id, webhook_id=webhook.id)


def make_due(webhook: Webhook) -> None:
    """As if the waiting times had passed."""
    now = timezone.now()
    with scope(webhook.tenant_id):
        Delivery.objects.filter(webhook_id=webhook.id, state="pending").update(due_at=now)
        Webhook.objects.filter(id=webhook.id).update(resume_at=None)


def deliveries(member: Member) -> list[Delivery]:
    with scope(member.tenant.id):
        return list(Delivery.objects.filter(tenant_id=member.tenant.id).order_by("id"))


def is_signed(one: Received, secret: str) -> bool:
    """As the specification says, without a line of ours."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = one.headers["webhook-id"] + "." + one.headers["webhook-timestamp"] + "." + one.body.decode()
    digest = hmac.new(key, content.encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode() in one.headers["webhook-signature"].split(" ")

"""What the documentation says of signatures and messages is so."""

import json
import re
import time

from tests.architecture.sources import ROOT
from tests.webhooks.receiver import deliver, hook
from tests.webhooks.test_deliver import admin, remember
from webhooks.webhooks import show_secret

PAGE = (ROOT / "docs" / "webhooks.md").read_text()


def test_the_lines_that_verify_a_signature_do(acme, receiver, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    names = {}
    exec(code, names)
    webhook = hook(acme, receiver.url)
    remember(acme)
    deliver(webhook)
    secret = show_secret(caller=admin(acme), webhook_id=webhook.id).secret
    (one,) = receiver.received
    verify = names["verify"]
    assert verify(secret, one.headers, one.body)
    assert not verify(secret, one.headers, one.body + b" ")
    assert not verify("whsec_AAAA", one.headers, one.body)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 400)
    assert not verify(secret, one.headers, one.body)


def test_the_message_that_is_shown_has_the_fields_that_are_sent(acme, receiver):
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    webhook = hook(acme, receiver.url)
    remember(acme)
    deliver(webhook)
    message, expected = receiver.messages()[0], json.loads(shown)
    assert (set(message), set(message["data"])) == (set(expected), set(expected["data"]))

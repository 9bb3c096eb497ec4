"""Signatures by the Standard Webhooks specification 1.0.0, with secrets that are stored nowhere.

A secret is derived from `SECRET_KEY`, the webhook's id and a counter: rotation counts on. The former secret
signs beside the new one for a day, so that a receiver has the time to change over.
"""

import base64
import hashlib
import hmac
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

PREFIX = "whsec_"
OVERLAP = timedelta(hours=24)


def secret_of(*, tenant_id: UUID, webhook_id: UUID, version: int) -> str:
    """The secret as its owner is shown it: `whsec_` and 32 bytes in base64."""
    return PREFIX + base64.b64encode(_key(tenant_id, webhook_id, version)).decode()


def signatures(
    body: bytes,
    *,
    message_id: str,
    timestamp: int,
    tenant_id: UUID,
    webhook_id: UUID,
    version: int,
    rotated_at: datetime | None,
    now: datetime,
) -> str:
    """The header `webhook-signature`: by the present secret, and soon after a rotation also by the former."""
    is_new = rotated_at is not None and version > 1 and now < rotated_at + OVERLAP
    signed = f"{message_id}.{timestamp}.".encode() + body
    found = []
    for one in (version, version - 1) if is_new else (version,):
        digest = hmac.new(_key(tenant_id, webhook_id, one), signed, hashlib.sha256).digest()
        found.append("v1," + base64.b64encode(digest).decode())
    return " ".join(found)


def _key(tenant_id: UUID, webhook_id: UUID, version: int) -> bytes:
    key = hashlib.sha256(b"strata webhook" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, f"{tenant_id.hex}/{webhook_id.hex}/{version}".encode(), hashlib.sha256).digest()

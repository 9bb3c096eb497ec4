"""Lots: who is among a share of sessions or people. Nobody can choose it, and asked again it is the same."""

import hashlib
import hmac
from uuid import UUID

from django.conf import settings


def draw(purpose: str, *, tenant_id: UUID, unit: str) -> float:
    """A number from 0 to below 1 that belongs to the unit: it is among a share when the number is below that.
    Other purposes draw other numbers. No id holds a NUL, so parts of a unit are joined by one."""
    secret = hashlib.sha256(b"strata draw" + settings.SECRET_KEY.encode()).digest()
    digest = hmac.new(secret, f"{purpose}/{tenant_id.hex}/{unit}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:6], "big") / 2**48

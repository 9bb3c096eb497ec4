"""Signatures under `SECRET_KEY`, by which a changed file is told from one that we wrote."""

import hashlib
import hmac

from django.conf import settings


def sign(data: bytes) -> str:
    """The HMAC-SHA-256 of the data, in hex."""
    key = hashlib.sha256(b"strata backup" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, data, hashlib.sha256).hexdigest()


def is_signed(data: bytes, signature: str) -> bool:
    """Whether we have signed exactly this."""
    return hmac.compare_digest(sign(data).encode(), signature.encode())


def fingerprint() -> str:
    """Tells one `SECRET_KEY` from another, and nothing else of it."""
    return sign(b"fingerprint")[:32]

"""What proves an erasure: how much went from each store, a digest of what it was, and a signature.

A digest is the sum, modulo 2^256, of a keyed hash (HMAC-SHA-256) of each record that was deleted. So it does
not depend on the order, can be carried on by another worker, and tells nobody without the key anything; who
has the key and a copy of the records can make it anew. Hash and signature have keys of their own, both
derived from `SECRET_KEY` (HKDF, RFC 5869; Ed25519, RFC 8032).
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:  # loaded where it is used: few processes ever sign, and it takes megabytes
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Record = Mapping[str, Any]
ALGORITHM = "Ed25519"
MODULUS = 2**256
HALF = 16  # digits that tell one public key from another


def plain(value: object) -> str:
    """What JSON has no form for, as an export writes it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return str(value)


class Digest:
    """That of the records that were added, in the form that exports have."""

    def __init__(self) -> None:
        self._key, self._total = _key_for(settings.SECRET_KEY, b"strata erasure digest"), 0

    def add(self, record: Record) -> None:
        self._total += int.from_bytes(hmac.digest(self._key, _canonical(record), hashlib.sha256))

    def joined(self, other: str = "") -> str:
        """In hex, together with one that was begun before."""
        return f"{(self._total + int(other or '0', 16)) % MODULUS:064x}"


def signed(receipt: Record) -> dict[str, Any]:
    """The receipt with the id of the key and the signature over everything else."""
    meant = {**receipt, "algorithm": ALGORITHM, "key": public_key()["id"]}
    signature = _private_key(settings.SECRET_KEY).sign(_canonical(meant))
    return {**meant, "signature": base64.b64encode(signature).decode()}


def is_genuine(receipt: object, *, key: str | None = None) -> bool:
    """Whether the receipt is as it was signed with this server's key, or with the one whose public half, in
    base64, is `key`."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not isinstance(receipt, dict) or not isinstance(receipt.get("signature"), str):
        return False
    meant = {name: value for name, value in receipt.items() if name != "signature"}
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key or public_key()["public_key"]))
        public.verify(base64.b64decode(receipt["signature"], validate=True), _canonical(meant))
    except (InvalidSignature, ValueError):
        return False
    return True


def public_key() -> dict[str, str]:
    """What receipts are verified with: 32 bytes in base64, and its id."""
    raw = _private_key(settings.SECRET_KEY).public_key().public_bytes_raw()
    return {
        "algorithm": ALGORITHM,
        "id": hashlib.sha256(raw).hexdigest()[:HALF],
        "public_key": base64.b64encode(raw).decode(),
    }


def _canonical(record: Record) -> bytes:
    """The same bytes for the same record, whatever it went through: JSON with sorted names, no spaces."""
    return json.dumps(
        record, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=plain
    ).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=8)
def _key_for(secret: str, purpose: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())


@lru_cache(maxsize=4)
def _private_key(secret: str) -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(_key_for(secret, b"strata receipt signature"))

"""Slots that were removed with their history: what was said before must not bring them back.

Work that began before a removal may end after it, such as a job that looks at a turn. A removal holds an HMAC
of the person and the key, so that it tells neither. Both functions run in the open scope with the slots of
the person locked: either the write is committed before the removal looks for what there is, or it sees the
removal.
"""

import hashlib
import hmac
from datetime import datetime
from uuid import UUID

from django.conf import settings

from ledger.models import SlotRemoval
from tenants.tombstones import subject_of


def note_removal(*, tenant_id: UUID, user_id: str, key: str, now: datetime) -> None:
    """Notes that the slot is removed as of `now`; an earlier moment does not replace a later one."""
    where = {"tenant_id": tenant_id, "subject": subject_of(tenant_id=tenant_id, user_id=user_id)}
    found, is_new = SlotRemoval.objects.get_or_create(
        **where, slot=_slot_of(tenant_id, user_id, key), defaults={"removed_at": now}
    )
    if not is_new and found.removed_at < now:
        found.removed_at = now
        found.save(update_fields=["removed_at"])


def was_removed(*, tenant_id: UUID, user_id: str, key: str, since: datetime) -> bool:
    """Whether the slot was removed at that moment or later."""
    return SlotRemoval.objects.filter(
        tenant_id=tenant_id,
        subject=subject_of(tenant_id=tenant_id, user_id=user_id),
        slot=_slot_of(tenant_id, user_id, key),
        removed_at__gte=since,
    ).exists()


def _slot_of(tenant_id: UUID, user_id: str, key: str) -> str:
    """The HMAC-SHA-256, in hex, that stands for a slot of a person in a tenant. No id holds a NUL."""
    secret = hashlib.sha256(b"strata slot" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(secret, f"{tenant_id.hex}/{user_id}\x00{key}".encode(), hashlib.sha256).hexdigest()

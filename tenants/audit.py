"""The audit log: who did what. Rows hold no memory content."""

from typing import Any
from uuid import UUID

from tenants.models import AuditEntry


def record(*, tenant_id: UUID, actor: str, action: str, target: str = "", **details: Any) -> AuditEntry:
    """Adds an entry in the caller's transaction, so that it exists exactly when the deed does."""
    return AuditEntry.objects.create(
        tenant_id=tenant_id, actor=actor, action=action, target=target, details=details
    )

"""The durable log of what was injected into which session."""

from django.db import models
from uuid_utils.compat import uuid7

from tenants.models import Tenant


class Injection(models.Model):
    """One item that a session has been told. It outlives the session: `released_at` ends its effect."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    namespace = models.CharField(max_length=255, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    session = models.CharField(max_length=255, help_text="The client's own session id.")
    item_key = models.CharField(max_length=512, help_text="`kind:id`, such as `skill:spacing-calculation`.")
    value = models.TextField()
    marked_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True, help_text="Evicted, or the session ended or was deleted.")

    class Meta:
        constraints = [
            # One live mark per item and session: two workers that claim one item cannot both win.
            # Also serves loading a session's ledger.
            models.UniqueConstraint(
                fields=["tenant", "session", "namespace", "user_id", "item_key"],
                condition=models.Q(released_at__isnull=True),
                name="injection_live",
            )
        ]

    def __str__(self) -> str:
        return self.item_key

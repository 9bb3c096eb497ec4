"""Items of the store: JSON objects by a namespace and a key, and the vectors that clients send along."""

from django.db import models
from pgvector.django import VectorField
from uuid_utils.compat import uuid7

from tenants.models import Tenant

ITEM = "item"  # the strategy of an episode that says what an item says
ITEMS_NAMESPACE = "store"  # of these episodes: what an item says closes, and is closed by, no other memory


class Item(models.Model):
    """What is kept by (namespace, key) within exactly one user, agent and project. Its id is that of the
    episode that says it, and goes with it.

    The namespace is one text, each label with a dot after it: texts have leakproof operators, without which
    no index is used under row-level security, and arrays have not. No label holds a dot.
    """

    id = models.UUIDField(primary_key=True)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255, blank=True)
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, blank=True)
    digest = models.CharField(max_length=64, help_text="SHA-256 of agent, project, namespace and key.")
    path = models.TextField(db_collation="C", help_text="The namespace: `a.b.` for a, b.")
    key = models.TextField()
    value = models.JSONField()
    fields = models.JSONField(null=True, help_text="What of the value is indexed; null: all of it.")
    ttl_minutes = models.FloatField(null=True)
    expires_at = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True, help_text="The episode's.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "store_items"
        constraints = [
            # Serves the look-up of one item, and of many by their digests.
            models.UniqueConstraint(fields=["tenant", "user_id", "digest"], name="item_name")
        ]
        indexes = [
            # Serves the search below a namespace, and the list of namespaces: of many items it reads nothing
            # else, unless their values are filtered.
            models.Index(
                fields=["tenant", "user_id", "agent_id", "project", "path"],
                include=["id", "expires_at", "valid_to"],
                name="item_path",
            ),
            # Serves the search without a query: what was put last.
            models.Index(
                fields=["tenant", "user_id", "agent_id", "project", "-updated_at", "-id"], name="item_recent"
            ),
            # Serves the sweeper that deletes what has expired.
            models.Index(
                fields=["tenant", "expires_at"],
                condition=models.Q(expires_at__isnull=False),
                name="item_expiry",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.path}{self.key}"


class ItemVector(models.Model):
    """A vector that a client has made of a field of an item. It is compared with the client's own only, and
    never made anew."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    item_id = models.UUIDField()
    user_id = models.CharField(max_length=255, blank=True)
    field = models.TextField(help_text="The path of the field, as the client names it.")
    dimensions = models.PositiveIntegerField()
    embedding = VectorField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "store_vectors"
        indexes = [
            # Serves the search by a client's vector: those of the items that are looked at.
            models.Index(fields=["tenant", "item_id"], name="item_vector"),
            # Serves one user's export and erasure.
            models.Index(fields=["tenant", "user_id"], name="item_vector_user"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} {self.field}"

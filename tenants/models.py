"""Tenants, their keys, and the log of what was done to them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from uuid_utils.compat import uuid7


class Tenant(models.Model):
    """One customer of this server; everything else belongs to exactly one."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    disabled_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.slug


class ApiKey(models.Model):
    """A key `mem_<key_id>_<secret>`; only the secret's SHA-256 is kept."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    key_id = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)
    name = models.CharField(max_length=200, blank=True)
    scopes = ArrayField(models.CharField(max_length=16))
    user_id = models.CharField(max_length=255, blank=True, help_text="Bound to this user; empty: any.")
    agent_id = models.CharField(max_length=255, blank=True, help_text="Bound to this agent; empty: any.")
    project = models.CharField(max_length=200, blank=True, help_text="Bound to this project; empty: any.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        # Serves the key list of a tenant.
        indexes = [models.Index(fields=["tenant", "created_at"], name="apikey_tenant_created")]

    def __str__(self) -> str:
        return f"{self.key_id} {self.name}".strip()


class AuditEntry(models.Model):
    """What was done, by whom, to what. The app role can add and read rows, never change or remove them."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=255, help_text="`key:<key_id>`, `admin:<login>` or `command:<name>`.")
    action = models.CharField(max_length=64, help_text="Dotted verb, such as `api_key.create`.")
    target = models.CharField(max_length=255, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        # Serves the audit log, newest first.
        indexes = [models.Index(fields=["tenant", "-at"], name="audit_tenant_at")]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.target}"

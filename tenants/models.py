"""Tenants, who may reach them, what was decided for them, and the work that waits for them."""

from django.conf import settings
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
    replaces = models.CharField(
        max_length=16, blank=True, help_text="`key_id` of the key it was rotated from."
    )

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
        indexes = [
            # Serves the audit log, newest first.
            models.Index(fields=["tenant", "-at"], name="audit_tenant_at"),
            # Serves the count of the links that a person has.
            models.Index(
                fields=["tenant", "target", "-at"],
                condition=models.Q(action="subject.link"),
                name="audit_person_links",
            ),
        ]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.target}"


class Role(models.TextChoices):
    """What a member may do in the browser; `tenants/members.py` maps each to scopes."""

    VIEWER = "viewer"
    EDITOR = "editor"
    PRIVACY_OFFICER = "privacy_officer"
    ADMIN = "admin"


class Member(models.Model):
    """A person of Django's user table in one tenant."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    # Django's users belong to no tenant: a key in the database would tie this table to one machine.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_constraint=False, db_index=False
    )
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "user"], name="member_once")]
        # Serves the question which tenants a person may enter, before one is chosen.
        indexes = [models.Index(fields=["user"], name="member_user")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


class Invitation(models.Model):
    """A link by which somebody may become a member. With its use or revocation the row goes."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    role = models.CharField(max_length=16, choices=Role.choices)
    note = models.CharField(max_length=200, blank=True, help_text="For whom, as its maker would know.")
    secret_hash = models.CharField(max_length=64)
    created_by = models.CharField(max_length=255, help_text="`member:<user name>`, while they are an admin.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()


class PolicyVersion(models.Model):
    """One version of a tenant's policy, or of one agent's. Versions are added, never changed or removed."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    agent_id = models.CharField(max_length=255, blank=True, help_text="Of this agent; empty: of the tenant.")
    version = models.PositiveIntegerField()
    document = models.JSONField(help_text="Only what differs from the level above.")
    author = models.CharField(max_length=255)
    note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        # Also finds the newest version, and decides which of two writers was first.
        constraints = [
            models.UniqueConstraint(fields=["tenant", "agent_id", "version"], name="policy_version")
        ]

    def __str__(self) -> str:
        return f"{self.agent_id or 'tenant'} v{self.version}"


class TenantEmbedding(models.Model):
    """Which embedding model's vectors a tenant is searched by, and which other's it keeps as well, during a
    change from one to the other. Without a row it is the deployment's, alone."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    model = models.CharField(max_length=100)
    other = models.CharField(max_length=100, blank=True)
    is_switched = models.BooleanField(default=False, help_text="`model` has taken the place of `other`.")
    changed_at = models.DateTimeField()
    missing = models.JSONField(default=dict, help_text="How many vectors each model lacked, last looked at.")
    refused = models.JSONField(
        default=dict,
        help_text="By model and kind: digests of the items that it does not take, by id.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="tenant_embedding")]

    def __str__(self) -> str:
        return f"{self.model} beside {self.other}" if self.other else self.model


class Agent(models.Model):
    """What is declared of an agent: its memory block and tool hooks."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    name = models.CharField(max_length=255, help_text="The `agent_id` of its keys, sessions and policy.")
    project = models.CharField(max_length=200, help_text="As the spec names it, in lower case.")
    spec = models.JSONField(help_text="The validated document, with its defaults.")
    version = models.PositiveIntegerField(default=1, help_text="Counts its changes.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        # Also serves the list.
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="agent_name")]
        # Serves the question whose project it is.
        indexes = [models.Index(fields=["tenant", "project"], name="agent_project")]

    def __str__(self) -> str:
        return self.name


class JobState(models.TextChoices):
    """`failed` is the dead letter: it waits for a person."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Job(models.Model):
    """Work that a commit has caused and that is done after it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    kind = models.CharField(max_length=64)
    payload = models.JSONField(default=dict)
    user_id = models.CharField(max_length=255, blank=True, help_text="Whose memory it works on, if one's.")
    requested_by = models.CharField(max_length=255, blank=True)
    dedup_key = models.CharField(max_length=255, null=True, help_text="At most one of these waits.")
    state = models.CharField(max_length=8, choices=JobState.choices, default=JobState.QUEUED)
    slow = models.BooleanField(
        default=False, help_text="Waits for providers; kept apart from the quick ones."
    )
    urgent = models.BooleanField(default=False, help_text="Goes before the slow ones that are not.")
    run_at = models.DateTimeField(help_text="Not before this moment.")
    attempts = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField()
    lease = models.UUIDField(null=True, help_text="Token of the worker that has it; another's is refused.")
    lease_until = models.DateTimeField(null=True)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    result = models.JSONField(null=True)
    error = models.TextField(blank=True, help_text="Of the last attempt.")
    created_at = models.DateTimeField(help_text="When its cause came in; an erasure since then outdates it.")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # Two commits that cause the same work leave one job.
            models.UniqueConstraint(
                fields=["tenant", "kind", "dedup_key"],
                condition=models.Q(state="queued", dedup_key__isnull=False),
                name="job_dedup",
            )
        ]
        indexes = [
            # Serve the claim: the next of each tenant in turn, in each lane.
            models.Index(
                fields=["tenant", "run_at", "id"],
                condition=models.Q(state="queued", slow=False),
                name="job_queued_quick",
            ),
            models.Index(
                fields=["tenant", "run_at", "id"],
                condition=models.Q(state="queued", slow=True, urgent=False),
                name="job_queued_slow",
            ),
            models.Index(
                fields=["tenant", "run_at", "id"],
                condition=models.Q(state="queued", slow=True, urgent=True),
                name="job_queued_urgent",
            ),
            # Serves the search for workers that died.
            models.Index(
                fields=["tenant", "lease_until"], condition=models.Q(state="running"), name="job_running"
            ),
            # Serves the dead letters.
            models.Index(fields=["tenant", "-id"], condition=models.Q(state="failed"), name="job_failed"),
            # Serves the clearing of old ones.
            models.Index(fields=["tenant", "finished_at"], condition=models.Q(state="done"), name="job_done"),
            # Serves the erasure of a person.
            models.Index(fields=["tenant", "user_id"], condition=~models.Q(user_id=""), name="job_user"),
            # Serves the claim of jobs that are done in order: whether the person has an older one.
            models.Index(
                fields=["tenant", "user_id", "kind", "id"],
                condition=models.Q(slow=True, state__in=("queued", "running")),
                name="job_in_order",
            ),
            # Serves the list of those that a caller has asked for.
            models.Index(
                fields=["tenant", "requested_by", "-id"],
                condition=~models.Q(requested_by=""),
                name="job_requested",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"


class StoredAnswer(models.Model):
    """What a write with an `Idempotency-Key` was answered, committed together with the write."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    principal = models.CharField(max_length=255, help_text="Whose key it is: two callers' never meet.")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, help_text="SHA-256 of method, path, query and body.")
    user_id = models.CharField(max_length=255, blank=True, help_text="Whose memory the answer shows.")
    status = models.PositiveSmallIntegerField()
    body = models.TextField()
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "principal", "key"], name="answer_key")]
        # Serves the clearing of old ones.
        indexes = [models.Index(fields=["tenant", "created_at"], name="answer_age")]

    def __str__(self) -> str:
        return self.key


class Tombstone(models.Model):
    """Where an erased person was: work from before `erased_at` is refused. The person is not named."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    subject = models.CharField(max_length=64, help_text="HMAC of the user id.")
    erased_at = models.DateTimeField()
    requested_by = models.CharField(max_length=255)
    completed_at = models.DateTimeField(null=True)
    receipt = models.JSONField(
        default=dict, help_text="How much was erased in each store, and what was left."
    )

    class Meta:
        # Serves the question whether a person was erased since a moment.
        indexes = [models.Index(fields=["tenant", "subject", "-erased_at"], name="tombstone_subject")]

    def __str__(self) -> str:
        return self.subject[:12]


class Restriction(models.Model):
    """A person whose memory is kept and not used (GDPR Art. 18), until the restriction is lifted."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255)
    since = models.DateTimeField()
    requested_by = models.CharField(max_length=255)
    reason = models.CharField(max_length=1000, blank=True)

    class Meta:
        constraints = [
            # Serves the policies, which ask for a tenant's restricted people.
            models.UniqueConstraint(fields=["tenant", "user_id"], name="restriction_person")
        ]
        # Serves the list of restrictions.
        indexes = [models.Index(fields=["tenant", "-since", "-id"], name="restriction_since")]

    def __str__(self) -> str:
        return f"{self.since:%Y-%m-%d}"


class LinkRevocation(models.Model):
    """Until when links to a person's own pages, and visits by them, are void. The person is not named."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    subject = models.CharField(max_length=64, help_text="HMAC of the user id.")
    void_until = models.DateTimeField(help_text="By PostgreSQL's clock.")

    class Meta:
        # Serves the question whether a link still opens anything.
        constraints = [models.UniqueConstraint(fields=["tenant", "subject"], name="link_revocation_subject")]

    def __str__(self) -> str:
        return self.subject[:12]


class ExportChunk(models.Model):
    """A piece of what a person's export job has written."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    job_id = models.UUIDField()
    number = models.PositiveIntegerField()
    data = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "job_id", "number"], name="export_chunk")]

    def __str__(self) -> str:
        return f"{self.job_id} {self.number}"


class ProviderUsage(models.Model):
    """What a tenant's calls to an outside provider amounted to on one day (UTC)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    day = models.DateField()
    provider = models.CharField(max_length=32)
    model = models.CharField(max_length=100)
    purpose = models.CharField(max_length=64, help_text="Such as `embed` or `session_summary`.")
    calls = models.BigIntegerField(default=0)
    failures = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cost_micros = models.BigIntegerField(default=0, help_text="Millionths of a dollar.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "day", "provider", "model", "purpose"], name="usage_day"
            )
        ]
        verbose_name_plural = "provider usage"

    def __str__(self) -> str:
        return f"{self.day} {self.model} {self.purpose}"

"""What was injected into which session, what was not written and why, what was removed, what was thought of
memories, and what recall is measured with."""

from django.contrib.postgres.fields import ArrayField
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
    variant = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        help_text="Of a trial: the setting that recalled it.",
    )
    asked = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="HMAC of the query that it was told for.",
    )
    rank = models.PositiveSmallIntegerField(null=True, help_text="Its place among what was found; 1: best.")
    score = models.FloatField(null=True, help_text="By which it was ranked.")
    why = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        help_text="How it came to be told, such as `recalled` or `bm25`.",
    )
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
        indexes = [
            # Serve the lists of all and of one user's, newest first.
            models.Index(fields=["tenant", "-marked_at", "-id"], name="injection_recent"),
            models.Index(fields=["tenant", "user_id", "-marked_at", "-id"], name="injection_user"),
            # Serves the account of one session, what has ended too.
            models.Index(fields=["tenant", "session", "-marked_at", "-id"], name="injection_session"),
            # Serves the question where one memory was used.
            models.Index(fields=["tenant", "item_key", "-marked_at", "-id"], name="injection_item"),
        ]

    def __str__(self) -> str:
        return self.item_key


class WriteDecision(models.Model):
    """A write that was refused or held back, and why."""

    class Outcome(models.TextChoices):
        """`held` waits for a decision; a skipped one can be carried out after all while its text is kept."""

        SKIPPED = "skipped"
        HELD = "held"
        CONFIRMED = "confirmed"
        REJECTED = "rejected"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255, blank=True)
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=255, blank=True, help_text="The client's own session id.")
    kind = models.CharField(max_length=16, help_text="What it would have been: entity, episode, observation.")
    key = models.CharField(max_length=255, blank=True, help_text="Of an entity: its slot.")
    outcome = models.CharField(max_length=16, choices=Outcome.choices)
    reason = models.CharField(max_length=32, help_text="Such as `low_confidence` or `blocklist`.")
    findings = models.JSONField(default=list, help_text="What a blocklist found: its kinds.")
    text = models.CharField(max_length=500, blank=True, help_text="The beginning, secrets masked.")
    confidence = models.FloatField(null=True)
    held = models.JSONField(null=True, help_text="What is written on confirmation; null: it was not kept.")
    memory_id = models.CharField(max_length=64, blank=True, help_text="What it became once confirmed.")
    decided_by = models.CharField(max_length=255, blank=True, help_text="Who confirmed or rejected it.")
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            # Serve the lists of all and of one user's, newest first.
            models.Index(fields=["tenant", "-created_at", "-id"], name="decision_recent"),
            models.Index(fields=["tenant", "user_id", "-created_at", "-id"], name="decision_user"),
            # Serves the writes of a slot, which settle what waits for it.
            models.Index(
                fields=["tenant", "user_id", "key"], condition=models.Q(kind="entity"), name="decision_slot"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} {self.reason}"


class SlotRemoval(models.Model):
    """That somebody removed a slot with its history: what was said before does not bring it back. It names
    neither the person nor the slot."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    subject = models.CharField(max_length=64, help_text="Pseudonym of the person.")
    slot = models.CharField(max_length=64, help_text="HMAC of the person and the slot's key.")
    removed_at = models.DateTimeField(help_text="The last time.")

    class Meta:
        constraints = [
            # Serves each write of what was extracted, and the erasure of a person.
            models.UniqueConstraint(fields=["tenant", "subject", "slot"], name="removal_once")
        ]

    def __str__(self) -> str:
        return self.slot


class Feedback(models.Model):
    """What somebody thought of a memory that was recalled. The newest verdict of a judge counts."""

    class Verdict(models.TextChoices):
        """Whether it served, did not, or did harm."""

        HELPFUL = "helpful"
        NOT_HELPFUL = "not_helpful"
        HARMFUL = "harmful"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255, blank=True, help_text="Whose memory it is.")
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=255, blank=True, help_text="The client's own session id.")
    kind = models.CharField(max_length=16, help_text="Of the memory: episode, entity, observation.")
    memory_id = models.CharField(max_length=64)
    injection_id = models.UUIDField(null=True, help_text="The injection that was judged, if one was named.")
    verdict = models.CharField(max_length=16, choices=Verdict.choices)
    note = models.CharField(max_length=1000, blank=True)
    variant = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        help_text="Of a trial: the setting that recalled it.",
    )
    judge = models.CharField(max_length=255, help_text="Who says so: the caller.")
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [
            # Also finds every verdict about a memory.
            models.UniqueConstraint(
                fields=["tenant", "kind", "memory_id", "judge", "session"], name="feedback_once"
            )
        ]
        indexes = [
            # Serves the share of helpful ones of late.
            models.Index(fields=["tenant", "-created_at"], name="feedback_recent"),
            # Serves one user's export and erasure.
            models.Index(fields=["tenant", "user_id"], name="feedback_user"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.memory_id} {self.verdict}"


class EvaluationQuery(models.Model):
    """A query that recall is measured with, and the episodes that answer it."""

    class Source(models.TextChoices):
        """Sampled from a session, or saved by somebody."""

        SAMPLED = "sampled"
        SAVED = "saved"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255, blank=True, help_text="Whose memories are asked for.")
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=255, blank=True, help_text="The client's own session id.")
    text = models.CharField(max_length=2000)
    relevant = ArrayField(models.UUIDField(), default=list, help_text="Ids of episodes; none: unlabelled.")
    source = models.CharField(max_length=16, choices=Source.choices)
    turn_id = models.UUIDField(null=True, help_text="Of a sampled one: the turn that it was.")
    created_at = models.DateTimeField()
    first_run = models.JSONField(null=True, help_text="How its first run went; null: it was never run.")
    last_run = models.JSONField(null=True, help_text="And its last one.")

    class Meta:
        db_table = "evaluation_queries"
        verbose_name_plural = "evaluation queries"
        constraints = [
            # A session that is sampled again, or by two workers, brings no turn twice.
            models.UniqueConstraint(fields=["tenant", "turn_id"], name="evaluation_turn")
        ]
        indexes = [
            # Serves the list of all, newest first, and the search for the oldest sampled one.
            models.Index(fields=["tenant", "-created_at", "-id"], name="evaluation_recent"),
            # Serves one user's list, export and erasure.
            models.Index(fields=["tenant", "user_id", "-created_at", "-id"], name="evaluation_user"),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.id}"


class RecallHour(models.Model):
    """How many recalls a tenant had in one hour (UTC), and how long they took."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    hour = models.DateTimeField(help_text="Its beginning.")
    buckets = ArrayField(
        models.BigIntegerField(),
        help_text="How many took at most each of `ledger.latency.BOUNDS`, and longer.",
    )

    class Meta:
        # Serves the figures of the last hours as well.
        constraints = [models.UniqueConstraint(fields=["tenant", "hour"], name="recall_hour")]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}"

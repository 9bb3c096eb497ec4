"""Sessions and the append-only log of what happened in them."""

from datetime import datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower
from uuid_utils.compat import uuid7

from tenants.models import Tenant
from working.transaction_ids import CurrentTransaction, TransactionIdField

INSTANT = timedelta(microseconds=1)  # PostgreSQL tells no shorter ones apart


class Session(models.Model):
    """One conversation: identified by (tenant, namespace, user, the client's own id)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    namespace = models.CharField(max_length=255, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    external_id = models.CharField(max_length=255)
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, blank=True)
    # A column, since row-level security keeps an index on the expression from being used.
    project_key = models.GeneratedField(
        expression=Lower("project"), output_field=models.TextField(), db_persist=True
    )
    metadata = models.JSONField(default=dict)
    started_at = models.DateTimeField()
    opened_at = models.DateTimeField(help_text="When it began, or went on after its last end.")
    last_activity_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    last_seq = models.BigIntegerField(
        default=0, help_text="Number of the newest event; 0 when there is none."
    )
    turn_count = models.BigIntegerField(default=0)
    message_count = models.BigIntegerField(
        null=True, help_text="How many the transcript had that it ended with; null: it came without one."
    )
    summarised_seq = models.BigIntegerField(default=0, help_text="Newest event that the summary covers.")
    compacted_seq = models.BigIntegerField(
        default=0, db_default=0, help_text="Newest event that windows leave to the summary."
    )
    summary = models.TextField(blank=True)
    summary_at = models.DateTimeField(
        null=True, help_text="When it last changed, as `changed_at` tells it; null: before that was noted."
    )
    lead = models.TextField(
        blank=True, default="", db_default="", help_text="What a client has set as the summary: it begins so."
    )
    lead_seq = models.BigIntegerField(
        default=0, db_default=0, help_text="Newest event that was summarised when it was set."
    )
    began_whole = models.BooleanField(
        default=False,
        db_default=False,
        help_text="A client that sends it as a whole began it: its hold is the deployment's.",
    )
    let_go_seq = models.BigIntegerField(
        default=0, db_default=0, help_text="Newest event that KAOS's memory has let go of."
    )
    let_go_at = models.DateTimeField(
        null=True, help_text="When KAOS's memory let it go; it knows it again from the next event on."
    )
    emptied_at = models.DateTimeField(
        null=True, help_text="When a client of KAOS put an empty one in its place; null: never."
    )
    placed_at = models.DateTimeField(
        null=True, help_text="Since when that has its place among KAOS's sessions."
    )
    changed_at = models.DateTimeField(
        null=True,
        help_text="Of its last change of turns, summary or state: no two have the same. Null: none yet.",
    )

    class Meta:
        constraints = [
            # Also finds every session of an id in a tenant: the id comes first after the tenant.
            models.UniqueConstraint(
                fields=["tenant", "external_id", "namespace", "user_id"], name="session_identity"
            )
        ]
        indexes = [
            # Serves the session list, newest activity first.
            models.Index(fields=["tenant", "-last_activity_at", "id"], name="session_recent"),
            # Serves the session list of one user.
            models.Index(fields=["tenant", "user_id", "-last_activity_at"], name="session_user_recent"),
            # Serve the search for sessions that are idle, or too old.
            models.Index(
                fields=["tenant", "last_activity_at"],
                condition=models.Q(ended_at__isnull=True),
                name="session_idle",
            ),
            models.Index(
                fields=["tenant", "opened_at"], condition=models.Q(ended_at__isnull=True), name="session_old"
            ),
            # Serves the search for sessions with turns that no summary tells of.
            models.Index(
                fields=["tenant", "last_activity_at", "id"],
                condition=models.Q(last_seq__gt=models.F("summarised_seq")),
                name="session_unsummarised",
            ),
            # Serve a project's sessions, newest first, its figures, the list of projects, and the newest
            # summaries of a project.
            models.Index(fields=["tenant", "project_key", "-started_at", "-id"], name="session_project"),
            models.Index(
                fields=["tenant", "project_key", "-started_at", "-id"],
                condition=~models.Q(summary=""),
                name="session_project_summary",
            ),
            # Serves what KAOS's memory knows of an agent: the newest, how many there are, the oldest, and
            # which agents there are.
            models.Index(
                fields=["tenant", "agent_id", "-last_activity_at"],
                condition=models.Q(let_go_at__isnull=True) | models.Q(last_seq__gt=models.F("let_go_seq")),
                name="session_known_to_kaos",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id

    @property
    def is_known_to_kaos(self) -> bool:
        """Whether KAOS's bounded memory has it."""
        return self.let_go_at is None or self.last_seq > self.let_go_seq

    @property
    def place(self) -> datetime:
        """Since when it has been known to KAOS's memory, which lists its sessions in that order."""
        return self.let_go_at or self.placed_at or self.started_at

    def moment_of_change(self, now: datetime) -> datetime:
        """`now`, or the next moment after the last change, or its beginning, if that is later. Asked under
        the row's lock, so that whoever knows one moment of change has seen all the changes up to it."""
        return max(now, (self.changed_at or self.started_at) + INSTANT)

    def set_summary(self, summary: str, *, at: datetime) -> None:
        """Makes this the summary with the change of that moment; if it says the same, it is the old one."""
        if summary != self.summary:
            self.summary, self.summary_at = summary, at

    def logged_turns(self) -> models.QuerySet["Event"]:
        """Its turns, less those that a client has left out. In the open scope."""
        logged = Event.objects.filter(tenant_id=self.tenant_id, session_id=self.id, withdrawn_at__isnull=True)
        return logged.exclude(role="")

    @property
    def told_messages(self) -> int:
        """How many messages it had: what it ended with, of which its summary tells, else the turns so far."""
        if self.ended_at is None or self.message_count is None:
            return self.turn_count
        return self.message_count


class Event(models.Model):
    """One entry of a session's log. Turns are events too: those with a `role`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    session_id = models.UUIDField()
    seq = models.BigIntegerField(help_text="1, 2, 3 … within the session, without gaps.")
    external_id = models.CharField(
        max_length=255, null=True, help_text="The client's own id, if it gave one."
    )
    event_type = models.CharField(max_length=64)
    role = models.CharField(
        max_length=64, blank=True, help_text="Of a turn: user, assistant, system, tool, or a client's own."
    )
    content = models.JSONField(null=True)
    tool = models.JSONField(null=True, help_text="Of a turn: tool_calls, tool_call_id, name.")
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(help_text="When it happened, as the client says.")
    recorded_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(
        null=True, help_text="When a client that sends its turns as a whole left it out: no window has it."
    )
    recorded_in = TransactionIdField(
        db_default=CurrentTransaction(),
        editable=False,
        help_text="The transaction that wrote it, or that of the event before it, if that is the later one.",
    )

    class Meta:
        db_table = "chat_events"
        constraints = [
            # Also serves windows and rebuilds: the newest events of a session.
            models.UniqueConstraint(fields=["tenant", "session_id", "seq"], name="event_seq"),
            # Makes appends idempotent by the client's id.
            models.UniqueConstraint(
                fields=["tenant", "session_id", "external_id"],
                condition=models.Q(external_id__isnull=False, withdrawn_at__isnull=True),
                name="event_external_id",
            ),
        ]
        indexes = [
            # Serves retention: the oldest events of a tenant.
            models.Index(fields=["tenant", "recorded_at"], name="event_retention"),
            # Serves live events: what was committed behind a cursor, in the order in which it is told.
            models.Index(fields=["tenant", "recorded_in", "session_id", "seq"], name="event_committed"),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.event_type}"


class SessionState(models.Model):
    """What clients that send a session as a whole keep with it beside its turns."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    session_id = models.UUIDField()
    data = models.JSONField(
        null=True, help_text="Any JSON by name; answers when the hash in Redis has expired. Null: none."
    )
    memories = models.JSONField(
        default=list, help_text="Records to be remembered, as they came, each with what became of it."
    )
    strategy = models.JSONField(default=dict, help_text="How memories are extracted: strategy and config.")
    tokens = models.BigIntegerField(default=0, help_text="As the client says.")
    ttl_seconds = models.IntegerField(
        null=True, help_text="Its hold from its last change on; null: for good."
    )
    expires_at = models.DateTimeField(null=True, help_text="When it is forgotten; null: never.")
    stamps = ArrayField(
        models.DateTimeField(), default=list, help_text="The newest moments of change that clients were told."
    )
    extracted_seq = models.BigIntegerField(
        default=0, help_text="Newest event that was looked at for memories."
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "working_state"
        constraints = [models.UniqueConstraint(fields=["tenant", "session_id"], name="state_session")]
        indexes = [
            # Serves the sweep, and the list of sessions: those whose hold is over.
            models.Index(
                fields=["tenant", "expires_at"],
                condition=models.Q(expires_at__isnull=False),
                name="state_expires",
            )
        ]

    def __str__(self) -> str:
        return str(self.session_id)


class Checkpoint(models.Model):
    """Where an agent's loop stood: any JSON, kept to the letter."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    session_id = models.UUIDField()
    version = models.BigIntegerField(help_text="1, 2, 3 …: the entity tag.")
    value = models.TextField(help_text="JSON text as it came; jsonb would reorder it and cost a parse.")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "session_id"], name="checkpoint_session")]

    def __str__(self) -> str:
        return f"{self.session_id} v{self.version}"

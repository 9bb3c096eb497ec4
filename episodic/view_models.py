"""Summary views: which memories are summarised and how they are grouped; the summaries; what makes them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from uuid_utils.compat import uuid7

from tenants.models import Tenant


class SummaryView(models.Model):
    """What is summarised: the memories that meet the tests, one summary for each group of them.

    It reaches what the key that made it reaches: user, agent and project are that key's.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255, blank=True)
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=255, blank=True)
    source = models.CharField(max_length=16, default="long_term", help_text="Long-term memory, so far.")
    group_by = ArrayField(models.CharField(max_length=16), default=list, help_text="Fields of a record.")
    filters = models.JSONField(default=dict, help_text="As the client sent them.")
    tests = models.JSONField(default=list, help_text="The same as tests: field, operator, value.")
    time_window_days = models.PositiveIntegerField(null=True, help_text="Null: records of any age.")
    continuous = models.BooleanField(default=False, help_text="Whether the clock refreshes it.")
    prompt = models.TextField(blank=True, help_text="What the reader wants of a summary.")
    model_name = models.CharField(max_length=255, blank=True, help_text="As the client sent it.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    created_by = models.CharField(max_length=255)

    class Meta:
        db_table = "summary_views"
        indexes = [
            # Serves the list.
            models.Index(fields=["tenant", "-created_at", "-id"], name="summary_view_recent"),
            # Serves the clock.
            models.Index(
                fields=["tenant", "id"], condition=models.Q(continuous=True), name="summary_view_continuous"
            ),
        ]

    def __str__(self) -> str:
        return self.name or str(self.id)


class SummaryPartition(models.Model):
    """The summary of one group of a view's records. One that is made anew takes the place of the former; of
    those that were hidden meanwhile, since somebody was restricted, the newest counts."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    view_id = models.UUIDField()
    user_id = models.CharField(max_length=255, blank=True, help_text="Whose memory alone it tells of.")
    users = ArrayField(models.TextField(), default=list, help_text="Of whose memories it was made.")
    group = models.JSONField(help_text="The values of the fields that the view groups by.")
    summary = models.TextField(blank=True)
    memory_count = models.PositiveIntegerField(help_text="Records that it was made of.")
    empty_reason = models.CharField(max_length=255, blank=True, help_text="Why there are none.")
    model = models.CharField(max_length=255, blank=True, help_text="Who wrote it; empty: this server.")
    prompt_id = models.CharField(max_length=64, blank=True)
    fingerprint = models.CharField(
        max_length=64, blank=True, help_text="Of what it was made; empty: it is to be made again."
    )
    oldest_at = models.DateTimeField(help_text="When the oldest of its records was created.")
    passing = models.JSONField(
        default=list, help_text="By agent, the oldest of those that retention takes: `agent_id`, `since`."
    )
    computed_at = models.DateTimeField()

    class Meta:
        db_table = "summary_partitions"
        indexes = [
            # Serves the list of a view's.
            models.Index(fields=["tenant", "view_id", "-computed_at"], name="summary_partition_of_view"),
            # Serves one user's export and erasure.
            models.Index(
                fields=["tenant", "user_id"],
                condition=~models.Q(user_id=""),
                name="summary_partition_user",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.view_id} {self.group}"


class SummaryRun(models.Model):
    """A run of a whole view, as whoever asked for it knows it. What becomes of it stands in its job."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    view_id = models.UUIDField()
    job_id = models.UUIDField()
    task_id = models.CharField(max_length=255, help_text="The client's own id, or the job's.")
    user_id = models.CharField(max_length=255, blank=True)
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "summary_runs"
        constraints = [
            # Serves the look-up of a task as well.
            models.UniqueConstraint(
                fields=["tenant", "task_id", "user_id", "agent_id", "project"], name="summary_run_task"
            )
        ]
        indexes = [
            # Serves the job, which says that it has begun.
            models.Index(fields=["tenant", "job_id"], name="summary_run_job"),
            # Serves the clearing of old ones.
            models.Index(fields=["tenant", "created_at"], name="summary_run_age"),
        ]

    def __str__(self) -> str:
        return self.task_id

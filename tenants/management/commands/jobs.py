import os
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from tenants.jobs.queue import list_all_jobs, replay_all
from tenants.models import Job, JobState, Tenant
from tenants.tenancy import get_tenant

ACTOR = "command:jobs"


class Command(BaseCommand):
    """Lists a tenant's jobs and puts dead letters back."""

    help = "List a tenant's jobs, newest first, or put failed ones back into the queue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("--state", choices=JobState.values, help="only jobs in this state")
        parser.add_argument("--kind", help="only jobs of this kind")
        parser.add_argument("--limit", type=int, default=100, help="list no more (default: %(default)s)")
        parser.add_argument("--replay", metavar="ID|all", help="put this failed job back, or all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        if options["replay"]:
            if options["state"]:
                raise CommandError("--replay is for failed jobs: leave --state out.")
            self._replay(tenant, options)
            return
        if options["limit"] < 1:
            raise CommandError("--limit must be at least 1.")
        found = list_all_jobs(
            tenant_id=tenant.id, state=options["state"], kind=options["kind"], limit=options["limit"]
        )
        try:
            for job in found:
                self.stdout.write(_line(job))
            self.stdout.flush()
        except BrokenPipeError:  # by `| head`, which has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stdout.fileno())  # what is left, at the exit
            return
        self.stderr.write(f"{len(found)} jobs{', and perhaps more' * (len(found) == options['limit'])}.")

    def _replay(self, tenant: Tenant, options: dict[str, Any]) -> None:
        ids = None if options["replay"] == "all" else [_uuid(options["replay"])]
        replayed = replay_all(tenant_id=tenant.id, actor=ACTOR, kind=options["kind"], job_ids=ids)
        if ids and not replayed:
            raise CommandError(f"There is no failed job {options['replay']}.")
        self.stdout.write(f"{replayed} jobs are back in the queue.")


def _line(job: Job) -> str:
    attempts = f"{job.attempts}/{job.max_attempts}"
    return "  ".join(
        [
            str(job.id),
            f"{job.created_at:%Y-%m-%d %H:%M:%S}",
            f"{job.state:7}",
            f"{attempts:>5}",
            job.kind,
            job.error,
        ]
    ).rstrip()


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise CommandError("--replay takes a job's id, or all.") from error

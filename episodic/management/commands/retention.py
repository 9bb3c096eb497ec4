import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from episodic.retention import RetentionReport, expire_memory
from tenants.models import Tenant
from tenants.router import admin_role

ACTOR = "command:retention"


class Command(BaseCommand):
    """Deletes what is too old by each tenant's policy, now instead of at night."""

    help = "Delete what sessions left behind and is older than the policy allows, with a report."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="SLUG", help="only this tenant; by default all")
        parser.add_argument("--dry-run", action="store_true", help="only count what would go")
        parser.add_argument("--json", action="store_true", help="the reports as a JSON array")

    def handle(self, *args: Any, **options: Any) -> None:
        with admin_role():
            found = Tenant.objects.order_by("slug")
            wanted = found.filter(slug=options["tenant"]) if options["tenant"] else found
            tenants = list(wanted)
        if options["tenant"] and not tenants:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        reports = []
        for tenant in tenants:
            report = expire_memory(
                tenant_id=tenant.id,
                tenant=tenant.slug,
                actor=ACTOR,
                now=timezone.now(),
                dry_run=options["dry_run"],
            )
            reports.append(report.shown())
            if not options["json"]:
                self.stdout.write(_line(report))
        if options["json"]:
            self.stdout.write(json.dumps(reports))


def _line(one: RetentionReport) -> str:
    verb = "would go" if one.dry_run else "gone"
    left = ", ".join(f"{kind} {moment or '-'}" for kind, moment in one.oldest_left.items())
    return f"{one.tenant}: {one.episodes} episodes, {one.events} events {verb}; oldest left: {left}"

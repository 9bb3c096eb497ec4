from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tenants.privacy.erasure import begin_erasure
from tenants.tenancy import get_tenant


class Command(BaseCommand):
    """Has everything erased that is kept of a person, and prints the job that does it."""

    help = "Erase a person; a worker does it, and the receipt tells what was erased."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("user", help="the person's user id")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        if not 0 < len(options["user"]) <= 255:
            raise CommandError("A user id has 1 to 255 characters.")
        job = begin_erasure(
            tenant_id=tenant.id,
            user_id=options["user"],
            actor="command:erase_subject",
            now=timezone.now(),
        )
        self.stdout.write(str(job.id))

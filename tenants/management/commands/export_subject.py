from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tenants.privacy.export import export_file
from tenants.tenancy import get_tenant


class Command(BaseCommand):
    """Writes everything that is kept of a person into a file, at once and without a worker."""

    help = "Export a person to a zip file: JSON Lines, and a page to read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("user", help="the person's user id")
        parser.add_argument("file", help="where to write; an existing file is not overwritten")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        if not options["user"]:
            raise CommandError("Name the person.")
        pieces = export_file(
            tenant_id=tenant.id,
            user_id=options["user"],
            actor="command:export_subject",
            now=timezone.now(),
        )
        try:
            with Path(options["file"]).open("xb") as file:
                for piece in pieces:
                    file.write(piece)
        except OSError as error:
            raise CommandError(str(error)) from error

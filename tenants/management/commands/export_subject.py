import os
from argparse import ArgumentParser
from collections.abc import Iterable
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
            _write(Path(options["file"]), pieces)
        except OSError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Cancelled: there is no file.", returncode=130) from None


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Into a new file that only its owner can read, and of which nothing is left unless it is whole."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        try:
            for piece in pieces:
                file.write(piece)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from memoryproject.backup.errors import BackupError
from memoryproject.backup.making import make_backup


class Command(BaseCommand):
    """Writes a backup; docs/backup.md says what is in it."""

    help = "Write every tenant, or one, into a file that `restore` brings back. Everything goes on meanwhile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--tenant", metavar="SLUG", help="this tenant alone")
        parser.add_argument("--force", action="store_true", help="write over a file that there is")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with tqdm(unit="B", unit_scale=True, desc="saved", leave=False, disable=None) as bar:
                made = make_backup(
                    path=options["file"],
                    slug=options["tenant"],
                    force=options["force"],
                    actor="command:backup",
                    advance=bar.update,
                )
        except BackupError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Cancelled: there is no new file.", returncode=130) from None
        self.stdout.write(
            f"{options['file']}: {made.tenants} tenants, {made.rows} rows, "
            f"{made.sessions} sessions of Redis, {made.bytes} bytes"
        )

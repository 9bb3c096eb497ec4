from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from memoryproject.backup.errors import BackupError
from memoryproject.backup.restoring import restore_backup


class Command(BaseCommand):
    """Brings a backup back; docs/backup.md has the whole way."""

    help = (
        "Bring every tenant of a backup, or one, into a migrated database, and erase again who was erased "
        "since. All or nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--tenant", metavar="SLUG", help="this tenant alone")
        parser.add_argument(
            "--replace", action="store_true", help="in the place of what the database has of these tenants"
        )
        parser.add_argument(
            "--erasures", type=Path, metavar="FILE", help="what `manage.py erasures` wrote since the backup"
        )
        parser.add_argument(
            "--other-secret-key", action="store_true", help="also if made under another SECRET_KEY, unchecked"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with tqdm(unit="B", unit_scale=True, desc="checked, loaded", leave=False, disable=None) as bar:
                done = restore_backup(
                    path=options["file"],
                    slug=options["tenant"],
                    replace=options["replace"],
                    erasures=options["erasures"],
                    other_secret_key=options["other_secret_key"],
                    actor="command:restore",
                    advance=bar.update,
                )
        except BackupError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError(
                "Cancelled: unless it said that the rows are back, everything is as before.", returncode=130
            ) from None
        self.stdout.write(
            f"As of {done.made_at:%Y-%m-%d %H:%M:%S %Z}: {done.tenants} tenants, {done.rows} rows, "
            f"{done.sessions} sessions of Redis, {done.users} users\n"
            f"Erasures applied again: {done.erased}"
        )

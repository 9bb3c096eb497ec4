from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryproject.backup import journal
from memoryproject.backup.errors import BackupError


class Command(BaseCommand):
    """Writes out what a restore must not undo."""

    help = (
        "Write the erasures, ended keys and revoked links of all tenants into a small file without names, "
        "for `restore --erasures`."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--force", action="store_true", help="write over a file that there is")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            counts = journal.write(options["file"], force=options["force"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        told = f"{counts['erasure']} erasures, {counts['key']} keys, links of {counts['links']} people"
        self.stdout.write(f"{options['file']}: {told}")

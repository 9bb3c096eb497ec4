import os
import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from knowledge.documents import delete_document, list_documents
from knowledge.ingesting import ingest_document
from knowledge.reading.reader import SUFFIXES
from knowledge.types import NewDocument
from tenants.caller import Caller
from tenants.errors import DomainError
from tenants.system import system_caller
from tenants.tenancy import get_tenant

PAGE = 500


class Command(BaseCommand):
    """Takes in the documents of a folder: what is new or changed since the last time. One that is refused
    keeps no other from being taken in."""

    help = f"Take in the documents of a folder ({', '.join(SUFFIXES)}) and of those within it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--tenant", required=True, metavar="SLUG", help="whose documents they are")
        parser.add_argument("--project", default="", help="for this project alone")
        parser.add_argument(
            "--delete-missing",
            action="store_true",
            help="delete documents that came from a folder of this name and are not in it any more",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        folder = options["folder"].resolve()
        if not folder.is_dir():
            raise CommandError(f"{options['folder']} is no folder.")
        caller, files = system_caller(tenant.id), self._files(folder)
        done: Counter[str] = Counter()
        for path in tqdm(files, unit="file", disable=None, file=sys.stderr):
            done[self._ingest(caller, folder, path, options["project"])] += 1
        if options["delete_missing"]:
            done["deleted"] = _delete_missing(caller, folder, files, options["project"])
        self.stdout.write(", ".join(f"{count} {action}" for action, count in done.items()) or "no documents")
        if done["refused"]:
            raise CommandError(f"{done['refused']} of {len(files)} files were refused.")

    def _files(self, folder: Path) -> list[Path]:
        """Those that lie in the folder: a link that leads out of it is told of and passed over, for what is
        behind it was not meant, and may be a secret."""
        files = []
        for path in _visible(folder):
            if not Path(os.path.realpath(path)).is_relative_to(folder):  # `resolve` raises for a loop
                self.stderr.write(f"{path}: a link that leads out of the folder is passed over")
            elif path.suffix.lower() in SUFFIXES and path.is_file():
                files.append(path)
        return files

    def _ingest(self, caller: Caller, folder: Path, path: Path, project: str) -> str:
        """What became of the file."""
        try:
            new = NewDocument(
                data=path.read_bytes(), source=_source(folder, path), filename=path.name, project=project
            )
            return ingest_document(caller=caller, new=new, now=timezone.now()).action
        except (DomainError, OSError) as error:
            with tqdm.external_write_mode(file=sys.stderr):
                self.stderr.write(f"{path}: {error}")
            return "refused"


def _visible(folder: Path) -> list[Path]:
    """What is in the folder and in those within it, hidden ones aside. No link to a folder is followed."""
    found = folder.rglob("*")
    return sorted(
        path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def _source(folder: Path, path: Path) -> str:
    """The folder's name and the way within it: the same wherever the folder lies."""
    return f"{folder.name}/{path.relative_to(folder).as_posix()}"


def _delete_missing(caller: Caller, folder: Path, files: list[Path], project: str) -> int:
    there = {_source(folder, path) for path in files}
    missing, before = [], None
    while True:
        page = list_documents(caller=caller, limit=PAGE, project=project, before=before)
        found = [one.document for one in page]
        missing += [
            one
            for one in found
            if one.source.startswith(f"{folder.name}/")
            and one.source not in there
            and (one.project, one.user_id) == (project.strip().lower(), "")
        ]
        if len(page) < PAGE:
            break
        before = found[-1].updated_at, found[-1].id
    for one in missing:
        delete_document(caller=caller, document_id=one.id)
    return len(missing)

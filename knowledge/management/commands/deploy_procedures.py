from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from knowledge.deploying import deploy_procedures, rollback_procedure
from knowledge.procedure_files import read_procedure
from knowledge.types import Deployed, ProcedureText
from tenants.errors import DomainError
from tenants.models import Tenant
from tenants.tenancy import get_tenant

ACTOR = "command:deploy_procedures"
SUFFIXES = (".md", ".txt")


class Command(BaseCommand):
    """Has an environment run the procedures of a folder: all of them or, if one is refused, none."""

    help = "Deploy procedures from a folder, each *.md or *.txt file one, or roll one back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, metavar="DIR")
        parser.add_argument("--tenant", required=True, metavar="SLUG", help="whose procedures they are")
        parser.add_argument(
            "--environment",
            default=settings.PROCEDURE_ENVIRONMENT,
            metavar="NAME",
            help="which environment is to run them (default: %(default)s)",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--rollback", metavar="NAME", help="run the version of this procedure before")
        parser.add_argument("--to", metavar="VERSION", help="with --rollback: run this version")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        if (options["folder"] is None) == (options["rollback"] is None):
            raise CommandError("Name a folder, or a procedure to --rollback.")
        try:
            if options["rollback"] is not None:
                self._roll_back(tenant, options)
            else:
                self._deploy(tenant, options)
        except DomainError as error:
            raise CommandError(str(error)) from error

    def _deploy(self, tenant: Tenant, options: dict[str, Any]) -> None:
        texts = _read(options["folder"])
        done = deploy_procedures(
            tenant_id=tenant.id,
            environment=options["environment"],
            texts=texts,
            actor=ACTOR,
            now=timezone.now(),
            dry_run=options["dry_run"],
        )
        for one in done:
            self.stdout.write(_line(one))
        changed = sum(one.outcome != "unchanged" for one in done)
        verb = "would be deployed" if options["dry_run"] else "deployed"
        self.stdout.write(f"{changed} of {len(done)} procedures {verb} to {options['environment']}.")

    def _roll_back(self, tenant: Tenant, options: dict[str, Any]) -> None:
        if options["dry_run"]:
            raise CommandError("--dry-run goes with a folder.")
        done = rollback_procedure(
            tenant_id=tenant.id,
            environment=options["environment"],
            name=options["rollback"],
            actor=ACTOR,
            now=timezone.now(),
            to=options["to"],
        )
        self.stdout.write(_line(done))


def _read(folder: Path) -> list[ProcedureText]:
    if not folder.is_dir():
        raise CommandError(f"{folder} is no folder.")
    files = sorted(
        path for path in folder.rglob("*") if _is_procedure(path.relative_to(folder)) and path.is_file()
    )
    if not files:
        raise CommandError(f"There is no {' or '.join(SUFFIXES)} file in {folder}.")
    return [read_procedure(path.read_bytes(), origin=str(path.relative_to(folder))) for path in files]


def _is_procedure(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in path.parts)


def _line(one: Deployed) -> str:
    version, name = one.procedure.version, one.procedure.name
    if one.outcome == "unchanged":
        return f"{name} {version} unchanged"
    return (
        f"{name} {one.before} -> {version} {one.outcome}" if one.before else f"{name} {version} {one.outcome}"
    )

import json
import logging
import os
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from tqdm import tqdm

from memoryproject.importing import report as reports
from memoryproject.importing.errors import ImportFailed
from memoryproject.importing.importer import Importer
from memoryproject.importing.report import Report
from memoryproject.importing.rows import Source
from memoryproject.importing.run import Run
from memoryproject.importing.seen import Seen
from memoryproject.importing.sources.choosing import KINDS, Asked, open_source
from tenants.errors import Unavailable
from tenants.system import system_caller
from tenants.tenancy import get_tenant

AGAIN = "run the same command again to go on from there"
INCOMPLETE, INTERRUPTED = 3, 130  # exit statuses


class Command(BaseCommand):
    """Brings in what another memory holds, once, however often it is run."""

    help = (
        "Import memories from another system's file, database or server into a tenant. Running it again adds "
        "only what is missing. docs/importing.md describes the sources and the report. Exit status 0: it was "
        "read to its end; 1: it was not; 3: with --strict, something was left out; 130: interrupted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", choices=KINDS, help="what it is read from")
        parser.add_argument("location", metavar="PATH_OR_URL", help="a file, or the address of a server")
        parser.add_argument("--tenant", required=True, metavar="SLUG", help="whose memory it becomes")
        parser.add_argument(
            "--user",
            default="",
            metavar="ID",
            help="import this person's only, and what names nobody as theirs",
        )
        parser.add_argument(
            "--agent", default="", metavar="ID", help="the agent it becomes a memory of, where none is named"
        )
        parser.add_argument("--table", default="", help="of a database that has several that fit")
        parser.add_argument(
            "--api-key", default="", metavar="KEY", help="of the source's server (else IMPORT_API_KEY)"
        )
        parser.add_argument("--dry-run", action="store_true", help="read and tell; write nothing")
        parser.add_argument(
            "--keep-secrets", action="store_true", help="import what is sensitive to the letter, too"
        )
        parser.add_argument("--strict", action="store_true", help="exit status 3 if something was left out")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verbosity"] < 2:  # httpx reports each request as INFO
            logging.getLogger("httpx").setLevel(logging.WARNING)
        try:
            self._import(options)
        except (ImportFailed, Unavailable) as error:
            raise CommandError(str(error)) from error
        except (OperationalError, InterfaceError) as error:
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise CommandError(f"The database here cannot be reached ({said}); {AGAIN}.") from error
        except KeyboardInterrupt:
            raise CommandError(f"Stopped; {AGAIN}.", returncode=INTERRUPTED) from None

    def _import(self, options: dict[str, Any]) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        source = open_source(_asked(options))
        report = Report(options["source"], options["tenant"], options["dry_run"])
        began = time.monotonic()
        with Seen() as seen:
            run = Run(
                caller=system_caller(tenant.id),
                source=options["source"],
                report=report,
                seen=seen,
                clock=timezone.now,
                user_id=options["user"],
                agent_id=options["agent"],
                keeps_secrets=options["keep_secrets"],
                is_dry=options["dry_run"],
            )
            try:
                _read(run, source, is_quiet=options["quiet"] or options["json"])
            finally:  # also when it is stopped: what was done by then
                self._tell(report, seconds=time.monotonic() - began, is_json=options["json"])
        if report.failed:
            is_in = report.has_changed and not report.dry_run
            raise CommandError(f"{report.failed} What came before is imported." if is_in else report.failed)
        if report.is_foreign:
            raise CommandError(f"Nothing there is what {options['source']} holds: is it of another source?")
        if options["strict"] and report.left_out:
            raise CommandError(f"{report.left_out:,} were left out.", returncode=INCOMPLETE)

    def _tell(self, report: Report, *, seconds: float, is_json: bool) -> None:
        if is_json:
            told = {**reports.as_json(report), "seconds": round(seconds, 3)}
            self.stdout.write(json.dumps(told, ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(reports.lines(report)))


def _asked(options: dict[str, Any]) -> Asked:
    return Asked(
        kind=options["source"],
        location=options["location"],
        api_key=options["api_key"] or os.environ.get("IMPORT_API_KEY", ""),
        user_id=options["user"],
        table=options["table"],
    )


def _read(run: Run, source: Source, *, is_quiet: bool) -> None:
    with tqdm(
        total=source.total,
        desc=source.name,
        unit=source.unit,
        unit_scale=True,
        disable=is_quiet,
        dynamic_ncols=True,
    ) as bar:

        def advance(position: int, total: int | None) -> None:
            bar.total = total
            bar.update(position - bar.n)

        Importer(run, advance).read(source)

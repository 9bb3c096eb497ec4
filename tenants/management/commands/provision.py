from argparse import ArgumentParser
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from tenants.provision import provision, script


class Command(BaseCommand):
    """Prints or applies the SQL for roles, database and extension."""

    help = "Print the SQL that sets up roles, database and extension; or apply it as a superuser."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--apply", metavar="SUPERUSER_URL", help="apply it with this PostgreSQL URI")

    def handle(self, *args: Any, **options: Any) -> None:
        urls = {
            "app_url": settings.DATABASE_URLS["default"],
            "owner_url": settings.DATABASE_URLS["owner"],
            "admin_url": settings.DATABASE_URLS["admin"],
            "definer": settings.DATABASE_DEFINER_ROLE,
        }
        try:
            if not options["apply"]:
                self.stdout.write(script(**urls), ending="")
                return
            provision(superuser_url=options["apply"], **urls)
        except (ValueError, psycopg.Error) as error:
            raise CommandError(str(error)) from error
        self.stdout.write("Provisioned.")

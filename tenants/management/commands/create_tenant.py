from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants.errors import DomainError
from tenants.tenancy import create_tenant


class Command(BaseCommand):
    """Creates a tenant and prints its id."""

    help = "Create a tenant."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name: letters, digits, dashes, underscores")
        parser.add_argument("--name", default="", help="name for people")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            tenant = create_tenant(slug=options["slug"], name=options["name"], actor="command:create_tenant")
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(str(tenant.id))

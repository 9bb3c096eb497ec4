from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tenants.api_keys import create_api_key
from tenants.caller import SCOPES
from tenants.errors import DomainError
from tenants.tenancy import get_tenant


class Command(BaseCommand):
    """Creates an API key and prints it, this once."""

    help = "Create an API key; it is shown once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("--name", default="", help="what the key is for")
        parser.add_argument("--scopes", default="read,write", help=f"comma-separated: {', '.join(SCOPES)}")
        parser.add_argument("--user", default="", help="bind the key to this user")
        parser.add_argument("--agent", default="", help="bind the key to this agent")
        parser.add_argument("--project", default="", help="bind the key to this project")
        parser.add_argument("--days", type=int, default=0, help="days until it expires; 0: never")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        days = options["days"]
        if days < 0:
            raise CommandError("--days may not be negative.")
        try:
            _key, text = create_api_key(
                tenant=tenant,
                actor="command:create_api_key",
                scopes=tuple(scope.strip() for scope in options["scopes"].split(",") if scope.strip()),
                name=options["name"],
                user_id=options["user"],
                agent_id=options["agent"],
                project=options["project"],
                expires_at=timezone.now() + timedelta(days=days) if days else None,
            )
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(text)

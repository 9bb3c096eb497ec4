from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from tenants.errors import DomainError
from tenants.members import SCOPES_OF, add_member
from tenants.router import admin_role
from tenants.tenancy import get_tenant


class Command(BaseCommand):
    """Makes an existing user a member of a tenant."""

    help = "Make a user, whom `createsuperuser` or the admin's pages have made, a member of a tenant."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("username", help="the user's name")
        parser.add_argument("--role", default="viewer", help=f"{', '.join(SCOPES_OF)}; default: viewer")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        with admin_role():
            user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['username']!r}.")
        try:
            member = add_member(tenant=tenant, user=user, role=options["role"], actor="command:add_member")
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{user.get_username()} is {member.role} of {tenant.slug}.")

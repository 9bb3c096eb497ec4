import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants.privacy.receipts import is_genuine
from tenants.tenancy import get_tenant
from tenants.tombstones import subject_of


class Command(BaseCommand):
    """Says whether the receipt of an erasure is as this server signed it."""

    help = "Verify the receipt of an erasure: valid or invalid."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the receipt, in JSON; - reads it from standard input")
        parser.add_argument("--key", help="the public key that signed it, in base64; else this server's")
        parser.add_argument("--user", help="also check that it is about this user id of the tenant it names")

    def handle(self, *args: Any, **options: Any) -> None:
        receipt = _read(options["file"])
        if not is_genuine(receipt, key=options["key"]):
            raise CommandError("invalid: this was not signed with that key, or was changed since.")
        if options["user"] and receipt["subject"] != _subject(receipt["tenant"], options["user"]):
            raise CommandError("invalid: the receipt is genuine, and about somebody else.")
        self.stdout.write("valid")


def _read(name: str) -> Any:
    """The receipt itself, or the one that an answer of the server holds."""
    try:
        found = json.loads(Path("/dev/stdin" if name == "-" else name).read_bytes())
    except (OSError, ValueError) as error:
        raise CommandError(f"invalid: {error}") from error
    return found["receipt"] if isinstance(found, dict) and "receipt" in found else found


def _subject(slug: str, user_id: str) -> str:
    tenant = get_tenant(slug)
    if tenant is None:
        raise CommandError(f"There is no tenant {slug!r}.")
    return subject_of(tenant_id=tenant.id, user_id=user_id)

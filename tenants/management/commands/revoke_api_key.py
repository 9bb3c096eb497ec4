from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tenants.api_keys import get_api_key, revoke_api_key


class Command(BaseCommand):
    """Ends an API key for good."""

    help = "End an API key for good; every process refuses it within seconds, and its live streams end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("key_id", help="the 16 characters after `mem_`")

    def handle(self, *args: Any, **options: Any) -> None:
        key = get_api_key(options["key_id"])
        if key is None:
            raise CommandError("There is no such key.")  # not repeated: it may be a whole key by mistake
        if key.revoked_at is not None:
            raise CommandError("The key is revoked already.")
        revoke_api_key(key=key, actor="command:revoke_api_key", now=timezone.now())

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from tenants.api_keys import get_api_key, rotate_api_key
from tenants.errors import DomainError

UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
DURATION = re.compile(r"(?P<count>[0-9]{1,9})(?P<unit>[smhd]?)", re.ASCII)


def seconds(text: str) -> int:
    """The seconds of `90`, `90s`, `15m`, `24h` or `7d`."""
    parts = DURATION.fullmatch(text)
    if parts is None:
        raise ArgumentTypeError(f"{text!r} is no duration such as 0, 90s, 15m, 24h or 7d")
    return int(parts["count"]) * UNITS[parts["unit"]]


class Command(BaseCommand):
    """Replaces an API key by a new one and prints that, this once."""

    help = "Replace an API key by a new one, which is shown once; the old one goes on working for a while."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("key_id", help="the 16 characters after `mem_`")
        parser.add_argument(
            "--overlap",
            type=seconds,
            default="24h",
            help="how long the old key goes on working, such as 90s, 15m, 24h, 7d; 0: not at all"
            " (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        key = get_api_key(options["key_id"])
        if key is None:
            raise CommandError("There is no such key.")  # not repeated: it may be a whole key by mistake
        try:
            _key, text = rotate_api_key(
                key=key,
                actor="command:rotate_api_key",
                overlap_seconds=options["overlap"],
                now=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(text)

"""`manage.py run`: everything that one machine needs, in one terminal."""

import contextlib
import ctypes
import signal
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.process import PR_SET_PDEATHSIG
from memoryproject.embedded.stack import Options, Stack


class Command(BaseCommand):
    help = "Starts PostgreSQL and Redis (unless settings name others), and all of Strata; Ctrl-C stops it."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--end-with-parent",
            action="store_true",
            help="stop when the starting process dies (used by make)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["end_with_parent"]:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
        try:
            chosen = Options(settings.MEMORY_HOME, settings.HOST, settings.PORT, settings.STREAM_PORT)
            Stack(chosen, self._say).run()
        except CannotStart as error:
            self._complain(str(error))
        except OSError as error:  # a full disk, a file that somebody else owns
            self._complain(
                f"Strata stopped: {error.strerror or error}" + f" ({error.filename})" * bool(error.filename)
            )

    def _say(self, sentence: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more; the servers go on
            self.stdout.write(sentence)
            self.stdout.flush()

    def _complain(self, sentence: str) -> None:
        with contextlib.suppress(OSError):
            self.stderr.write(sentence)
        sys.exit(1)

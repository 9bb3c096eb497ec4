"""A model provider without a model, to try Strata's outside providers and their faults by hand."""

import contextlib
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from providers.fake import FakeProvider
from providers.fake.behaviour import ALWAYS, WRONG

ADVICE = """The fake provider listens on {url}

Point Strata at it:
  EMBEDDING_PROVIDER=openai EMBEDDING_MODEL=text-embedding-3-small LLM_PROVIDER=openai LLM_MODEL=fake \\
  OPENAI_BASE_URL={url} OPENAI_API_KEY={key} make run

Change how it behaves, and see what it was asked:
  curl {control}
  curl {control} -d '{{"rate_limited": 3, "retry_after": "1"}}'
  curl {control} -d '{{"reset": true}}'

Ctrl-C stops it.
"""


class Command(BaseCommand):
    """Serves until it is interrupted."""

    help = "Serve the OpenAI API without a model: deterministic vectors and answers, faults on request."
    requires_system_checks = ()  # it uses none of this installation's settings

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="where to listen (default 127.0.0.1)")
        parser.add_argument("--port", type=int, default=8099, help="the port (default 8099; 0: a free one)")
        parser.add_argument("--api-key", default="", help="refuse every other key")
        parser.add_argument("--dimensions", type=int, default=1536, help="of vectors (default 1536)")
        parser.add_argument("--slow", type=float, default=0, metavar="S", help="answer after S seconds")
        parser.add_argument("--rate-limit", type=int, default=0, metavar="N", help="answer N with 429")
        parser.add_argument("--wrong", choices=WRONG, nargs="?", const="500", help="answer wrongly")
        parser.add_argument("--off-schema", action="store_true", help="answer JSON of another form")
        parser.add_argument("--dead", action="store_true", help="close connections without an answer")

    def handle(self, *args: Any, **options: Any) -> None:
        fake = FakeProvider(
            host=options["host"],
            port=options["port"],
            api_key=options["api_key"],
            dimensions=options["dimensions"],
            slow=options["slow"],
            rate_limited=options["rate_limit"],
            retry_after="1" if options["rate_limit"] else "",
            wrong=ALWAYS if options["wrong"] else 0,
            wrong_kind=options["wrong"] or "500",
            off_schema=ALWAYS if options["off_schema"] else 0,
            dead=ALWAYS if options["dead"] else 0,
        )
        try:
            fake.start()
        except OSError as error:
            raise CommandError(f"It cannot listen there: {error.strerror}.") from error
        control = fake.base_url.removesuffix("/v1") + "/control"
        key = options["api_key"] or "any"
        self.stdout.write(ADVICE.format(url=fake.base_url, key=key, control=control))
        self.stdout.flush()
        for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background jobs are born deaf to Ctrl-C
            signal.signal(number, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
        fake.stop()

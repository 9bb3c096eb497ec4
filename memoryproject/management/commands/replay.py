import json
import logging
import os
import shutil
import time
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from tqdm import tqdm

from memoryproject.replay import files, report
from memoryproject.replay.client import MemoryClient
from memoryproject.replay.endpoint import find_endpoint
from memoryproject.replay.errors import ReplayError
from memoryproject.replay.exact import exact_tops
from memoryproject.replay.player import Played, Player

HELP = """Play a transcript through the running REST API as an agent would, then ask its questions.

FILE is JSON Lines when its name ends in .jsonl, else a LoCoMo conversation (one JSON object with
speaker_a, speaker_b, sessions and qa). In JSON Lines every line is one record:

  {"type": "conversation", "id": "case-7"}                                   optional, first
  {"type": "session", "id": "s1", "started_at": "2024-02-05T09:12:00Z"}
  {"type": "turn", "id": "1.1", "role": "user", "speaker": "Ana", "text": "…"}   below its session
  {"type": "question", "question": "…", "answer": "…", "evidence": ["1.1"]}

docs/replay.md describes every field and how the figures are made. Playing a file again stores
nothing twice. Exit status 1: something failed, or recall and exact cosine differ."""


class _HelpFormatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Keeps the lines of the description."""


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return int(text)


class Command(BaseCommand):
    """Plays a transcript, asks its questions, prints what came back and how good that was."""

    help = HELP
    requires_system_checks = ()  # it needs a server's address, none of this installation's own settings

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, **{"formatter_class": _HelpFormatter, **kwargs})

    def add_arguments(self, parser: ArgumentParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("file", nargs="?", type=Path, metavar="FILE", help="the transcript")
        source.add_argument("--bundled", action="store_true", help="play the bundled support case")
        parser.add_argument(
            "--url", default="", help="the server (else STRATA_URL, else what make run started)"
        )
        parser.add_argument("--api-key", default="", help="its key (else STRATA_API_KEY, else make run's)")
        parser.add_argument("--user", default="", help="whose memory to play into (else the transcript's id)")
        parser.add_argument("--questions", type=_count, metavar="N", help="ask the first N questions only")
        parser.add_argument(
            "--show", type=_count, default=3, metavar="N", help="hits per question (default 3)"
        )
        parser.add_argument("--quiet", action="store_true", help="print figures only")
        parser.add_argument(
            "--profile", default="", help="of recall: hybrid, fused, similarity (else the server's policy)"
        )
        parser.add_argument(
            "--no-check", action="store_true", help="with --profile similarity: do not compute exact cosine"
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write everything into FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verbosity"] < 2:  # httpx reports each of a thousand requests as INFO
            logging.getLogger("httpx").setLevel(logging.WARNING)
        try:
            self._replay(options)
        except ReplayError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped; run it again to go on from there.", returncode=130) from None

    def _replay(self, options: dict[str, Any]) -> None:
        transcript = files.load(files.BUNDLED if options["bundled"] else options["file"])
        endpoint = find_endpoint(options["url"], options["api_key"], settings.MEMORY_HOME)
        user = options["user"] or transcript.id
        with MemoryClient(endpoint) as client:
            player = Player(client, transcript, user, options["profile"])
            if not options["quiet"]:
                counts = f"{len(transcript.sessions)} sessions, {len(transcript.turns)} turns"
                self.stdout.write(f"Playing {transcript.id} ({counts}) for user {user} at {endpoint.url}")
            played = self._play(player, options["quiet"])
            result, problem = self._ask(player, played, endpoint.url, options)
        self._report(result, options)
        if problem:
            raise problem
        if result.comparison and not result.comparison.equal:
            raise CommandError("Recall and exact cosine differ.")

    def _play(self, player: Player, quiet: bool) -> Played:
        with _bar("turns", len(player.transcript.turns), quiet) as bar:
            player.advance = bar.update
            return player.play()

    def _ask(
        self, player: Player, played: Played, url: str, options: dict[str, Any]
    ) -> tuple[report.Result, ReplayError | None]:
        """An exact ranking that cannot be computed must not cost the answers that are there."""
        questions = player.transcript.questions[: options["questions"]]
        began = time.monotonic()
        with _bar("questions", len(questions), options["quiet"]) as bar:
            answered = []
            for one in player.ask(questions):
                answered.append(one)
                bar.update()
        seconds = time.monotonic() - began
        exact, problem = None, None
        if answered and options["profile"] == "similarity" and not options["no_check"]:
            try:
                exact = tuple(exact_tops(player.transcript, answered))
            except ReplayError as error:
                problem = error
        done = report.Result(player.transcript, player.user, url, played, tuple(answered), exact, seconds)
        return done, problem

    def _report(self, result: report.Result, options: dict[str, Any]) -> None:
        paper = self._paper(options)
        lines = list(report.played_lines(result.played))
        if not options["quiet"]:
            lines += report.question_lines(result, show=options["show"], paper=paper)
        lines += report.figure_lines(result, paper)
        self.stdout.write("\n".join(lines))
        if path := options["json"]:
            _write_json(path, result)

    def _paper(self, options: dict[str, Any]) -> report.Paper:
        wanted = self.stdout.isatty() and not options["no_color"] and not os.environ.get("NO_COLOR")
        width = shutil.get_terminal_size((120, 24)).columns
        return report.Paper(width=max(width, 40), colours=bool(wanted or options["force_color"]))


def _bar(unit: str, total: int, quiet: bool) -> "tqdm[Any]":
    return tqdm(total=total, desc=unit, unit=f" {unit}", disable=quiet, dynamic_ncols=True)


def _write_json(path: Path, result: report.Result) -> None:
    try:
        path.write_text(
            json.dumps(report.as_json(result), ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error

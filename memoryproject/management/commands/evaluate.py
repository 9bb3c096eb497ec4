import json
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import DataError, InterfaceError, OperationalError, ProgrammingError
from django.utils import timezone
from tqdm import tqdm

from memoryproject.evaluation.errors import EvaluationError
from memoryproject.evaluation.evaluating import PROFILES, TUNED, USUAL, Evaluated, evaluate
from memoryproject.evaluation.figures import DEPTH
from memoryproject.evaluation.plot import svg
from memoryproject.evaluation.stage import EACH_ARM
from memoryproject.evaluation.tables import markdown
from memoryproject.evaluation.weights_file import weights_document
from memoryproject.replay import files
from memoryproject.replay.errors import ReplayError
from memoryproject.replay.transcripts import Transcript
from providers.embeddings import get_embedder

SUFFIXES = (".json", ".jsonl")
RESAMPLES = 2_000


class Command(BaseCommand):
    """Measures how well recall finds the turns that answer questions, with one profile or another."""

    help = (
        "Store conversations in a tenant that is removed afterwards, ask the questions that come with them, "
        "and print how much of the evidence each profile of recall found. docs/evaluation.md defines the "
        "figures."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path",
            type=Path,
            metavar="DIR",
            help="a folder of LoCoMo conversations and replay's .jsonl, or one",
        )
        parser.add_argument(
            "--profile",
            action="append",
            choices=PROFILES,
            dest="profiles",
            metavar="P",
            help=f"one of {', '.join(PROFILES)}; may be repeated (default: {', '.join(USUAL)})",
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON")
        parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables that are printed")
        parser.add_argument("--plot", type=Path, metavar="FILE", help="draw recall@10 and MRR as SVG")
        parser.add_argument(
            "--fit", type=Path, metavar="FILE", help="write weights of `hybrid` fitted on these conversations"
        )
        parser.add_argument(
            "--resamples",
            type=_at_least_100,
            default=RESAMPLES,
            metavar="N",
            help="draws of the bootstrap behind the intervals (default: %(default)s)",
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bars")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._evaluate(options)
        except (ReplayError, EvaluationError, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        except DataError as error:
            raise CommandError(
                f"A conversation holds what cannot be stored: {_in_one_line(error)}"
            ) from error
        except ProgrammingError as error:
            raise CommandError(
                f"The database is not of this version ({_in_one_line(error)}); run "
                "`manage.py migrate --database owner`."
            ) from error
        except (OperationalError, InterfaceError) as error:
            raise CommandError(
                f"The database cannot be reached ({_in_one_line(error)}); start it with `make run`, or set "
                "DATABASE_URL, DATABASE_OWNER_URL and DATABASE_ADMIN_URL."
            ) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped; what was stored has been removed.", returncode=130) from None

    def _evaluate(self, options: dict[str, Any]) -> None:
        transcripts = [files.load(path) for path in _files(options["path"])]
        outputs = [options[name] for name in ("json", "markdown", "plot", "fit") if options[name]]
        _check_writable(outputs)
        self._tell_of(transcripts)
        profiles = options["profiles"] or [one for one in USUAL if one != TUNED or len(transcripts) > 1]
        found = evaluate(
            transcripts,
            profiles=list(dict.fromkeys(profiles)),
            fit=options["fit"] is not None,
            resamples=options["resamples"],
            progress=lambda unit, total: tqdm(
                total=total, desc=unit, disable=options["quiet"], dynamic_ncols=True
            ),
        )
        tables = markdown(found.profiles)
        self.stdout.write(tables, ending="")
        _write_all(options, found, tables)

    def _tell_of(self, transcripts: list[Transcript]) -> None:
        """What is measured, and what of the files is not."""
        turns = sum(len(one.turns) for one in transcripts)
        self.stdout.write(f"{len(transcripts)} conversations, {turns} turns; MRR looks at {DEPTH} ranks.")
        if bare := sum(not question.evidence for one in transcripts for question in one.questions):
            self.stdout.write(f"{bare} questions have no usable evidence and are not asked.")
        if unusable := sum(len(one.unusable) for one in transcripts):
            self.stdout.write(f"{unusable} evidence entries name no turn and are left out.")


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _at_least_100(text: str) -> int:
    if not text.isdecimal() or int(text) < 100:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 100 up")
    return int(text)


def _files(path: Path) -> list[Path]:
    """The file, or those in the folder; not those of folders within it."""
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.iterdir() if one.suffix in SUFFIXES and one.is_file())
    if not found:
        raise CommandError(f"There is no {' or '.join(SUFFIXES)} file in {path}.")
    return found


def _check_writable(paths: list[Path]) -> None:
    """Rather now than after minutes of work."""
    for path in paths:
        if path.is_dir() or not path.parent.is_dir():
            raise CommandError(f"{path} cannot be written: it is a folder, or there is none to write it to.")


def _write_all(options: dict[str, Any], found: Evaluated, tables: str) -> None:
    if path := options["json"]:
        _write(path, _json({"profiles": found.profiles}))
    if path := options["markdown"]:
        _write(path, tables)
    if path := options["plot"]:
        _write(path, svg(found.profiles))
    if (path := options["fit"]) and found.weights:
        document = weights_document(
            found.weights,
            tuned=found.tuned,
            conversations=found.conversations,
            questions=found.questions,
            each=EACH_ARM,
            model=get_embedder().model,
            on=timezone.now().date(),
        )
        _write(path, _json(document))


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error

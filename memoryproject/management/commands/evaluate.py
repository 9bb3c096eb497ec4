import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import DataError, InterfaceError, OperationalError, ProgrammingError
from django.utils import timezone
from tqdm import tqdm

from memoryproject.evaluation.errors import EvaluationError
from memoryproject.evaluation.evaluating import (
    PROFILES,
    TUNED,
    USUAL,
    Evaluated,
    Progress,
    answerable,
    evaluate,
)
from memoryproject.evaluation.figures import DEPTH
from memoryproject.evaluation.plot import svg
from memoryproject.evaluation.report import Assessed
from memoryproject.evaluation.saved import evaluate_saved, own_profile
from memoryproject.evaluation.stage import EACH_ARM
from memoryproject.evaluation.tables import markdown
from memoryproject.evaluation.trials import trial_document, trial_text
from memoryproject.evaluation.weights_file import weights_document
from memoryproject.replay import files
from memoryproject.replay.errors import ReplayError
from memoryproject.replay.transcripts import Transcript
from providers.embeddings import get_embedder
from recall.ranking.weights import Weights
from recall.trials import compare_trial
from tenants.system import system_caller
from tenants.tenancy import get_tenant

SUFFIXES = (".json", ".jsonl")
RESAMPLES = 2_000
MARKED = "recall@10"


class Command(BaseCommand):
    """Measures how well recall finds the turns that answer questions, with one profile or another."""

    help = (
        "Store conversations in a tenant that is removed afterwards, ask the questions that come with them, "
        "and print how much of the evidence each profile of recall found; or, with --tenant, ask a tenant's "
        "saved queries of its own memories. docs/evaluation.md defines the figures."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path",
            nargs="?",
            type=Path,
            metavar="DIR",
            help="a folder of LoCoMo conversations and replay's .jsonl, or one",
        )
        parser.add_argument("--tenant", metavar="SLUG", help="ask this tenant's saved queries instead")
        parser.add_argument(
            "--least-recall",
            type=_share,
            metavar="R",
            help=f"with --tenant: fail when the policy's ranking, or one named by --profile, has a {MARKED} "
            "below this",
        )
        parser.add_argument(
            "--trial", action="store_true", help="with --tenant: how the trial of two settings stands"
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
        _check_together(options)
        try:
            if options["tenant"] is None:
                self._evaluate(options)
            else:
                self._evaluate_tenant(options)
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
        profiles = options["profiles"] or _usual(transcripts)
        found = evaluate(
            transcripts,
            profiles=list(dict.fromkeys(profiles)),
            fit=options["fit"] is not None,
            resamples=options["resamples"],
            progress=_progress(options),
        )
        tables = markdown(found.profiles)
        self.stdout.write(tables, ending="")
        _write_all(options, {"profiles": found.profiles}, tables, found.profiles)
        if options["fit"] and found.weights:
            _write_weights(options["fit"], found, found.weights)

    def _evaluate_tenant(self, options: dict[str, Any]) -> None:
        tenant = get_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        _check_writable([options[name] for name in ("json", "markdown", "plot") if options[name]])
        if options["trial"]:
            self._tell_of_trial(tenant.id, options)
        else:
            self._evaluate_saved(tenant.id, options)

    def _tell_of_trial(self, tenant_id: UUID, options: dict[str, Any]) -> None:
        trial = compare_trial(caller=system_caller(tenant_id))
        self.stdout.write(trial_text(trial), ending="")
        _write_all(options, trial_document(trial), trial_text(trial))

    def _evaluate_saved(self, tenant_id: UUID, options: dict[str, Any]) -> None:
        judged = options["profiles"] or [own_profile(tenant_id)]
        found = evaluate_saved(
            tenant_id=tenant_id,
            profiles=options["profiles"] or [*judged, "similarity"],
            resamples=options["resamples"],
            progress=_progress(options),
            now=timezone.now(),
        )
        self.stdout.write(
            f"{found.asked} saved queries; {found.unlabelled} without labels and {found.outdated} whose "
            f"episodes hold no more are not asked, {found.gone} other labels are left out for that."
        )
        tables = markdown(found.profiles)
        self.stdout.write(tables, ending="")
        counted = {name: getattr(found, name) for name in ("asked", "unlabelled", "outdated", "gone")}
        _write_all(options, {"profiles": found.profiles, "queries": counted}, tables, found.profiles)
        _check_marks(found.profiles, judged, options["least_recall"])

    def _tell_of(self, transcripts: list[Transcript]) -> None:
        """What is measured, and what of the files is not."""
        turns = sum(len(one.turns) for one in transcripts)
        self.stdout.write(f"{len(transcripts)} conversations, {turns} turns; MRR looks at {DEPTH} ranks.")
        if bare := sum(not question.evidence for one in transcripts for question in one.questions):
            self.stdout.write(f"{bare} questions have no usable evidence and are not asked.")
        if unusable := sum(len(one.unusable) for one in transcripts):
            self.stdout.write(f"{unusable} evidence entries name no turn and are left out.")


def _usual(transcripts: list[Transcript]) -> list[str]:
    """The profiles that these conversations can be measured by."""
    are_several = sum(bool(answerable(one)) for one in transcripts) > 1
    return [one for one in USUAL if one != TUNED or are_several]


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _at_least_100(text: str) -> int:
    if not text.isdecimal() or int(text) < 100:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 100 up")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return share


def _check_together(options: dict[str, Any]) -> None:
    """Raises CommandError for options that do not go together."""
    by_tenant = options["tenant"] is not None
    if by_tenant == (options["path"] is not None):
        raise CommandError("Name a folder of conversations, or a --tenant with saved queries.")
    own = {"least_recall": options["least_recall"] is not None, "trial": options["trial"]}
    if not by_tenant and any(own.values()):
        raise CommandError("--least-recall and --trial are about a --tenant.")
    if by_tenant and (options["fit"] or TUNED in (options["profiles"] or ())):
        raise CommandError(f"Weights and {TUNED} are fitted on conversations, not on saved queries.")
    if options["trial"] and (options["profiles"] or options["plot"] or own["least_recall"]):
        raise CommandError("--trial measures no profile.")


def _progress(options: dict[str, Any]) -> Progress:
    return lambda unit, total: tqdm(total=total, desc=unit, disable=options["quiet"], dynamic_ncols=True)


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


def _check_marks(profiles: Mapping[str, Assessed], judged: Sequence[str], least: float | None) -> None:
    """Raises CommandError for a profile that finds less."""
    for name in judged:
        found = profiles[name][MARKED]
        if least is not None and found < least:
            raise CommandError(f"{MARKED} of {name} is {found:.3f}, below {least:g}.")


def _write_all(
    options: dict[str, Any],
    document: Mapping[str, Any],
    tables: str,
    profiles: Mapping[str, Assessed] | None = None,
) -> None:
    if path := options["json"]:
        _write(path, _json(document))
    if path := options["markdown"]:
        _write(path, tables)
    if (path := options["plot"]) and profiles:
        _write(path, svg(profiles))


def _write_weights(path: Path, found: Evaluated, weights: Weights) -> None:
    document = weights_document(
        weights,
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

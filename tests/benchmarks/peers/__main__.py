"""Strata beside others on the conversations in DIR. docs/benchmarks.md tells more."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memoryproject.replay import files
from memoryproject.replay.errors import ReplayError
from memoryproject.replay.transcripts import Transcript
from tests.benchmarks.peers import corpus, environments, report
from tests.benchmarks.peers.arena import Arena, arena
from tests.benchmarks.peers.corpus import Corpus
from tests.benchmarks.peers.measure import TIMED, Round
from tests.benchmarks.peers.surroundings import load, surroundings

SUFFIXES = (".json", ".jsonl")


def main() -> None:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))  # so that the stores are stopped, too
    transcripts = _load(options.path)
    options.out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with arena(options.cache) as place:
        document = measure(place, transcripts, options)
    document["seconds"] = round(time.monotonic() - begun)
    (options.out / "benchmarks.json").write_text(json.dumps(document, indent=1) + "\n")
    print("\n" + (text := report.tables(document)))
    (options.out / "benchmarks.md").write_text(text)
    (options.out / "benchmarks.svg").write_text(report.picture(document))
    print(f"{document['seconds']} s; benchmarks.json, .md and .svg are in {options.out}.")


def measure(place: Arena, transcripts: Sequence[Transcript], options: argparse.Namespace) -> dict[str, Any]:
    """Everything, as one object."""
    whole = corpus.whole(transcripts).sample(options.questions)
    crowd = corpus.crowd(transcripts, options.users).sample(options.asked)
    before = load()
    found = _round(place, "whole", whole, timed=TIMED)
    unseen = place.unseen(transcripts) if options.questions is None else {}
    crowded = _round(place, "crowd", crowd, timed=0)
    return {
        "whole": report.figures(found),
        "unseen": unseen,
        "crowd": report.figures(crowded),
        "contenders": place.told,
        "missing": {**place.missing, **found.missing, **crowded.missing},
        "refused": place.refused,
        "data": {
            "conversations": len(transcripts),
            "turns": len(whole.items),
            "questions": len(whole.questions),
            "users": crowd.users,
            "crowd_turns": len(crowd.items),
            "crowd_questions": len(crowd.questions),
        },
        "surroundings": {
            "date": datetime.now(UTC).date().isoformat(),
            "load": [before, load()],
            **place.versions,
            **surroundings(),
        },
    }


def _round(place: Arena, name: str, held: Corpus, *, timed: int) -> Round:
    """Fresh stores with the corpus in them, asked. Where no addition is timed, vectors are made before."""
    print(
        f"{name}: {len(held.items)} turns of {held.users} users, {len(held.questions)} questions", flush=True
    )
    with place.contenders(name) as contenders:
        found = Round(contenders)
        if not timed:
            place.vectors.remember([item.text for item in held.items])
        found.fill(held.items, timed=timed)
        place.vectors.forget()
        place.analyse(contenders)
        found.ask(held)
    return found


def _load(path: Path) -> list[Transcript]:
    paths = sorted(one for one in path.iterdir() if one.suffix in SUFFIXES) if path.is_dir() else [path]
    try:
        transcripts = [files.load(one) for one in paths]
    except ReplayError as error:
        sys.exit(str(error))
    if not any(one.evidence for transcript in transcripts for one in transcript.questions):
        sys.exit(f"{path} holds no conversation with questions that have evidence.")
    return transcripts


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.peers", description=__doc__)
    parser.add_argument("path", type=Path, metavar="DIR", help="a folder of LoCoMo conversations, or one")
    parser.add_argument(
        "--out", type=Path, default=Path("tests/artifacts/peers"), metavar="FOLDER",
        help="for benchmarks.json, .md and .svg (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--cache", type=Path, default=environments.default_cache(), metavar="FOLDER",
        help="for the peers' virtual environments (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--questions", type=int, metavar="N", help="ask a sample only (default: all)")
    parser.add_argument("--users", type=int, default=180, help="in the crowd (default: %(default)s)")
    parser.add_argument(
        "--asked", type=int, default=300, help="questions of the crowd, a sample (default: %(default)s)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()

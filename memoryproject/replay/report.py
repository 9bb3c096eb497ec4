"""What a person reads, as lines of text; and everything, as one JSON object."""

import dataclasses
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memoryproject.replay.player import Answered, Hit, Played
from memoryproject.replay.score import (
    TOP_K,
    Comparison,
    Figures,
    Outcome,
    compare,
    figures,
    figures_by_category,
)
from memoryproject.replay.transcripts import ADVERSARIAL, Transcript

BOLD, DIM, GREEN, RED = "1", "2", "32", "31"
SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class Paper:
    """What the lines are written for."""

    width: int
    colours: bool

    def paint(self, text: str, colour: str) -> str:
        """`text` in a colour, on paper that has some."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colours else text


@dataclass(frozen=True)
class Result:
    """One replay, done."""

    transcript: Transcript
    user: str
    url: str
    played: Played
    answered: tuple[Answered, ...]
    exact: tuple[tuple[str, ...], ...] | None  # per answer; None: not computed
    asking_seconds: float

    @property
    def outcomes(self) -> list[Outcome]:
        """What the figures are made from."""
        tops = self.exact if self.exact is not None else [None] * len(self.answered)
        return [
            Outcome(one.question.evidence, tuple(hit.turn_id for hit in one.hits), top, one.question.category)
            for one, top in zip(self.answered, tops, strict=True)
        ]

    @property
    def overall(self) -> Figures | None:
        """Figures over all questions that can be answered."""
        return figures([one for one in self.outcomes if one.category != ADVERSARIAL])

    @property
    def comparison(self) -> Comparison | None:
        """How recall stands to exact cosine, if that was computed."""
        return compare(self.outcomes) if self.exact else None


def played_lines(played: Played) -> Iterator[str]:
    """What was stored and what was there already."""
    yield (
        f"Played {played.turns} turns: {played.stored} stored and {played.sessions_ended} sessions ended "
        f"{_pace(played.stored, played.seconds, 'turns')}."
    )
    if played.skipped:
        yield (
            f"Skipped {played.skipped} turns and {played.sessions_skipped} session ends "
            "that an earlier run stored; nothing is stored twice."
        )
    if played.foreign:
        yield (
            f"Note: this user and agent have {played.foreign} other messages, which take part in recall; "
            "--user NAME plays into a memory of its own."
        )


def question_lines(result: Result, *, show: int, paper: Paper) -> Iterator[str]:
    """Every question with its best hits; a star marks evidence."""
    if not result.answered:
        return
    shown = [hit for one in result.answered for hit in one.hits[:show]]
    widths = _width(hit.session_id for hit in shown), _width(hit.turn_id or "-" for hit in shown)
    yield ""
    yield "Hits: rank, score, session, turn, text; * marks evidence."
    for number, one in enumerate(result.answered, start=1):
        yield ""
        yield from _heading(number, one, paper)
        for hit in one.hits[:show]:
            yield _hit_line(hit, hit.turn_id in one.question.evidence, widths, paper)


def _heading(number: int, one: Answered, paper: Paper) -> Iterator[str]:
    question = one.question
    category = "" if question.category is None else f" [category {question.category}]"
    yield paper.paint(_cut(f"{number}. {_clean(question.text)}{category}", paper.width), BOLD)
    ids = {hit.turn_id for hit in one.hits[:TOP_K]}
    found = (
        f"{sum(i in ids for i in question.evidence)} of {len(question.evidence)} found in the first {TOP_K}"
    )
    note = f"evidence {', '.join(question.evidence)}: {found}" if question.evidence else "no evidence"
    expected = _clean(question.answer) or "(none: the conversation does not say)"
    yield _cut(f"   expected: {expected}", paper.width)
    yield paper.paint(_cut(f"   {note}", paper.width), DIM)
    if not one.hits:
        yield "   nothing came back"


def _hit_line(hit: Hit, evidence: bool, widths: tuple[int, int], paper: Paper) -> str:
    mark = "*" if evidence else " "
    source = f"{hit.session_id:<{widths[0]}}  {hit.turn_id or '-':<{widths[1]}}"
    line = _cut(f" {mark} {hit.rank:>2}  {hit.score:6.3f}  {source}  {_clean(hit.text)}", paper.width)
    return paper.paint(line, GREEN) if evidence else line


def figure_lines(result: Result, paper: Paper) -> Iterator[str]:
    """The figures, what they leave out, and the verdict."""
    asked = len(result.answered)
    yield ""
    yield f"Asked {asked} questions {_pace(asked, result.asking_seconds, 'questions')}."
    yield from _left_out(result)
    yield from _table(result, paper)
    if result.comparison:
        yield from _verdict(result.comparison, paper)


def _left_out(result: Result) -> Iterator[str]:
    bare = sum(not one.evidence for one in result.outcomes)
    if bare:
        yield f"{bare} questions have no usable evidence and are not scored."
    if unusable := result.transcript.unusable:
        shown = ", ".join(repr(entry) for entry in unusable[:SHOWN_PROBLEMS])
        more = "" if len(unusable) <= SHOWN_PROBLEMS else ", …"
        yield f"{len(unusable)} evidence entries name no turn of it and are left out: {shown}{more}."


def _table(result: Result, paper: Paper) -> Iterator[str]:
    if not result.answered:
        return
    head = f"{'':<22} {'questions':>9} {'recall@10':>9} {'hit@10':>9} {'MRR@10':>9}"
    yield ""
    yield paper.paint(head + (f" {'exact recall@10':>16}" if result.exact is not None else ""), DIM)
    for category, one in figures_by_category(result.outcomes).items():
        yield _row(f"category {category}" + (" (left out)" if category == ADVERSARIAL else ""), one)
    if overall := result.overall:
        yield paper.paint(_row("overall", overall), BOLD)
    else:
        yield "No question could be scored."


def _row(name: str, one: Figures) -> str:
    row = f"{name:<22} {one.questions:>9} {one.recall:>9.4f} {one.hit:>9.4f} {one.mrr:>9.4f}"
    return row if one.exact_recall is None else f"{row} {one.exact_recall:>16.4f}"


def _verdict(comparison: Comparison, paper: Paper) -> Iterator[str]:
    yield ""
    if comparison.equal:
        yield paper.paint(
            f"Equal: recall found as much evidence as exact cosine in all {comparison.compared} questions.",
            GREEN,
        )
    else:
        yield paper.paint(
            "Different: recall found more or less evidence than exact cosine in "
            f"{len(comparison.unequal)} of {comparison.compared} questions: {_numbers(comparison.unequal)}.",
            RED,
        )
    if comparison.otherwise:
        yield (
            f"Note: in {len(comparison.otherwise)} questions the first {TOP_K} hold other memories than by "
            f"exact cosine, with as much evidence among them: {_numbers(comparison.otherwise)}."
        )


def as_json(result: Result) -> dict[str, Any]:
    """Everything that was found out; keys are described in docs/replay.md."""
    overall, comparison = result.overall, result.comparison
    return {
        "transcript": result.transcript.id,
        "user_id": result.user,
        "url": result.url,
        "played": dataclasses.asdict(result.played),
        "asking_seconds": result.asking_seconds,
        "unusable_evidence": list(result.transcript.unusable),
        "overall": overall and dataclasses.asdict(overall),
        "by_category": {
            str(category): dataclasses.asdict(one)
            for category, one in figures_by_category(result.outcomes).items()
        },
        "comparison": comparison and {**dataclasses.asdict(comparison), "equal": comparison.equal},
        "questions": [
            {**dataclasses.asdict(one), "exact": list(top) if top is not None else None}
            for one, top in zip(result.answered, result.exact or [None] * len(result.answered), strict=True)
        ],
    }


def _numbers(positions: Sequence[int]) -> str:
    """Positions as the numbers that questions are printed with."""
    shown = ", ".join(str(at + 1) for at in positions[:SHOWN_PROBLEMS])
    return shown if len(positions) <= SHOWN_PROBLEMS else f"{shown}, …"


def _pace(amount: int, seconds: float, unit: str) -> str:
    rate = f"{amount / seconds:.1f}" if seconds > 0 else "-"
    return f"in {seconds:.1f} s ({rate} {unit}/s)"


def _width(texts: Iterator[str]) -> int:
    return max((len(text) for text in texts), default=0)


def _clean(text: str) -> str:
    """One line without control characters, which could steer the reader's terminal."""
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c)[0] != "C")


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: max(width - 1, 0)]}…"

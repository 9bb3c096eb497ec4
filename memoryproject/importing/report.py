"""What an import came to, as it is told to people and to programs. No sample shows a secret. Pure."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from memoryproject.importing.rows import Kind
from screening.sensitive import find_sensitive, mask

Outcome = Literal["written", "updated", "unchanged", "duplicates", "junk", "secrets", "refused", "passed_by"]
Left = Literal["duplicates", "junk", "secrets", "refused", "passed_by"]
LEFT_OUT = ("junk", "secrets", "refused")  # what is not in memory, and might have been meant to be
NOT_WRITTEN = "left out"  # what was done with a finding whose entry is not written
PLACES, SAMPLES, SHOWN = 5, 3, 80
HEADINGS = {
    "duplicates": "Duplicates",
    "junk": "Junk",
    "secrets": "Sensitive, left out",
    "refused": "Refused",
    "passed_by": "Passed by",
}


@dataclass(slots=True)
class Counts:
    """Of one kind of entry: `read` is the sum of the others."""

    read: int = 0
    written: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    junk: int = 0
    secrets: int = 0
    refused: int = 0
    passed_by: int = 0


@dataclass(slots=True)
class Note:
    """One reason, how often, and where first."""

    count: int = 0
    places: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """What happened to each entry. `failed`: why the source could not be read to its end."""

    source: str
    tenant: str
    dry_run: bool
    counts: dict[Kind, Counts] = field(default_factory=dict)
    reasons: dict[tuple[Left, str], Note] = field(default_factory=dict)
    findings: dict[tuple[str, str], Note] = field(default_factory=dict)  # by kind and what was done
    failed: str = ""

    def count(self, kind: Kind, outcome: Outcome, number: int = 1) -> None:
        """Counts what was read, and what became of it."""
        counts = self.counts.setdefault(kind, Counts())
        counts.read += number
        setattr(counts, outcome, getattr(counts, outcome) + number)

    def leave(self, kind: Kind, outcome: Left, reason: str, *, place: str = "", sample: str = "") -> None:
        """Likewise, of what is not written for a reason."""
        self.count(kind, outcome)
        _note(self.reasons.setdefault((outcome, reason), Note()), place, sample)

    def find(self, kinds: tuple[str, ...], done: str, *, place: str, sample: str) -> None:
        """Tells what sensitive was found, and what was done with it."""
        for kind in kinds:
            _note(self.findings.setdefault((kind, done), Note()), place, sample)

    @property
    def total(self) -> Counts:
        """Of all kinds."""
        total = Counts()
        for counts in self.counts.values():
            for name, number in asdict(counts).items():
                setattr(total, name, getattr(total, name) + number)
        return total

    @property
    def has_changed(self) -> bool:
        """Whether memory is another than before, or would be."""
        return bool(self.total.written or self.total.updated)

    @property
    def is_foreign(self) -> bool:
        """Whether nothing there is what the source exports."""
        return bool(self.total.read) and self.total.read == self.total.junk

    @property
    def left_out(self) -> int:
        """How many entries are not in memory that might have been meant to be."""
        total = self.total
        return sum(getattr(total, name) for name in LEFT_OUT)


def as_json(report: Report) -> dict[str, Any]:
    """For programs; docs/importing.md describes it."""
    return {
        "source": report.source,
        "tenant": report.tenant,
        "dry_run": report.dry_run,
        "changed": report.has_changed and not report.dry_run,
        "failed": report.failed or None,
        "total": asdict(report.total),
        "kinds": {kind: asdict(counts) for kind, counts in report.counts.items()},
        "findings": [
            {"kind": kind, "done": done, **asdict(note)} for (kind, done), note in report.findings.items()
        ],
        "reasons": [
            {"outcome": outcome, "reason": reason, **asdict(note)}
            for (outcome, reason), note in report.reasons.items()
        ],
    }


def lines(report: Report) -> Iterator[str]:
    """For people."""
    yield from _table(report)
    for outcome, heading in HEADINGS.items():
        notes = {reason: note for (one, reason), note in report.reasons.items() if one == outcome}
        if notes:
            yield f"{heading}:"
            for reason, note in sorted(notes.items(), key=lambda pair: -pair[1].count):
                yield from _told(reason, note)
    written = [one for one in report.findings.items() if one[0][1] != NOT_WRITTEN]  # the others are above
    if written:
        yield "Sensitive:"
        for (kind, done), note in sorted(written, key=lambda one: one[0]):
            yield from _told(f"{kind}, {done}", note)
    yield _verdict(report)


def _table(report: Report) -> Iterator[str]:
    columns = tuple(asdict(Counts()))
    rows = [(kind, asdict(counts)) for kind, counts in report.counts.items()]
    if len(rows) > 1:
        rows.append(("all", asdict(report.total)))  # type: ignore[arg-type]  # a row, not a kind
    yield f"{'':<12}" + "".join(f"{name.replace('_', ' '):>12}" for name in columns)
    for name, counts in rows:
        yield f"{name:<12}" + "".join(f"{counts[one]:>12,}" for one in columns)


def _told(reason: str, note: Note) -> Iterator[str]:
    more = note.count - len(note.places)
    yield f"  {note.count:,} {reason}: {', '.join(note.places)}{f' and {more:,} more' if more > 0 else ''}"
    for sample in note.samples:
        yield f"      {sample}"


def _verdict(report: Report) -> str:
    if not report.total.read:
        return "There was nothing to read."
    if report.dry_run:
        total = report.total
        return f"Dry run: {total.written:,} would be written, {total.updated:,} updated. Nothing was."
    if not report.has_changed:
        return "Nothing changed."
    return "Imported in part." if report.failed else "Imported."


def _note(note: Note, place: str, sample: str) -> None:
    note.count += 1
    if place and len(note.places) < PLACES:
        note.places.append(place)
    if sample and len(note.samples) < SAMPLES:
        note.samples.append(_shown(sample))


def _shown(sample: str) -> str:
    """A part of the sample in one line, masked, about what was masked in it."""
    found = find_sensitive(sample)
    told = " ".join(mask(sample, found).split())
    middle = min((told.find(f"[{one.category}]") for one in found), default=0)
    begin = max(0, middle - SHOWN // 2)
    shown = told[begin : begin + SHOWN]
    return f"{'…' if begin else ''}{shown}{'…' if begin + SHOWN < len(told) else ''}"

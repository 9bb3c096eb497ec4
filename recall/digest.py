"""The deterministic summary of some records. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from recall.summary import LONGEST_QUOTE, select_notes

LONGEST = 2_000  # characters of what is quoted
MOST_TOPICS = 8


def digest(*, texts: Sequence[str], topics: Iterable[Sequence[str]], first: datetime, last: datetime) -> str:
    """`3 memories from 2026-01-02 to 2026-03-04. Topics: a, b. "…" "…"` of texts that stand oldest first: the
    sentences that later work needs most, and beside them the newest, as far as they fit, in their order."""
    days = sorted({first.date().isoformat(), last.date().isoformat()})
    parts = [
        f"{len(texts)} {'memory' if len(texts) == 1 else 'memories'} from {' to '.join(days)}.",
    ]
    if named := _most_frequent(topics):
        parts.append(f"Topics: {', '.join(named)}.")
    parts += [f'"{quote}"' for quote in _quotes(texts)]
    return " ".join(parts)


def _quotes(texts: Sequence[str]) -> list[str]:
    notes = select_notes(texts, longest=LONGEST)
    left = LONGEST - sum(map(len, notes))
    plain = [" ".join(text.split())[:LONGEST_QUOTE] for text in texts]
    chosen: dict[int, list[str]] = {}
    for note in notes:
        at = next((at for at, text in enumerate(texts) if note in " ".join(text.split())), 0)
        chosen.setdefault(at, []).append(note)
    for at in range(len(plain) - 1, -1, -1):
        left -= len(plain[at])
        if left < 0:
            break
        if at not in chosen and plain[at] not in (plain[other] for other in chosen):
            chosen[at] = [plain[at]]
    return [quote for _at, quotes in sorted(chosen.items()) for quote in quotes]


def _most_frequent(topics: Iterable[Sequence[str]]) -> list[str]:
    counts = Counter(topic for some in topics for topic in dict.fromkeys(some))
    return sorted(counts, key=lambda topic: (-counts[topic], topic))[:MOST_TOPICS]

"""Random observations whose words are as unevenly frequent as in real ones, and BM25 as the book has it."""

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence

from lexical.analysis import analyse
from observations.models import Observation

K1, B = 1.2, 0.75
WORDS = [f"w{number}x" for number in range(1_500)]
ZIPF = [1 / (number + 2) for number in range(len(WORDS))]


def random_texts(count: int, *, seed: int, longest: int = 60) -> list[str]:
    """Of `longest` words at most, some of which stand in most texts and many in one alone."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, ZIPF, k=chance.randint(3, longest))) for _ in range(count)]


def random_queries(count: int, *, seed: int, longest: int = 7) -> list[str]:
    """Of frequent words and rare ones."""
    chance = random.Random(seed)
    return [
        " ".join(
            chance.choice([chance.choice(WORDS), *chance.choices(WORDS, ZIPF)])
            for _ in range(chance.randint(1, longest))
        )
        for _ in range(count)
    ]


def lexemes_of(row: Observation) -> list[str]:
    return [one for text in (row.title, row.content, row.topic_key, row.type) for one in analyse(text)]


class Book:
    """Okapi BM25 over all observations, from their texts alone."""

    def __init__(self, rows: Iterable[Observation]) -> None:
        self.counts = {row.id: Counter(lexemes_of(row)) for row in rows}
        self.mean = sum(sum(one.values()) for one in self.counts.values()) / len(self.counts)
        self.holders = Counter(word for one in self.counts.values() for word in one)

    def weight(self, word: str) -> float:
        held = self.holders[word]
        return math.log(1 + (len(self.counts) - held + 0.5) / (held + 0.5))

    def score(self, one: int, words: Sequence[str]) -> float:
        counts = self.counts[one]
        norm = K1 * (1 - B + B * sum(counts.values()) / self.mean)
        return sum(
            self.weight(word) * counts[word] * (K1 + 1) / (counts[word] + norm)
            for word in dict.fromkeys(words)
        )

    def best(self, text: str, limit: int, *, every: bool = False) -> list[tuple[int, float]]:
        """Ids and ranks of those that hold any word, or every one; best first, newest number first."""
        words = analyse(text)
        held = all if every else any
        found = [one for one, counts in self.counts.items() if held(counts[word] for word in words)]
        ranked = sorted(((one, -self.score(one, words)) for one in found), key=lambda hit: (hit[1], -hit[0]))
        return ranked[:limit]

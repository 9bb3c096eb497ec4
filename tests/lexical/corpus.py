"""A corpus drawn from a seed: words as frequent as Zipf's law has them, documents short and long."""

import random
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lexical.analysis import analyse
from lexical.bm25 import Statistics

SYLLABLES = [first + second for first in "bdfgklmnprst" for second in ("a", "e", "i", "o", "u", "an", "er")]
ENDINGS = ("", "", "s", "ing", "ed", "ness")
PARTS = (" ", " ", " ", ", ", ". ", " - ", "_")


@dataclass(frozen=True)
class Corpus:
    """Documents and queries as lexemes; no lexeme stands twice in a query."""

    documents: list[list[str]]
    queries: list[list[str]] = field(repr=False)

    @cached_property
    def counts(self) -> list[Counter[str]]:
        return [Counter(lexemes) for lexemes in self.documents]

    @cached_property
    def statistics(self) -> Statistics:
        return Statistics(
            documents=len(self.documents),
            mean_length=sum(map(len, self.documents)) / len(self.documents),
            frequencies=Counter(lexeme for counts in self.counts for lexeme in counts),
        )

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(lexemes) for lexemes in self.documents])

    def counts_of(self, query: list[str]) -> np.ndarray:
        return np.array([[counts[lexeme] for lexeme in query] for counts in self.counts])


def draw_corpus(*, seed: int = 4, documents: int = 700, queries: int = 100, vocabulary: int = 3000) -> Corpus:
    draw = random.Random(seed)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(vocabulary)]

    def text(length: int, flat: int) -> str:
        """The greater `flat`, the rarer the commonest words."""
        drawn = draw.choices(words, [1 / (rank + flat) for rank in range(vocabulary)], k=length)
        return "".join(word + draw.choice(ENDINGS) + draw.choice(PARTS) for word in drawn)

    texts = [text(int(draw.lognormvariate(3.5, 1)) + 1, flat=2) for _ in range(documents)]
    asked = [text(draw.randint(1, 8), flat=20) for _ in range(queries)]
    return Corpus(
        documents=[analyse(one) for one in texts],
        queries=[list(dict.fromkeys(analyse(one))) for one in asked],
    )

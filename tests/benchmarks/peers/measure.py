"""Fills contenders with the same turns and asks them the same questions, in turn."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import psycopg

from memoryproject.evaluation.figures import DEPTH, Outcome, find_ranks
from tests.benchmarks.peers.contenders import Contender, PeerFailed
from tests.benchmarks.peers.corpus import Asked, Corpus, Item

ADDED = 20  # turns that one contender gets before it is the next one's turn, so that all meet the same noise
ASKED = 10  # questions likewise
WARM = 20  # additions that are not counted, of each
TIMED = 1_000  # additions that are timed, one at a time; the others come from all at once


@dataclass
class Ranked:
    """What one way to rank gave."""

    outcomes: list[Outcome] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)  # turns, of `DEPTH` asked
    due: list[int] = field(default_factory=list)  # turns that could be answered: all the user has, up to it


@dataclass
class Round:
    """One corpus, all contenders."""

    contenders: list[Contender]
    missing: dict[str, str] = field(default_factory=dict)  # why, by name
    adds: dict[str, list[float]] = field(default_factory=dict)  # milliseconds by contender
    ranked: dict[str, Ranked] = field(default_factory=dict)  # by ranking
    owner: dict[str, str] = field(default_factory=dict)  # contender by ranking

    def fill(self, items: Sequence[Item], *, timed: int) -> None:
        """Everybody keeps everything: the first `timed` turns while the others wait, to time them."""
        for some in _batches(items[:timed], ADDED):
            for one in self._present():
                times = self._try(one, lambda one=one, some=some: one.add(some))
                self.adds.setdefault(one.name, []).extend(times or [])
        self.adds = {name: times[WARM:] for name, times in self.adds.items()}
        with ThreadPoolExecutor(len(self.contenders)) as pool:
            list(pool.map(lambda one: self._try(one, lambda: one.add(items[timed:])), self._present()))

    def ask(self, corpus: Corpus) -> None:
        """Everybody is asked everything; the first questions once before, uncounted."""
        held = Counter(item.user for item in corpus.items)
        for one in self._present():
            self._try(one, lambda one=one: [ask(corpus.questions[:ASKED]) for ask in one.rankings.values()])
        for some in _batches(corpus.questions, ASKED):
            for one in self._present():
                self._try(one, lambda one=one, some=some: self._note(one, some, held))
        for name in self.missing:  # half an answer is none
            for ranking in [ranking for ranking, owner in self.owner.items() if owner == name]:
                del self.ranked[ranking]

    def _note(self, one: Contender, some: Sequence[Asked], held: Counter[str]) -> None:
        for name, search in one.rankings.items():
            self.owner[name] = one.name
            ranked = self.ranked.setdefault(name, Ranked())
            for question, answer in zip(some, search(some), strict=True):
                ranks = find_ranks(question.evidence, answer.keys)
                ranked.outcomes.append(Outcome(question.conversation, question.category, ranks))
                ranked.ms.append(answer.ms)
                ranked.answered.append(len(answer.keys))
                ranked.due.append(min(DEPTH, held[question.user]))

    def _present(self) -> list[Contender]:
        return [one for one in self.contenders if one.name not in self.missing]

    def _try(self, one: Contender, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except PeerFailed as error:
            print(f"{one.name} is left out: {error}", flush=True)
            self.missing[one.name] = str(error)
            return None


def analyse(databases: Sequence[str]) -> None:
    """What autovacuum does within a minute, so that no plan depends on when it came."""
    for url in databases:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")


def _batches(rows: Sequence[Any], size: int) -> Iterator[Any]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]

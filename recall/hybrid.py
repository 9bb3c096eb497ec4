"""The default ranking: words, meaning, the turns around, speakers and times, as a weighted sum."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic import search
from episodic.keyword import Subject
from episodic.models import Episode, MemoryType
from episodic.types import Candidate, EpisodeFilter, Wanted
from episodic.word_figures import Figures
from episodic.word_queries import Trait
from lexical.analysis import analyse_query
from lexical.averages import Average
from lexical.hints import asks_when, named_spans
from lexical.matching import counts_of, heaviest, match_any, telling
from recall.fusion import LONGEST, Searched, names_any
from recall.ranking import signals
from recall.ranking.echoes import Echoes, penalty
from recall.ranking.weights import Weights, default_weights
from recall.stages import Stage, timed
from recall.types import Hit
from tenants.caller import Caller
from tenants.embedding import embed_meanwhile
from tenants.errors import Overdue, Unavailable
from tenants.policy.document import Policy
from tenants.scope import scope

EACH = 50  # candidates that words and meaning bring, at least
TIMES = 2  # … and for each that is wanted
NEWEST = 10
SURE = 10  # of what words bring, so many are the best for certain; the rest, nearly
ALONE = 1 << 31  # places from which each turn stands alone: none has as many before it
DAY, HOUR = 86_400, 3_600  # seconds
EPOCH = date(1970, 1, 1).toordinal()

SCALE = 10.0  # by which these scores lie further apart than those of other profiles

Vector = NDArray[np.float32]
Embedding = Callable[[], Vector]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in no order: `signals` (candidates, signals), and the `traits` and `words` that they come
    from. Only those `admitted` may be answered; the others stand beside them."""

    ids: tuple[UUID, ...]
    signals: NDArray[np.float64]
    admitted: NDArray[np.bool_]
    traits: Sequence[Trait]
    words: "_Words"


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a query and what they find: `lexemes` that are scored by, with their weights; who of the
    speakers is named; `ids` of the best."""

    subject: Subject | None
    figures: Figures
    lexemes: Sequence[str]
    weights: NDArray[np.float64]
    named: frozenset[str]
    ids: Sequence[UUID]
    is_late: bool = False  # PostgreSQL took too long: none are known


_NO_WORDS = _Words(None, Figures(0, 0.0, frozenset(), range(0)), (), np.zeros(0), frozenset(), ())


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for: `wanted` are answered; recency fades by `decay` per hour."""

    caller: Caller
    text: str
    where: EpisodeFilter  # confined
    now: datetime
    wanted: int
    decay: float
    written_since: datetime | None = None
    words_only: bool = False

    @property
    def each(self) -> int:
        """Candidates of each arm."""
        return max(EACH, TIMES * self.wanted)

    @property
    def at(self) -> datetime:
        """The moment that ages are counted to: what held at a moment is as old as it was then."""
        return self.where.as_of or self.now


def candidates_for(
    *,
    caller: Caller,
    text: str,
    where: EpisodeFilter,
    now: datetime,
    wanted: int = 10,
    decay: float = 0.08,
    embedding: Embedding | None = None,
    stages: list[Stage] | None = None,
) -> Ranked:
    """The candidates of a query with their signals, in `recall.ranking.signals.SIGNALS`' order: the best by
    words and by meaning, the newest, and the turns beside all of them.

    Raises Unavailable when the embedding model is away and there are no words to look for either.
    """
    asked = Search(caller, text, search.confine(caller, where), now, wanted, decay)
    stages = [] if stages is None else stages
    words, vector = _asked(asked, embedding, stages)
    with scope(caller.tenant_id):
        return _gathered(asked, words, vector, stages)


def hybrid_hits(
    asked: Search, weights: Weights, *, embedding: Embedding | None, stages: list[Stage]
) -> list[Hit]:
    """The best by the weighted sum of all signals. With the embedding model away, or likeness later than
    PostgreSQL may be, words alone bring them; with the words too late, likeness alone; the stages say so.
    Raises Unavailable when nothing is left to find them by."""
    words, vector = _asked(asked, embedding, stages)
    try:
        with scope(asked.caller.tenant_id):  # one for all that is left
            ranked = _by_meaning if words.is_late else _gathered
            return _best(asked, weights, ranked(asked, words, vector, stages), stages)
    except Overdue:
        late = stages[-1].name
        if late == "vector" and words.lexemes:
            vector, ranked = None, _gathered
        elif late == "around" and vector is not None:
            ranked = _by_meaning
        else:
            raise
    with scope(asked.caller.tenant_id):
        return _best(asked, weights, ranked(asked, words, vector, stages), stages)


def _best(asked: Search, weights: Weights, ranked: Ranked, stages: list[Stage]) -> list[Hit]:
    """In the open scope. Echoes come last, and only if nothing else is left; a question that the user has put
    before lends nothing to what was replied to it."""
    with timed("load", stages):
        others, echoes = _read(asked, weights, ranked)
        query = Echoes(asked.text)
        put_before = [one for one in echoes if _is_put_before(one.episode, query)]
        if put_before:
            rest = _without(asked, ranked, frozenset(one.episode.id for one in put_before))
            others, echoes = _read(asked, weights, rest)
            echoes = sorted([*put_before, *echoes], key=lambda one: -one.score)
    if echoes and len(others) < asked.wanted:
        added = penalty(echoes[0].score, others[-1].score if others else None)
        behind = [replace(one, score=one.score + added, added=one.added | {"echo": added}) for one in echoes]
        return [*others, *behind][: asked.wanted]
    return others


def _read(asked: Search, weights: Weights, ranked: Ranked) -> tuple[list[Hit], list[Hit]]:
    """As many as are wanted, and the echoes above them; best first. Those that are wanted are read at once,
    and further ones only if there are echoes among them."""
    scores = weights.score(ranked.signals)
    holding = ranked.signals[:, signals.SIGNALS.index("words")] > 0
    rows = np.flatnonzero(ranked.admitted & holding if asked.words_only else ranked.admitted)
    # Of equal scores that comes first which was written last.
    written = np.array([one.created_at for one in ranked.traits], dtype=np.float64)
    best = rows[np.lexsort((-rows, -written[rows], -scores[rows]))].tolist()
    others, echoes, said = list[Hit](), list[Hit](), Echoes(asked.text)
    average = _average(ranked, rows)
    begin, step = 0, asked.wanted
    while begin < len(best) and len(others) < asked.wanted:
        page = best[begin : begin + step]
        found = search.episodes_by_id(caller=asked.caller, ids=[ranked.ids[row] for row in page])
        for row in page:
            if episode := found.get(ranked.ids[row]):  # one that was deleted since is left out
                hit = _hit(episode, float(scores[row]), ranked.signals[row], weights, average)
                (echoes if _is_echo(episode, said) else others).append(hit)
        begin, step = begin + step, 2 * step
    return others[: asked.wanted], echoes


def _is_echo(episode: Episode, said: Echoes) -> bool:
    """Only of turns: what was kept on purpose is wanted by its own words as well."""
    repeats = said.repeats(episode.text, of=episode.user_id)
    return repeats and episode.memory_type == MemoryType.MESSAGE


def _is_put_before(echo: Episode, query: Echoes) -> bool:
    """Whether a user has said the query itself in a session. What others asked, the user has answered."""
    return echo.metadata.get("role") == "user" and query.is_query(echo.text)


def _without(asked: Search, ranked: Ranked, ids: frozenset[UUID]) -> Ranked:
    """The others, as if these were not there."""
    admitted = frozenset(one for one, is_in in zip(ranked.ids, ranked.admitted, strict=True) if is_in)
    return _ranked(asked, ranked.words, [one for one in ranked.traits if one.id not in ids], admitted)


def _asked(asked: Search, embedding: Embedding | None, stages: list[Stage]) -> tuple[_Words, Vector | None]:
    """What the words find and the query's vector: the model and PostgreSQL work at the same time."""
    tenant_id = asked.caller.tenant_id
    if asked.words_only:
        return _words_of(asked, stages), None
    waiting = embedding or embed_meanwhile(asked.text, tenant_id=tenant_id)
    try:
        words = _words_of(asked, stages)
    except Overdue:
        words = replace(_NO_WORDS, is_late=True)
    try:
        with timed("embed", stages):
            return words, waiting()
    except Unavailable:
        if not words.lexemes:  # or they are late
            raise
        return words, None


def _words_of(asked: Search, stages: list[Stage]) -> _Words:
    with timed("words", stages), scope(asked.caller.tenant_id):
        words = _look_up(asked)
    if words.subject is None:  # too many users to look for the words of each
        stages[-1] = replace(stages[-1], status="skipped")
    return words


def _by_meaning(asked: Search, words: _Words, vector: Vector | None, stages: list[Stage]) -> Ranked:
    """By likeness and age alone, without the table of words. In the open scope."""
    if vector is None:
        raise Unavailable("Neither words nor likeness can be asked for.")
    if words.is_late:
        stages.append(Stage("around", 0.0, "skipped"))
    arm = Wanted(nearest=asked.each, newest=NEWEST, written_since=asked.written_since)
    with timed("vector", stages):
        found = search.candidates(caller=asked.caller, vector=vector, where=asked.where, wanted=arm)
    with timed("fusion", stages):
        traits = sorted(map(_alone, found), key=lambda one: one.id)
        return _ranked(asked, _NO_WORDS, traits, frozenset(one.id for one in traits))


def _alone(one: Candidate) -> Trait:
    """What is known of an episode without the table of words. When it was written was asked for already."""
    return Trait(
        id=one.episode_id,
        thread=None,
        place=None,
        length=0,
        speaker="",
        names=one.names,
        asks=False,
        tells_time=False,
        happened_at=one.happened_at.timestamp(),
        created_at=math.inf,
        ranks=(),
        cosine=one.cosine,
    )


def _gathered(asked: Search, words: _Words, vector: Vector | None, stages: list[Stage]) -> Ranked:
    """In the open scope."""
    ids = dict.fromkeys(words.ids)
    if vector is not None:
        arm = Wanted(nearest=asked.each, newest=NEWEST, written_since=asked.written_since)
        with timed("vector", stages):
            found = search.candidate_ids(caller=asked.caller, vector=vector, where=asked.where, wanted=arm)
        ids |= dict.fromkeys(found)
    with timed("around", stages):
        traits = search.traits_around(
            caller=asked.caller,
            ids=list(ids),
            terms=words.subject.terms(words.lexemes) if words.subject is not None else [],
            vector=vector,
            reach=signals.REACH,
            where=asked.where,
        )
    with timed("fusion", stages):
        return _ranked(asked, words, traits, frozenset(ids))


def weights_of(policy: Policy) -> Weights:
    """Those that came with this version, with the policy's own in their place."""
    weights = default_weights()
    return (
        weights.changed({str(name): one for name, one in policy.recall.weights.items()})
        if policy.recall.weights
        else weights
    )


def _average(ranked: Ranked, rows: NDArray[np.intp]) -> Average | None:
    if not len(rows):
        return None
    means = ranked.signals[rows].mean(axis=0).tolist()
    return Average(len(rows), dict(zip(signals.SIGNALS, means, strict=True)))


def _hit(
    episode: Episode,
    score: float,
    row: NDArray[np.float64],
    weights: Weights,
    average: Average | None,
) -> Hit:
    added = weights.explain(row)
    raw = dict(zip(signals.SIGNALS, row.tolist(), strict=True))
    shown = {
        "cosine": raw["meaning"],
        "bm25": raw["words"],
        "recency": raw["recency"],
        "entity": raw["entity"],
        "neighbour": sum(added.get(name, 0.0) for name in signals.BESIDE),
    }
    return Hit(episode, score, shown, "hybrid", added, average=average)


def _look_up(asked: Search) -> _Words:
    """In the open scope."""
    subject = Subject.of(asked.caller.tenant_id, asked.where)
    if subject is None:
        return _NO_WORDS
    figures = subject.figures()
    lexemes = telling(analyse_query(asked.text[:LONGEST]))
    named = frozenset(one for one in figures.speakers if one in lexemes or f"{one}s" in lexemes)
    unnamed = [one for one in lexemes if one not in figures.speakers] or lexemes
    found = match_any(subject, unnamed, asked.each, sure=SURE)
    chosen, weights = heaviest(unnamed, subject.statistics(unnamed))
    return _Words(subject, figures, chosen, weights, named, list(found))


def _ranked(asked: Search, words: _Words, traits: Sequence[Trait], ids: frozenset[UUID]) -> Ranked:
    text, where = asked.text[:LONGEST], asked.where
    wanted = signals.Wanted(
        idf=words.weights,
        mean_length=words.figures.mean_length,
        spans=named_spans(text, years=words.figures.years, today=asked.at.date()),
        asks_when=asks_when(text),
    )
    # Then it admits the turns around as well: these are of the agent, if it names one.
    is_plain = where.names_subject_alone
    oldest = asked.written_since.timestamp() if asked.written_since is not None else -np.inf
    return Ranked(
        ids=tuple(one.id for one in traits),
        signals=signals.signals_of(wanted, _turns(asked, words, traits)),
        admitted=np.array(
            [(is_plain or one.id in ids) and one.created_at >= oldest for one in traits], dtype=np.bool_
        ),
        traits=traits,
        words=words,
    )


def _turns(asked: Search, words: _Words, traits: Sequence[Trait]) -> signals.Turns:
    threads: dict[UUID, int] = {}
    sessions = [
        -place if one.thread is None else threads.setdefault(one.thread, len(threads))
        for place, one in enumerate(traits, start=1)
    ]
    query = Searched.of(asked.text[:LONGEST])
    happened = np.array([one.happened_at for one in traits], dtype=np.float64)
    alternatives = len(words.subject.marks) if words.subject is not None and words.lexemes else 1
    return signals.Turns(
        session=np.array(sessions, dtype=np.int64),
        place=np.array(
            [ALONE + 8 * row if one.place is None else one.place for row, one in enumerate(traits)],
            dtype=np.int64,
        ),
        counts=counts_of([one.ranks for one in traits], alternatives).reshape(
            len(traits), len(words.lexemes)
        ),
        lengths=np.array([one.length for one in traits], dtype=np.float64),
        cosines=np.array([one.cosine or 0.0 for one in traits], dtype=np.float64),
        named=np.array([one.speaker in words.named for one in traits], dtype=np.bool_),
        asks=np.array([one.asks for one in traits], dtype=np.bool_),
        tells_time=np.array([one.tells_time for one in traits], dtype=np.bool_),
        days=np.floor(happened / DAY).astype(np.int64) + EPOCH,
        recency=np.exp(-asked.decay / HOUR * (asked.at.timestamp() - happened).clip(min=0)),
        entity=np.array([bool(one.names) and names_any(one.names, query) for one in traits], dtype=np.bool_),
    )

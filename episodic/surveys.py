"""What of all that a filter admits it is ranked by: of everything where that is quick, else of the most
promising, with what the others do not surpass. In an open scope."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np

from episodic import access_queries, survey_queries
from episodic.access import Access
from episodic.episodes import confine
from episodic.keyword import Subject
from episodic.models import Episode
from episodic.nearest import nearest_ids
from episodic.sizes import size_of
from episodic.survey_queries import Rows, Sought, Vector
from episodic.surveyed import NEVER, Floats, Survey, Unseen
from episodic.types import EpisodeFilter
from lexical.bm25 import scores
from lexical.matching import counts_of, heaviest, match_any
from tenants.caller import Caller
from tenants.embedding import model_behind

EVERY = 4_000  # memories that are all looked at: a thousand take some two milliseconds
STEPS = (250, 2_000, 20_000)  # of more, so many of each kind that speaks for a memory
AHEAD = 2  # … as long as these are so many times what is wanted
SHARE = 0.25  # … and no more than this of all that there are
NOTHING = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Words:
    """What a query's words are scored by: the lexemes that say most, with their weights."""

    subject: Subject
    lexemes: Sequence[str]
    weights: Floats
    mean_length: float

    @classmethod
    def of(cls, *, caller: Caller, where: EpisodeFilter, lexemes: Sequence[str]) -> "Words | None":
        """None if there are too many users in it to look for the words of each."""
        subject = Subject.of(caller.tenant_id, confine(caller, where))
        if subject is None:
            return None
        lexemes = lexemes if subject.corpora else ()
        figures = subject.statistics(lexemes)
        return cls(subject, *heaviest(lexemes, figures), figures.mean_length)


@dataclass(frozen=True, slots=True)
class UsedEpisode:
    """An episode, and how it was used."""

    episode: Episode
    used: Access


def survey_by_steps(
    *, caller: Caller, where: EpisodeFilter, vector: Vector | None, words: Words | None, end: int
) -> Iterator[Survey]:
    """Of what has a vector, if there is a `vector`, shape (dimensions,), to be near to, and of what holds any
    of the `words`: ever more, and all of it at last. Whoever ranks it may stop before that, once the first
    `end` are certain."""
    if vector is None and (words is None or not words.lexemes):
        yield Survey(np.zeros(0, dtype="V16"), NOTHING, NOTHING, NOTHING, NOTHING, 0)
        return
    sought = Sought(
        tenant_id=caller.tenant_id,
        where=confine(caller, where).narrowed(),
        vector=vector,
        model=model_behind(vector, tenant_id=caller.tenant_id),
        terms=words.subject.terms(words.lexemes) if words else (),
    )
    few = None
    if size_of(tenant_id=sought.tenant_id, model=sought.model, where=sought.where).vectors > EVERY:
        few = survey_queries.admitted_ids(sought, most=EVERY + 1)
        if len(few) > EVERY:
            yield from _promising(sought, words, end)
            few = None
    rows = survey_queries.survey(sought, ids=few)
    yield _survey(rows, words)


def read_with_use(*, caller: Caller, ids: Sequence[UUID]) -> dict[UUID, UsedEpisode]:
    """Those of the episodes, chosen from a survey, that are still there."""
    found = survey_queries.read(tenant_id=caller.tenant_id, ids=ids) if ids else {}
    return {
        identity: UsedEpisode(episode, Access(used_at, uses))
        for identity, (episode, used_at, uses) in found.items()
    }


def _promising(sought: Sought, words: Words | None, end: int) -> Iterator[Survey]:
    by_words_alone = sought.vector is None
    total = (survey_queries.count_holding if by_words_alone else survey_queries.count_embedded)(sought)
    for most in STEPS:
        if AHEAD * end <= most <= max(EVERY, SHARE * total):
            yield _most_promising(sought, words, most, total)


def _most_promising(sought: Sought, words: Words | None, most: int, total: int) -> Survey:
    """So many of the nearest, of those that hold the words best, were written last and were used last."""
    nearest: dict[UUID, float] = {}
    if sought.vector is not None:
        nearest = nearest_ids(
            tenant_id=sought.tenant_id,
            model=sought.model,
            vector=sought.vector,
            where=sought.where,
            limit=most,
        )
    holding = match_any(words.subject, words.lexemes, most) if words else {}
    newest = survey_queries.newest(sought, most=most)
    used = access_queries.last_used(tenant_id=sought.tenant_id, where=sought.where, limit=most)
    chosen = list(dict.fromkeys((*nearest, *holding, *newest, *used)))
    found = _survey(survey_queries.survey(sought, ids=chosen), words)
    created = min(newest.values()) if len(newest) == most else NEVER
    unseen = Unseen(
        cosine=min(nearest.values()) if len(nearest) == most else NEVER,
        words=min(holding.values()) if len(holding) == most else 0.0,
        created=created,
        used=max(created, _use_of(used[-1], found) if len(used) == most else NEVER),
    )
    return replace(found, total=total, unseen=unseen)


def _use_of(identity: UUID, found: Survey) -> float:
    """When it was used; of one that was left out of what was found, no earlier than it was."""
    at = np.flatnonzero(found.ids == np.void(identity.bytes))
    return float(found.used[at[0]] if len(at) else found.used.max(initial=NEVER))


def _survey(rows: Rows, words: Words | None) -> Survey:
    return Survey(
        ids=np.ascontiguousarray(rows["id"]),
        cosines=1 - rows["distance"],
        words=_scores(rows, words),
        created=rows["created"],
        used=rows["used"],
        total=len(rows),
    )


def _scores(rows: Rows, words: Words | None) -> Floats:
    """BM25 of each."""
    if words is None or not words.lexemes or not len(rows):
        return np.zeros(len(rows))
    return scores(
        counts=counts_of(rows["ranks"].tolist(), len(words.subject.marks)),
        lengths=rows["length"],
        idf=words.weights,
        mean_length=words.mean_length,
    )

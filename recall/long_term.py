"""The search among long-term records by clients that name what they search by themselves: mode, filter, how
lateness counts, and which part of the whole they want."""

import time
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings

from episodic import search, surveys
from episodic.access import Access, access_of, note_access
from episodic.models import Episode
from episodic.records import list_records
from episodic.surveyed import Survey
from episodic.surveys import UsedEpisode, Words
from episodic.types import EpisodeFilter
from ledger.latency import note_recall
from lexical.analysis import analyse_query
from lexical.matching import telling
from recall.fusion import LONGEST
from recall.hybrid import Vector
from recall.long_term_working import WorkingMatch, beside, matches_in_sessions
from recall.metrics import RETRIEVAL_SECONDS
from recall.optimising import optimise
from recall.ranking.recency import RecencyWeights
from recall.ranking.surveyed import Mode, Ranked, Ranking, found_in_all, is_decided, rank
from recall.stages import Stage, timed
from tenants.caller import Caller
from tenants.errors import Invalid, Unavailable
from tenants.scope import each_statement_within, scope

MOST = 100  # records in one answer
NEVER_USED = Access()
ANYBODYS, USUAL = EpisodeFilter(), RecencyWeights()


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """What is searched for; it need not name anybody's memories, and finds what the key reaches.

    Without text, all that `where` admits is listed, newest first. `alpha`: what the vector counts for in
    `hybrid`; `distance_threshold`: no record is farther, in `semantic`; `recency` None: likeness alone.
    `optimize`: a language model may put the text in other words, in `semantic`. `with_working`: what waits in
    sessions and was said there comes first.
    """

    text: str | None = None
    mode: Mode = "semantic"
    alpha: float = 0.7
    where: EpisodeFilter = ANYBODYS
    distance_threshold: float | None = None
    limit: int = 10
    offset: int = 0
    recency: RecencyWeights | None = USUAL
    optimize: bool = False
    with_working: bool = False
    with_long_term: bool = True


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record, which is an episode or stands in a session. `distance` is 0 where nothing was compared, and
    otherwise up to 2; `score`, from 0 to 1, tells the same by the kind of search, `score_type`."""

    episode: Episode | None = None
    working: WorkingMatch | None = None
    distance: float = 0.0
    score: float | None = None
    score_type: Mode | None = None
    used: Access = NEVER_USED


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """Those that were asked for, best first; how many there are in all, and where the next ones begin. How
    the answer was made: a stage that failed was done without."""

    records: tuple[FoundRecord, ...]
    total: int
    next_offset: int | None
    stages: tuple[Stage, ...] = ()
    query_used: str = ""


@dataclass(slots=True)
class _Search:
    """A query with what it has come to. `begin` and `end`: which of the ranked records are wanted."""

    caller: Caller
    query: RecordQuery
    text: str
    begin: int
    end: int
    now: datetime
    stages: list[Stage]


def search_records(*, caller: Caller, query: RecordQuery, now: datetime) -> FoundRecords:
    """What the query finds within the key's reach, ranked as a whole before it is cut to the part that is
    wanted; the records that are answered count as accessed.

    With the embedding model away, words find them, and the stages say so. Raises Invalid, Forbidden, and
    Unavailable when there is nothing to find them by, such as words for a `distance_threshold`.
    """
    _check(query)
    with each_statement_within(settings.RECALL_STAGE_SECONDS):
        return _searched(caller, query, now)


def _check(query: RecordQuery) -> None:
    if query.distance_threshold is not None and query.mode != "semantic":
        raise Invalid("distance_threshold is only supported for semantic search.", "distance_threshold")
    if not 1 <= query.limit <= MOST:
        raise Invalid(f"Must be from 1 to {MOST}.", "limit")
    if query.offset < 0:
        raise Invalid("Must not be negative.", "offset")


def _searched(caller: Caller, query: RecordQuery, now: datetime) -> FoundRecords:
    began, stages = time.perf_counter(), list[Stage]()
    text = (query.text or "").strip()
    matches = _in_sessions(caller, query, text, stages, now)
    in_sessions = [FoundRecord(working=one) for one in matches]
    end = query.offset + query.limit
    wanted = _Search(
        caller=caller,
        query=replace(query, where=beside(query.where, matches)),
        text=text,
        begin=max(0, query.offset - len(in_sessions)),
        end=max(0, end - len(in_sessions)),
        now=now,
        stages=stages,
    )
    found, count = _in_long_term(wanted) if query.with_long_term else ([], 0)
    seconds = time.perf_counter() - began
    RETRIEVAL_SECONDS.observe(seconds)
    note_recall(tenant_id=caller.tenant_id, seconds=seconds, now=now)
    note_access(caller=caller, ids=[one.episode.id for one in found if one.episode], now=now)
    total = len(in_sessions) + count
    return FoundRecords(
        records=(*in_sessions[query.offset : end], *found),
        total=total,
        next_offset=end if end < total else None,
        stages=tuple(stages),
        query_used=wanted.text,
    )


def _in_sessions(
    caller: Caller, query: RecordQuery, text: str, stages: list[Stage], now: datetime
) -> list[WorkingMatch]:
    if not query.with_working:
        return []
    with timed("working", stages):
        return matches_in_sessions(
            caller=caller, text=text, where=query.where, with_remembered=not query.with_long_term, now=now
        )


def _in_long_term(wanted: _Search) -> tuple[list[FoundRecord], int]:
    """Those that are wanted, and how many there are."""
    if not wanted.text:
        return _listed(wanted)
    query, asked = wanted.query, wanted.text
    if query.optimize and query.mode == "semantic":
        with timed("optimize", wanted.stages):
            wanted.text = optimise(asked, tenant_id=wanted.caller.tenant_id)
    found, total = _ranked(wanted)
    if not total and query.distance_threshold is not None and wanted.text != asked:
        wanted.text = asked
        found, total = _ranked(wanted)
    return found, total


def _listed(wanted: _Search) -> tuple[list[FoundRecord], int]:
    caller = wanted.caller
    with timed("list", wanted.stages), scope(caller.tenant_id):
        episodes, total = list_records(
            caller=caller, where=wanted.query.where, limit=wanted.end - wanted.begin, offset=wanted.begin
        )
        used = access_of(caller=caller, ids=[one.id for one in episodes])
    return [FoundRecord(episode=one, used=used[one.id]) for one in episodes], total


def _ranked(wanted: _Search) -> tuple[list[FoundRecord], int]:
    vector = _vector(wanted) if wanted.query.mode != "keyword" else None
    with scope(wanted.caller.tenant_id):  # one for all that is left
        words = _words(wanted, vector)
        if vector is not None or words is not None:
            return _best(wanted, vector, words)
    if wanted.query.mode != "keyword" or (vector := _vector(wanted)) is None:
        raise Unavailable("Neither words nor likeness can be asked for.")
    with scope(wanted.caller.tenant_id):
        return _best(wanted, vector, None)


def _vector(wanted: _Search) -> Vector | None:
    """The text's; None with the model away."""
    try:
        with timed("embed", wanted.stages):
            return search.embed_query(wanted.text, tenant_id=wanted.caller.tenant_id)
    except Unavailable:
        if wanted.query.distance_threshold is not None:
            raise
        return None


def _words(wanted: _Search, vector: Vector | None) -> Words | None:
    """The text's, if they are needed and can be looked for. In the open scope."""
    if wanted.query.mode == "semantic" and vector is not None:
        return None
    lexemes = telling(analyse_query(wanted.text[:LONGEST]))
    if not lexemes and wanted.query.mode != "keyword":
        return None
    with timed("words", wanted.stages):
        words = Words.of(caller=wanted.caller, where=wanted.query.where, lexemes=lexemes)
    if words is None:  # too many users to look for the words of each
        wanted.stages[-1] = replace(wanted.stages[-1], status="skipped")
    return words


def _best(wanted: _Search, vector: Vector | None, words: Words | None) -> tuple[list[FoundRecord], int]:
    """By what there is of what the mode asks for. In the open scope."""
    query = wanted.query
    ranking = Ranking(
        mode="semantic" if words is None else "keyword" if vector is None else "hybrid",
        alpha=query.alpha,
        recency=query.recency,
        farthest=query.distance_threshold,
        at=(query.where.as_of or wanted.now).timestamp(),
    )
    with timed("survey", wanted.stages):
        survey, ranked = _surveyed(wanted, ranking, vector, words)
    with timed("load", wanted.stages):
        rows = ranked.rows[wanted.begin :].tolist()
        read = surveys.read_with_use(caller=wanted.caller, ids=[survey.id_of(row) for row in rows])
    found = [
        _found(read[survey.id_of(row)], float(ranked.likeness[row]), ranking.mode)
        for row in rows
        if survey.id_of(row) in read  # one that was deleted since is left out
    ]
    return found, found_in_all(ranking, survey, ranked)


def _surveyed(
    wanted: _Search, ranking: Ranking, vector: Vector | None, words: Words | None
) -> tuple[Survey, Ranked]:
    """As much as decides which are wanted."""
    steps = surveys.survey_by_steps(
        caller=wanted.caller, where=wanted.query.where, vector=vector, words=words, end=wanted.end
    )
    for survey in steps:
        ranked = rank(ranking, survey, wanted.end)
        if is_decided(ranking, survey, ranked, wanted.end):
            return survey, ranked
    raise AssertionError("the last step is everything")


def _found(read: UsedEpisode, likeness: float, mode: Mode) -> FoundRecord:
    score = min(max(likeness, 0.0), 1.0)
    return FoundRecord(
        episode=read.episode,
        distance=max(0.0, 1 - likeness) if mode == "semantic" else 1 - score,
        score=score,
        score_type=mode,
        used=read.used,
    )

"""Search: by topic key, by words, by meaning."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from lexical.analysis import analyse_query
from lexical.averages import Average, average_of
from lexical.fusion import fuse, shares
from observations import querysets
from observations.keyword import Corpora, Phrases, holding, match_all, match_any, still_holding
from observations.models import Observation
from observations.statistics import all_vectors, read_statistics
from observations.types import GLOBAL, MatchMode, Method, ObservationFilter, SearchHit
from tenants.agents.projects import project_of
from tenants.caller import Caller
from tenants.embedding import embed_meanwhile, model_behind
from tenants.errors import Unavailable
from tenants.scope import scope
from tenants.telemetry import memory_span, store_span

log = logging.getLogger(__name__)
TOPIC_RANK = -1000.0  # of what is found by its topic key: before everything else
KEYWORD_SHARE = 0.7  # of a hybrid score; the rest is likeness in meaning
SIGNAL_WEIGHTS = {"bm25": KEYWORD_SHARE, "cosine": 1 - KEYWORD_SHARE}
LEAST_COSINE = 0.25  # what is less alike in meaning is not like the query at all
ARM = 50  # candidates that each arm of a hybrid search brings, at least
EXACT_UP_TO = 5_000  # observations of which every vector is compared
APPROXIMATE_FROM = 0.05  # share of all vectors below which the index would mostly find others' ones
LEAST_SCORE = 1e-6  # of what was found, though it be the least of both arms: a rank is below 0
LONGEST_TOPIC = 200  # characters of a topic key: a longer text stands in none
MANY = 2**31  # hits that there never are
Ranked = dict[int, tuple[float, Method]]  # in the order of the hits


@dataclass(slots=True)
class Begun:
    """A search under way. With `waiting`, which answers the vector of the text, only the words were looked
    for; without, `hits` are all there are."""

    caller: Caller
    corpora: Corpora
    limit: int
    ranked: Ranked = field(default_factory=dict)
    hits: list[SearchHit] = field(default_factory=list)
    keyword: dict[int, float] = field(default_factory=dict)
    waiting: Callable[[], NDArray[np.float32]] | None = None

    @property
    def breadth(self) -> int:
        """Candidates of each arm."""
        return max(ARM, self.limit)


def search_observations(
    *,
    caller: Caller,
    text: str,
    where: ObservationFilter,
    limit: int,
    mode: MatchMode | None = None,
) -> list[SearchHit]:
    """The observations that answer to `text`, best first, within the key's reach.

    `all`: they hold every word. `any`: at least one. `hybrid`: one, or the meaning is alike; with the
    embedding model away, one. None: every word, and hybrid if there is none such. A text with a slash finds
    topic keys that contain it, before all others.
    """
    with memory_span("search", search_query=text) as span:
        hits: list[SearchHit] = []
        phrases, where = analyse_query(text), confine(caller, where)
        span.set(project=where.project)
        if phrases and limit > 0:
            with store_span("search", project=where.project):
                enough = {"all": 0, "any": 0, "hybrid": MANY}.get(mode or "", 1)
                hits = finish_search(_begin(caller, text, phrases, where, limit, enough, mode == "any"))
        span.set(search_results=len(hits))
        for hit in hits:
            one = hit.observation
            span.event("search.result", observation_id=one.id, type=one.type, title=one.title, rank=hit.rank)
    return hits


def begin_search(*, caller: Caller, text: str, where: ObservationFilter, limit: int) -> Begun:
    """The first half of a search for observations that hold every word and, if these are fewer than `limit`,
    hybrid hits after them. It joins the open scope; `finish_search` must be called outside of any."""
    phrases, where = analyse_query(text), confine(caller, where)
    if not phrases or limit < 1:
        return Begun(caller, Corpora(caller.tenant_id, (), where), limit)
    return _begin(caller, text, phrases, where, limit, limit, in_any=False)


def finish_search(begun: Begun) -> list[SearchHit]:
    """The hits, best first. Waits for the embedding of the text, if there is to be one."""
    if begun.waiting is None:
        return begun.hits
    caller, vector = begun.caller, _vector(begun.waiting)
    with scope(caller.tenant_id):
        semantic = {} if vector is None else search_by_meaning(begun.corpora, vector, begun.breadth)
        fused = dict(fuse(keyword=begun.keyword, semantic=semantic, weight=KEYWORD_SHARE))
        hits = _load(caller, _after(begun.ranked, _ranked(fused, "hybrid")), begun.limit)
    both = shares(keyword=begun.keyword, semantic=semantic)
    signals = {one: dict(zip(SIGNAL_WEIGHTS, pair, strict=True)) for one, pair in both.items()}
    average = average_of(signals.values())
    return [_explained(hit, signals, average) for hit in hits]


def _begin(
    caller: Caller,
    text: str,
    phrases: Phrases,
    where: ObservationFilter,
    limit: int,
    enough: int,
    in_any: bool,
) -> Begun:
    """What the words find, in the confined filter; the meaning is asked for if that is not `enough`."""
    with scope(caller.tenant_id):
        begun = Begun(caller, corpora_of(caller, where), limit)
        match = None if enough >= MANY else match_any if in_any else match_all
        begun.ranked = _by_words(begun.corpora, text, phrases, limit, match)
        if len(begun.ranked) >= enough:
            begun.hits = _load(caller, begun.ranked, limit)
            return begun
        # The model and PostgreSQL are busy at the same time.
        begun.waiting = embed_meanwhile(text, tenant_id=caller.tenant_id)
        begun.keyword = match_any(begun.corpora, phrases, begun.breadth, sure=limit)
    return begun


def rank_holders(*, caller: Caller, text: str, where: ObservationFilter, limit: int) -> Ranked:
    """The first `limit` of those that hold every word of `text`, without their rows, best first and behind
    those whose topic key it finds."""
    phrases, where = analyse_query(text), confine(caller, where)
    with memory_span("search", search_query=text) as span, scope(caller.tenant_id):
        corpora = corpora_of(caller, where)
        ranked = _by_words(corpora, text, phrases, limit, match_all) if phrases else {}
        span.set(project=where.project, search_results=len(ranked))
    return dict(islice(ranked.items(), limit))


def holders(*, caller: Caller, text: str, where: ObservationFilter, each: bool = False) -> Q:
    """The condition on observations that `rank_holders` would rank them, if there were no limit; the filter
    only narrows what is looked through. `each`: told row by row, which is quicker for a hundred. Asked
    outside a scope."""
    phrases = analyse_query(text)
    if not phrases:
        return Q(id__in=())
    held = (still_holding if each else holding)(corpora_of(caller, where), phrases)
    return held | _has_topic(text) if _may_be_topic(text) else held


def confine(caller: Caller, where: ObservationFilter) -> ObservationFilter:
    """The filter with what the key is bound to filled in. Raises Forbidden when it asks for another's."""
    return replace(
        where,
        project=project_of(caller, where.project) or None,
        user_id=caller.confine_user(where.user_id) or None,
    )


def corpora_of(caller: Caller, where: ObservationFilter) -> Corpora:
    """Where a search in the confined filter looks."""
    if where.scope == GLOBAL:
        names = [""]
    elif where.project:
        names = [where.project] if where.scope else [where.project, ""]
    else:
        with scope(caller.tenant_id):
            names = querysets.corpora_in(caller.tenant_id)
    return Corpora(caller.tenant_id, tuple(names), where)


def search_by_meaning(corpora: Corpora, vector: NDArray[np.float32], limit: int) -> dict[int, float]:
    """The nearest in meaning with their cosines, in an open scope: exactly in a small corpus, by the index in
    one that makes up much of it, and exactly once more if that finds too few."""
    where, known = corpora.where, {}
    documents = read_statistics(
        tenant_id=corpora.tenant_id, corpora=corpora.names, user_id=corpora.user_id, lexemes=()
    ).documents
    exact = documents <= max(EXACT_UP_TO, APPROXIMATE_FROM * all_vectors())
    for exactly in [True] if exact else [False, True]:
        known = querysets.nearest(
            tenant_id=corpora.tenant_id,
            model=model_behind(vector, tenant_id=corpora.tenant_id),
            query=vector,
            corpora=corpora.names,
            where=where,
            limit=limit,
            exact=exactly,
        )
        if len(known) >= limit:
            break
    return {one: cosine for one, cosine in known.items() if cosine >= LEAST_COSINE}


def _vector(waiting: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32] | None:
    try:
        return waiting()
    except Unavailable:
        log.warning("search_by_meaning_skipped: the embedding model is away")
        return None


def _by_words(
    corpora: Corpora,
    text: str,
    phrases: Phrases,
    limit: int,
    match: Callable[[Corpora, Phrases, int], dict[int, float]] | None,
) -> Ranked:
    """What the topic key finds, then what `match` does; in the open scope."""
    ranked = _by_topic(corpora, text, limit) if _may_be_topic(text) else {}
    return _after(ranked, _ranked(match(corpora, phrases, limit), "bm25")) if match else ranked


def _may_be_topic(text: str) -> bool:
    return "/" in text and len(text.strip()) <= LONGEST_TOPIC


def _has_topic(text: str) -> Q:
    # Without a topic, it is not in the index of topics.
    return ~Q(topic_key="") & Q(topic_key__icontains=_storable(text))


def _by_topic(corpora: Corpora, text: str, limit: int) -> Ranked:
    """Live observations whose topic key contains the text, newest change first."""
    where = corpora.where
    live = Observation.objects.filter(querysets.matching(tenant_id=corpora.tenant_id, where=where))
    found = live.filter(querysets.visible_in(where), _has_topic(text), deleted_at=None)
    newest = found.order_by("-updated_at", "-id").values_list("id", flat=True)[:limit]
    return dict.fromkeys(newest, (TOPIC_RANK, "topic_key"))


def _storable(text: str) -> str:
    """The text with a replacement character for whatever PostgreSQL cannot hold, and no topic key does."""
    return text.strip().encode(errors="replace").decode().replace("\x00", "\ufffd")


def _ranked(scores: dict[int, float], method: Method) -> Ranked:
    return {observation_id: (-max(score, LEAST_SCORE), method) for observation_id, score in scores.items()}


def _after(topics: Ranked, others: Ranked) -> Ranked:
    """Both, each observation once: what its topic found stays first, in its own order."""
    return topics | {one: rank for one, rank in others.items() if one not in topics}


def _explained(hit: SearchHit, signals: Mapping[int, dict[str, float]], average: Average | None) -> SearchHit:
    """With its signals, if its rank comes of them."""
    if hit.method != "hybrid":
        return hit
    return replace(hit, signals=signals[hit.observation.id], average=average)


def _load(caller: Caller, ranked: Ranked, limit: int) -> list[SearchHit]:
    best = list(ranked)[:limit]
    rows = querysets.live_by_id(tenant_id=caller.tenant_id, ids=best)
    return [SearchHit(rows[one], *ranked[one]) for one in best if one in rows]

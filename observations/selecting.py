"""Observations as people look through them: filtered, sorted, searched, counted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db.models import Q

from observations import querysets
from observations.models import Observation
from observations.observations import reach_of
from observations.search import Ranked, holders, rank_holders, search_observations
from observations.types import ObservationFilter, SearchHit, Selection, Sort
from tenants.caller import Caller
from tenants.scope import scope

RANKED = 1_000  # of those that hold every word of a search, how many are sorted by how well they do
FOUND = 100  # hits of a search, with what is only alike, where fewer hold every word
BREADTH = 300  # candidates for these, if they are narrowed by what the index does not know
ALL = 100_000  # likewise of those that hold every word
NAMES = 200  # projects or types that are offered


@dataclass(frozen=True, slots=True)
class Names:
    """What there is to choose from, by name; the first `NAMES` of each."""

    projects: tuple[str, ...]
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A page of what a search finds. `holding`: how many hold every word, counted up to `RANKED` + 1.
    `total`: hits on all of its pages."""

    hits: list[SearchHit]
    holding: int
    total: int


def list_selected(
    *,
    caller: Caller,
    where: Selection,
    limit: int,
    sort: Sort = "newest",
    before: tuple[datetime, int] | None = None,
) -> list[SearchHit]:
    """Those in view, newest or changed last first, the trash by when they were thrown away; `before`:
    continue after that one. With a text, those that hold every word of it; in the trash, what contains it."""
    moment = moment_of(where, sort)
    condition = condition_of(caller, where) & words_of(caller, where)
    if before is not None:
        at, observation_id = before
        # The first condition is for the index, which an alternative alone could not bound.
        condition &= Q(**{f"{moment}__lte": at}) & (Q(**{f"{moment}__lt": at}) | Q(id__lt=observation_id))
    with scope(caller.tenant_id):
        rows = Observation.objects.filter(condition).order_by(f"-{moment}", "-id")[:limit]
        return [SearchHit(row, 0.0, "recency") for row in rows]


def find_selected(*, caller: Caller, where: Selection, start: int = 0, limit: int) -> Found:
    """What answers to the text, from hit `start` on, best first: those that hold every word, at most `RANKED`
    of them. If fewer than `FOUND` do, then up to so many what holds some of the words or is alike in
    meaning."""
    held = _held(caller, where)
    ranked = list(held)[:RANKED]
    others = _others(caller, where, held) if len(held) < FOUND else []
    ids = ranked[start : start + limit]
    with scope(caller.tenant_id):
        rows = querysets.live_by_id(tenant_id=caller.tenant_id, ids=ids)
    hits = [SearchHit(rows[one], *held[one]) for one in ids if one in rows]
    behind = max(start - len(ranked), 0)
    hits += others[behind : behind + limit - len(ids)]
    return Found(hits, len(held), len(ranked) + len(others))


def count_selected(*, caller: Caller, where: Selection, most: int) -> int:
    """How many are in view; with a text, how many of them hold every word of it. Counted up to `most`."""
    condition = condition_of(caller, where) & words_of(caller, where)
    with scope(caller.tenant_id):
        return Observation.objects.filter(condition).order_by()[:most].count()


def list_names(*, caller: Caller) -> Names:
    """The projects and types of the live ones. For a key that is bound, none: it knows its own."""
    if reach_of(caller) != Q(tenant_id=caller.tenant_id):
        return Names((), ())
    with scope(caller.tenant_id):
        projects = querysets.names_in(caller.tenant_id, "project", NAMES)
        return Names(tuple(projects), tuple(querysets.names_in(caller.tenant_id, "type", NAMES)))


def moment_of(where: Selection, sort: Sort) -> str:
    """The column that such a list is sorted by."""
    if where.trashed:
        return "deleted_at"
    return "updated_at" if sort == "updated" else "created_at"


def condition_of(caller: Caller, where: Selection, *, to_change: bool = False) -> Q:
    """The condition on rows, but for the words of a text, which only the trash is asked for here. Asked
    outside a scope."""
    condition = reach_of(caller, to_change=to_change) & Q(deleted_at__isnull=not where.trashed)
    exact = {
        "project": where.project.strip().lower(),
        "type": where.type,
        "scope": where.scope,
        "user_id": where.user_id,
        "agent_id": where.agent_id,
        "session": where.session_id,
        "created_at__gte": where.since,
        "created_at__lte": where.until,
        "tags__contains": [where.tag] if where.tag else None,
        "id__in": where.ids,
    }
    condition &= Q(**{name: value for name, value in exact.items() if value})
    if where.trashed and (text := where.text.strip()):
        condition &= Q(title__icontains=text) | Q(content__icontains=text)
    return condition


def words_of(caller: Caller, where: Selection, *, each: bool = False) -> Q:
    """The condition of holding every word of the text, if there is one; `each` as `search.holders` has it.
    Asked outside a scope."""
    if not where.text.strip() or where.trashed:
        return Q()
    return holders(caller=caller, text=where.text, where=_filter_of(where), each=each)


def _held(caller: Caller, where: Selection) -> Ranked:
    """Those that hold every word, best first, one more than `RANKED` at most."""
    asked, condition = _filter_of(where), condition_of(caller, where)
    held = rank_holders(caller=caller, text=where.text, where=asked, limit=RANKED + 1)
    if not _is_narrowed(where):
        return held
    with scope(caller.tenant_id):
        mine = set(_ids(condition & Q(id__in=list(held))))
    if len(mine) < len(held) > RANKED:  # there may be others behind those that fell out
        held = rank_holders(caller=caller, text=where.text, where=asked, limit=ALL)
        condition &= words_of(caller, where)
        with scope(caller.tenant_id):
            mine = set(_ids(condition))
    return dict(islice(((one, rank) for one, rank in held.items() if one in mine), RANKED + 1))


def _others(caller: Caller, where: Selection, held: Ranked) -> list[SearchHit]:
    """What answers to the text by some of its words, or by its meaning."""
    breadth = BREADTH if _is_narrowed(where) else FOUND
    hits = search_observations(
        caller=caller, text=where.text, where=_filter_of(where), limit=breadth, mode="hybrid"
    )
    return [hit for hit in _narrowed(hits, where) if hit.observation.id not in held][: FOUND - len(held)]


def _is_narrowed(where: Selection) -> bool:
    """By what the index does not know: it takes every project's global ones for each, and knows no agents."""
    return bool(where.project or where.agent_id)


def _ids(condition: Q) -> Iterable[int]:
    return Observation.objects.filter(condition).order_by().values_list("id", flat=True)


def _filter_of(where: Selection) -> ObservationFilter:
    """As much of it as the index knows."""
    return ObservationFilter(
        project=where.project.strip().lower() or None,
        type=where.type or None,
        scope=where.scope or None,
        user_id=where.user_id or None,
        session_id=where.session_id or None,
        tags=(where.tag,) if where.tag else (),
        since=where.since,
        until=where.until,
    )


def _narrowed(hits: Sequence[SearchHit], where: Selection) -> list[SearchHit]:
    """Without other projects' global ones, and other agents'."""
    project = where.project.strip().lower()
    return [
        hit
        for hit in hits
        if (not project or hit.observation.project == project)
        and (not where.agent_id or hit.observation.agent_id == where.agent_id)
    ]

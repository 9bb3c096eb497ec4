"""Queries that recall is measured with: saved by somebody, or sampled from sessions. A tenant has few of
them, and so has a person: of the sampled ones the oldest make room."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast
from uuid import UUID

from django.db.models import Q

from ledger.models import EvaluationQuery
from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, NotFound
from tenants.scope import scope
from tenants.tombstones import refuse_erased
from working.types import SessionRef

Source = EvaluationQuery.Source
MOST, MOST_OF_USER = 1_000, 100  # queries of a tenant, and those about one user's memories among them
MOST_RELEVANT = 50  # episodes that answer one query
LONGEST_TEXT = 2_000  # characters: recall takes no more words from a query

_Same = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query as it is asked again; `relevant` are ids of episodes, none of one that nobody has labelled."""

    id: UUID
    text: str
    user_id: str
    agent_id: str
    session: str
    relevant: tuple[str, ...]
    source: Literal["sampled", "saved"]


@dataclass(frozen=True, slots=True)
class NewQuery:
    """What is asked, and whose memories; `turn_id` of one that was a turn of a session."""

    text: str
    user_id: str = ""
    agent_id: str = ""
    project: str = ""
    session: str = ""
    relevant: tuple[UUID, ...] = ()
    turn_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """Which queries are meant. None: any."""

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    source: str | None = None
    labelled: bool | None = None


@dataclass(frozen=True, slots=True)
class DeletedQuery:
    """That it is gone."""


def saved_queries(*, tenant_id: UUID, limit: int = MOST) -> list[SavedQuery]:
    """The tenant's queries, the newest ones, in the order of time; labelled or not."""
    with scope(tenant_id):
        found = EvaluationQuery.objects.filter(tenant_id=tenant_id).order_by("-created_at", "-id")[:limit]
        return [_saved(one) for one in reversed(found)]


def list_queries(
    *, caller: Caller, where: QueryFilter, limit: int, before: tuple[datetime, UUID] | None = None
) -> list[EvaluationQuery]:
    """Queries within the key's reach, newest first; `before`: continue after that one."""
    named = {
        "user_id": caller.confine_user(where.user_id),
        "agent_id": caller.confine_agent(where.agent_id),
        "session": where.session_id,
        "source": where.source,
    }
    condition = _reach(caller) & Q(**{name: value for name, value in named.items() if value})
    if where.labelled is not None:
        unlabelled = Q(relevant=[])
        condition &= ~unlabelled if where.labelled else unlabelled
    if before is not None:
        moment, query_id = before
        condition &= Q(created_at__lte=moment) & (Q(created_at__lt=moment) | Q(id__lt=query_id))
    with scope(caller.tenant_id):
        return list(EvaluationQuery.objects.filter(condition).order_by("-created_at", "-id")[:limit])


def access_query(*, caller: Caller, query_id: UUID) -> EvaluationQuery:
    """One that the key reaches. Raises NotFound, also for another's."""
    with scope(caller.tenant_id):
        return _found(caller, query_id)


def add_query(*, caller: Caller, new: NewQuery, now: datetime) -> EvaluationQuery:
    """Keeps what somebody saves. Raises Conflict when there is no room, Erased."""
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=new.user_id, since=now)
        if not _make_room(caller.tenant_id, new.user_id, 1):
            raise Conflict(
                f"A tenant has up to {MOST} saved queries, {MOST_OF_USER} of one user: delete some first."
            )
        kept = _row(caller.tenant_id, new, Source.SAVED, now)
        kept.save(force_insert=True)
        idempotency.keep(kept, user_id=new.user_id)
    return kept


def add_sampled(*, tenant_id: UUID, queries: Sequence[NewQuery], now: datetime) -> int:
    """Keeps, in the open scope, turns of one session that are not kept yet, as far as there is room; how many
    of them. A query that is kept with the same text gets the labels of the new one beside its own, and
    counts as of that session and moment; one that somebody saved stays as it is."""
    rows = _alike(tenant_id, queries)
    kept, turns = {_same(one): one for one in rows}, {one.turn_id for one in rows}
    fresh: dict[_Same, NewQuery] = {}
    for one in queries:
        known = kept.get(_same(one))
        if known is None:
            fresh[_same(one)] = one
        elif known.source == Source.SAMPLED:
            _sample_anew(known, one, None if one.turn_id in turns else now)
    new = list(fresh.values())
    room = _make_room(tenant_id, new[0].user_id, len(new)) if new else 0
    added = [_row(tenant_id, one, Source.SAMPLED, now) for one in new[:room]]
    # Another worker may have been first with a turn.
    EvaluationQuery.objects.bulk_create(added, ignore_conflicts=True)
    return len(added)


def label_query(
    *, caller: Caller, query_id: UUID, relevant: Sequence[UUID], now: datetime
) -> EvaluationQuery:
    """Puts other labels in place of those that it has; none: it is unlabelled. Raises NotFound."""
    with scope(caller.tenant_id):
        found = _found(caller, query_id, lock=True)
        refuse_erased(tenant_id=caller.tenant_id, user_id=found.user_id, since=now)
        found.relevant = list(relevant)
        found.save(update_fields=["relevant"])
        idempotency.keep(found, user_id=found.user_id)
    return found


def note_runs(*, caller: Caller, runs: Mapping[UUID, Mapping[str, Any]]) -> dict[UUID, EvaluationQuery]:
    """Keeps how the queries' runs went, as their last ones and, of those that had none, as their first; the
    queries as they are then, without those that are gone or out of reach."""
    with scope(caller.tenant_id):
        rows = EvaluationQuery.objects.select_for_update().filter(_reach(caller), id__in=list(runs))
        found = list(rows.order_by("id"))
        for one in found:
            one.last_run = dict(runs[one.id])
            one.first_run = one.first_run or one.last_run
        EvaluationQuery.objects.bulk_update(found, ["first_run", "last_run"])
    return {one.id: one for one in found}


def delete_query(*, caller: Caller, query_id: UUID) -> DeletedQuery:
    """Deletes it for good. Raises NotFound."""
    with scope(caller.tenant_id):
        found = _found(caller, query_id, lock=True)
        found.delete()
        deleted = DeletedQuery()
        idempotency.keep(deleted, user_id=found.user_id)
    return deleted


def forget_sampled(*, ref: SessionRef) -> int:
    """Deletes, in the open scope, what was sampled of the session: its turns go, too. How many."""
    sampled = EvaluationQuery.objects.filter(
        tenant_id=ref.tenant_id, user_id=ref.user_id, session=ref.session_id, source=Source.SAMPLED
    )
    return sampled.delete()[0]


def drop_labels(*, tenant_id: UUID, are_gone: Callable[[list[UUID]], Collection[UUID]]) -> int:
    """Takes labels away whose episodes are gone, in the open scope; from how many queries. `are_gone` tells
    which of all that the tenant's queries have."""
    labelled = EvaluationQuery.objects.filter(tenant_id=tenant_id).exclude(relevant=[])
    labels = {label for some in labelled.values_list("relevant", flat=True) for label in some}
    gone = set(are_gone(sorted(labels))) if labels else set[UUID]()
    if not gone:
        return 0
    changed = list(labelled.filter(relevant__overlap=list(gone)).select_for_update().order_by("id"))
    for one in changed:
        one.relevant = [label for label in one.relevant if label not in gone]
    return EvaluationQuery.objects.bulk_update(changed, ["relevant"])


def _same(one: NewQuery | EvaluationQuery) -> _Same:
    """What makes two queries one. Another project's keys do not see it."""
    return one.user_id, one.agent_id, one.project, one.text[:LONGEST_TEXT]


def _alike(tenant_id: UUID, queries: Sequence[NewQuery]) -> list[EvaluationQuery]:
    """What is kept already of these users with one of these texts, locked; the newest last, saved ones after
    sampled ones."""
    rows = EvaluationQuery.objects.select_for_update().filter(
        tenant_id=tenant_id,
        user_id__in={one.user_id for one in queries},
        text__in={one.text[:LONGEST_TEXT] for one in queries},
    )
    return sorted(rows.order_by("id"), key=lambda one: (one.source == Source.SAVED, one.created_at, one.id))


def _sample_anew(known: EvaluationQuery, new: NewQuery, now: datetime | None) -> None:
    """`now` is None for a turn that was sampled before."""
    known.relevant = list(dict.fromkeys([*new.relevant, *known.relevant]))[:MOST_RELEVANT]
    if now is not None:
        known.session, known.turn_id, known.created_at = new.session, new.turn_id, now
    known.save(update_fields=["relevant", "session", "turn_id", "created_at"])


def _make_room(tenant_id: UUID, user_id: str, wanted: int) -> int:
    """How many of the wanted ones fit, once the oldest sampled ones have gone for them, unlabelled ones
    first; saved ones make no room, and nothing goes for what does not fit."""
    limits = [(Q(tenant_id=tenant_id), MOST)]
    if user_id:  # first: what goes there makes room in the tenant as well
        limits.insert(0, (Q(tenant_id=tenant_id, user_id=user_id), MOST_OF_USER))
    rows = EvaluationQuery.objects
    room = min(most - rows.filter(among, source=Source.SAVED).count() for among, most in limits)
    fits = max(0, min(wanted, room))
    for among, most in limits:
        over = rows.filter(among).count() + fits - most if fits else 0
        if over > 0:
            sampled = rows.filter(among, source=Source.SAMPLED)
            oldest = sampled.order_by("relevant__len", "created_at", "id").values_list("id", flat=True)
            rows.filter(among, id__in=list(oldest[:over])).delete()
    return fits


def _row(tenant_id: UUID, new: NewQuery, source: Source, now: datetime) -> EvaluationQuery:
    return EvaluationQuery(
        tenant_id=tenant_id,
        user_id=new.user_id,
        agent_id=new.agent_id,
        project=new.project,
        session=new.session,
        text=new.text[:LONGEST_TEXT],
        relevant=list(new.relevant),
        source=source,
        turn_id=new.turn_id,
        created_at=now,
    )


def _found(caller: Caller, query_id: UUID, *, lock: bool = False) -> EvaluationQuery:
    rows = EvaluationQuery.objects.select_for_update() if lock else EvaluationQuery.objects.all()
    found = rows.filter(_reach(caller), id=query_id).first()
    if found is None:
        raise NotFound("There is no such saved query.")
    return found


def _reach(caller: Caller) -> Q:
    """Sampled ones are users' own words: not those, for whoever is not shown conversations."""
    bound = {"user_id": caller.user_id, "agent_id": caller.agent_id, "project": caller.project}
    sampled = Q() if caller.may_read_conversations else ~Q(source=Source.SAMPLED)
    return Q(tenant_id=caller.tenant_id, **{name: value for name, value in bound.items() if value}) & sampled


def _saved(one: EvaluationQuery) -> SavedQuery:
    return SavedQuery(
        id=one.id,
        text=one.text,
        user_id=one.user_id,
        agent_id=one.agent_id,
        session=one.session,
        relevant=tuple(map(str, one.relevant)),
        source=cast(Literal["sampled", "saved"], one.source),
    )

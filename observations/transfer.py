"""Observations out of the store and into it again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from observations import querysets
from observations.announcements import tell_observations
from observations.dedup import identity_of, lock_identity, normalized_hash
from observations.indexing import index_new
from observations.models import Observation
from observations.types import NewObservation
from observations.validation import InvalidObservation, check
from tenants.agents.projects import project_of
from tenants.caller import Caller
from tenants.scope import scope
from tenants.tombstones import last_erasures
from webhooks.models import Event
from working.transfer import owners_of

PAGE = 200


@dataclass(frozen=True, slots=True)
class ImportedObservation:
    """An observation as it was elsewhere. `place` names it in what is said about it."""

    place: str
    new: NewObservation
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime | None = None
    revision_count: int = 1
    duplicate_count: int = 1
    promoted_to: str = ""
    agent_id: str = ""


def export_observations(*, caller: Caller, project: str) -> Iterator[list[Observation]]:
    """The live observations of the project, in lower case, or of all projects, oldest first. In pages, each
    read in a scope of its own when it is asked for. The project is the caller's to confine."""
    mine = Q(tenant_id=caller.tenant_id, deleted_at=None)
    mine &= Q(project=project) if project else Q()
    mine &= Q(user_id=caller.user_id) if caller.user_id else Q()
    page: list[Observation] = []
    while not page or len(page) == PAGE:
        with scope(caller.tenant_id):
            found = Observation.objects.filter(mine, _behind(page[-1]) if page else Q())
            page = list(found.order_by("created_at", "id")[:PAGE])
        yield page
        if not page:
            return


def import_observations(*, caller: Caller, rows: Sequence[ImportedObservation], now: datetime) -> int:
    """Adds, all or none, those that are not here yet; how many these were.

    Here already, live or in the trash, is one of the same user, project, session, type, title and content
    made in the same second. Left out as well are those whose topic a live one has, and those of people who
    were erased since. Whose memory it is the row says, else the key, else the session. Raises
    InvalidObservation, and Forbidden for another's than the key's user or project.
    """
    if not rows:
        return 0
    given = [(row, _checked(caller, row)) for row in rows]
    with scope(caller.tenant_id):
        made = _all_made(caller, given)
        users = {one.user_id for one in made if one.user_id}
        # The people before the rows, as every writer locks them.
        erased = last_erasures(tenant_id=caller.tenant_id, user_ids=users)
        lock_identity(*map(identity_of, made))
        fresh = _without_known(caller, _without_erased(made, erased))
        index_new(Observation.objects.bulk_create(fresh), now=now)
        tell_observations(caller.tenant_id, fresh, Event.CREATED)
    return len(fresh)


def missing_observations(*, caller: Caller, rows: Sequence[ImportedObservation]) -> int:
    """How many of them `import_observations` would add now. Nothing is written. Raises what that raises."""
    if not rows:
        return 0
    given = [(row, _checked(caller, row)) for row in rows]
    with scope(caller.tenant_id):
        made = _all_made(caller, given)
        users = {one.user_id for one in made if one.user_id}
        erased = last_erasures(tenant_id=caller.tenant_id, user_ids=users)
        return len(_without_known(caller, _without_erased(made, erased)))


def _all_made(
    caller: Caller, given: Sequence[tuple[ImportedObservation, NewObservation]]
) -> list[Observation]:
    """Each with whose it is: what the row or the key says, else its session's person. In an open scope."""
    named = {row.place: caller.confine_user(new.user_id) for row, new in given}
    unnamed = {new.session_id for row, new in given if not named[row.place]}
    owners = owners_of(tenant_id=caller.tenant_id, session_ids=unnamed)
    return [_made(caller, row, new, named[row.place] or owners.get(new.session_id, "")) for row, new in given]


def _checked(caller: Caller, row: ImportedObservation) -> NewObservation:
    new = row.new
    project, where = project_of(caller, new.project), new.scope.strip() or "project"
    try:
        check(
            session_id=new.session_id, type=new.type, title=new.title, content=new.content, project=project,
            scope=where, topic_key=new.topic_key, tags=new.tags,
        )  # fmt: skip
    except InvalidObservation as error:
        raise InvalidObservation(f"{row.place}: {error}") from error
    return NewObservation(
        session_id=new.session_id, type=new.type, title=new.title, content=new.content, project=project,
        scope=where, topic_key=new.topic_key.strip(), tags=new.tags, user_id=new.user_id,
    )  # fmt: skip


def _made(caller: Caller, row: ImportedObservation, new: NewObservation, user_id: str) -> Observation:
    return Observation(
        tenant_id=caller.tenant_id,
        user_id=user_id,
        agent_id=caller.agent_id or row.agent_id,
        project=new.project,
        session=new.session_id,
        scope=new.scope,
        type=new.type,
        title=new.title,
        content=new.content,
        tags=list(new.tags),
        topic_key=new.topic_key,
        normalized_hash=normalized_hash(new.content),
        revision_count=row.revision_count,
        duplicate_count=row.duplicate_count,
        last_seen_at=row.last_seen_at,
        promoted_to=row.promoted_to,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _without_erased(rows: list[Observation], erased: Mapping[str, datetime]) -> list[Observation]:
    return [one for one in rows if one.user_id not in erased or erased[one.user_id] < one.created_at]


def _without_known(caller: Caller, rows: list[Observation]) -> list[Observation]:
    """Those that are neither stored nor twice among themselves, by content or by topic."""
    known = querysets.known_among(tenant_id=caller.tenant_id, rows=rows)
    taken, seen, fresh = _taken_topics(rows), set(), []
    for place, one in enumerate(rows):
        said = (one.user_id, one.project, one.session, one.type, one.title, one.normalized_hash)
        same = (*said, one.created_at.replace(microsecond=0))
        topic = _topic_of(one)
        if place in known or same in seen or (one.topic_key and topic in taken):
            continue
        seen.add(same)
        taken.add(topic)
        fresh.append(one)
    return fresh


def _taken_topics(rows: Sequence[Observation]) -> set[tuple[str, ...]]:
    topics = {one.topic_key for one in rows if one.topic_key}
    if not topics:
        return set()
    live = Observation.objects.filter(
        tenant_id=rows[0].tenant_id,
        project__in={one.project for one in rows},
        topic_key__in=topics,
        deleted_at=None,
    )
    return {_topic_of(one) for one in live.only("project", "scope", "user_id", "topic_key")}


def _topic_of(one: Observation) -> tuple[str, ...]:
    return one.project, one.scope, one.user_id, one.topic_key


def _behind(last: Observation) -> Q:
    # The first condition says nothing new, but an index can begin with it.
    later = Q(created_at__gt=last.created_at) | Q(created_at=last.created_at, id__gt=last.id)
    return Q(created_at__gte=last.created_at) & later

"""A person as whoever looks after the memory sees them: what is believed of them, what came in when, where it
was used. What is restricted is shown to those alone who see to people's rights."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from django.db.models import Q, QuerySet

from episodic.models import Entity, Episode, MemoryType, SlotStatus
from episodic.slots import text_of
from observations.models import Observation
from recall.subjects import SubjectSummary, Use, list_uses, summary_of
from recall.texts import texts_of
from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.scope import restricted_shown, scope
from working.models import Session

Kind = Literal["entity", "episode", "observation", "session"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_SLOTS = 200
MOST_USES = 20


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that came in of a person: a session that began, a memory, a value of a slot. `id` is the
    server's, `state` what became of it."""

    at: datetime
    kind: Kind
    id: str
    text: str
    state: str

    @property
    def place(self) -> str:
        """Where a stream goes on that ends with this."""
        return f"{self.at.isoformat()}_{self.kind}_{self.id}"


@dataclass(frozen=True, slots=True)
class SeenPerson:
    """Everything on one page; `is_hidden` tells that there may be more, which is restricted."""

    summary: SubjectSummary
    slots: Sequence[Entity]
    pending: Sequence[Entity]
    stream: Sequence[Happening]
    uses: Sequence[tuple[Use, str]]  # with what the memory says now
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class _Place:
    at: datetime
    kind: Kind
    id: UUID | int


def see_person(*, caller: Caller, user_id: str, limit: int, after: str | None = None) -> SeenPerson:
    """The person, and `limit` happenings, newest first; `after`: the `place` of the last one before. Raises
    Forbidden when the key does not reach all of the person's memory, Invalid for nobody and for a place that
    is none."""
    before = _place(after) if after else None
    summary = summary_of(caller=caller, user_id=user_id)
    is_restricted = summary.restriction is not None
    is_hidden = is_restricted and not caller.may("privacy")
    uses = [] if is_hidden else list_uses(caller=caller, user_id=user_id, limit=MOST_USES)
    sight = restricted_shown() if is_restricted and not is_hidden else nullcontext()
    with sight, scope(caller.tenant_id):
        slots = _slots(caller, user_id)
        stream = _stream(caller, user_id, limit, before)
        texts = texts_of(caller=caller, named=[(one.kind, one.memory_id) for one in uses])
    return SeenPerson(
        summary=summary,
        slots=[one for one in slots if one.status == SlotStatus.CURRENT],
        pending=[one for one in slots if one.status == SlotStatus.PENDING],
        stream=stream,
        uses=[(one, texts.get((one.kind, one.memory_id), "")) for one in uses],
        is_hidden=is_hidden,
    )


def _slots(caller: Caller, user_id: str) -> list[Entity]:
    stand = Entity.objects.filter(
        tenant_id=caller.tenant_id,
        user_id=user_id,
        status__in=(SlotStatus.CURRENT, SlotStatus.PENDING),
    )
    return list(stand.order_by("key")[:MOST_SLOTS])


def _stream(caller: Caller, user_id: str, limit: int, before: _Place | None) -> list[Happening]:
    """At most `limit` rows of each kind are read, by the person's own indexes."""
    mine = {"tenant_id": caller.tenant_id, "user_id": user_id}
    found: list[tuple[datetime, Kind, Any, Any]] = []
    for kind in KINDS:
        rows, moment = _ROWS[kind](mine)
        if kind == "episode" and not caller.may_read_conversations:
            rows = rows.exclude(memory_type=MemoryType.MESSAGE)
        found += [
            (getattr(row, moment), kind, row.id, row) for row in _page(rows, kind, moment, limit, before)
        ]
    found.sort(key=lambda one: one[:3], reverse=True)
    return [_SHOWN[kind](row, at) for at, kind, _id, row in found[:limit]]


def _page(rows: QuerySet[Any], kind: Kind, moment: str, limit: int, before: _Place | None) -> Sequence[Any]:
    """Those after the place, in the order of the stream: by moment, then by kind, then by id."""
    if before is not None:
        later = Q(**{f"{moment}__lt": before.at})
        if kind == before.kind:
            later |= Q(**{moment: before.at, "id__lt": before.id})
        elif kind < before.kind:
            later |= Q(**{moment: before.at})
        rows = rows.filter(later, **{f"{moment}__lte": before.at})  # the second is for the index
    return list(rows.order_by(f"-{moment}", "-id")[:limit])


def _place(text: str) -> _Place:
    moment, _, rest = text.partition("_")
    name, _, number = rest.partition("_")
    try:
        at = datetime.fromisoformat(moment)
        kind: Kind = KINDS[KINDS.index(name)]  # what is none raises ValueError
        identity = int(number[:19]) if kind == "observation" else UUID(number)
    except ValueError as error:
        raise Invalid("This is no place in the stream.", "after") from error
    if at.tzinfo is None or (isinstance(identity, int) and not 0 <= identity < 2**63):
        raise Invalid("This is no place in the stream.", "after")
    return _Place(at, kind, identity)


_ROWS: dict[Kind, Callable[[dict[str, Any]], tuple[QuerySet[Any], str]]] = {
    "entity": lambda mine: (Entity.objects.filter(**mine), "created_at"),
    "episode": lambda mine: (Episode.objects.filter(**mine), "created_at"),
    "observation": lambda mine: (Observation.objects.filter(**mine, deleted_at=None), "created_at"),
    "session": lambda mine: (Session.objects.filter(**mine), "started_at"),
}
_SHOWN: dict[Kind, Callable[[Any, datetime], Happening]] = {
    "entity": lambda row, at: Happening(at, "entity", str(row.id), text_of(row), row.status),
    "episode": lambda row, at: Happening(at, "episode", str(row.id), row.text, _state_of(row)),
    "observation": lambda row, at: Happening(at, "observation", str(row.id), row.title or row.content, ""),
    "session": lambda row, at: Happening(
        at, "session", str(row.id), row.external_id, "active" if row.ended_at is None else "ended"
    ),
}


def _state_of(episode: Episode) -> str:
    if episode.superseded_by is not None:
        return "superseded"
    return "retracted" if episode.valid_to is not None else "current"

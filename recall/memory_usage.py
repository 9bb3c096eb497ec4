"""Where memories were used, and whether that helped: what sessions were told, with the words of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from episodic.types import EpisodeFilter
from ledger.feedback import FeedbackFilter, Tally, list_feedback, tallies
from ledger.injections import digest_of
from ledger.listing import InjectionFilter, Usage, list_injections, usage_of
from ledger.models import Feedback, Injection
from recall.feedback import KINDS
from recall.kinds import Kind, recall_kinds
from recall.texts import texts_of
from recall.types import Hit, RecallQuery
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope
from working.listing import access_session_row
from working.models import Event, Session
from working.sessions import ref_of

MOST_OF_TURN = 200
MOST_FOUND = 20
NEWEST_VERDICTS = 50


@dataclass(frozen=True, slots=True)
class ToldItem:
    """Something that a session was told: what it says now, None if it is no memory, or is gone; and what was
    thought of it in all."""

    injection: Injection
    kind: str
    memory_id: str
    text: str | None
    tally: Tally

    @property
    def id(self) -> UUID:
        """Of the injection."""
        return self.injection.id


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that may be the one that is meant."""

    kind: str
    memory_id: str
    text: str


@dataclass(frozen=True, slots=True)
class MemoryUsage:
    """One memory: its words, None if it is gone; how it was used; what was thought of it, newest first."""

    kind: str
    memory_id: str
    text: str | None
    usage: Usage
    tally: Tally
    verdicts: Sequence[Feedback]


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """What a session was told for one of its turns: `asked` was looked up with its words, `besides` was told
    between it and the user's next turn without any. `is_question`: it is a text of the user's."""

    session: Session
    seq: int
    role: str
    at: datetime
    asked: Sequence[ToldItem]
    besides: Sequence[ToldItem]
    is_question: bool = False


def list_told(
    *,
    caller: Caller,
    where: InjectionFilter,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
) -> list[ToldItem]:
    """As `ledger.listing.list_injections`, with the words and the verdicts."""
    with scope(caller.tenant_id):
        return _shown(caller, list_injections(caller=caller, where=where, limit=limit, before=before))


def find_memories(*, caller: Caller, text: str, user_id: str, now: datetime) -> list[FoundMemory]:
    """The memories that answer the text best, of one user if one is named; they do not count as told to
    anybody. Raises what `recall_kinds` raises."""
    kinds: list[Kind] = ["episode", "observation", *(["entity"] if user_id else [])]  # type: ignore[list-item]
    query = RecallQuery(text, EpisodeFilter(user_id=user_id or None), top_k=MOST_FOUND)
    answer = recall_kinds(caller=caller, query=query, kinds=kinds, now=now, counted=False)
    return [
        FoundMemory("episode", str(one.episode.id), one.episode.text)
        if isinstance(one, Hit)
        else FoundMemory(one.kind, one.id, one.text)
        for one in answer.results
    ]


def memory_usage(*, caller: Caller, kind: str, memory_id: str) -> MemoryUsage:
    """Where the memory was ever used. Raises NotFound for one that there is not within the key's reach, and
    of which nothing was ever told."""
    with scope(caller.tenant_id):
        usage = usage_of(caller=caller, item_key=f"{kind}:{memory_id}")
        text = texts_of(caller=caller, named=[(kind, memory_id)]).get((kind, memory_id))
        if text is None and not usage.told:
            raise NotFound("There is no such memory, and none was told.")
        about = FeedbackFilter(kind=kind, memory_id=memory_id)
        return MemoryUsage(
            kind,
            memory_id,
            text,
            usage,
            tallies(caller=caller, kind=kind, memory_ids=[memory_id]).get(memory_id, Tally()),
            list_feedback(caller=caller, where=about, limit=NEWEST_VERDICTS),
        )


def told_in_turn(*, caller: Caller, row_id: UUID, seq: int) -> ToldTurn:
    """What was told for the turn with that number, without what the turn says. Raises NotFound."""
    session = access_session_row(caller=caller, row_id=row_id)
    with scope(caller.tenant_id):
        log = Event.objects.filter(tenant_id=caller.tenant_id, session_id=session.id)
        turn = log.filter(seq=min(seq, 2**62)).first()
        if turn is None:
            raise NotFound("There is no such turn.")
        ref = ref_of(session)
        told = Injection.objects.filter(
            tenant_id=caller.tenant_id, session=ref.session_id, namespace=ref.namespace, user_id=ref.user_id
        ).order_by("marked_at", "rank", "id")
        asked = [] if (digest := _digest(turn)) is None else list(told.filter(asked=digest)[:MOST_OF_TURN])
        following = log.filter(seq__gt=turn.seq, role="user").order_by("seq").first()
        within = Q(marked_at__gte=turn.recorded_at)
        within &= Q(marked_at__lt=following.recorded_at) if following else Q()
        besides = list(told.filter(within, asked="")[:MOST_OF_TURN])
        return ToldTurn(
            session, turn.seq, turn.role, turn.recorded_at, _shown(caller, asked), _shown(caller, besides),
            is_question=turn.role == "user" and isinstance(turn.content, str),
        )  # fmt: skip


def _digest(turn: Event) -> str | None:
    """What stands for its words in the ledger, if it has any."""
    if not isinstance(turn.content, str) or not turn.content:
        return None
    return digest_of(tenant_id=turn.tenant_id, query=turn.content)


def _shown(caller: Caller, found: Sequence[Injection]) -> list[ToldItem]:
    """In the open scope."""
    named = [one.item_key.partition(":")[::2] for one in found]
    texts = texts_of(caller=caller, named=named)
    ids = {kind: {memory_id for k, memory_id in named if k == kind} for kind in KINDS}
    thought: dict[str, Mapping[str, Tally]] = {
        kind: tallies(caller=caller, kind=kind, memory_ids=some) for kind, some in ids.items() if some
    }
    return [
        ToldItem(
            one,
            kind,
            memory_id,
            texts.get((kind, memory_id)),
            thought.get(kind, {}).get(memory_id, Tally()),
        )
        for one, (kind, memory_id) in zip(found, named, strict=True)
    ]

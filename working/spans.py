"""What a summary is made of: the turns since the last one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from working.models import Event, Session
from working.types import Turn


@dataclass(frozen=True, slots=True)
class Span:
    """The turns since the last summary: user and assistant messages, the user's first and last words."""

    messages: int
    first: str | None
    last: str | None
    covers: tuple[int, int]


def open_span(*, session: Session, upto: int, unlogged: Sequence[Turn] = ()) -> Span:
    """The turns that no summary covers, up to number `upto`: those of the log, and those that are in none.
    In the open scope."""
    logged = Event.objects.filter(
        tenant_id=session.tenant_id,
        session_id=session.id,
        seq__gt=session.summarised_seq,
        seq__lte=upto,
    ).exclude(role="")
    held = [turn for turn in unlogged if session.summarised_seq < turn.seq <= upto]
    spoken = logged.filter(role="user").order_by("seq")
    said = sorted(
        [*_first_and_last(spoken.first(), spoken.last()), *_first_and_last(*_ends(held))],
        key=lambda one: one[0],
    )
    messages = logged.filter(role__in=("user", "assistant")).count()
    messages += sum(turn.role in ("user", "assistant") for turn in held)
    return Span(
        messages=messages,
        first=_words(said[0][1]) if said else None,
        last=_words(said[-1][1]) if said else None,
        covers=(session.summarised_seq + 1, upto),
    )


def _ends(turns: Sequence[Turn]) -> tuple[Turn | None, Turn | None]:
    spoken = [turn for turn in turns if turn.role == "user"]
    return (spoken[0], spoken[-1]) if spoken else (None, None)


def _first_and_last(first: Event | Turn | None, last: Event | Turn | None) -> list[tuple[int, Any]]:
    return [(one.seq, one.content) for one in (first, last) if one is not None]


def _words(content: Any) -> str:
    return content if isinstance(content, str) else str(content)

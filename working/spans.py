"""What a summary is made of: the turns since the last one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from working.models import Event, Session
from working.types import Turn

UNSPOKEN = ("system", "tool")  # roles; whoever else says something takes part
MOST_READ = 400  # messages of a span


@dataclass(frozen=True, slots=True)
class Span:
    """The turns since the last summary: how many messages of those who took part, the user's first and last
    words, and those of the turns that are in no log."""

    messages: int
    first: str | None
    last: str | None
    covers: tuple[int, int]
    unlogged: tuple[Turn, ...] = ()


def open_span(*, session: Session, upto: int, unlogged: Sequence[Turn] = ()) -> Span:
    """The turns that no summary covers, up to number `upto`: those of the log, and those that are in none.
    In the open scope."""
    logged = session.logged_turns().filter(seq__gt=session.summarised_seq, seq__lte=upto)
    held = [turn for turn in unlogged if session.summarised_seq < turn.seq <= upto]
    spoken = logged.filter(role="user").order_by("seq")
    said = sorted(
        [*_first_and_last(spoken.first(), spoken.last()), *_first_and_last(*_ends(held))],
        key=lambda one: one[0],
    )
    messages = logged.exclude(role__in=UNSPOKEN).count() + len(_spoken(held))
    return Span(
        messages=messages,
        first=_words(said[0][1]) if said else None,
        last=_words(said[-1][1]) if said else None,
        covers=(session.summarised_seq + 1, upto),
        unlogged=tuple(held),
    )


def spoken_in(*, session: Session, span: Span) -> list[str]:
    """What was said in the span, oldest first; of very much the newest. In the open scope."""
    first, last = span.covers
    logged = session.logged_turns().filter(seq__gte=first, seq__lte=last).exclude(role__in=UNSPOKEN)
    said = list(logged.order_by("-seq").values_list("seq", "content")[:MOST_READ])
    said += [(turn.seq, turn.content) for turn in _spoken(span.unlogged)]
    newest = sorted(said, key=lambda one: one[0])[-MOST_READ:]
    return [content for _seq, content in newest if isinstance(content, str)]


def _spoken(turns: Sequence[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.role not in UNSPOKEN]


def _ends(turns: Sequence[Turn]) -> tuple[Turn | None, Turn | None]:
    spoken = [turn for turn in turns if turn.role == "user"]
    return (spoken[0], spoken[-1]) if spoken else (None, None)


def _first_and_last(first: Event | Turn | None, last: Event | Turn | None) -> list[tuple[int, Any]]:
    return [(one.seq, one.content) for one in (first, last) if one is not None]


def _words(content: Any) -> str:
    return content if isinstance(content, str) else str(content)

"""What is offered of all that is known: nothing that the session was told, and nothing twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recall.assembly.gather import Gathered
from recall.assembly.likeness import Seen
from recall.assembly.pieces import within_size
from recall.assembly.types import Piece, Why
from working.types import Turn


@dataclass(slots=True)
class Sorted:
    """Pieces by their worth, the parts of the summary, and what is left out of both, with the reason."""

    offered: list[Piece] = field(default_factory=list)
    summary: list[Piece] = field(default_factory=list)
    left_out: list[tuple[Piece, Why]] = field(default_factory=list)


def sort_out(found: Gathered, told: Mapping[str, str], *, turns: Sequence[Turn], summary_due: bool) -> Sorted:
    """What may go beside `turns`, the end of the window. What tells of nothing but turns that are among them
    is left out, and so is an episode that says what a part of the summary says, if that is due. Of the
    episodes, those are looked at that it takes to find as many as are wanted."""
    done = Sorted()
    data, oversized = within_size(found.data)
    done.left_out += [(piece, "size") for piece in oversized]
    for piece in (*found.procedures, *data, *found.slots):
        if _is_told(piece, told):
            done.left_out.append((piece, "told"))
        else:
            done.offered.append(piece)
    shown = _shown(found, turns)
    for part in found.summary:
        if not _within(part, shown):
            done.summary.append(part)
        elif summary_due:
            done.left_out.append((part, "duplicate"))
    seen = Seen()
    for part in done.summary if summary_due else ():
        seen.add(part.plain)
    _sort_episodes(found, told, shown, seen, done)
    return done


def _sort_episodes(
    found: Gathered, told: Mapping[str, str], shown: tuple[int, int] | None, seen: Seen, done: Sorted
) -> None:
    wanted = found.top_k
    for piece in found.episodes:
        if not wanted:
            break
        if _within(piece, shown) or not seen.add(piece.plain):
            done.left_out.append((piece, "duplicate"))
        elif _is_told(piece, told):
            done.left_out.append((piece, "told"))
        else:
            done.offered.append(piece)
            wanted -= 1


def _shown(found: Gathered, turns: Sequence[Turn]) -> tuple[int, int] | None:
    """The numbers of the first and the last turn that the messages hold, the query among them; from 0 where
    no turn was before."""
    if found.shown is None or len(turns) == len(found.turns):
        return found.shown
    return (turns[0].seq, found.shown[1]) if turns else None


def _within(piece: Piece, shown: tuple[int, int] | None) -> bool:
    """Whether it tells of nothing but turns that are shown."""
    if piece.covers is None or shown is None:
        return False
    return shown[0] <= piece.covers[0] and piece.covers[1] <= shown[1]


def _is_told(piece: Piece, told: Mapping[str, str]) -> bool:
    return bool(piece.key) and told.get(piece.key) == piece.state

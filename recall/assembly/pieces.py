"""What the stores hold, as pieces of a prompt with their marks in the ledger."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from episodic.models import Entity, Episode, Origin
from knowledge.models import Procedure
from recall.assembly.marks import LENGTH, SLOT, mark_of, slot_mark
from recall.assembly.render import episode_text, procedure_text, slot_text, summary_text
from recall.assembly.types import Piece, Why
from recall.masking import mask_text, mask_value
from recall.summary import take_apart
from working.models import Session

EPISODE = "episode:"  # before its id: its key in the ledger
LONGEST_FIELD = 1_000  # characters
LONGEST_DATA = 4_000  # characters of all fields of a session


def of_procedures(procedures: Iterable[Procedure], why: Why) -> list[Piece]:
    """Each under its name."""
    return [
        Piece(
            "procedure", one.name, procedure_text(one.name, one.version, one.body), why,
            key=f"skill:{one.name}", state=one.checksum[:LENGTH],
        )
        for one in procedures
    ]  # fmt: skip


def of_fields(fields: Mapping[str, Any], why: Why) -> list[Piece]:
    """The session's fields, by name, without what is sensitive; a long one is cut off."""
    shown = ((name, mask_value({name: fields[name]})[name]) for name in sorted(fields))
    return [Piece("session", name, slot_text(name, _short(value)), why) for name, value in shown]


def within_size(pieces: Iterable[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Those of a session's fields that fit its share of a prompt, and those that do not."""
    fitting: list[Piece] = []
    others: list[Piece] = []
    left = LONGEST_DATA
    for piece in pieces:
        if len(piece.text) > left:
            others.append(piece)
        else:
            fitting.append(piece)
            left -= len(piece.text)
    return fitting, others


def of_slots(slots: Iterable[Entity]) -> list[Piece]:
    """Each under the id of its value."""
    return [
        Piece(
            "entity", str(one.id), slot_text(one.key, one.value), "current",
            key=f"{SLOT}{one.id}", state=slot_mark(one.key, one.value),
        )
        for one in slots
    ]  # fmt: skip


def of_episode(episode: Episode, score: float | None, session: Session | None) -> Piece:
    """An episode; without a score it is there for its age. One that `session` left behind covers some of its
    turns."""
    return Piece(
        "episode", str(episode.id), episode_text(episode.text, episode.event_date or episode.created_at),
        "recent" if score is None else "recalled", score,
        key=f"{EPISODE}{episode.id}", state=mark_of(episode.text), plain=episode.text,
        covers=_covers(episode, session),
    )  # fmt: skip


def of_summary(summary: str, *, upto: int) -> list[Piece]:
    """The parts of the running summary, the newest first, under the numbers of their turns; `upto`: the last
    turn that it tells of."""
    if not summary:
        return []
    text = mask_text(summary)
    parts = [
        Piece(
            "summary", "{}-{}".format(*part.covers),
            summary_text("Turns {} to {}: {}".format(*part.covers, part.text)), "summary", plain=part.text,
            covers=part.covers,
        )
        for part in reversed(take_apart(text))
    ]  # fmt: skip
    return parts or [Piece("summary", "summary", summary_text(text), "summary", plain=text, covers=(1, upto))]


def _covers(episode: Episode, session: Session | None) -> tuple[int, int] | None:
    """The turns of this session that the episode tells of: not of another one that had its id before."""
    if session is None or episode.origin != Origin.SESSION or not episode.covers_turns:
        return None
    theirs = (episode.namespace, episode.user_id, episode.session)
    if theirs != (session.namespace, session.user_id, session.external_id):
        return None
    first, last = episode.covers_turns
    return None if episode.created_at < session.started_at else (first, last)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_FIELD else f"{text[:LONGEST_FIELD]}…"

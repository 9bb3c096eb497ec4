"""Reads Strata's own transcripts: JSON Lines, one record per line, described in docs/replay.md."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memoryproject.replay import fields
from memoryproject.replay.transcripts import Question, Session, Transcript, Turn, split_evidence

ROLES = ("user", "assistant")
TURN_SPACING = timedelta(minutes=1)  # for turns without a time of their own


@dataclass
class _Draft:
    """What the lines read so far amount to."""

    id: str
    sessions: dict[str, list[Turn]] = field(default_factory=dict)
    start: datetime | None = None  # of the session that is being read
    turn_ids: set[str] = field(default_factory=set)
    questions: list[tuple[Question, list[str]]] = field(default_factory=list)


def parse(raw: str, path: Path) -> Transcript:
    """Return the conversation in `raw`; `path` names it in errors and is its id when it gives none.

    Raises MalformedTranscript, naming the line.
    """
    draft = _Draft(id=path.stem)
    for number, line in enumerate(raw.split("\n"), start=1):
        if line.strip():
            _read_line(draft, line, f"{path}, line {number}")
    if not draft.turn_ids:
        raise fields.fail(str(path), "there are no turns in it")
    return _finish(draft)


def _read_line(draft: _Draft, line: str, place: str) -> None:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise fields.fail(place, f"not valid JSON ({error})") from error
    record = fields.as_object(value, place)
    kind = fields.text(record, "type", place)
    if kind not in _READERS:
        raise fields.fail(place, f"unknown type {kind!r}; it must be one of {', '.join(_READERS)}")
    _READERS[kind](draft, record, place)


def _read_conversation(draft: _Draft, record: dict[str, Any], place: str) -> None:
    if draft.sessions:
        raise fields.fail(place, "the conversation record must stand before all sessions")
    draft.id = fields.text(record, "id", place)


def _read_session(draft: _Draft, record: dict[str, Any], place: str) -> None:
    session = fields.text(record, "id", place)
    if session in draft.sessions:
        raise fields.fail(place, f"there is a session {session!r} already")
    draft.start = _time(record, "started_at", place)
    draft.sessions[session] = []


def _read_turn(draft: _Draft, record: dict[str, Any], place: str) -> None:
    if draft.start is None:
        raise fields.fail(place, "a turn must stand below its session")
    turns = draft.sessions[next(reversed(draft.sessions))]
    turn = _turn(record, draft.start + len(turns) * TURN_SPACING, place)
    if turn.id in draft.turn_ids:
        raise fields.fail(place, f"there is a turn {turn.id!r} already")
    draft.turn_ids.add(turn.id)
    turns.append(turn)


def _turn(record: dict[str, Any], otherwise: datetime, place: str) -> Turn:
    role = fields.text(record, "role", place)
    if role not in ROLES:
        raise fields.fail(place, f"role must be one of {', '.join(ROLES)}, not {role!r}")
    return Turn(
        id=fields.text(record, "id", place),
        speaker=fields.optional_text(record, "speaker", place) or role,
        role=role,
        text=fields.text(record, "text", place),
        at=_time(record, "at", place) if "at" in record else otherwise,
        caption=fields.optional_text(record, "caption", place),
    )


def _read_question(draft: _Draft, record: dict[str, Any], place: str) -> None:
    question = Question(
        text=fields.text(record, "question", place),
        answer=fields.optional_text(record, "answer", place),
        evidence=(),
        category=fields.optional_number(record, "category", place),
    )
    draft.questions.append((question, fields.texts(record, "evidence", place)))


def _time(record: dict[str, Any], name: str, place: str) -> datetime:
    text = fields.text(record, name, place)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise fields.fail(place, f"{name!r} must be an ISO 8601 time, not {text!r}") from None
    return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)


def _finish(draft: _Draft) -> Transcript:
    """A question may stand above its evidence, so ids are looked up at the end."""
    questions: list[Question] = []
    unusable: list[str] = []
    for question, named in draft.questions:
        evidence, absent = split_evidence(named, frozenset(draft.turn_ids))
        unusable += absent
        questions.append(Question(question.text, question.answer, evidence, question.category))
    sessions = tuple(Session(name, tuple(turns)) for name, turns in draft.sessions.items())
    return Transcript(draft.id, sessions, tuple(questions), tuple(unusable))


_READERS = {
    "conversation": _read_conversation,
    "session": _read_session,
    "turn": _read_turn,
    "question": _read_question,
}

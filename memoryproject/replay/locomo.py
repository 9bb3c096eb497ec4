"""Reads a conversation of the LoCoMo benchmark (Maharana et al., 2024) as one JSON object."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memoryproject.replay import fields
from memoryproject.replay.transcripts import Question, Session, Transcript, Turn, repeated, split_evidence

TURN_ID = re.compile(r"D\d+:\d+")
TURN_SPACING = timedelta(minutes=1)  # only sessions are dated; this keeps the order of what was said


def parse(raw: str, path: Path) -> Transcript:
    """Return the conversation in `raw`; `path` names it in errors and gives its id.

    Raises MalformedTranscript.
    """
    conversation = fields.as_object(_decode(raw, path), str(path))
    speakers = {
        fields.text(conversation, "speaker_a", str(path)): "user",
        fields.text(conversation, "speaker_b", str(path)): "assistant",
    }
    sessions = tuple(
        _session(item, speakers, f"{path}: sessions[{number}]")
        for number, item in enumerate(fields.items(conversation, "sessions", str(path)))
    )
    ids = [turn.id for session in sessions for turn in session.turns]
    _refuse_repeated(ids, [session.id for session in sessions], path)
    questions, unusable = _questions(conversation, frozenset(ids), path)
    return Transcript(path.stem, sessions, questions, unusable)


def _decode(raw: str, path: Path) -> Any:
    try:
        return json.loads(raw)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise fields.fail(
            f"{path}, line {line}", f"not valid JSON ({error}); JSON Lines files must end in .jsonl"
        ) from error


def _refuse_repeated(turn_ids: list[str], session_ids: list[str], path: Path) -> None:
    if not turn_ids:
        raise fields.fail(str(path), "there are no turns in it")
    if twice := repeated(turn_ids) or repeated(session_ids):
        raise fields.fail(str(path), f"the id {twice!r} stands there twice")


def _session(value: Any, speakers: dict[str, str], place: str) -> Session:
    item = fields.as_object(value, place)
    start = _date(fields.text(item, "date_time", place), place)
    turns = tuple(
        _turn(turn, speakers, start + number * TURN_SPACING, f"{place}.turns[{number}]")
        for number, turn in enumerate(fields.items(item, "turns", place))
    )
    return Session(fields.text(item, "id", place), turns)


def _date(text: str, place: str) -> datetime:
    try:
        return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        raise fields.fail(place, f"{text!r} is not a date like '1:56 pm on 8 May, 2023'") from None


def _turn(value: Any, speakers: dict[str, str], at: datetime, place: str) -> Turn:
    item = fields.as_object(value, place)
    speaker = fields.text(item, "speaker", place)
    if speaker not in speakers:
        raise fields.fail(place, f"{speaker!r} is neither of the two speakers")
    caption = fields.optional_text(item, "blip_caption", place)
    text = fields.text(item, "text", place)
    return Turn(fields.text(item, "dia_id", place), speaker, speakers[speaker], text, at, caption)


def _questions(
    conversation: dict[str, Any], known: frozenset[str], path: Path
) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    questions: list[Question] = []
    unusable: list[str] = []
    for number, value in enumerate(fields.items(conversation, "qa", str(path))):
        place = f"{path}: qa[{number}]"
        item = fields.as_object(value, place)
        evidence, odd = _evidence(fields.texts(item, "evidence", place), known)
        unusable += odd
        questions.append(
            Question(
                text=fields.text(item, "question", place),
                answer=fields.optional_text(item, "answer", place),
                evidence=evidence,
                category=fields.optional_number(item, "category", place),
            )
        )
    return tuple(questions), tuple(unusable)


def _evidence(entries: list[str], known: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Some entries hold several ids ("D8:6; D9:17"), some none ("D"); a damaged id is not guessed at."""
    named, unreadable = [], []
    for entry in entries:
        found = TURN_ID.findall(entry)
        named += found
        if not found:
            unreadable.append(entry)
    usable, absent = split_evidence(named, known)
    return usable, (*unreadable, *absent)

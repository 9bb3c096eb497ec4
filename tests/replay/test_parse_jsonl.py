import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryproject.replay import files
from memoryproject.replay.errors import MalformedTranscript, ReplayError

SESSION = {"type": "session", "id": "s1", "started_at": "2024-02-05T09:12:00Z"}
TURN = {"type": "turn", "id": "1", "role": "user", "text": "Hello."}


def load(folder: Path, *records: object):
    path = folder / "talk.jsonl"
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in records))
    return files.load(path)


def test_a_turn_belongs_to_the_session_above_it(tmp_path):
    second = {**SESSION, "id": "s2"}
    found = load(tmp_path, SESSION, TURN, second, {**TURN, "id": "2"}, {**TURN, "id": "3"})
    assert [[turn.id for turn in session.turns] for session in found.sessions] == [["1"], ["2", "3"]]


def test_the_conversation_is_named_by_its_record_or_else_by_its_file(tmp_path):
    assert load(tmp_path, SESSION, TURN).id == "talk"
    assert load(tmp_path, {"type": "conversation", "id": "case-7"}, SESSION, TURN).id == "case-7"


def test_turns_without_a_time_follow_each_other_by_a_minute(tmp_path):
    found = load(
        tmp_path, SESSION, TURN, {**TURN, "id": "2"}, {**TURN, "id": "3", "at": "2024-02-05T12:00:00+02:00"}
    )
    assert [turn.at for turn in found.turns] == [
        datetime(2024, 2, 5, 9, 12, tzinfo=UTC),
        datetime(2024, 2, 5, 9, 13, tzinfo=UTC),
        datetime(2024, 2, 5, 10, 0, tzinfo=UTC),
    ]


def test_a_turn_is_remembered_with_who_said_and_showed_what(tmp_path):
    found = load(tmp_path, SESSION, {**TURN, "speaker": "Ana", "caption": "a red bike"}, {**TURN, "id": "2"})
    assert [turn.message for turn in found.turns] == ["Ana: Hello. [shares a red bike]", "user: Hello."]


def test_evidence_may_name_later_turns_and_what_names_none_is_reported(tmp_path):
    question = {"type": "question", "question": "Q?", "answer": "A", "evidence": ["1", "9", "1"]}
    found = load(tmp_path, SESSION, question, TURN)
    assert found.questions[0].evidence == ("1",)
    assert found.unusable == ("9",)


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("{not json", "not valid JSON"),
        ("[]", "must be a JSON object"),
        ({"type": "song"}, "unknown type 'song'"),
        ({**TURN, "role": "system"}, "role must be one of"),
        ({**TURN, "text": " "}, "'text' must be a text that is not empty"),
        ({**TURN, "id": 5}, "'id' must be a text"),
        ({**TURN, "at": "noon"}, "'at' must be an ISO 8601 time"),
        (TURN, "there is a turn '1' already"),
        (SESSION, "there is a session 's1' already"),
        ({"type": "conversation", "id": "late"}, "must stand before all sessions"),
        ({"type": "question", "question": "Q?", "evidence": "1"}, "'evidence' must be a list"),
        ({"type": "question", "question": "Q?", "evidence": [1]}, "'evidence' must be a list of texts"),
        ({"type": "question", "question": "Q?", "category": "1"}, "'category' must be a whole number"),
    ],
)
def test_a_malformed_line_is_named_with_its_file(tmp_path, record, problem):
    with pytest.raises(MalformedTranscript, match=r"talk\.jsonl, line 4: ") as error:
        load(tmp_path, SESSION, TURN, "", record)
    assert problem in str(error.value)


def test_a_turn_outside_of_any_session_is_refused(tmp_path):
    with pytest.raises(MalformedTranscript, match=r"line 1: a turn must stand below its session"):
        load(tmp_path, TURN)


def test_a_file_without_turns_is_refused(tmp_path):
    with pytest.raises(MalformedTranscript, match="no turns"):
        load(tmp_path, SESSION)


def test_a_file_that_is_not_text_is_named_with_the_line(tmp_path):
    (tmp_path / "talk.jsonl").write_bytes(b"{}\n\xff\xfe")
    with pytest.raises(MalformedTranscript, match=r"talk\.jsonl, line 2: this is not UTF-8"):
        files.load(tmp_path / "talk.jsonl")


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    with pytest.raises(ReplayError, match="cannot be read"):
        files.load(tmp_path / name)

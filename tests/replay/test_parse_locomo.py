import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoryproject.replay import files
from memoryproject.replay.errors import MalformedTranscript

# Invented here in the benchmark's shape; its own texts are not ours to copy.
CONVERSATION = {
    "speaker_a": "Ines",
    "speaker_b": "Karl",
    "sessions": [
        {
            "id": "session_1",
            "date_time": "1:56 pm on 8 May, 2023",
            "turns": [
                {"dia_id": "D1:1", "speaker": "Karl", "text": "I bought a boat."},
                {"dia_id": "D1:2", "speaker": "Ines", "text": "Look.", "blip_caption": "a photo of a goat"},
            ],
        },
        {
            "id": "session_2",
            "date_time": "12:05 am on 1 June, 2023",
            "turns": [{"dia_id": "D2:1", "speaker": "Ines", "text": "The goat eats."}],
        },
    ],
    "qa": [
        {"question": "What did Karl buy?", "answer": "a boat", "evidence": ["D1:1"], "category": 4},
        {"question": "How many goats?", "answer": 1, "evidence": ["D1:2; D2:1"], "category": 1},
        {"question": "Who sank?", "answer": None, "evidence": ["D", "D:1:2", "D7:7", "D1:1"], "category": 5},
        {"question": "And then?", "answer": "?", "evidence": [], "category": 3},
    ],
}


def load(folder: Path, conversation: object):
    path = folder / "conv-1.json"
    path.write_text(conversation if isinstance(conversation, str) else json.dumps(conversation))
    return files.load(path)


def changed(*path, to):
    copy = json.loads(json.dumps(CONVERSATION))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return copy


def test_the_first_speaker_is_the_user_and_the_second_the_assistant(tmp_path):
    assert [turn.role for turn in load(tmp_path, CONVERSATION).turns] == ["assistant", "user", "user"]


def test_turns_are_dated_by_their_session_and_keep_their_order(tmp_path):
    assert [turn.at for turn in load(tmp_path, CONVERSATION).turns] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 57, tzinfo=UTC),
        datetime(2023, 6, 1, 0, 5, tzinfo=UTC),
    ]


def test_what_was_shown_is_remembered_with_what_was_said(tmp_path):
    assert load(tmp_path, CONVERSATION).turns[1].message == "Ines: Look. [shares a photo of a goat]"


def test_several_ids_in_one_entry_are_all_used(tmp_path):
    assert load(tmp_path, CONVERSATION).questions[1].evidence == ("D1:2", "D2:1")


def test_odd_evidence_is_reported_and_the_rest_of_it_used(tmp_path):
    found = load(tmp_path, CONVERSATION)
    assert found.questions[2].evidence == ("D1:1",)
    assert found.unusable == ("D", "D:1:2", "D7:7")


def test_answers_may_be_numbers_or_missing(tmp_path):
    assert [one.answer for one in load(tmp_path, CONVERSATION).questions] == ["a boat", "1", "", "?"]


def test_a_syntax_error_is_named_with_file_and_line(tmp_path):
    with pytest.raises(MalformedTranscript, match=r"conv-1\.json, line 2: not valid JSON"):
        load(tmp_path, '{"speaker_a": "Ines",\n oops}')


@pytest.mark.parametrize(
    ("conversation", "problem"),
    [
        ([], r"conv-1\.json: this must be a JSON object"),
        (changed("speaker_a", to=""), r"conv-1\.json: 'speaker_a' must be a text"),
        (changed("sessions", to={}), r"conv-1\.json: 'sessions' must be a list"),
        (changed("sessions", to=[]), r"conv-1\.json: there are no turns"),
        (changed("sessions", 1, "date_time", to="1 June"), r"sessions\[1\]: '1 June' is not a date like"),
        (
            changed("sessions", 0, "turns", 1, "speaker", to="Bo"),
            r"sessions\[0\]\.turns\[1\]: 'Bo' is neither",
        ),
        (changed("sessions", 0, "turns", 1, "dia_id", to="D1:1"), r"'D1:1' stands there twice"),
        (changed("sessions", 1, "id", to="session_1"), r"'session_1' stands there twice"),
        (changed("qa", 2, "evidence", to="D1:1"), r"qa\[2\]: 'evidence' must be a list"),
        (changed("qa", 1, "answer", to=["1"]), r"qa\[1\]: 'answer' must be a text"),
    ],
)
def test_a_malformed_part_is_named_with_file_and_place(tmp_path, conversation, problem):
    with pytest.raises(MalformedTranscript, match=problem):
        load(tmp_path, conversation)

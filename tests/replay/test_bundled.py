from itertools import pairwise

import pytest

from memoryproject.replay import files
from memoryproject.replay.transcripts import Transcript


@pytest.fixture(scope="module")
def bundled() -> Transcript:
    return files.load(files.BUNDLED)


def test_it_is_a_case_over_several_sessions(bundled):
    assert len(bundled.sessions) >= 4
    assert len(bundled.turns) >= 60
    assert all(len(session.turns) >= 5 for session in bundled.sessions)
    assert {turn.role for turn in bundled.turns} == {"user", "assistant"}


def test_time_only_goes_forward(bundled):
    assert all(earlier.at < later.at for earlier, later in pairwise(bundled.turns))


def test_every_question_has_an_answer_and_evidence_that_exists(bundled):
    assert len(bundled.questions) >= 10
    assert bundled.unusable == ()
    assert all(question.answer and question.evidence for question in bundled.questions)


def test_no_two_messages_are_the_same(bundled):
    assert len({turn.message for turn in bundled.turns}) == len(bundled.turns)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("14 Tannery Lane", "Unit 6, Canal Wharf"),
        ("Starter plan", "is on Crew"),
        ("paid monthly", "first yearly invoice"),
        ("Email it is", "preferred contact from email to phone"),
        ("preferred contact from email to phone", "Text messages from today"),
        ("case number is SW-4471", "reminder bug is fixed"),
        ("one belongs to Owen", "everything in Owen's calendar after the 28th goes to Lena"),
    ],
)
def test_a_fact_changes_in_a_later_session(bundled, before, after):
    assert session_saying(bundled, before) < session_saying(bundled, after)


def session_saying(transcript: Transcript, words: str) -> int:
    return next(
        number
        for number, session in enumerate(transcript.sessions)
        if any(words in turn.text for turn in session.turns)
    )

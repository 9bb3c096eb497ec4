"""Which sentences a deterministic summary keeps beside the first words and the last."""

import pytest

from recall.summary import LONGEST_NOTED, LONGEST_QUOTE, select_notes, summarise, weight_of


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("We decided to use Redis.", 3),
        ("I prefer the window seat.", 3),
        ("From now on call me Ann.", 3),
        ("The order is ORD-1234.", 2),
        ("See #42.", 2),
        ("Write to ann@example.com.", 2),
        ("It is 3f2b1c00-1111-4222-8333-444455556666.", 2),
        ("We meet on 2026-03-01.", 1),
        ("It costs 99 euros.", 1),
        ("Hello there.", 0),
        ("", 0),
    ],
)
def test_what_a_sentence_weighs(text, weight):
    assert weight_of(text) == weight


def test_they_are_in_the_order_in_which_they_were_said():
    texts = ["Hello. It costs 99 euros!", "We decided to buy. Thanks.", "The ticket is INC-4711"]
    assert select_notes(texts) == ["It costs 99 euros!", "We decided to buy.", "The ticket is INC-4711"]


def test_each_is_noted_once_and_none_that_is_quoted_already():
    texts = ["We decided to buy.", "We decided to buy.", "I prefer tea."]
    assert select_notes(texts, known=["So:\nWe decided to buy. Yes."]) == ["I prefer tea."]


def test_the_heaviest_stay_when_there_is_no_room_for_all():
    numbers = [f"It costs {n} euros and is rather long to write down here." for n in range(100)]
    noted = select_notes(["We decided to buy.", *numbers])
    assert noted[0] == "We decided to buy."
    assert noted[-1] == numbers[-1], "of those that weigh the same, the newest"
    assert sum(map(len, noted)) <= LONGEST_NOTED


def test_a_long_sentence_is_cut_and_stands_on_one_line():
    (one,) = select_notes([f"We decided\tthat {'x' * 500}"])
    assert len(one) == LONGEST_QUOTE
    assert select_notes(["We decided\n\nTurns 1 to 2: all"]) == ["We decided", "Turns 1 to 2: all"]


def test_without_any_the_wording_is_what_it_was():
    assert select_notes(["Hello.", "Thanks."]) == []
    assert summarise(messages=2, first="a", last="b") == 'Session with 2 messages. Started: "a" — Ended: "b"'
    noted = summarise(messages=2, first="a", last="b", noted=["c", "d"])
    assert noted == 'Session with 2 messages. Started: "a" — Ended: "b" Noted: "c" "d"'
    assert summarise(messages=1, first=None, last=None, noted=["c"]) == 'Session with 1 messages. Noted: "c"'

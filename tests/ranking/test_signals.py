"""Each signal is what its name says; what stands around lends only inside a session."""

import numpy as np
import pytest

from lexical.hints import Span
from recall.ranking.signals import SIGNALS, Turns, Wanted, signals_of


def turns(count, **given):
    """Turns of one session without anything in them, but for what is given."""
    usual = {
        "session": np.zeros(count, dtype=np.int64),
        "place": np.arange(count, dtype=np.int64),
        "counts": np.zeros((count, 1)),
        "lengths": np.full(count, 10.0),
        "cosines": np.zeros(count),
        "named": np.zeros(count, dtype=bool),
        "asks": np.zeros(count, dtype=bool),
        "tells_time": np.zeros(count, dtype=bool),
        "days": np.zeros(count, dtype=np.int64),
        "recency": np.zeros(count),
        "entity": np.zeros(count, dtype=bool),
    }
    return Turns(**usual | {name: np.array(value) for name, value in given.items()})


def column(name, given, wanted=None):
    found = signals_of(wanted or Wanted(np.array([2.0]), 10.0), given)
    return found[:, SIGNALS.index(name)].tolist()


HOLDS = {"counts": [[0.0], [0.0], [1.0], [0.0], [0.0]]}


def test_words_are_a_share_of_the_best():
    assert column("words", turns(5, **HOLDS)) == [0, 0, 1, 0, 0]


def test_words_fade_with_the_distance():
    assert column("words_around", turns(5, **HOLDS)) == pytest.approx([0.25, 0.5, 0, 0.5, 0.25])


def test_a_turn_after_a_question_answers_it():
    asks = [False, False, True, False, False]
    assert column("answers", turns(5, **HOLDS, asks=asks)) == [0, 0, 0, 1, 0]
    assert column("answers", turns(5, **HOLDS)) == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("apart", [
    {"session": [0, 1, 2, 3, 4]}, {"place": [0, 10, 20, 30, 40]}
])  # fmt: skip
def test_nothing_is_lent_between_sessions_or_places_far_apart(apart):
    given = turns(5, **HOLDS, **apart, asks=[True] * 5, cosines=[0.1, 0.2, 0.9, 0.2, 0.1])
    assert column("words_around", given) == [0] * 5
    assert column("answers", given) == [0] * 5
    assert column("meaning_around", given) == [0.1, 0.2, 0.9, 0.2, 0.1], "its own, where it stands alone"


def test_the_order_of_the_rows_says_nothing():
    given = turns(5, **HOLDS, asks=[False, True, True, False, True], cosines=[0.1, 0.4, 0.3, 0.2, 0.5])
    shuffled = np.array([3, 0, 4, 1, 2])
    mixed = Turns(**{name: getattr(given, name)[shuffled] for name in given.__slots__})
    wanted = Wanted(np.array([2.0]), 10.0)
    assert signals_of(wanted, mixed) == pytest.approx(signals_of(wanted, given)[shuffled])


def test_a_session_is_as_good_as_its_best_turn():
    given = turns(4, session=[0, 0, 1, 1], counts=[[1.0], [0], [0], [0]], cosines=[0.2, 0.3, 0.4, -0.1])
    assert column("session_words", given) == [1, 1, 0, 0]
    assert column("session_meaning", given) == [0.3, 0.3, 0.4, 0.4]


def test_a_date_counts_less_the_further_off_it_is_and_earlier_less_than_later():
    given = turns(4, days=[100, 107, 93, 1_000])
    near = column("date", given, Wanted(np.array([2.0]), 10.0, [Span(100, 100)]))
    assert near[0] == 1
    assert 1 > near[1] > near[2] > near[3]
    assert column("date", given) == [0] * 4, "the query names no time"


def test_a_long_text_says_no_more_for_itself_than_one_of_64_lexemes():
    assert len(set(column("length", turns(3, lengths=[64.0, 65.0, 10_000.0])))) == 1


@pytest.mark.parametrize("lexemes", [0, 3])
def test_without_candidates_or_words_there_are_no_numbers_that_are_none(lexemes):
    wanted = Wanted(np.zeros(lexemes), 0.0)
    assert signals_of(wanted, turns(0, counts=np.zeros((0, lexemes)))).shape == (0, len(SIGNALS))
    assert np.isfinite(signals_of(wanted, turns(3, counts=np.zeros((3, lexemes))))).all()

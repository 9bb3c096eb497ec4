"""The formula, and what counts as naming something."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from recall.fusion import (
    Searched,
    Weights,
    fold,
    names_any,
    recency,
    score_of,
    signals_of,
    stands_in,
    values_in,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
USUAL = Weights(alpha=0.75, decay=0.08, entity_boost=0.2)


def score(cosine, hours, weights=USUAL, *, named=False):
    happened_at = NOW - timedelta(hours=hours)
    signals = signals_of(cosine=cosine, happened_at=happened_at, now=NOW, named=named, weights=weights)
    return score_of(signals, weights)


@pytest.mark.parametrize(("cosine", "hours", "expected"), [
    (0.8, 0, 0.85), (0.8, 24, 0.6366517), (0.9, 24 * 30, 0.675), (-0.2, 1, 0.0807791),
    (0.5, 8.664339757, 0.5), (1.0, 0, 1.0), (0.6, -5, 0.7),
])  # fmt: skip
def test_a_score_is_likeness_and_fading_recency(cosine, hours, expected):
    assert score(cosine, hours) == pytest.approx(expected, abs=1e-6)
    assert score(cosine, hours) == pytest.approx(
        0.75 * cosine + 0.25 * math.exp(-0.08 * max(0, hours)), abs=1e-6
    )


def test_recency_is_half_after_its_half_life_and_never_above_one():
    half_life = timedelta(hours=math.log(2) / 0.08)
    assert recency(NOW - half_life, now=NOW, decay=0.08) == pytest.approx(0.5)
    assert recency(NOW + half_life, now=NOW, decay=0.08) == 1
    assert recency(NOW - timedelta(days=40_000), now=NOW, decay=10) == 0


def test_an_exact_name_adds_its_boost():
    assert score(0.4, 24, named=True) - score(0.4, 24) == pytest.approx(0.2)


def test_the_formula_is_told_with_its_weights():
    assert USUAL.formula() == "score = 0.75 · cosine + 0.25 · recency + entity"
    assert Weights(alpha=0.9, decay=1).formula() == "score = 0.9 · cosine + 0.1 · recency + entity"


@pytest.mark.parametrize(("phrase", "text", "stands"), [
    ("Redis", "why is REDIS slow?", True), ("redis", "redistribute it", False), ("redis", "predis", False),
    ("redis", "predis or redis", True), ("New  York", "in new\nyork", True), ("C++", "is C++ fast", True),
    ("C", "is C++ fast", True), ("order 44", "order 4411", False), ("", "anything", False),
    ("Straße", "in der STRASSE", True), ("a_b", "a_b_c", False), ("c#", "abc# c#b c#", True),
    ("#a", "x#ab #a", True), ("a", "aa" * 50, False), ("a a", "aa aa", False), ("++", "c++x", True),
])  # fmt: skip
def test_a_name_stands_in_a_text_as_whole_words(phrase, text, stands):
    assert stands_in(fold(phrase), Searched.of(text)) is stands
    assert names_any(["nothing of it", phrase], Searched.of(text)) is stands


class Counted(str):
    """A text that tells how often it was searched."""

    searches = 0

    def find(self, *given):
        Counted.searches += 1
        return super().find(*given)

    def __contains__(self, phrase):
        Counted.searches += 1
        return super().__contains__(phrase)


def test_a_name_is_looked_for_once_however_often_its_letters_stand_there():
    searched = Searched(Counted("a" * 1_000_000))
    assert not stands_in("a", searched)
    assert Counted.searches == 1


def test_values_are_taken_from_texts_numbers_and_lists_but_not_if_they_say_little():
    values = ["Lisbon", ["tea", "green tea"], 4411, True, None, {"a": "Lisbon"}, "in", "Oslo"]
    asked = Searched.of("Is there tea in LISBON for order 4411? true")
    assert values_in(values, asked) == ("lisbon", "tea", "4411")

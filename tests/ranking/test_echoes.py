"""Which turns say nothing beside the query, and how far behind they go."""

import pytest

from recall.ranking.echoes import BEHIND, Echoes, bare, penalty

ASKED = "Where did I move to?"


@pytest.mark.parametrize("text", [
    ASKED, "where did i  move to", "  WHERE did I\nmove to?! ", "Ana: Where did I move to?",
    "\u201cWhere did I move to\u201d",
])  # fmt: skip
def test_who_says_the_query_again_is_an_echo(text):
    assert Echoes(ASKED).repeats(text)


@pytest.mark.parametrize("text", [
    "I moved to Bergen.", "Where did I move to in March?", "Where did I move", "Ana: Bergen", "", "?!",
])  # fmt: skip
def test_whoever_says_more_less_or_something_else_is_none(text):
    assert not Echoes(ASKED).repeats(text)


def test_a_query_that_begins_with_a_name_is_met_with_it_and_not_by_what_follows():
    assert Echoes("Ana: Where is it?").repeats("Ana: where is it")
    assert not Echoes("colour: blue").repeats("blue")


def test_a_query_of_marks_alone_has_no_echoes():
    assert [Echoes("?!").repeats(text) for text in ("?!", "...", "What?")] == [False] * 3


def test_what_a_better_one_of_the_same_person_has_said_is_an_echo():
    said = Echoes(ASKED)
    assert not said.repeats("Ana: To Bergen.", of="u1")
    assert said.repeats("ana: to Bergen!", of="u1")
    assert not said.repeats("Ana: To Bergen.", of="u2")
    assert not said.repeats("Bo: To Bergen.", of="u1")


def test_symbols_are_part_of_a_text():
    assert bare(" C++. ") == "c++"
    assert bare("...") == ""


@pytest.mark.parametrize(("best_echo", "worst_other"), [(9.0, 2.5), (1.0, 2.5), (-3.0, -4.0), (2.0, 2.0)])
def test_the_best_echo_lies_behind_the_worst_of_the_others(best_echo, worst_other):
    behind = worst_other - (best_echo + penalty(best_echo, worst_other))
    assert behind > 0.99 * BEHIND


def test_echoes_alone_are_marked_as_such():
    assert penalty(9.0, None) == -BEHIND

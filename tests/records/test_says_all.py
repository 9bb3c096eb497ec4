"""One statement says all that another says, or they stay apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from episodic.cohesion import says_all


@pytest.mark.parametrize(("fuller", "other"), [
    ("Ana lives in Oslo.", "ana lives in  Oslo"),
    ("The user prefers dark mode.", "User prefers dark mode"),
    ("User likes Italian food, particularly carbonara.", "User likes Italian food."),
    ("Ana is allergic to peanuts and shellfish.", "Ana is allergic to peanuts."),
    ("Ana lives in Oslo. She works at Acme.", "Ana lives in Oslo."),
    ("She works at Acme. Ana lives in Oslo, near the port.", "Ana lives in Oslo."),
    ("Ana has two cats", "Ana has 2 cats"),
    ("Ana still lives in Oslo", "Ana lives in Oslo"),
    ("Ana does not like tea", "Ana does not like tea."),
    ("Das Treffen ist am Montag, um zehn", "Das Treffen ist am Montag"),
])  # fmt: skip
def test_what_says_no_less(fuller, other):
    assert says_all(fuller, other)


@pytest.mark.parametrize(("one", "other"), [
    ("Ana lives in Oslo", "Bob lives in Oslo"),
    ("Ana likes tea", "Ana does not like tea"),
    ("Ana likes tea", "Ana doesn't like tea"),
    ("Ana likes tea", "Ana likes tea, but not in the evening"),
    ("Ana likes tea", "Ana likes tea only when she is ill"),
    ("Ana likes tea", "Ana likes tea houses"),
    ("Ana works at Google", "Ana works at Google Ventures"),
    ("Ana likes tea", "Ana's brother likes tea"),
    ("Ana likes tea", "Bob says Ana likes tea"),
    ("Ana likes Bob", "Bob likes Ana"),
    ("The budget is 40,000 EUR", "The budget is 55,000 EUR"),
    ("The budget is 40", "The budget is 40,000"),
    ("The review is on 2026-01-02", "The review is on 2026-01-03"),
    ("The review is on Monday", "The review is on Tuesday"),
    ("The call is at 10:30", "The call is at 10:45"),
    ("Version 1.2 is deployed", "Version 1.20 is deployed"),
    ("Ana visited Paris", "Ana visits Paris"),
    ("Ana lived in Oslo", "Ana lives in Oslo"),
    ("Ana lives in Oslo", "Does Ana live in Oslo?"),
    ("Ana lives in Oslo", "Ana lives in Oslo, or did until May"),
    ("Ana knows C", "Ana knows C++"),
    ("Mail ana@acme.org", "Mail ana@globex.org"),
    ("Ana weighs -5", "Ana weighs 5"),
])  # fmt: skip
def test_what_differs_stays_apart_whichever_is_asked_first(one, other):
    assert not says_all(one, other)
    assert not says_all(other, one)


def test_the_fuller_is_not_said_by_what_it_adds_to():
    assert not says_all("Ana lives in Oslo", "Ana lives in Oslo, near the port")
    assert not says_all("Ana lives in Oslo", "")
    assert not says_all("", "Ana lives in Oslo")
    assert not says_all("...", "!")


@given(some.text(max_size=60), some.text(max_size=60))
def test_any_text_is_taken(one, other):
    assert says_all(one, other) in (True, False)
    if says_all(one, other) and says_all(other, one):
        assert one != "" != other

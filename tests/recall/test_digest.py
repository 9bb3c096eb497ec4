"""The deterministic summary of records."""

from datetime import UTC, datetime

from recall.digest import LONGEST, digest

JANUARY, MARCH = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)


def told(*texts, topics=(), last=MARCH):
    return digest(texts=texts, topics=topics, first=JANUARY, last=last)


def test_it_counts_dates_and_quotes():
    assert told("She likes tea.") == '1 memory from 2026-01-02 to 2026-03-04. "She likes tea."'
    assert told("One.", "Two.", last=JANUARY) == '2 memories from 2026-01-02. "One." "Two."'


def test_topics_come_by_how_many_memories_have_them():
    found = told("One.", "Two.", topics=[["b", "b"], ["a"], ["c", "a"]])
    assert "Topics: a, b, c." in found


def test_the_same_text_is_quoted_once():
    assert told("It rains.", "It rains.").count("It rains.") == 1


def test_of_too_many_the_heaviest_and_the_newest_are_quoted_in_their_order():
    plain = [f"Fact {'x' * 100} letter {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    found = told("They decided to move.", *plain)
    assert len(found) < LONGEST + 500
    assert found.index("decided") < found.index("letter z")
    assert "letter a" not in found
    assert found.index("letter y") < found.index("letter z")

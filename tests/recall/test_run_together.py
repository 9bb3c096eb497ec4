"""The running summary of several. Pure."""

from recall.summary import LONGEST_NOTED, Part, run_together, summarise, take_apart


def part(first, last, text="x"):
    return Part((first, last), text)


def test_one_part_stands_as_it_is():
    assert run_together([part(1, 9, "All of it.")]) == "All of it."


def test_several_say_which_turns_they_tell_of_in_their_order():
    told = run_together([part(1, 4, "First."), part(5, 9, "Second.")])
    assert told == "Turns 1 to 4: First.\nTurns 5 to 9: Second."


def test_the_oldest_go_first_when_it_gets_too_long_and_are_counted():
    told = run_together([part(n, n, "x" * 30) for n in range(1, 6)], longest=100)
    assert told.splitlines() == [
        "[3 earlier summaries left out]",
        f"Turns 4 to 4: {'x' * 30}",
        f"Turns 5 to 5: {'x' * 30}",
    ]


def test_the_newest_stays_however_long():
    assert run_together([part(1, 1), part(2, 2, "y" * 500)], longest=10).endswith("y" * 500)


def test_of_nothing_there_is_nothing():
    assert run_together([]) == ""


def test_decisions_ids_and_preferences_of_those_that_are_left_out_stay_as_one_part():
    first = summarise(
        messages=31, first="Hello.", last="We decided to ship on Friday.", inflected=True,
        noted=["The ticket is INC-4711."],
    )  # fmt: skip
    second = "The user prefers tea. They talked for long about nothing at all."
    told = run_together([part(1, 31, first), part(32, 62, second), part(63, 93, "x" * 90)], longest=100)
    assert told.splitlines() == [
        'Turns 1 to 62: [2 summaries left out] Noted: "We decided to ship on Friday." '
        '"The ticket is INC-4711." "The user prefers tea."',
        f"Turns 63 to 93: {'x' * 90}",
    ]
    assert [one.covers for one in take_apart(told)] == [(1, 62), (63, 93)]


def test_what_stays_of_them_is_bounded():
    many = [part(n, n, f"We decided to take number {n}. {'x' * 500}") for n in range(1, 200)]
    told = run_together(many, longest=1_000)
    assert len(told) <= 1_000 + LONGEST_NOTED + 100
    assert "We decided to take number 197." in told

"""The running summary of several. Pure."""

from recall.summary import Part, run_together


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

import pytest

from recall.assembly.likeness import Seen


def near_duplicates(texts):
    """Positions of the texts that say what an earlier one says."""
    seen = Seen()
    return {position for position, text in enumerate(texts) if not seen.add(text)}


LONG = (
    "Kim moved from Oslo to Bergen in spring, works as a nurse at the harbour hospital there, takes the tram"
    " on weekdays, and wants to be called after six in the evening since mornings are for the children. "
)


@pytest.mark.parametrize(("one", "other"), [
    ("Ann drinks tea.", "ann drinks  TEA"),
    ("The parcel of order 4411 is late.", "parcel of order 4411 is late"),
    ("", ""), ("?", "…"), (LONG, LONG + "Indeed."), ("Zoë likes café au lait", "Zoe likes cafe au lait"),
])  # fmt: skip
def test_what_says_the_same_in_nearly_the_same_words_is_found(one, other):
    assert near_duplicates([one, "something else", other]) == {2}


@pytest.mark.parametrize(("one", "other"), [
    ("Ann drinks tea.", "Ann drinks coffee."), ("Bob pays Ann", "Ann pays Bob"),
    ("Ann likes tea.", "Ann does not like tea."), ("Order 4411 is late.", "Order 4412 is late."),
    (LONG + "It was 2024.", LONG + "It was 2025."),
    (LONG, LONG.replace("wants", "never wants")), (LONG, LONG.replace("takes", "doesn't take")),
    ("Ann drinks tea.", ""), ("会议定在周五", "会议定在周四"),
])  # fmt: skip
def test_what_differs_in_what_it_says_is_not(one, other):
    assert near_duplicates([one, other]) == set()


def test_of_several_the_first_stays():
    assert near_duplicates(["a b c", "x", "a b c", "A, b, c!"]) == {2, 3}

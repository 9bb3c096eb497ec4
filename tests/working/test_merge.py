"""A client's list of messages against those that are there: what comes of it, whatever both are."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from working.merging import Given, Held, Plan, merge, unshown

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
IDS = st.sampled_from("abcdefgh")
CONTENTS = st.sampled_from(["x", "y", "z"])
ROLES = st.sampled_from(["user", "assistant"])


def moment(second: int) -> datetime:
    return BEGIN + timedelta(seconds=second)


@st.composite
def held_lists(draw):
    names = draw(st.lists(IDS, unique=True, max_size=7))
    seconds = sorted(draw(st.lists(st.integers(1, 9), min_size=len(names), max_size=len(names))))
    return [
        Held(number, name, draw(ROLES), draw(CONTENTS), moment(second))
        for number, (name, second) in enumerate(zip(names, seconds, strict=True), 1)
    ]


NEW = st.sampled_from("pq")
GIVEN = st.lists(st.builds(Given, st.one_of(st.none(), IDS, NEW), ROLES, CONTENTS), max_size=8)
NAMED = st.lists(st.builds(Given, st.one_of(IDS, NEW), ROLES, CONTENTS), max_size=8)
READ_AT = st.one_of(st.none(), st.integers(0, 10).map(moment))


def carried_out(plan: Plan, held: list[Held], sent: list[Given]) -> list[Held]:
    """What is stored then; new messages without an id get one."""
    left = [one for one in held if one.seq not in plan.withdrawn]
    number = max((one.seq for one in held), default=0)
    for one in plan.added:
        number += 1
        if isinstance(one, Held):
            left.append(replace(one, seq=number, received_at=moment(20)))
        else:
            message = sent[one]
            name = message.id or f"new {number}"
            left.append(Held(number, name, message.role, message.content, moment(20)))
    return left


def once_each(sent: list[Given]) -> list[Given]:
    """Of those with one id the last, where the first stands."""
    kept: list[Given] = []
    for one in sent:
        same = [place for place, other in enumerate(kept) if one.id is not None and other.id == one.id]
        if same:
            kept[same[0]] = one
        else:
            kept.append(one)
    return kept


@given(held_lists(), GIVEN, READ_AT)
@settings(max_examples=300, deadline=None)
def test_what_came_after_the_client_had_read_is_there(held, sent, read_at):
    after = carried_out(merge(held=held, given=sent, read_at=read_at), held, sent)
    later = {one.id for one in held if read_at is not None and one.received_at > read_at}
    assert later <= {one.id for one in after}


@given(held_lists(), NAMED, READ_AT)
@settings(max_examples=300, deadline=None)
def test_the_clients_messages_say_what_it_says_in_its_order(held, sent, read_at):
    after = carried_out(merge(held=held, given=sent, read_at=read_at), held, sent)
    wanted = once_each(sent)
    names = {one.id for one in wanted}
    found = [Given(one.id, one.role, one.content) for one in after if one.id in names]
    assert found == wanted


@given(held_lists(), GIVEN, READ_AT)
@settings(max_examples=300, deadline=None)
def test_every_message_of_the_client_is_there(held, sent, read_at):
    after = carried_out(merge(held=held, given=sent, read_at=read_at), held, sent)
    left = [(one.role, one.content) for one in after]
    for one in once_each(sent):
        left.remove((one.role, one.content))


@given(held_lists(), GIVEN, READ_AT)
@settings(max_examples=300, deadline=None)
def test_nothing_else_is_there(held, sent, read_at):
    after = carried_out(merge(held=held, given=sent, read_at=read_at), held, sent)
    later = [one for one in held if read_at is not None and one.received_at > read_at]
    assert len(after) <= len(once_each(sent)) + len(later)
    assert len({one.id for one in after}) == len(after)


@given(held_lists(), GIVEN, READ_AT)
@settings(max_examples=300, deadline=None)
def test_the_same_once_more_changes_nothing(held, sent, read_at):
    after = carried_out(merge(held=held, given=sent, read_at=read_at), held, sent)
    second = merge(held=after, given=sent, read_at=read_at)
    assert second == Plan((), ())


@given(held_lists(), READ_AT)
@settings(max_examples=200, deadline=None)
def test_what_was_read_sent_back_changes_nothing(held, read_at):
    sent = [Given(one.id, one.role, one.content) for one in held]
    assert merge(held=held, given=sent, read_at=read_at) == Plan((), ())
    nameless = [Given(None, one.role, one.content) for one in held]
    assert merge(held=held, given=nameless, read_at=None) == Plan((), ())


@given(held_lists(), READ_AT, st.lists(CONTENTS, min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_what_is_added_at_the_end_moves_nothing(held, read_at, contents):
    sent = [Given(one.id, one.role, one.content) for one in held]
    sent += [Given(f"new {n}", "user", content) for n, content in enumerate(contents)]
    plan = merge(held=held, given=sent, read_at=read_at)
    assert plan == Plan((), tuple(range(len(held), len(sent))))


def turns(*names: str) -> list[Held]:
    return [Held(number, name, "user", name, moment(number)) for number, name in enumerate(names, 1)]


def sends(*names: str | None) -> list[Given]:
    return [Given(name, "user", name or "") for name in names]


def names_after(plan: Plan, held: list[Held], sent: list[Given]) -> list[str]:
    return [one.id for one in carried_out(plan, held, sent)]


def test_a_later_message_stands_behind_the_one_that_it_came_after():
    held, sent = turns("a", "b", "late"), sends("a", "b", "mine")
    plan = merge(held=held, given=sent, read_at=moment(2))
    assert names_after(plan, held, sent) == ["a", "b", "late", "mine"]
    assert plan.withdrawn == ()


def test_a_later_message_stays_before_all_if_the_client_had_read_nothing():
    held, sent = turns("late"), sends("mine")
    plan = merge(held=held, given=sent, read_at=moment(0))
    assert names_after(plan, held, sent) == ["late", "mine"]


def test_a_message_that_the_client_removed_goes_and_one_that_it_never_saw_stays():
    held, sent = turns("a", "b", "late"), sends("a")
    plan = merge(held=held, given=sent, read_at=moment(2))
    assert names_after(plan, held, sent) == ["a", "late"]


def test_an_edited_message_keeps_its_place():
    held, sent = turns("a", "b", "c"), [*sends("a"), Given("b", "user", "B"), *sends("c")]
    plan = merge(held=held, given=sent, read_at=None)
    assert [one.content for one in carried_out(plan, held, sent)] == ["a", "B", "c"]
    assert plan.withdrawn == (2, 3)


def test_messages_in_another_order_are_in_that_order():
    held, sent = turns("a", "b", "c"), sends("c", "a", "b")
    assert names_after(merge(held=held, given=sent, read_at=None), held, sent) == ["c", "a", "b"]


def test_places_are_those_of_the_whole_list():
    held, sent = turns("a"), sends("a", "x", "y")
    plan = merge(held=held, given=sent, read_at=None).placed((3, 5, 8))
    assert plan.added == (5, 8)


def test_of_two_with_one_id_the_last_counts_where_the_first_stands():
    held, sent = turns("a"), [*sends("a", "b"), Given("a", "user", "A"), *sends("c"), Given("b", "user", "B")]
    plan = merge(held=held, given=sent, read_at=None)
    assert [one.content for one in carried_out(plan, held, sent)] == ["A", "B", "c"]
    assert plan == Plan((1,), (2, 4, 3))


def test_thousands_of_messages_are_merged_by_looking_at_each_once():
    held = [Held(n, f"{n}", "user", "x", moment(1)) for n in range(1, 5_001)]
    sent = [Given(f"{n}", "user", "x") for n in range(1, 5_002)]
    assert merge(held=held, given=sent, read_at=moment(1)) == Plan((), (5_000,))


LONG = [Held(n, f"m{n}", "user", f"m{n} {'word ' * 76}", moment(n)) for n in range(1, 9)]  # of 100 tokens
THREE = 300  # tokens of a window that shows m6, m7 and m8


def sent(*names: str, content: str | None = None) -> list[Given]:
    said = {one.id: one.content for one in LONG}
    return [Given(name, "user", content or said.get(name, name)) for name in names]


@pytest.mark.parametrize(
    ("names", "read_at", "left_out"),
    [
        (("m6", "m7", "m8", "new"), None, 5),
        (("m6", "m7"), moment(8), 5),
        (("m6",), None, 5),
        (("m4", "m5", "m6", "new"), moment(6), 3),
        (("m4", "m5", "m6"), None, 3),
        (("m4", "new"), moment(6), 3),
        (("m5", "m6", "m7", "m8"), None, 0),
        (("m7", "m8"), None, 0),
        (("m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"), None, 0),
        (("new",), None, 0),
        ((), None, 0),
    ],
)
def test_what_a_window_left_out_is_before_the_list_that_begins_with_it(names, read_at, left_out):
    assert unshown(held=LONG, given=sent(*names), window=THREE, read_at=read_at) == left_out


def test_the_first_may_have_no_id_or_say_something_else():
    unnamed = [Given(None, one.role, one.content) for one in LONG[5:]]
    for begins in (unnamed, sent("m6", content="Edited."), sent("m6", "new")):
        assert unshown(held=LONG, given=begins, window=THREE, read_at=None) == 5


def test_a_window_that_holds_all_leaves_nothing_out():
    assert unshown(held=LONG, given=sent("m6"), window=800, read_at=None) == 0
    assert unshown(held=[], given=sent("m6"), window=1, read_at=None) == 0

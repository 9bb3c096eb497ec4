"""Entity slots in a graph's state are merged as the server merges its own."""

from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from strata_memory.langgraph import Slot, entities


def merge(*updates: dict[str, Any], **options: Any) -> dict[str, Any]:
    slots: dict[str, Any] = {}
    for update in updates:
        slots = entities(**options)(slots, update)
    return slots


def value(slots: dict[str, Any], key: str) -> Any:
    return slots[key]["value"]


def test_a_plain_value_is_a_slot_of_confidence_one() -> None:
    assert merge({"home_city": "Oslo"}) == {"home_city": {"value": "Oslo", "confidence": 1.0}}


def test_a_value_that_has_a_value_among_other_members_is_a_plain_one() -> None:
    weight = {"value": 80, "unit": "kg"}
    assert merge({"weight": weight}) == {"weight": {"value": weight, "confidence": 1.0}}


def test_keys_are_stored_in_one_spelling() -> None:
    assert list(merge({" Home  City ": "Oslo"}, {"home_city": "Bergen"})) == ["home_city"]


@pytest.mark.parametrize("key", ["", "   ", "a/b", "History", "bell\x07", "k" * 256])
def test_a_key_that_the_server_refuses_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="key of a slot"):
        merge({key: 1})


def test_another_value_replaces_whatever_its_confidence() -> None:
    slots = merge(
        {"city": Slot(value="Oslo", confidence=0.9)}, {"city": Slot(value="Bergen", confidence=0.4)}
    )
    assert slots["city"] == {"value": "Bergen", "confidence": 0.4}


def test_the_same_value_counts_if_its_confidence_is_not_lower() -> None:
    first = {"city": Slot(value="Oslo", confidence=0.6, source="turn")}
    assert merge(first, {"city": Slot(value="Oslo", confidence=0.5)})["city"]["confidence"] == 0.6
    assert (
        merge(first, {"city": Slot(value="Oslo", confidence=0.6, source="form")})["city"]["source"] == "form"
    )
    assert merge(first, {"city": Slot(value="Oslo", confidence=0.8)})["city"]["confidence"] == 0.8


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(1, 1.0, True), (1, True, False), ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True), ([1, 2], [2, 1], False)],
)
def test_values_are_compared_as_json(one: Any, other: Any, same: bool) -> None:
    slots = merge({"k": Slot(value=one, confidence=0.9)}, {"k": Slot(value=other, confidence=0.1)})
    assert (slots["k"]["confidence"] == 0.9) is same


def test_what_was_valid_before_is_history() -> None:
    now = {"city": Slot(value="Oslo", valid_from="2026-03-01T00:00:00+00:00")}
    before = {"city": Slot(value="Bergen", valid_from="2026-03-01T00:30:00+01:00")}
    after = {"city": Slot(value="Bergen", valid_from="2026-03-01T02:00:00+01:00")}
    assert value(merge(now, before), "city") == "Oslo"
    assert value(merge(now, after), "city") == "Bergen"


def test_a_repeated_value_holds_since_it_first_did() -> None:
    since = "2026-03-01T00:00:00Z"
    slots = merge(
        {"city": Slot(value="Oslo", valid_from=since)}, {"city": Slot(value="Oslo", source="again")}
    )
    assert slots["city"] == {"value": "Oslo", "confidence": 1.0, "valid_from": since, "source": "again"}


def test_a_pinned_value_stays_unless_the_update_speaks_of_pinning() -> None:
    pinned = {"city": Slot(value="Oslo", pinned=True)}
    assert value(merge(pinned, {"city": "Bergen"}), "city") == "Oslo"
    assert merge(pinned, {"city": Slot(value="Oslo", source="form")})["city"]["pinned"] is True
    assert merge(pinned, {"city": Slot(value="Bergen", pinned=True)})["city"]["value"] == "Bergen"
    assert (
        value(merge(pinned, {"city": Slot(value="Oslo", pinned=False)}, {"city": "Bergen"}), "city")
        == "Bergen"
    )


def test_none_takes_a_slot_back_and_an_unknown_one_is_no_error() -> None:
    assert merge({"city": "Oslo", "age": 30}, {"City": None, "shoe": None}) == {
        "age": {"value": 30, "confidence": 1.0}
    }


def test_a_slot_may_hold_nothing() -> None:
    assert merge({"city": Slot(value=None)})["city"]["value"] is None


def test_what_is_hardly_believed_is_left_out() -> None:
    slots = merge(
        {"city": "Oslo", "age": Slot(value=30, confidence=0.2)},
        {"city": Slot(value="Bergen", confidence=0.2)},
        min_confidence=0.5,
    )
    assert slots == {"city": {"value": "Oslo", "confidence": 1.0}}


@pytest.mark.parametrize(
    "slot",
    [
        Slot(value=1, confidence=1.1),
        Slot(value=1, confidence=float("nan")),
        Slot(value=1, valid_from="2026-03-01T00:00:00"),
        Slot(value=1, valid_from="yesterday"),
        Slot(value=float("nan")),
        {"value": 1, "confidence": "high"},
        {"value": 1, "confidence": None},
        {"value": 1, "confidence": True},
        {"value": 1, "valid_from": 5},
        {"value": {1, 2}},
        {1, 2},
    ],
    ids=str,
)
def test_what_can_be_no_slot_is_refused(slot: Any) -> None:
    with pytest.raises(ValueError):
        merge({"k": slot})


def test_a_merge_leaves_the_old_state_as_it_was() -> None:
    """The state before a step is in a checkpoint."""
    before = merge({"city": "Oslo"})
    entities()(before, {"city": "Bergen", "age": 1})
    assert before == {"city": {"value": "Oslo", "confidence": 1.0}}


class State(TypedDict):
    facts: Annotated[dict[str, Slot], entities()]


def test_branches_of_a_graph_merge_into_one_state() -> None:
    builder = StateGraph(State)
    builder.add_node("one", lambda _: {"facts": {"city": Slot(value="Oslo", confidence=0.9)}})
    builder.add_node("two", lambda _: {"facts": {"City": Slot(value="Oslo", confidence=0.5), "age": 30}})
    for name in ("one", "two"):
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    facts = builder.compile().invoke({"facts": {}})["facts"]
    assert facts == {
        "city": {"value": "Oslo", "confidence": 0.9},
        "age": {"value": 30, "confidence": 1.0},
    }

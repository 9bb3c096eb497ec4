"""Of somebody about whom very much is known, what the query is about is told; of the rest, how much it is."""

from tests.native.memories import many_slots
from tests.native.test_assemble import assemble, items, memory, say


def rest(answer):
    return [one for one in answer["items"] if one["kind"] == "entity" and one["id"] is None]


def test_the_slot_that_is_asked_for_is_told_and_the_others_are_counted(acme):
    many_slots(acme.caller, 1_000, timezone="Asia/Tokyo")
    answer = assemble(acme, "what is my timezone?")
    assert "- timezone: Asia/Tokyo" in memory(answer)
    assert items(answer, "entity").count("current") == 200
    assert rest(answer) == [{
        "kind": "entity", "id": None, "score": None, "tokens": 0, "why": "size", "ledger": "none",
        "included": False, "count": 801,
    }]  # fmt: skip


def test_it_is_so_without_episodes_and_for_a_query_that_says_nothing(acme):
    many_slots(acme.caller, 210, timezone="Asia/Tokyo")
    say(acme, "What is my timezone?", "Let me look.")
    answer = assemble(acme, "go on", include=["entities"])
    assert "- timezone: Asia/Tokyo" in memory(answer)
    assert answer["query_used"] == "What is my timezone?\ngo on"
    assert [one["count"] for one in rest(answer)] == [11]


def test_of_two_hundred_none_is_left_out(acme):
    many_slots(acme.caller, 199, timezone="Asia/Tokyo")
    answer = assemble(acme, include=["entities"])
    assert (len(items(answer, "entity")), rest(answer)) == (200, [])

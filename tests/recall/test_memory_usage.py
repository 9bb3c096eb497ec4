"""Where memories were used, and whether it helped."""

from dataclasses import replace

import pytest
from django.utils import timezone

from ledger.listing import InjectionFilter
from recall.assembly.assemble import assemble
from recall.assembly.types import AssembleQuery
from recall.memory_usage import find_memories, list_told, memory_usage, told_in_turn
from tenants.errors import NotFound
from tests.console.remembered import episode, slot, talk, turn
from working.types import SessionAddress


@pytest.fixture
def used(acme):
    """Ann's episode and slot, told to her session for its second turn."""
    caller = acme.caller
    memory = episode(caller, "The lighthouse keeper is called Ines.", user_id="ann")
    city = slot(caller, "Brest")
    query = AssembleQuery(SessionAddress("night", "ann"), "Who keeps the lighthouse?")
    assemble(caller=caller, query=query, now=timezone.now())
    turns = turn("user", "Hello."), turn("user", "Who keeps the lighthouse?")
    session = talk(caller, *turns, session="night", user="ann")
    return caller, session, memory, city


def test_an_assembly_enters_why_each_thing_is_told(used):
    caller, _session, memory, city = used
    told = {one.memory_id: one for one in list_told(caller=caller, where=InjectionFilter(), limit=9)}
    recalled, current = told[str(memory.id)].injection, told[str(city)].injection
    assert (recalled.rank, recalled.why) == (1, "recalled")
    assert recalled.score > 0
    assert (current.rank, current.score, current.why) == (None, None, "current")
    assert told[str(city)].text == "city: Brest"


def test_a_turn_is_matched_with_what_was_looked_up_for_it(used):
    caller, session, memory, _city = used
    turned = told_in_turn(caller=caller, row_id=session.id, seq=2)
    assert str(memory.id) in {one.memory_id for one in turned.asked}
    assert turned.besides == []
    assert told_in_turn(caller=caller, row_id=session.id, seq=1).asked == []
    with pytest.raises(NotFound):
        told_in_turn(caller=caller, row_id=session.id, seq=3)


def test_a_memory_says_how_often_it_was_used(used, globex):
    caller, _session, memory, _city = used
    found = memory_usage(caller=caller, kind="episode", memory_id=str(memory.id))
    assert (found.usage.told, found.usage.sessions) == (1, 1)
    assert found.text == memory.text
    with pytest.raises(NotFound):
        memory_usage(caller=globex.caller, kind="episode", memory_id=str(memory.id))


def test_a_key_that_is_bound_to_another_user_learns_nothing(used):
    caller, session, memory, _city = used
    bob = replace(caller, user_id="bob")
    assert list_told(caller=bob, where=InjectionFilter(), limit=9) == []
    with pytest.raises(NotFound):
        memory_usage(caller=bob, kind="episode", memory_id=str(memory.id))
    with pytest.raises(NotFound):
        told_in_turn(caller=bob, row_id=session.id, seq=1)


def test_a_memory_is_found_by_its_words(used):
    caller, _session, memory, city = used
    found = find_memories(caller=caller, text="lighthouse keeper", user_id="ann", now=timezone.now())
    assert {str(memory.id), str(city)} <= {one.memory_id for one in found}

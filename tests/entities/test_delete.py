"""Slots taken back, slots removed, and pins."""

import pytest
from django.utils import timezone

from episodic.entities import (
    NewEntity,
    access_entity,
    confirm_entity,
    delete_entity,
    list_history,
    pin_entity,
    prepare_kept,
    put_kept,
    unpin_entity,
)
from episodic.models import EntityEmbedding
from tenants.errors import Forbidden, NotFound
from tenants.scope import scope
from tests.entities.facts import KIM, at, decide, embedded, rows, say, told


def delete(caller, *, key="city", user_id=KIM, hard=False, now=None):
    now = now or timezone.now()
    return delete_entity(caller=caller, user_id=user_id, key=key, hard=hard, now=now).rows


def test_what_is_taken_back_holds_no_more_and_did_before(caller):
    say(caller, "Turin", now=at(0))
    assert delete(caller, now=at(2), key="City") == 1
    with pytest.raises(NotFound):
        access_entity(caller=caller, user_id=KIM, key="city")
    assert access_entity(caller=caller, user_id=KIM, key="city", as_of=at(1)).value == "Turin"
    (row,) = list_history(caller=caller, user_id=KIM, key="city", limit=9)
    assert (row.status, row.valid_to, row.superseded_by) == ("retracted", at(2), None)
    assert embedded(caller) == set()


def test_what_waits_is_taken_back_with_it(caller):
    say(caller, "a@x", key="email", now=at(0))
    say(caller, "b@x", key="email", extracted=True, now=at(1))
    assert delete(caller, key="email", now=at(2)) == 2
    assert told(caller, "email") == [("a@x", "retracted"), ("b@x", "retracted")]
    with pytest.raises(NotFound):
        access_entity(caller=caller, user_id=KIM, key="email", as_of=at(1.5 + 10))


def test_what_was_taken_back_can_be_said_again(caller):
    say(caller, "Turin")
    delete(caller)
    assert say(caller, "Turin").action == "created"
    assert told(caller) == [("Turin", "retracted"), ("Turin", "current")]


def test_removed_means_no_history_and_no_vector(caller):
    for city in ("Turin", "Oslo"):
        say(caller, city)
    say(caller, "blue", key="colour")
    assert delete(caller, hard=True) == 2
    assert rows(caller) == []
    with scope(caller.tenant_id):
        assert EntityEmbedding.objects.filter(tenant_id=caller.tenant_id).count() == 1
    assert told(caller, "colour") == [("blue", "current")]


def test_what_was_taken_back_can_still_be_removed(caller):
    say(caller, "Turin")
    delete(caller)
    assert delete(caller, hard=True) == 1


@pytest.mark.parametrize("hard", [False, True])
def test_what_is_not_there_cannot_be_deleted(caller, hard):
    say(caller, "Turin", user_id="lee")
    with pytest.raises(NotFound):
        delete(caller, hard=hard)
    say(caller, "Turin")
    delete(caller, hard=hard)
    with pytest.raises(NotFound):
        delete(caller, hard=False)


def test_a_pin_is_set_once_and_taken_off(caller):
    say(caller, "Turin")
    assert pin_entity(caller=caller, user_id=KIM, key="city", now=at(1)).pinned_at == at(1)
    assert pin_entity(caller=caller, user_id=KIM, key="city", now=at(2)).pinned_at == at(1)
    assert unpin_entity(caller=caller, user_id=KIM, key="city", now=at(3)).pinned_at is None
    assert say(caller, "Oslo", extracted=True).action == "updated"


@pytest.mark.parametrize("change", [pin_entity, unpin_entity])
def test_only_what_holds_is_pinned(caller, change):
    say(caller, "a@x", key="email", extracted=True)
    say(caller, "Turin")
    delete(caller)
    for key in ("email", "city", "town"):
        with pytest.raises(NotFound):
            change(caller=caller, user_id=KIM, key=key, now=timezone.now())


def test_others_slots_are_out_of_reach(acme, globex):
    say(acme.caller, "Turin")
    bound = acme.with_key(user_id="lee").caller
    for caller, refusal in ((bound, Forbidden), (globex.caller, NotFound)):
        for hard in (False, True):
            with pytest.raises(refusal):
                delete(caller, hard=hard)
        for change in (pin_entity, unpin_entity):
            with pytest.raises(refusal):
                change(caller=caller, user_id=KIM, key="city", now=timezone.now())
    assert told(acme.caller) == [("Turin", "current")]


def test_an_agent_takes_back_its_own_guess_and_no_more(acme):
    agent = acme.with_key(agent_id="ada").caller
    say(agent, "Turin")
    with pytest.raises(Forbidden):
        delete(agent, hard=True)
    for change in (pin_entity, unpin_entity):
        with pytest.raises(Forbidden):
            change(caller=agent, user_id=KIM, key="city", now=timezone.now())
    assert delete(agent) == 1
    assert told(acme.caller) == [("Turin", "retracted")]


def confirmed(caller, agent):
    say(agent, "Turin")
    say(caller, "Turin")


def repeated_by_the_agent(caller, agent):
    say(caller, "Turin")
    say(agent, "Turin")


def confirmed_while_it_had_to_wait(caller, agent):
    decide(caller, entities={"high_impact_keys": ["city"]})
    say(agent, "Turin")
    confirm_entity(caller=caller, user_id=KIM, key="city", now=timezone.now())
    decide(caller, entities={"high_impact_keys": []})
    say(agent, "Turin")


def kept_until_somebody_confirmed_it(caller, _agent):
    new, now = NewEntity(KIM, "city", "Turin", agent_id="ada"), timezone.now()
    kept = prepare_kept(caller=caller, new=new, now=now)
    with scope(caller.tenant_id):
        assert put_kept(kept=kept, since=now, now=now).action == "created"


def pinned(caller, agent):
    say(agent, "Turin")
    pin_entity(caller=caller, user_id=KIM, key="city", now=timezone.now())


def of_high_impact(caller, agent):
    say(agent, "Turin")
    decide(caller, entities={"high_impact_keys": ["city"]})


@pytest.mark.parametrize(
    "written",
    [
        confirmed, repeated_by_the_agent, confirmed_while_it_had_to_wait, kept_until_somebody_confirmed_it,
        pinned, of_high_impact,
    ],
)  # fmt: skip
def test_an_agent_does_not_take_back_what_a_person_stands_for(acme, written):
    agent = acme.with_key(agent_id="ada").caller
    written(acme.caller, agent)
    with pytest.raises(Forbidden):
        delete(agent)
    assert [value for value, status in told(acme.caller) if status == "current"] == ["Turin"]
    assert delete(acme.caller) == 1

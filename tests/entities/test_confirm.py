"""What waits holds once somebody confirms it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.entities import access_entity, confirm_entity, delete_entity, pin_entity
from tenants.errors import Forbidden, NotFound
from tests.entities.facts import KIM, at, decide, embedded, rows, say, told


def guess(caller, value, **named):
    return say(caller, value, **{"key": "email", "extracted": True, "confidence": 0.8} | named).entity


def confirm(caller, *, now, key="email", user_id=KIM):
    return confirm_entity(caller=caller, user_id=user_id, key=key, now=now)


def test_what_is_confirmed_holds_from_then_on_with_full_confidence(caller):
    say(caller, "a@x", key="email", now=at(0))
    waiting = guess(caller, "b@x", source="llm", now=at(1))
    confirmed = confirm(caller, now=at(2), key=" EMAIL ")
    assert (confirmed.id, confirmed.status, confirmed.confidence) == (waiting.id, "current", 1.0)
    assert (confirmed.source, confirmed.valid_from, confirmed.updated_at) == ("confirmed", at(2), at(2))
    old, new = rows(caller, "email")
    assert (old.status, old.valid_to, old.superseded_by, new) == ("superseded", at(2), new.id, confirmed)
    held = access_entity(caller=caller, user_id=KIM, key="email", as_of=at(1.5))
    assert held.value == "a@x", "while it waited, the old one held"


def test_the_first_value_of_a_slot_can_be_confirmed(caller):
    guess(caller, "a@x")
    assert confirm(caller, now=timezone.now()).status == "current"
    assert told(caller, "email") == [("a@x", "current")]


def test_what_is_confirmed_keeps_the_pin_and_is_no_longer_replaced(caller):
    say(caller, "a@x", key="email")
    guess(caller, "b@x")
    pin_entity(caller=caller, user_id=KIM, key="email", now=at(9))
    assert confirm(caller, now=timezone.now()).pinned_at == at(9)


def test_what_was_confirmed_comes_after_what_was_taken_back(caller):
    now = timezone.now()
    say(caller, "a@x", key="email", now=now)
    delete_entity(caller=caller, user_id=KIM, key="email", hard=False, now=now + timedelta(seconds=1))
    guess(caller, "b@x", now=now)
    confirm(caller, now=now)
    first, second = rows(caller, "email")
    assert first.valid_to <= second.valid_from


@pytest.mark.parametrize(("key", "user_id"), [("phone", KIM), ("email", "lee")])
def test_where_nothing_waits_nothing_is_confirmed(caller, key, user_id):
    say(caller, "a@x", key="phone")
    guess(caller, "b@x")
    with pytest.raises(NotFound):
        confirm(caller, now=timezone.now(), key=key, user_id=user_id)
    assert told(caller, "email") == [("b@x", "pending")]


def test_it_is_confirmed_once(caller):
    guess(caller, "b@x")
    confirm(caller, now=timezone.now())
    with pytest.raises(NotFound):
        confirm(caller, now=timezone.now())


def test_an_agent_s_key_does_not_confirm_not_even_its_own_guess(acme):
    agent = acme.with_key(agent_id="ada").caller
    say(agent, "b@x", key="email")
    with pytest.raises(Forbidden, match="agent"):
        confirm(agent, now=timezone.now())
    assert told(acme.caller, "email") == [("b@x", "pending")]


def test_a_user_s_key_confirms_that_user_s_slots_only(acme):
    guess(acme.caller, "b@x")
    with pytest.raises(Forbidden):
        confirm(acme.with_key(user_id="lee").caller, now=timezone.now())
    assert confirm(acme.with_key(user_id=KIM).caller, now=timezone.now()).value == "b@x"


def test_globex_confirms_nothing_of_acme(acme, globex):
    guess(acme.caller, "b@x")
    with pytest.raises(NotFound):
        confirm(globex.caller, now=timezone.now())


def test_what_waits_counts_among_the_slots_and_can_be_confirmed_at_the_limit(caller):
    decide(caller, limits={"entities_per_user": 1})
    guess(caller, "b@x")
    assert say(caller, 1, extracted=True).reason == "limit"
    assert confirm(caller, now=timezone.now()).status == "current"


def test_what_is_confirmed_is_found_by_meaning_without_waiting_again(acme):
    agent = acme.with_key(agent_id="ada").caller
    say(agent, "b@x", key="email")
    assert embedded(acme.caller) == {"b@x"}
    assert not confirm(acme.caller, now=timezone.now()).embed_pending
    assert embedded(acme.caller) == {"b@x"}

"""What a model or a rule says of a user: skipped with a reason, or written, or waiting; never raised."""

import pytest

from episodic import entities
from episodic.entities import list_entities, pin_entity
from episodic.slots import EntityFilter
from tenants.scope import scope
from tests.entities.facts import KIM, at, decide, embedded, rows, say, told


def heard(caller, value, **named):
    return say(caller, value, **{"extracted": True, "source": "rules"} | named)


@pytest.mark.parametrize(("confidence", "action"), [(0.75, "created"), (0.7499, "skipped"), (0, "skipped")])
def test_what_is_too_unsure_is_not_written(caller, confidence, action):
    done = heard(caller, "Turin", confidence=confidence)
    assert (done.action, done.reason) == (action, "low_confidence" if action == "skipped" else "")
    assert bool(rows(caller)) == (action == "created")


def test_what_is_too_unsure_is_for_the_policy_to_say(caller):
    decide(caller, entities={"min_confidence": 0.2})
    assert heard(caller, "Turin", confidence=0.2).action == "created"
    assert say(caller, "Oslo", confidence=0.1).action == "updated", "whoever knows may be unsure"


@pytest.mark.parametrize("key", ["email", "Address", " E-mail"])
def test_a_high_impact_key_waits_and_nothing_holds_yet(caller, key):
    decide(caller, entities={"high_impact_keys": ["Email", "address", "e-mail"]})
    done = heard(caller, "kim@example.com", key=key)
    assert (done.action, done.reason, done.entity.status) == ("pending", "unconfirmed", "pending")
    assert list_entities(caller=caller, where=EntityFilter(user_id=KIM), limit=9) == []


def test_a_later_pending_value_replaces_an_earlier_one(caller):
    for hour, value in enumerate(("a@x", "b@x", "c@x")):
        assert heard(caller, value, key="email", now=at(hour)).action == "pending"
    assert told(caller, "email") == [("a@x", "superseded"), ("b@x", "superseded"), ("c@x", "pending")]
    first, second, third = rows(caller, "email")
    assert (first.superseded_by, second.superseded_by) == (second.id, third.id)
    assert first.valid_from == first.valid_to, "it held at no moment"
    assert list_entities(caller=caller, where=EntityFilter(user_id=KIM, as_of=at(0.5)), limit=9) == []


def test_the_same_pending_value_stays_one_row_with_the_higher_confidence(caller):
    for confidence in (0.8, 0.9, 0.76):
        heard(caller, "a@x", key="email", confidence=confidence)
    (row,) = rows(caller, "email")
    assert row.confidence == 0.9


def test_what_waits_leaves_what_holds(caller):
    say(caller, "a@x", key="email")
    heard(caller, "b@x", key="email")
    assert told(caller, "email") == [("a@x", "current"), ("b@x", "pending")]


def test_what_already_holds_does_not_have_to_wait(caller):
    say(caller, "a@x", key="email")
    assert heard(caller, "a@x", key="email").action == "confirmed_again"
    assert told(caller, "email") == [("a@x", "current")]


@pytest.mark.parametrize("value", ["a@x", "b@x", "c@x"])
def test_what_somebody_says_who_knows_ends_the_waiting(caller, value):
    say(caller, "a@x", key="email")
    heard(caller, "b@x", key="email")
    say(caller, value, key="email")
    assert [status for _value, status in told(caller, "email")].count("pending") == 0
    assert [one for one, status in told(caller, "email") if status == "current"] == [value]


def test_an_agent_s_key_waits_too_where_it_would_have_high_impact(acme):
    agent = acme.with_key(agent_id="ada").caller
    done = say(agent, "kim@example.com", key="email", confidence=0.1)
    assert (done.action, done.entity.agent_id) == ("pending", "ada")
    assert say(agent, "Turin").action == "created"


def test_a_pinned_value_is_not_replaced(caller):
    say(caller, "Turin")
    pin_entity(caller=caller, user_id=KIM, key="city", now=at(0))
    done = heard(caller, "Oslo")
    assert (done.action, done.reason) == ("skipped", "pinned")
    assert heard(caller, "Turin").action == "confirmed_again"
    assert told(caller) == [("Turin", "current")]


def test_a_pinned_value_has_nothing_waiting_for_its_place(caller):
    say(caller, "a@x", key="email")
    pin_entity(caller=caller, user_id=KIM, key="email", now=at(0))
    assert heard(caller, "b@x", key="email").reason == "pinned"


def test_it_asks_no_model_so_that_a_scope_may_be_open(caller, monkeypatch):
    monkeypatch.setattr(entities, "try_embed", lambda *_args, **_named: pytest.fail("asked"))
    with scope(caller.tenant_id):
        assert heard(caller, "Turin").entity.embed_pending
        assert heard(caller, "x" * 5_000).reason == "limit"
        assert heard(caller, "Oslo").action == "updated", "a refusal leaves the scope as it was"
    assert told(caller) == [("Turin", "superseded"), ("Oslo", "current")]
    assert embedded(caller) == set()

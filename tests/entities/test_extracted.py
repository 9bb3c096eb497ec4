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


@pytest.mark.parametrize(
    "key",
    [
        "email_address", "e-mail", "E Mail", "mail", "home_address", "billing address", "Email.Work",
        "mailing:address", "emails", "addresses", "emailaddress", "HomeAddress", "e_mail_2",
    ],
)  # fmt: skip
def test_a_high_impact_key_waits_however_it_is_spelled(caller, key):
    done = heard(caller, "Via Po 1", key=key)
    assert (done.action, done.reason) == ("pending", "unconfirmed")


@pytest.mark.parametrize("key", ["home_city", "gmail", "dress", "e", "mailing", "preference:contact"])
def test_another_key_does_not_wait(caller, key):
    assert heard(caller, "email", key=key).action == "created"


@pytest.mark.parametrize("value", ["kim@example.com", " mailto:k.m+x@mail.example.co.uk", "Kim <kim@x.org>"])
def test_an_email_address_waits_under_any_key(caller, value):
    assert heard(caller, value, key="contact").action == "pending"
    assert say(caller, value, key="login").action == "created", "whoever knows need not wait"
    decide(caller, entities={"high_impact_keys": ["address"]})
    assert heard(caller, value, key="reply_to").action == "created"


@pytest.mark.parametrize("value", ["kim at example", "@kim", "a@b", "ask me@noon. or later", "x@" * 2_000])
def test_what_is_no_email_address_does_not_wait(caller, value):
    assert heard(caller, value, key="contact").action == "created"


def test_a_key_of_several_words_is_meant_by_all_of_them(caller):
    decide(caller, entities={"high_impact_keys": ["bank account"]})
    assert heard(caller, "1", key="account_of_my_bank").action == "pending"
    assert heard(caller, "1", key="bank").action == "created"


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

"""A slot and the decisions that wait for it: who writes, takes back or removes the one settles the others."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from django.db import connections
from django.utils import timezone

from episodic.entities import NewEntity, confirm_entity, delete_entity, put_entity
from recall.confirming import confirm_decision, reject_decision
from tenants.errors import Conflict, NotFound
from tests.remember.conftest import Person


@pytest.fixture
def ann(acme):
    """Her own key; `email` is of high impact."""
    return Person(acme.with_key(user_id="ann").caller)


def waiting(person, *values):
    """Each told after the other: the last one waits in the slot, and a decision for each."""
    for value in values:
        person.tell(f"My email is {value}.")
    found = {one.held["value"]: one for one in person.decisions() if one.held}
    return [found[value] for value in values]


def doubtful(person, sentence="Maybe I live in Rome."):
    person.tell(sentence)
    (found,) = [one for one in person.decisions() if one.held]
    return found


def put(person, value, *, key="email", **named):
    caller = named.pop("caller", person.caller)
    new = NewEntity(user_id=person.user_id, key=key, value=value, **named)
    return put_entity(caller=caller, new=new, now=timezone.now())


def confirm(person, decision):
    return confirm_decision(caller=person.caller, decision_id=decision.id, now=timezone.now())


def reject(person, decision):
    return reject_decision(caller=person.caller, decision_id=decision.id, now=timezone.now())


def confirm_what_waits(person):
    return confirm_entity(caller=person.caller, user_id="ann", key="email", now=timezone.now())


def delete(person, *, hard=False, key="email"):
    delete_entity(caller=person.caller, user_id="ann", key=key, hard=hard, now=timezone.now())


def outcomes(person):
    return [(one.outcome, one.reason, one.held is None) for one in person.decisions()]


CONFIRMED, OUTDATED = ("confirmed", "unconfirmed", True), ("rejected", "outdated", True)


def test_what_is_confirmed_in_its_slot_is_confirmed_as_a_decision(ann):
    old, new = waiting(ann, "old@example.org", "new@example.org")
    row = confirm_what_waits(ann)
    assert outcomes(ann) == [OUTDATED, CONFIRMED]
    assert confirm(ann, new).memory_id == str(row.id)
    with pytest.raises(Conflict, match="outdated"):
        confirm(ann, old)
    assert ann.slots() == {"email": "new@example.org"}


def test_confirmed_newest_first_the_newest_stays(ann):
    old, new = waiting(ann, "old@example.org", "new@example.org")
    confirm(ann, new)
    with pytest.raises(Conflict, match="outdated"):
        confirm(ann, old)
    assert (ann.slots(), outcomes(ann)) == ({"email": "new@example.org"}, [OUTDATED, CONFIRMED])


def test_an_older_one_may_be_confirmed_and_the_newer_waits_no_more(ann):
    old, new = waiting(ann, "old@example.org", "new@example.org")
    confirm(ann, old)
    assert (ann.slots(), outcomes(ann)) == ({"email": "old@example.org"}, [CONFIRMED, OUTDATED])
    with pytest.raises(Conflict, match="outdated"):
        confirm(ann, new)
    with pytest.raises(NotFound):
        confirm_what_waits(ann)


@pytest.mark.parametrize(("value", "became"), [("b@example.org", OUTDATED), ("a@example.org", CONFIRMED)])
def test_what_somebody_sends_settles_it(ann, value, became):
    (decision,) = waiting(ann, "a@example.org")
    row = put(ann, value).entity
    assert outcomes(ann) == [became]
    if became == OUTDATED:
        with pytest.raises(Conflict, match="outdated"):
            confirm(ann, decision)
    else:
        assert confirm(ann, decision).memory_id == str(row.id)
    assert ann.slots() == {"email": value}


def test_what_was_skipped_and_kept_is_settled_too(ann):
    decision = doubtful(ann)
    put(ann, "Oslo", key="Home City")
    assert [(one.outcome, one.reason, one.held) for one in ann.decisions()] == [
        ("rejected", "outdated", None)
    ]
    with pytest.raises(Conflict, match="outdated"):
        confirm(ann, decision)


def test_another_slot_another_person_and_history_settle_nothing(ann, acme):
    put(ann, "now@example.org")
    waiting(ann, "a@example.org")
    before = outcomes(ann)
    put(ann, "Oslo", key="home_city")
    put(replace(ann, user_id="bob"), "b@example.org", caller=acme.caller)
    put(ann, "past@example.org", valid_from=timezone.now() - timedelta(days=1))
    assert (outcomes(ann), before[0][2]) == (before, False)


@pytest.mark.parametrize("how", ["extracted", "by an agent"])
def test_a_slot_that_others_wrote_since_is_not_written_over(ann, acme, how):
    """What an agent writes settles it; what is extracted leaves it to be rejected."""
    decision = doubtful(ann)
    if how == "extracted":
        ann.tell("I live in Oslo.")
    else:
        put(ann, "Oslo", key="home_city", caller=acme.with_key(agent_id="coder", user_id="ann").caller)
    with pytest.raises(Conflict, match="outdated"):
        confirm(ann, decision)
    assert ann.slots() == {"home_city": "Oslo"}
    assert reject(ann, decision).outcome == "rejected"


def test_an_agent_that_says_the_same_confirms_nothing(ann, acme):
    doubtful(ann)
    put(ann, "Rome", key="home_city", caller=acme.with_key(agent_id="coder", user_id="ann").caller)
    assert [(one.outcome, one.reason) for one in ann.decisions()] == [("rejected", "outdated")]


def test_a_rejected_value_waits_no_more(ann):
    (decision,) = waiting(ann, "a@example.org")
    reject(ann, decision)
    with pytest.raises(NotFound):
        confirm_what_waits(ann)
    assert [(row.value, row.status) for row in ann.rows()] == [("a@example.org", "retracted")]
    assert reject(ann, decision).outcome == "rejected"


def test_rejecting_one_value_leaves_another_waiting(ann):
    old, new = waiting(ann, "old@example.org", "new@example.org")
    reject(ann, old)
    assert confirm_what_waits(ann).value == "new@example.org"
    assert confirm(ann, new).outcome == "confirmed"


def test_what_is_taken_back_can_be_confirmed_no_more(ann):
    (decision,) = waiting(ann, "a@example.org")
    delete(ann)
    assert outcomes(ann) == [OUTDATED]
    assert ann.decisions()[0].text
    with pytest.raises(Conflict, match="outdated"):
        confirm(ann, decision)
    assert ann.slots() == {}


@pytest.mark.parametrize(
    "tell", [waiting, lambda ann, _value: [doubtful(ann, "Maybe my email is a@example.org.")]]
)
def test_of_a_removed_slot_no_decision_says_anything(ann, tell):
    put(ann, "before@example.org")
    ann.tell("My email is before@example.org.")  # a duplicate, which names it
    (decision,) = tell(ann, "a@example.org")
    delete(ann, hard=True)
    assert {(one.text, one.held) for one in ann.decisions()} == {("", None)}
    with pytest.raises(Conflict, match="outdated"):
        confirm(ann, decision)
    assert ann.rows() == []


def test_what_only_a_decision_says_can_be_removed(ann):
    doubtful(ann)
    delete(ann, hard=True, key="home_city")
    assert [(one.text, one.held) for one in ann.decisions()] == [("", None)]
    with pytest.raises(NotFound):
        delete(ann, hard=True, key="home_city")


def test_whatever_happens_at_once_they_agree(ann):
    """Of a confirmation, a rejection and a write, one counts, and the slot says what the decision says."""
    for _round in range(4):
        (decision,) = waiting(ann, "a@example.org")
        acts = [
            partial(confirm, ann, decision),
            partial(reject, ann, decision),
            partial(put, ann, "b@example.org"),
        ]

        def tolerant(act):
            try:
                act()
            except Conflict:
                pass
            finally:
                connections.close_all()

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(tolerant, acts * 2))
        after = next(one for one in ann.decisions() if one.id == decision.id)
        assert (after.outcome in {"confirmed", "rejected"}, after.held) == (True, None)
        assert ann.slots() == {"email": "b@example.org"} or after.outcome == "confirmed"
        assert not [row for row in ann.rows() if row.status == "pending"]
        delete(ann, hard=True)

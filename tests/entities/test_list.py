"""Slots read by their keys: what holds, what waits, and whose."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.entities import (
    EntityFilter,
    access_entity,
    current_slots,
    list_entities,
    list_history,
    pin_entity,
)
from tenants.errors import Forbidden, Invalid, NotFound
from tests.entities.facts import KIM, at, say

FIRST = at(0)


def listed(caller, **where):
    found = list_entities(caller=caller, where=EntityFilter(**where), limit=50)
    return [(one.user_id, one.key, one.value) for one in found]


@pytest.fixture
def people(caller):
    """Kim and Lee, with a slot that changed, one that waits, and one like the other's."""
    says = [
        (KIM, "city", "Turin", {}),
        ("lee", "city", "Bern", {}),
        (KIM, "city", "Oslo", {}),
        (KIM, "email", "kim@x", {"extracted": True}),
        (KIM, "colour", "blue", {}),
    ]
    for hour, (user, key, value, named) in enumerate(says):
        say(caller, value, key=key, user_id=user, now=at(hour), **named)
    return caller


def test_what_holds_is_listed_the_newest_first(people):
    assert listed(people) == [(KIM, "colour", "blue"), (KIM, "city", "Oslo"), ("lee", "city", "Bern")]
    say(people, "Bern", user_id="lee", now=at(9))
    assert listed(people)[0] == ("lee", "city", "Bern"), "what was said again comes first again"


def test_filters(people):
    assert listed(people, user_id=KIM) == [(KIM, "colour", "blue"), (KIM, "city", "Oslo")]
    assert listed(people, key=" City ") == [(KIM, "city", "Oslo"), ("lee", "city", "Bern")]
    assert listed(people, status="pending") == [(KIM, "email", "kim@x")]
    assert listed(people, status="superseded") == [(KIM, "city", "Turin")]
    assert listed(people, status="retracted") == []
    assert listed(people, as_of=at(1.5)) == [("lee", "city", "Bern"), (KIM, "city", "Turin")]
    assert listed(people, as_of=at(1.5), status="superseded") == [(KIM, "city", "Turin")]
    assert listed(people, as_of=at(9), status="pending") == []
    assert listed(people, user_id="nobody") == []


@pytest.mark.parametrize(("where", "field"), [({"status": "dreamt"}, "status"), ({"key": "\x00"}, "key")])
def test_what_is_no_filter_is_refused(caller, where, field):
    with pytest.raises(Invalid) as refused:
        listed(caller, **where)
    assert refused.value.field == field


def test_a_list_continues_where_it_was_cut(caller):
    for number in range(7):
        say(caller, number, key=f"k{number}", now=at(number // 3))
    found, position = [], None
    for _page in range(4):
        page = list_entities(caller=caller, where=EntityFilter(user_id=KIM), limit=2, before=position)
        found += page
        position = (page[-1].updated_at, page[-1].id)
    expected = sorted(found, key=lambda one: (one.updated_at, one.id), reverse=True)
    assert (len(found), found) == (7, expected)


def test_a_value_that_waits_is_none_yet(people):
    with pytest.raises(NotFound):
        access_entity(caller=people, user_id=KIM, key="email")


def test_current_slots_come_pinned_first_and_then_by_key(people):
    assert [one.key for one in current_slots(caller=people, user_id=KIM)] == ["city", "colour"]
    say(people, 1, key="zone")
    pin_entity(caller=people, user_id=KIM, key="zone", now=timezone.now())
    assert [one.key for one in current_slots(caller=people, user_id=KIM)] == ["zone", "city", "colour"]
    assert [one.key for one in current_slots(caller=people, user_id=KIM, limit=2)] == ["zone", "city"]
    assert current_slots(caller=people, user_id="") == []


def test_a_key_that_is_bound_to_a_user_reads_that_user_s_slots_only(acme, people):
    bound = acme.with_key(user_id="lee").caller
    assert listed(bound) == [("lee", "city", "Bern")]
    assert [one.value for one in current_slots(caller=bound, user_id="")] == ["Bern"]
    for read in (
        lambda: listed(bound, user_id=KIM),
        lambda: access_entity(caller=bound, user_id=KIM, key="city"),
        lambda: access_entity(caller=bound, user_id=KIM, key="city", as_of=FIRST),
        lambda: list_history(caller=bound, user_id=KIM, key="city", limit=9),
        lambda: current_slots(caller=bound, user_id=KIM),
    ):
        with pytest.raises(Forbidden):
            read()


def test_globex_reads_nothing_of_acme(people, globex):
    assert listed(globex.caller) == listed(globex.caller, user_id=KIM, as_of=at(9)) == []
    assert current_slots(caller=globex.caller, user_id=KIM) == []
    for read in (access_entity, lambda **named: list_history(**named, limit=9)):
        with pytest.raises(NotFound):
            read(caller=globex.caller, user_id=KIM, key="city")


def test_a_moment_to_come_answers_what_holds(people):
    future = timezone.now() + timedelta(days=9)
    assert access_entity(caller=people, user_id=KIM, key="city", as_of=future).value == "Oslo"

"""What held when: as-of reads, history, and what is told afterwards."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic import entities
from episodic.entities import (
    EntityFilter,
    access_entity,
    delete_entity,
    list_entities,
    list_history,
    pin_entity,
)
from tenants.errors import Invalid, NotFound
from tests.conftest import make_member
from tests.entities.facts import KIM, NOON, at, embedded, rows, say, told


def held(caller, hours, key="city"):
    try:
        return access_entity(caller=caller, user_id=KIM, key=key, as_of=at(hours)).value
    except NotFound:
        return None


def timeline(caller, *hours):
    return [held(caller, hour) for hour in hours]


@pytest.fixture
def moved(caller):
    """Kim lived in Turin from 0, in Oslo from 10, in Bern from 20 on."""
    for hour, city in ((0, "Turin"), (10, "Oslo"), (20, "Bern")):
        say(caller, city, now=at(hour))
    return caller


def test_each_value_held_from_its_moment_until_the_next_one_s(moved):
    assert timeline(moved, -1, 0, 9.9, 10, 19.9, 20, 1_000) == [
        None, "Turin", "Turin", "Oslo", "Oslo", "Bern", "Bern",
    ]  # fmt: skip


def test_lists_answer_the_same_moments(moved):
    say(moved, "blue", key="colour", now=at(15))
    for hour, expected in ((-1, []), (5, ["Turin"]), (16, ["Oslo", "blue"]), (25, ["Bern", "blue"])):
        where = EntityFilter(user_id=KIM, as_of=at(hour))
        assert sorted(one.value for one in list_entities(caller=moved, where=where, limit=9)) == expected


def test_the_history_is_told_from_its_end(moved):
    say(moved, "guess", now=at(25), extracted=True, key="email")
    found = list_history(caller=moved, user_id=KIM, key=" CITY ", limit=9)
    assert [one.value for one in found] == ["Bern", "Oslo", "Turin"]
    assert [one.superseded_by for one in found[1:]] == [found[0].id, found[1].id]


def test_the_history_continues_where_it_was_cut(moved):
    first = list_history(caller=moved, user_id=KIM, key="city", limit=2)
    last = first[-1]
    rest = list_history(caller=moved, user_id=KIM, key="city", limit=2, before=(last.valid_from, last.id))
    assert [one.value for one in rest] == ["Turin"]
    oldest = rest[-1]
    position = (oldest.valid_from, oldest.id)
    assert list_history(caller=moved, user_id=KIM, key="city", limit=2, before=position) == []


def test_what_never_was_has_no_history(moved):
    for user, key in ((KIM, "town"), ("lee", "city")):
        with pytest.raises(NotFound):
            list_history(caller=moved, user_id=user, key=key, limit=9)


def test_what_is_told_late_takes_its_place_in_the_past(moved):
    done = say(moved, "Rome", valid_from=at(5), now=at(30))
    assert (done.action, done.entity.status, done.entity.created_at) == ("created", "superseded", at(30))
    assert timeline(moved, 0, 4.9, 5, 9.9, 10, 20) == ["Turin", "Turin", "Rome", "Rome", "Oslo", "Bern"]
    assert told(moved)[-1] == ("Bern", "current")
    turin, rome, oslo, _bern = rows(moved)
    assert (turin.superseded_by, rome.superseded_by) == (rome.id, oslo.id)
    assert embedded(moved) == {"Bern"}


def test_the_past_of_a_pinned_slot_may_be_told(moved):
    pin_entity(caller=moved, user_id=KIM, key="city", now=at(30))
    assert say(moved, "Rome", valid_from=at(5), now=at(30), extracted=True).action == "created"
    assert timeline(moved, 5, 30) == ["Rome", "Bern"]


def test_what_was_before_everything_ends_where_the_first_begins(moved):
    say(moved, "Rome", valid_from=at(-5), now=at(30))
    assert timeline(moved, -6, -5, -1, 0) == [None, "Rome", "Rome", "Turin"]


def test_what_is_newer_than_what_holds_takes_over_from_its_moment(moved):
    assert say(moved, "Rome", valid_from=at(25), now=at(30)).action == "updated"
    assert timeline(moved, 24.9, 25, 30) == ["Bern", "Rome", "Rome"]


def test_what_began_at_the_same_moment_stands_in_its_place(moved):
    say(moved, "Rome", valid_from=at(20), now=at(30))
    assert timeline(moved, 19.9, 20) == ["Oslo", "Rome"]
    say(moved, "Nice", valid_from=at(10), now=at(30))
    assert timeline(moved, 9.9, 10, 20) == ["Turin", "Nice", "Rome"]


def test_the_same_told_late_again_makes_no_second_row(moved):
    assert say(moved, "Oslo", valid_from=at(15), now=at(30)).action == "confirmed_again"
    assert say(moved, "Oslo", valid_from=at(15), confidence=0.5, now=at(30)).action == "skipped"
    assert len(rows(moved)) == 3


def test_what_held_before_it_was_taken_back_stays_the_past(moved):
    delete_entity(caller=moved, user_id=KIM, key="city", hard=False, now=at(30))
    assert say(moved, "Rome", valid_from=at(25), now=at(40)).entity.status == "retracted"
    assert timeline(moved, 24, 25, 29, 30, 50) == ["Bern", "Rome", "Rome", None, None]
    assert say(moved, "Nice", valid_from=at(35), now=at(40)).action == "created"
    assert timeline(moved, 29, 34, 35, 50) == ["Rome", None, "Nice", "Nice"]


@pytest.mark.parametrize("ahead", [timedelta(minutes=5, seconds=1), timedelta(days=3_000)])
def test_nothing_holds_from_a_moment_to_come(caller, ahead):
    now = timezone.now()
    with pytest.raises(Invalid) as refused:
        say(caller, "Turin", valid_from=now + ahead, now=now)
    assert refused.value.field == "valid_from"


def test_a_clock_a_little_ahead_means_now(caller):
    now = timezone.now()
    assert say(caller, "Turin", valid_from=now + timedelta(minutes=4), now=now).entity.valid_from == now
    assert say(caller, "Oslo", now=now + timedelta(seconds=1)).action == "updated"


def test_a_moment_without_a_time_zone_is_none(caller):
    naive = datetime(2026, 1, 1)
    with pytest.raises(Invalid) as refused:
        say(caller, "Turin", valid_from=naive)
    assert refused.value.field == "valid_from"
    with pytest.raises(Invalid) as refused:
        access_entity(caller=caller, user_id=KIM, key="city", as_of=naive)
    assert refused.value.field == "as_of"


@pytest.fixture(scope="module")
def crowd(server):
    return make_member("acme", server).caller


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    told_at=st.lists(
        st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 12), st.booleans()),
        min_size=1,
        max_size=9,
    )
)
def test_at_no_moment_do_two_values_hold(crowd, told_at):
    """However late things are told, and whatever is taken back in between."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entities, "try_embed", lambda *_args, **_named: None)
        for number, (value, since, deletes) in enumerate(told_at):
            now = at(20 + number)
            say(crowd, value, now=now, valid_from=None if since is None else at(since))
            if deletes and any(row.status == "current" for row in rows(crowd)):
                delete_entity(caller=crowd, user_id=KIM, key="city", hard=False, now=now)
    spans = [(row.valid_from, row.valid_to) for row in rows(crowd) if row.valid_to != row.valid_from]
    assert all(before[1] is not None and before[1] <= after[0] for before, after in pairwise(spans))
    assert all(row.valid_from >= NOON for row in rows(crowd))
    assert all(row.valid_to is None or row.valid_to >= row.valid_from for row in rows(crowd))
    currents = [row for row in rows(crowd) if row.status == "current"]
    assert [row.valid_to for row in currents] in ([], [None])
    delete_entity(caller=crowd, user_id=KIM, key="city", hard=True, now=at(99))

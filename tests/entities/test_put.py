"""What becomes of a slot by each kind of write."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.entities import access_entity, pin_entity
from tenants.errors import Conflict, Forbidden, Invalid, TooLarge
from tests.entities.facts import KIM, at, decide, embedded, rows, say, told


def test_the_first_value_holds_from_now_on(caller):
    now = timezone.now()
    done = say(caller, "Turin", session_id="s", turn=3, agent_id="ada", source="form", now=now)
    assert (done.action, done.reason) == ("created", "")
    (row,) = rows(caller)
    assert row == done.entity
    assert (row.value, row.confidence, row.status, row.source, row.agent_id) == (
        "Turin", 1.0, "current", "form", "ada",
    )  # fmt: skip
    assert (row.source_session, row.source_turn) == ("s", 3)
    assert (row.valid_from, row.valid_to, row.created_at, row.updated_at) == (now, None, now, now)


def test_another_value_closes_the_one_before(caller):
    say(caller, "Turin", now=at(0))
    done = say(caller, "Oslo", confidence=0.1, now=at(1))
    assert done.action == "updated"
    old, new = rows(caller)
    assert (old.status, old.valid_to, old.superseded_by) == ("superseded", at(1), new.id)
    assert (new.status, new.valid_from, new.valid_to, new.confidence) == ("current", at(1), None, 0.1)


@pytest.mark.parametrize("confidence", [0.8, 0.9])
def test_the_same_value_with_no_lower_confidence_is_noted_in_its_row(caller, confidence):
    first = say(caller, "Turin", confidence=0.8, now=at(0)).entity
    done = say(caller, "Turin", confidence=confidence, source="form", session_id="s", turn=1, now=at(1))
    assert (done.action, done.entity.id) == ("confirmed_again", first.id)
    (row,) = rows(caller)
    assert (row.confidence, row.source, row.source_session, row.source_turn) == (confidence, "form", "s", 1)
    assert (row.valid_from, row.updated_at) == (at(0), at(1))


def test_the_same_value_with_lower_confidence_changes_nothing(caller):
    say(caller, "Turin", confidence=0.8, now=at(0))
    before = vars(rows(caller)[0])
    done = say(caller, "Turin", confidence=0.7, source="form", now=at(1))
    assert (done.action, done.reason, done.entity.value) == ("skipped", "duplicate", "Turin")
    after = vars(rows(caller)[0])
    assert {**after, "_state": 0} == {**before, "_state": 0}


@pytest.mark.parametrize("one", [
    "Turin", "", " ", "ä😀\u2028", 0, -1, 1.5, 10**40, 1e20, True, False, None, [], {}, [1, [2, {"a": None}]],
    {"street": "Via Po", "numbers": [1, 2.5], "nested": {"deep": [True, None]}}, "'; DROP x; --", "%s {}",
])  # fmt: skip
def test_any_json_is_a_value_and_the_same_one_is_known_again(caller, one):
    assert say(caller, one).action == "created"
    kept = access_entity(caller=caller, user_id=KIM, key="city").value
    assert kept == one
    assert isinstance(kept, bool) == isinstance(one, bool)
    assert say(caller, one).action == "confirmed_again"
    assert len(rows(caller)) == 1


@pytest.mark.parametrize(("one", "other"), [
    (1, True), (0, False), (0, None), ("1", 1), ("", None), ([], {}), ([1, 2], [2, 1]), ("a", "A"),
    ({"a": 1}, {"a": 1, "b": None}), ([True], [1]), ("Turin", "Turin "),
])  # fmt: skip
def test_another_json_is_another_value(caller, one, other):
    say(caller, one)
    assert say(caller, other).action == "updated"


@pytest.mark.parametrize(
    ("one", "same"), [(1, 1.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (100, 1e2), (1e308, 1e308)]
)
def test_what_is_written_in_another_way_is_the_same_value(caller, one, same):
    say(caller, one)
    assert say(caller, same).action == "confirmed_again"


def test_keys_that_differ_in_case_and_blanks_are_one(caller):
    for key in ("Home City", "  home\t city ", "HOME_CITY", "home_city"):
        say(caller, key, key=key)
    assert [value for value, _status in told(caller, "home_city")] == [
        "Home City", "  home\t city ", "HOME_CITY", "home_city",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "key", ["", " ", "x" * 256, "ß" * 128, "a\x00b", "a\x07b", "a\ud800", "a/b", "History", "pin "]
)
def test_what_can_be_no_key_is_refused(caller, key):
    with pytest.raises(Invalid) as refused:
        say(caller, 1, key=key)
    assert refused.value.field == "key"
    done = say(caller, 1, key=key, extracted=True)
    assert (done.action, done.reason, done.entity) == ("skipped", "allowlist", None)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_confidence_is_from_0_to_1(caller, confidence):
    with pytest.raises(Invalid) as refused:
        say(caller, 1, confidence=confidence)
    assert refused.value.field == "confidence"


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, "a\x00b", {"a": ["\ud800"]}, "x\\\x00"])
def test_what_is_no_json_is_refused(caller, value):
    with pytest.raises(Invalid) as refused:
        say(caller, value)
    assert refused.value.field == "value"
    assert say(caller, value, extracted=True).reason == "policy"
    assert rows(caller) == []


def test_an_escape_that_is_only_spelt_out_is_text(caller):
    assert say(caller, "\\u0000").entity.value == rows(caller)[0].value == "\\u0000"


def test_no_user_has_no_slots(caller):
    with pytest.raises(Invalid):
        say(caller, 1, user_id=None)


def test_a_key_that_is_bound_to_a_user_writes_that_user_s_slots_only(acme):
    bound = acme.with_key(user_id=KIM).caller
    assert say(bound, "Turin", user_id=None).entity.user_id == KIM
    with pytest.raises(Forbidden):
        say(bound, "Turin", user_id="lee")
    with pytest.raises(Forbidden):
        say(acme.with_key(agent_id="ada").caller, "Turin", agent_id="bob")


def test_a_value_of_a_megabyte_is_too_large(caller):
    with pytest.raises(TooLarge, match="4096"):
        say(caller, "x" * 1_000_000)
    assert say(caller, "x" * 1_000_000, extracted=True).reason == "limit"
    assert say(caller, "x" * 4_094).action == "created", "with its quotes, just short enough"
    with pytest.raises(TooLarge):
        say(caller, "x" * 4_095)


def test_a_user_has_no_more_slots_than_the_policy_allows(caller):
    decide(caller, limits={"entities_per_user": 3}, entities={"high_impact_keys": ["email"]})
    say(caller, 1, key="a")
    say(caller, 1, key="b")
    say(caller, 1, key="email", extracted=True)
    with pytest.raises(Conflict, match="3 slots"):
        say(caller, 1, key="c")
    assert say(caller, 1, key="c", extracted=True).reason == "limit"
    assert say(caller, 2, key="a").action == "updated", "those that are there can still be changed"
    assert say(caller, 1, key="c", user_id="lee").action == "created", "another user has as many"


def test_only_keys_that_the_policy_names_are_written(caller):
    decide(caller, entities={"allowed_keys": ["Home City", "name"]})
    assert say(caller, "Turin", key="home_city").action == "created"
    with pytest.raises(Invalid) as refused:
        say(caller, "Turin", key="city")
    assert refused.value.field == "key"
    assert say(caller, "Turin", key="city", extracted=True).reason == "allowlist"


def test_a_level_of_an_agent_holds_for_what_that_agent_writes(acme):
    from tenants.policy.versions import Level, write_policy

    write_policy(
        level=Level(acme.tenant.id, "ada"), actor="test", changes={"entities": {"allowed_keys": ["name"]}}
    )
    assert say(acme.caller, 1).action == "created"
    with pytest.raises(Invalid):
        say(acme.with_key(agent_id="ada").caller, 1)


def test_somebody_who_knows_replaces_a_pinned_value_and_it_stays_pinned(caller):
    say(caller, "Turin")
    pinned = pin_entity(caller=caller, user_id=KIM, key="city", now=at(5))
    done = say(caller, "Oslo")
    assert (done.action, done.entity.pinned_at) == ("updated", pinned.pinned_at)


def test_an_agent_s_key_does_not_change_a_pinned_value(acme):
    say(acme.caller, "Turin")
    pin_entity(caller=acme.caller, user_id=KIM, key="city", now=timezone.now())
    agent = acme.with_key(agent_id="ada").caller
    with pytest.raises(Conflict, match="pinned"):
        say(agent, "Oslo")
    assert say(agent, "Turin").action == "confirmed_again"
    assert told(acme.caller) == [("Turin", "current")]


def test_a_write_by_a_clock_that_is_behind_still_comes_after(caller):
    say(caller, "Turin", now=at(1))
    done = say(caller, "Oslo", now=at(0))
    old, new = rows(caller)
    assert (old.value, new.value, done.action) == ("Turin", "Oslo", "updated")
    assert old.valid_to == new.valid_from == at(1) + timedelta(microseconds=1)


def test_what_holds_has_a_vector_and_history_has_none(caller):
    for city in ("Turin", "Oslo"):
        say(caller, city)
    assert embedded(caller) == {"Oslo"}
    assert [row.embed_pending for row in rows(caller)] == [False, False]


def test_globex_has_slots_of_its_own(acme, globex):
    say(acme.caller, "Turin")
    assert say(globex.caller, "Oslo").action == "created"
    assert (told(acme.caller), told(globex.caller)) == ([("Turin", "current")], [("Oslo", "current")])

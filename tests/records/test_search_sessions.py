"""Search in working memory: what waits in sessions and was said there, by the words of the query."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.record_tests import FieldTest
from episodic.records import NewRecord, save_records
from episodic.types import EpisodeFilter
from recall.long_term import RecordQuery, search_records
from tenants.caller import Caller
from tests.records.stored import put as store
from tests.working.workspaces import put
from working.types import NewMessage, SessionAddress

NOW = timezone.now()
OF_ANA = SessionAddress("s1", "ana", "home")
OF_BOB = SessionAddress("s1", "bob", "home")


def record(identity, text, **given):
    return {"id": identity, "text": text, "memory_type": "semantic", "created_at": NOW.isoformat()} | given


def message(identity, content, role="user"):
    return NewMessage(role, content, NOW - timedelta(minutes=5), identity)


@pytest.fixture
def filled(acme):
    put(
        acme.caller, message("a1", "I like Italian FOOD"), message("a2", "Noted.", "assistant"),
        address=OF_ANA, memories=(
            record("m1", "Ana likes italian food", topics=["food"], event_date="2026-03-01T00:00:00+00:00"),
            record("m2", "Ana has a dog"),
            record("m3", "Ana knows Italian food well", persisted_at=NOW.isoformat()),
        ),
    )  # fmt: skip
    put(acme.caller, message("b1", "italian food for Bob"), address=OF_BOB)
    return acme


def ask(caller: Caller, text="italian food", *tests: FieldTest, **asked):
    where = asked.pop("where", EpisodeFilter(tests=tests))
    query = RecordQuery(text=text, where=where, **{"with_working": True, "with_long_term": False} | asked)
    return search_records(caller=caller, query=query, now=NOW)


def ids(found):
    return {one.working.record["id"] for one in found.records if one.working}


def test_what_holds_all_words_is_found_whatever_its_capitals(filled):
    found = ask(filled.caller)
    assert ids(found) == {"m1", "m3", "a1", "b1"}
    assert (found.total, found.next_offset) == (4, None)
    assert {one.distance for one in found.records} == {0.0}
    assert {one.score for one in found.records} == {None}
    assert {one.working.kind for one in found.records} == {"memory", "message"}
    assert ids(ask(filled.caller, "italian tea")) == set()
    assert ids(ask(filled.caller, "")) == {"m1", "m2", "m3", "a1", "a2", "b1"}


def test_beside_long_term_memory_only_what_waits_is_told(filled):
    store(filled.caller, {"user_id": "ana", "namespace": "home", "text": "Ana knows Italian food well"})
    found = ask(filled.caller, mode="keyword", with_long_term=True)
    assert ids(found) == {"m1", "a1", "b1"}
    assert [one.working is not None for one in found.records] == [True, True, True, False]
    assert found.total == 4
    pages = [ask(filled.caller, mode="keyword", with_long_term=True, limit=1, offset=n) for n in range(4)]
    assert [one.records for one in pages] == [(one,) for one in found.records]
    assert [one.next_offset for one in pages] == [1, 2, 3, None]


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
@pytest.mark.parametrize("text", ["italian food", ""])
def test_a_record_that_is_being_remembered_is_told_once(filled, text, mode):
    owners = (("ana", "home"), ("bob", "home"), ("ana", ""))
    same = [
        NewRecord(id="m1", text="Ana likes italian food", user_id=user, namespace=space)
        for user, space in owners
    ]
    save_records(caller=filled.caller, records=same, deduplicate=False, now=NOW)
    found = ask(filled.caller, text, mode=mode, with_long_term=True)
    told = [one.working.record["id"] for one in found.records if one.working]
    saved = {(one.episode.user_id, one.episode.namespace) for one in found.records if one.episode}
    assert (told.count("m1"), saved) == (1, {("bob", "home"), ("ana", "")})
    assert found.total == len(found.records)


@pytest.mark.parametrize(("test", "expected"), [
    (FieldTest("user_id", "eq", "ana"), {"m1", "m3", "a1"}),
    (FieldTest("user_id", "ne", "ana"), {"b1"}),
    (FieldTest("session_id", "any", ("s1", "s2")), {"m1", "m3", "a1", "b1"}),
    (FieldTest("session_id", "startswith", "s2"), set()),
    (FieldTest("namespace", "none", ("home",)), set()),
    (FieldTest("topics", "any", ("food", "tea")), {"m1"}),
    (FieldTest("topics", "none", ("food",)), {"m3", "a1", "b1"}),
    (FieldTest("memory_type", "eq", "message"), {"a1", "b1"}),
    (FieldTest("created_at", "lt", NOW - timedelta(minutes=1)), {"a1", "b1"}),
    (FieldTest("event_date", "gte", NOW - timedelta(days=36_000)), {"m1"}),
    (FieldTest("extraction_strategy", "eq", "discrete"), {"m1", "m3", "a1", "b1"}),
])  # fmt: skip
def test_filters_hold_for_sessions_too(filled, test, expected):
    assert ids(ask(filled.caller, "italian food", test)) == expected


def test_a_session_is_found_by_the_filter_s_own_fields(filled):
    assert ids(ask(filled.caller, where=EpisodeFilter(user_id="bob"))) == {"b1"}
    assert ids(ask(filled.caller, where=EpisodeFilter(session_id="s1", namespace="home"))) == {
        "m1", "m3", "a1", "b1",
    }  # fmt: skip
    assert ids(ask(filled.caller, where=EpisodeFilter(memory_types=("semantic",)))) == {"m1", "m3"}
    assert ids(ask(filled.caller, where=EpisodeFilter(topics=("food",)))) == {"m1"}


def test_globex_finds_nothing_of_acme_s(filled, globex):
    assert ask(globex.caller).total == 0
    assert ask(globex.caller, with_long_term=True, mode="keyword").total == 0


def test_a_bound_key_finds_its_own_user_s_sessions_alone(filled):
    bob = filled.with_key(user_id="bob").caller
    for tests in ((), (FieldTest("user_id", "any", ("ana", "bob")),)):
        assert ids(ask(bob, "italian food", *tests)) == {"b1"}
    assert ids(ask(bob, "italian food", FieldTest("user_id", "eq", "ana"))) == set()


def test_a_key_of_another_agent_finds_none(filled):
    assert ask(filled.with_key(agent_id="coder").caller).total == 0


def test_whoever_is_not_shown_conversations_finds_none(filled):
    reader = filled.with_key().caller
    member = Caller(
        tenant_id=reader.tenant_id, tenant=reader.tenant, key_id="ann", scopes=frozenset({"read"}),
        kind="member",
    )  # fmt: skip
    assert ask(member).total == 0


def test_a_session_that_has_expired_says_nothing(acme):
    put(acme.caller, message("a1", "italian food"), address=OF_ANA, ttl_seconds=1,
        now=NOW - timedelta(seconds=5))  # fmt: skip
    assert ask(acme.caller).total == 0

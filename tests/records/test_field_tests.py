"""The SQL of field tests does what a Python model of it does, on every path that takes a filter."""

from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from episodic.access import last_accessed
from episodic.embedding import vector_of
from episodic.episodes import list_episodes
from episodic.keyword import Subject
from episodic.models import EpisodeEmbedding
from episodic.record_tests import MOMENTS, OF_MOMENTS, OF_TEXTS, SEVERAL, FieldTest
from episodic.search import candidate_ids, nearest_episodes
from episodic.types import EpisodeFilter, Wanted
from lexical.analysis import analyse
from lexical.matching import match_any
from tenants.errors import Invalid
from tenants.scope import scope
from tenants.ulids import new_ulid
from tests.recall.vectors import fill, unit_vectors
from tests.records.stored import day, put

WORDS = ("", "a", "ab", "a%", "a_", "a\\", "A", "b", "é", "'; DROP TABLE agent_episodes; --", "%s", "{x}")
TEXTS, LISTS = (
    ("session_id", "namespace", "user_id", "memory_type", "extraction_strategy"),
    ("topics", "entities"),
)
word = some.sampled_from(WORDS)
moment = some.integers(0, 4).map(day)


def a_row():
    return some.fixed_dictionaries({
        "session": word, "namespace": word, "user_id": word,
        "topics": some.lists(word, max_size=3), "entities": some.lists(word, max_size=3),
        "memory_type": some.sampled_from(["semantic", "episodic", "message"]),
        "extraction": some.none() | word.map(lambda one: {"strategy": one}) | some.just({}),
        "created_at": moment, "last_accessed": some.none() | moment, "event_date": some.none() | moment,
    })  # fmt: skip


@some.composite
def a_test(draw):
    field = draw(some.sampled_from([*TEXTS, *LISTS, *sorted(MOMENTS)]))
    operator = draw(some.sampled_from(sorted(OF_MOMENTS if field in MOMENTS else OF_TEXTS)))
    one = word | some.sampled_from(["semantic", "episodic", "message", "discrete"])
    if field in MOMENTS:
        return FieldTest(field, operator, draw(moment))
    return FieldTest(
        field, operator, draw(some.lists(one, max_size=3).map(tuple) if operator in SEVERAL else one)
    )


def meets(row, test):
    """What the module's first paragraph says, in Python."""
    held = {
        "session_id": row["session"],
        "extraction_strategy": (row["extraction"] or {}).get("strategy", "discrete"),
        "last_accessed": row["last_accessed"] or row["created_at"],
    }.get(test.field, row.get(test.field))
    operator, value = test.operator, test.value
    if operator in ("ne", "none"):
        return not meets(row, FieldTest(test.field, {"ne": "eq", "none": "any"}[operator], value))
    if test.field in LISTS:
        return {
            "eq": lambda: value in held,
            "any": lambda: any(one in held for one in value),
            "all": lambda: all(one in held for one in value),
            "startswith": lambda: any(one.startswith(value) for one in held),
        }[operator]()
    if test.field in MOMENTS and held is None:
        return False
    return {
        "eq": lambda: held == value,
        "any": lambda: held in value,
        "all": lambda: all(held == one for one in value),
        "startswith": lambda: held.startswith(value),
        "gt": lambda: held > value,
        "lt": lambda: held < value,
        "gte": lambda: held >= value,
        "lte": lambda: held <= value,
    }[operator]()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=some.lists(a_row(), min_size=1, max_size=9), tests=some.lists(a_test(), min_size=8, max_size=8))
def test_every_path_admits_what_the_model_admits(acme, rows, tests):
    project = new_ulid()  # of this example alone
    episodes = put(acme.caller, *({**row, "text": "sesame", "project": project} for row in rows))
    vectors = unit_vectors(len(episodes))
    stored = list(zip(episodes, rows, strict=True))
    with scope(acme.tenant.id):
        pairs = zip(episodes, vectors, strict=True)
        EpisodeEmbedding.objects.bulk_create(vector_of(one, vector) for one, vector in pairs)
    used = {one.id for one, row in stored if row["last_accessed"]}
    for number in range(0, len(tests), 2):
        for asked in ((tests[number],), tuple(tests[number : number + 2])):
            expected = {one.id for one, row in stored if all(meets(row, test) for test in asked)}
            where = EpisodeFilter(project=project, tests=asked)
            for path, found in paths(acme.caller, where, vectors[0]).items():
                assert found == (expected & used if path == "used" else expected), (path, asked)


def paths(caller, where, vector):
    with scope(caller.tenant_id):
        subject = Subject.of(caller.tenant_id, where)
        words = match_any(subject, analyse("sesame"), 50)
    near = nearest_episodes(caller=caller, vector=vector, where=where, limit=50)
    return {
        "lists": {one.id for one in list_episodes(caller=caller, where=where, limit=50)},
        "words": set(words),
        "nearest": {one.episode.id for one in near},
        "newest": set(candidate_ids(caller=caller, vector=vector, where=where, wanted=Wanted(1, 50))),
        "used": set(last_accessed(caller=caller, where=where, limit=50)),
    }


def test_what_does_not_go_together_is_refused_by_the_name_of_the_field():
    for field, operator, value in (
        ("topics", "gt", "a"), ("topics", "any", "a"), ("topics", "eq", ("a",)), ("event_date", "any", (1,)),
        ("created_at", "gt", "2026"), ("created_at", "gt", day(1).replace(tzinfo=None)), ("text", "eq", "a"),
        ("user_id", "like", "a"), ("user_id", "eq", "a\x00"), ("user_id", "none", ("a\x00",)),
    ):  # fmt: skip
        with pytest.raises(Invalid) as refused:
            FieldTest(field, operator, value)
        assert refused.value.field == field


def test_a_moment_in_another_time_zone_is_the_same_moment(acme):
    put(acme.caller, {"event_date": day(1)})
    elsewhere = day(1).astimezone(timezone(timedelta(hours=5)))
    where = EpisodeFilter(tests=(FieldTest("event_date", "eq", elsewhere),))
    assert len(list_episodes(caller=acme.caller, where=where, limit=5)) == 1


def test_tests_never_widen_what_a_bound_key_reaches(acme, globex):
    put(acme.caller, {"user_id": "alice"}, {"user_id": "bob"})
    put(globex.caller, {"user_id": "bob"})
    alice = acme.with_key(user_id="alice").caller
    for test, users in (
        (FieldTest("user_id", "eq", "bob"), set()),
        (FieldTest("user_id", "any", ("alice", "bob")), {"alice"}),
        (FieldTest("user_id", "ne", "carol"), {"alice"}),
        (FieldTest("namespace", "none", ("x",)), {"alice"}),
    ):
        where = EpisodeFilter(tests=(test,))
        listed = list_episodes(caller=alice, where=where, limit=9)
        assert {(one.tenant_id, one.user_id) for one in listed} == {(acme.tenant.id, one) for one in users}


def test_as_many_as_are_wanted_are_found_although_most_do_not_meet_the_tests(acme):
    """One in fifty of many that hold the word, and the best by words are not among them."""
    vectors = unit_vectors(3_000)
    fill(
        acme.caller,
        vectors,
        user_id="alice",
        text=lambda n: "sesame" if n % 50 else "sesame seed bread roll",
        topics=lambda n: [] if n % 50 else ["bread"],
    )
    where = EpisodeFilter(user_id="alice", tests=(FieldTest("topics", "any", ("bread",)),))
    with scope(acme.tenant.id):
        found = match_any(Subject.of(acme.tenant.id, where), analyse("sesame"), 40)
    assert len(found) == 40
    near = nearest_episodes(caller=acme.caller, vector=vectors[1], where=where, limit=50)
    assert len(near) == 50
    assert all(one.episode.topics == ["bread"] for one in near)


def test_one_user_named_by_a_test_is_searched_as_if_the_filter_named_them(acme):
    named = EpisodeFilter(tests=(FieldTest("user_id", "eq", "alice"),))
    assert named.narrowed().user_id == "alice"
    assert EpisodeFilter(user_id="bob", tests=named.tests).narrowed().user_id == "bob"
    for value, operator in (("", "eq"), (("alice", "bob"), "any"), ("alice", "ne")):
        where = EpisodeFilter(tests=(FieldTest("user_id", operator, value),))
        assert where.narrowed() == where
    nobodys = EpisodeFilter(agent_id="coder", tests=(FieldTest("user_id", "eq", ""),))
    assert nobodys.narrowed() == replace(nobodys, user_id="")


def test_words_are_found_in_what_the_filter_leaves_of_more_users_than_are_searched_at_a_time(acme):
    everybody = [{"user_id": f"u{n}", "text": "sesame"} for n in range(205)]
    put(
        acme.caller, *everybody, *({"user_id": f"u{n}", "text": "sesame", "namespace": "n"} for n in range(3))
    )
    with scope(acme.tenant.id):
        assert Subject.of(acme.tenant.id, EpisodeFilter()) is None
        for where in (
            EpisodeFilter(namespace="n"),
            EpisodeFilter(tests=(FieldTest("namespace", "eq", "n"),)),
        ):
            found = match_any(Subject.of(acme.tenant.id, where), analyse("sesame"), 9)
            assert len(found) == 3

"""Three tiers: over the topic, onto the duplicate, as a new one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tenants.errors import Forbidden
from tests.observations.notes import EARLY, delete, edit, note, row_of, search, stored, titles
from working.sessions import access_session, open_session
from working.types import SessionAddress

MINUTE = timedelta(minutes=1)


def counters(caller, observation_id):
    row = row_of(caller, observation_id)
    return (row.revision_count, row.duplicate_count)


def test_the_first_is_new_with_both_counters_at_one(caller):
    saved = note(caller, "Blue.", tags=("a", "b"), topic_key="cluster", now=EARLY)
    assert saved.action == "created"
    row = row_of(caller, saved.observation.id)
    assert (row.revision_count, row.duplicate_count, row.last_seen_at) == (1, 1, None)
    assert (row.type, row.title, row.content, row.tags) == ("decision", "Cluster", "Blue.", ["a", "b"])
    assert (row.project, row.scope, row.session, row.topic_key) == ("orders", "project", "s1", "cluster")
    assert (row.created_at, row.updated_at) == (EARLY, EARLY)


def test_the_hash_is_the_sha256_of_the_normalised_content(caller):
    saved = note(caller, "  The\tBLUE\n\u2003cluster ")
    # As `printf 'the blue cluster' | sha256sum` says.
    assert saved.observation.normalized_hash == (
        "a1b63721477597683f96c9fab876f037b253fd437fa4d3bc2e3002f3c7c4381d"
    )


def test_a_topic_says_what_was_said_last_and_stays_where_and_when_it_began(caller):
    first = note(caller, "Blue.", topic_key="t", tags=("a",), now=EARLY)
    again = note(
        caller, "Green.", topic_key="t", type="bugfix", title="Now green", session_id="s2", now=EARLY + MINUTE
    )
    third = note(caller, "Red.", topic_key="t", tags=("c",), now=EARLY + 2 * MINUTE)
    assert (again.action, third.action) == ("updated", "updated")
    assert first.observation.id == again.observation.id == third.observation.id
    assert (again.observation.type, again.observation.title) == ("bugfix", "Now green")
    assert again.observation.tags == [], "missing tags clear them"
    row = row_of(caller, first.observation.id)
    assert (row.content, row.tags, row.session, row.created_at) == ("Red.", ["c"], "s1", EARLY)
    assert (row.revision_count, row.duplicate_count) == (3, 1)
    assert row.last_seen_at == row.updated_at == EARLY + 2 * MINUTE
    assert titles(search(caller, "green")) == []
    assert titles(search(caller, "red")) == ["Cluster"]


def test_a_topic_is_one_however_long_ago(caller):
    note(caller, "Blue.", topic_key="t", now=EARLY)
    assert note(caller, "Blue.", topic_key="t", now=EARLY + timedelta(days=900)).action == "updated"


@pytest.mark.parametrize("other", [{"scope": "team"}, {"project": "billing"}, {"user_id": "ann"}])
def test_a_topic_of_another_project_scope_or_user_is_another(caller, other):
    note(caller, "Blue.", topic_key="t")
    assert note(caller, "Green.", topic_key="t", session_id="s2", **other).action == "created"
    assert note(caller, "Red.", topic_key="T").action == "created", "the case of a topic counts"
    assert len(stored(caller)) == 3


def test_white_space_around_a_topic_does_not_count(caller):
    note(caller, "Blue.", topic_key="t")
    assert note(caller, "Green.", topic_key=" t\n").action == "updated"
    assert note(caller, "Grey.", topic_key="  ").observation.topic_key == ""


def test_the_project_is_compared_in_lower_case(caller):
    note(caller, "Blue.", topic_key="t", project="Orders ")
    assert note(caller, "Green.", topic_key="t", project="oRDERS").action == "updated"
    assert [row.project for row in stored(caller)] == ["orders"]


def test_a_blank_scope_is_the_projects(caller):
    assert note(caller, "Blue.", scope=" ").observation.scope == "project"


def test_what_was_said_just_now_is_counted_and_keeps_type_and_title(caller):
    first = note(caller, "Use the  blue\ncluster.", title="Cluster", now=EARLY)
    again = note(
        caller, " use the BLUE cluster. ", title="Other", type="bugfix", tags=("x",), session_id="s2",
        now=EARLY + MINUTE,
    )  # fmt: skip
    third = note(caller, "Use the blue cluster.", now=EARLY + 2 * MINUTE)
    assert (again.action, third.action) == ("deduplicated", "deduplicated")
    (row,) = stored(caller)
    assert row.id == first.observation.id == again.observation.id
    assert (row.title, row.type, row.session, row.tags) == ("Cluster", "decision", "s1", [])
    assert row.content == "Use the  blue\ncluster."
    assert (row.revision_count, row.duplicate_count) == (1, 3)
    assert (again.observation.revision_count, again.observation.duplicate_count) == (1, 2)
    assert (row.last_seen_at, row.updated_at) == (EARLY + 2 * MINUTE, EARLY)


def test_the_answer_after_both_tiers_has_the_rows_real_counters(caller):
    note(caller, "Blue.", topic_key="t", now=EARLY)
    note(caller, "Blue.", now=EARLY)
    note(caller, "Green.", topic_key="t", now=EARLY)
    again = note(caller, "Green.", now=EARLY)
    assert again.action == "deduplicated"
    assert (again.observation.revision_count, again.observation.duplicate_count) == (2, 3)


def test_the_window_is_measured_from_the_creation_and_not_from_the_last_time(caller):
    note(caller, "Blue.", now=EARLY)
    assert note(caller, "Blue.", now=EARLY + 14.9 * MINUTE).action == "deduplicated"
    assert note(caller, "Blue.", now=EARLY + 15 * MINUTE).action == "created"
    assert [row.duplicate_count for row in stored(caller)] == [2, 1]
    assert note(caller, "Blue.", now=EARLY + 16 * MINUTE).action == "deduplicated"
    assert [row.duplicate_count for row in stored(caller)] == [2, 2], "the newer one is the one seen again"


def test_the_window_is_a_setting(caller, settings):
    settings.MEMORY_DEDUPE_WINDOW = 2.0
    note(caller, "Blue.", now=EARLY)
    assert note(caller, "Blue.", now=EARLY + timedelta(seconds=1.9)).action == "deduplicated"
    assert note(caller, "Blue.", now=EARLY + timedelta(seconds=2.1)).action == "created"


def test_without_a_window_nothing_is_a_duplicate(caller, settings):
    settings.MEMORY_DEDUPE_WINDOW = 0.0
    note(caller, "Blue.", now=EARLY + MINUTE)
    assert note(caller, "Blue.", now=EARLY + MINUTE).action == "created"
    assert note(caller, "Blue.", now=EARLY).action == "created", "by a writer whose clock is behind"


def test_a_duplicate_gives_its_topic_to_one_that_has_none(caller):
    first = note(caller, "Blue.")
    again = note(caller, "Blue.", topic_key="cluster/colour")
    assert (again.action, again.observation.topic_key) == ("deduplicated", "cluster/colour")
    assert note(caller, "Blue.", topic_key="other").observation.topic_key == "cluster/colour"
    updated = note(caller, "Green.", topic_key="cluster/colour")
    assert (updated.action, updated.observation.id) == ("updated", first.observation.id)
    (hit,) = search(caller, "cluster/colour")
    assert (hit.method, hit.rank) == ("topic_key", -1000.0)


def test_a_duplicate_in_another_scope_is_counted_but_takes_no_topic(caller):
    note(caller, "Blue.", scope="global")
    again = note(caller, "Blue.", topic_key="t")
    assert (again.action, again.observation.topic_key, again.observation.scope) == (
        "deduplicated",
        "",
        "global",
    )


def test_the_topic_wins_over_the_duplicate(caller):
    topic = note(caller, "Blue.", topic_key="t")
    note(caller, "Green.")
    assert note(caller, "Green.", topic_key="t").observation.id == topic.observation.id
    assert sorted(row.content for row in stored(caller)) == ["Green.", "Green."]


def test_what_is_in_the_trash_is_never_met(caller):
    for topic in ("", "t"):
        first = note(caller, "Blue.", topic_key=topic)
        delete(caller, first.observation.id)
    again = note(caller, "Blue.", topic_key="t")
    assert again.action == "created"
    assert [row.duplicate_count for row in stored(caller)] == [1, 1, 1]


def test_another_users_projects_or_tenants_words_are_never_met(acme, globex):
    note(acme.caller, "Blue.")
    for caller, other in (
        (acme.caller, {"project": "billing"}),
        (acme.caller, {"user_id": "ann", "session_id": "s2"}),
        (acme.caller, {"user_id": "bob", "session_id": "s2"}),
        (globex.caller, {}),
        (acme.with_key(user_id="kim").caller, {}),
    ):
        assert note(caller, "Blue.", **other).action == "created"
    assert len(stored(acme.caller)) == 4 + 1
    assert len(stored(globex.caller)) == 1


def test_what_was_edited_is_met_by_what_it_says_now(caller):
    saved = note(caller, "Blue.")
    edit(caller, saved.observation.id, content="Green.")
    assert note(caller, "green.").action == "deduplicated"
    assert note(caller, "Blue.").action == "created"


def test_an_unknown_session_is_created_with_project_and_user(caller):
    note(caller, "Blue.", session_id="new", user_id="ann", project="Orders")
    session = access_session(caller=caller, address=SessionAddress("new", "ann"))
    assert (session.project, session.user_id, session.ended_at) == ("orders", "ann", None)


def test_a_session_that_had_no_project_gets_it(caller):
    """As one that was only told something, so far."""
    open_session(caller=caller, address=SessionAddress("bare"), now=timezone.now())
    note(caller, "Blue.", session_id="bare")
    assert access_session(caller=caller, address=SessionAddress("bare")).project == "orders"


def test_a_session_of_another_project_stays_there(caller):
    open_session(caller=caller, address=SessionAddress("b"), project="billing", now=timezone.now())
    assert note(caller, "Blue.", session_id="b").observation.project == "orders"
    assert access_session(caller=caller, address=SessionAddress("b")).project == "billing"


def test_whose_it_is_comes_from_the_session(caller):
    open_session(caller=caller, address=SessionAddress("hers", "ann"), now=timezone.now(), agent_id="ada")
    saved = note(caller, "Blue.", session_id="hers").observation
    assert (saved.user_id, saved.agent_id) == ("ann", "ada")


def test_a_key_bound_to_a_user_saves_that_users(acme):
    bound = acme.with_key(user_id="ann").caller
    assert note(bound, "Blue.").observation.user_id == "ann"
    with pytest.raises(Forbidden):
        note(bound, "Blue.", user_id="bob")


def test_a_key_bound_to_a_project_saves_in_that_one_whatever_its_spelling(acme):
    bound = acme.with_key(project="Orders").caller
    assert note(bound, "Blue.", project="orders").observation.project == "orders"
    assert note(bound, "Green.", project="").observation.project == "orders"
    with pytest.raises(Forbidden):
        note(bound, "Blue.", project="billing")
    assert access_session(caller=bound, address=SessionAddress("s1")).project == "Orders"


def test_a_key_bound_to_an_agent_saves_in_that_agents_project(acme):
    bound = acme.with_key(agent_id="Ada").caller
    saved = note(bound, "Blue.", project="").observation
    assert (saved.project, saved.agent_id) == ("ada", "Ada")
    with pytest.raises(Forbidden):
        note(bound, "Blue.", project="orders")


def test_nothing_is_left_of_what_is_refused(acme):
    bound = acme.with_key(project="orders").caller
    with pytest.raises(Forbidden):
        note(bound, "Blue.", project="billing", session_id="never")
    assert stored(acme.caller) == []

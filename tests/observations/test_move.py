"""Changing under what an observation stands, and going back to what it said."""

import pytest
from django.utils import timezone

from observations.editing import edit_observation, restore_revision
from observations.types import Changes
from tenants.errors import Conflict, Forbidden, NotFound, PreconditionFailed
from tests.observations.notes import edit, embed, note, revisions, row_of, rows_left, search


@pytest.fixture
def saved(caller):
    one = note(caller, "The blue cluster.", topic_key="t", tags=("a",)).observation
    embed(caller)
    return one


def test_in_another_project_it_is_found_there_and_nowhere_else(caller, saved):
    edit(caller, saved.id, project="Billing")
    assert row_of(caller, saved.id).project == "billing"
    assert len(search(caller, "blue", project="billing", mode="all")) == 1
    assert search(caller, "blue", mode="all") == []
    assert "ObservationEmbedding" not in rows_left(caller), "it stood among the former project's"
    embed(caller)
    assert len(search(caller, "azure compute nodes", project="billing", mode="hybrid")) == 1
    assert revisions(caller, saved.id) == [], "it says what it said"


def test_a_global_one_is_found_from_every_project(caller, saved):
    edit(caller, saved.id, scope="global")
    assert len(search(caller, "blue", project="elsewhere", mode="all")) == 1


def test_a_topic_key_is_taken_given_and_given_up(caller, saved):
    other = note(caller, "Green.", topic_key="u").observation
    with pytest.raises(Conflict):
        edit(caller, other.id, topic_key="t")
    with pytest.raises(Conflict):
        edit(caller, note(caller, "Red.", topic_key="t", project="billing").observation.id, project="orders")
    edit(caller, saved.id, topic_key="")
    assert edit(caller, other.id, topic_key=" t ").topic_key == "t"
    assert note(caller, "Yellow.", topic_key="t").action == "updated"


def test_a_key_that_is_bound_to_a_project_moves_nothing_out_of_it(acme, caller, saved):
    bound = acme.with_key(project="orders").caller
    with pytest.raises(Forbidden):
        edit(bound, saved.id, project="billing")


def test_whoever_saw_an_older_one_is_told(caller, saved):
    seen = row_of(caller, saved.id).updated_at
    edit(caller, saved.id, content="Green.", now=timezone.now())
    with pytest.raises(PreconditionFailed):
        edit_observation(
            caller=caller, observation_id=saved.id, changes=Changes(content="Red."), now=timezone.now(),
            expected=seen,
        )  # fmt: skip
    assert row_of(caller, saved.id).content == "Green."


def test_it_says_again_what_it_said_and_nothing_is_lost(caller, saved):
    edit(caller, saved.id, content="Green.", tags=("b",))
    restore_revision(caller=caller, observation_id=saved.id, number=1, now=timezone.now())
    row = row_of(caller, saved.id)
    assert (row.content, row.tags) == ("The blue cluster.", ["a"])
    assert [one.content for one in revisions(caller, saved.id)] == ["Green.", "The blue cluster."]


def test_a_revision_that_never_was_or_is_a_neighbour_s_is_not_found(caller, saved, globex):
    edit(caller, saved.id, content="Green.")
    for who, number in ((caller, 2), (globex.caller, 1)):
        with pytest.raises(NotFound):
            restore_revision(caller=who, observation_id=saved.id, number=number, now=timezone.now())

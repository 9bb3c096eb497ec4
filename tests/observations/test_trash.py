"""To the trash, back again, and gone for good."""

from datetime import timedelta

import pytest
from django.utils import timezone

from observations.observations import access_observation
from tenants.errors import Conflict, NotFound
from tests.observations.notes import (
    EARLY,
    delete,
    edit,
    embed,
    listed,
    note,
    restore,
    revisions,
    row_of,
    rows_left,
    search,
    timeline,
)  # fmt: skip


@pytest.fixture
def saved(caller):
    one = note(caller, "The blue cluster.", topic_key="t/1").observation
    note(caller, "The blue cluster is old.", topic_key="t/1")
    embed(caller)
    return one


def found(caller):
    """Whether it is found by words, by meaning, by topic, in the list."""
    return [
        bool(search(caller, "blue", mode="all")),
        bool(search(caller, "azure compute nodes", mode="hybrid")),
        bool(search(caller, "t/1")),
        bool(listed(caller, project="orders")),
    ]


def test_what_is_in_the_trash_is_found_nowhere_else(caller, saved):
    assert found(caller) == [True] * 4
    assert delete(caller, saved.id, now=EARLY).found
    assert found(caller) == [False] * 4
    assert row_of(caller, saved.id).deleted_at == EARLY
    assert [one.id for one in listed(caller, trashed=True)] == [saved.id]
    with pytest.raises(NotFound):
        access_observation(caller=caller, observation_id=saved.id)
    with pytest.raises(NotFound):
        timeline(caller, saved.id)
    assert rows_left(caller) == {"Observation": 1, "ObservationRevision": 1}


def test_what_comes_back_is_found_as_before(caller, saved):
    delete(caller, saved.id)
    back = restore(caller, saved.id)
    assert (back.id, back.deleted_at) == (saved.id, None)
    embed(caller)
    assert found(caller) == [True] * 4
    assert len(revisions(caller, saved.id)) == 1
    assert note(caller, "Green.", topic_key="t/1").action == "updated"


def test_deleting_twice_changes_nothing(caller, saved):
    assert delete(caller, saved.id, now=EARLY).found
    assert not delete(caller, saved.id, now=EARLY + timedelta(days=1)).found
    assert row_of(caller, saved.id).deleted_at == EARLY
    note(caller, "The blue van.")
    assert len(search(caller, "blue")) == 1, "and harms no search"
    assert delete(caller, saved.id, hard=True).found
    assert not delete(caller, saved.id, hard=True).found
    assert len(search(caller, "blue")) == 1


def test_deleting_what_never_was_changes_nothing(caller):
    for one in (0, -1, 10**15, 2**63 - 1):
        for hard in (False, True):
            assert not delete(caller, one, hard=hard).found


@pytest.mark.parametrize("from_trash", [False, True])
def test_what_is_deleted_for_good_leaves_nothing_in_any_table(caller, saved, from_trash):
    edit(caller, saved.id, content="Something else.")
    embed(caller)
    assert rows_left(caller) == {
        "Observation": 1, "ObservationRevision": 2, "SearchEntry": 1, "ObservationEmbedding": 1,
    }  # fmt: skip
    if from_trash:
        delete(caller, saved.id)
    assert delete(caller, saved.id, hard=True).found
    assert rows_left(caller) == {}
    with pytest.raises(NotFound):
        restore(caller, saved.id)
    with pytest.raises(NotFound):
        revisions(caller, saved.id)


def test_a_topic_that_was_taken_meanwhile_keeps_it_out(caller, saved):
    delete(caller, saved.id)
    taken = note(caller, "Green.", topic_key="t/1").observation
    with pytest.raises(Conflict, match="topic key"):
        restore(caller, saved.id)
    assert row_of(caller, saved.id).deleted_at is not None
    assert not search(caller, "old")
    delete(caller, taken.id)
    assert restore(caller, saved.id).deleted_at is None


def test_the_same_topic_elsewhere_is_in_nobodys_way(caller, saved):
    delete(caller, saved.id)
    note(caller, "Green.", topic_key="t/1", project="billing")
    note(caller, "Green.", topic_key="t/1", scope="global")
    note(caller, "Green.", topic_key="t/1", session_id="s2", user_id="ann")
    assert restore(caller, saved.id).deleted_at is None


def test_restoring_what_is_there_changes_nothing(caller, saved):
    before = row_of(caller, saved.id)
    assert restore(caller, saved.id).id == saved.id
    after = row_of(caller, saved.id)
    assert (after.updated_at, after.embed_pending) == (before.updated_at, False)


def test_the_trash_is_listed_with_what_was_thrown_away_last_first(caller):
    ids = [note(caller, f"Say {n}.").observation.id for n in range(5)]
    order = [ids[2], ids[0], ids[4], ids[1]]
    for n, one in enumerate(order):
        delete(caller, one, now=EARLY + timedelta(seconds=n // 2))
    newest_first = [ids[4], ids[1], ids[2], ids[0]]
    assert [one.id for one in listed(caller, trashed=True)] == newest_first
    page = listed(caller, trashed=True, limit=1)
    for expected in newest_first[1:]:
        page = listed(caller, trashed=True, limit=1, before=(page[0].deleted_at, page[0].id))
        assert [one.id for one in page] == [expected]
    assert [one.id for one in listed(caller)] == [ids[3]]


def test_what_is_restored_is_embedded_though_its_vector_never_was_made(caller):
    one = note(caller, "Cats and dogs.", now=timezone.now()).observation
    delete(caller, one.id)
    embed(caller)
    assert "ObservationEmbedding" not in rows_left(caller)
    restore(caller, one.id)
    embed(caller)
    assert rows_left(caller)["ObservationEmbedding"] == 1

"""Pairs that may be one, and what merging them keeps."""

from datetime import timedelta

import pytest
from django.utils import timezone

from observations.duplicates import find_likely
from observations.merging import merge_observations
from tenants.audit import list_entries
from tenants.errors import Conflict, Invalid, NotFound
from tests.observations.notes import EARLY, delete, embed, note, restore, revisions, row_of, search


def merge(caller, keep, other):
    return merge_observations(caller=caller, keep_id=keep, other_id=other, now=timezone.now())


@pytest.fixture
def pair(caller):
    older = note(caller, "We use the blue cluster.", tags=("a", "b"), now=EARLY).observation
    newer = note(caller, "We use the blue cluster now.", tags=("b", "c"), title="Cluster choice").observation
    embed(caller)
    return older, newer


def test_what_says_nearly_the_same_is_found_older_first(caller, pair):
    note(caller, "Cats and dogs.", title="Animals")
    embed(caller)
    (found,) = find_likely(caller=caller)
    assert (found.older.id, found.newer.id, found.why) == (pair[0].id, pair[1].id, "alike")
    assert found.cosine > 0.9


def test_the_same_text_is_found_without_vectors_and_comes_first(caller, pair):
    note(caller, "Same  words.", now=EARLY)
    note(caller, "same words.")
    assert [one.why for one in find_likely(caller=caller)] == ["same text", "alike"]


def test_each_is_paired_once_with_the_likeliest_older_one(caller):
    first = note(caller, "We use the blue cluster.", title="A", now=EARLY).observation
    again = [
        note(
            caller, "We use the  blue cluster.", title=f"T{day}", now=EARLY + timedelta(days=day)
        ).observation
        for day in (1, 2, 3)
    ]
    embed(caller)
    found = find_likely(caller=caller)
    assert {one.newer.id for one in found} == {one.id for one in again}, "four of the same are three pairs"
    assert {one.why for one in found} == {"same text"}
    assert next(one.older.id for one in found if one.newer.id == again[0].id) == first.id
    assert [one.cosine for one in found] == sorted((one.cosine for one in found), reverse=True)


@pytest.mark.parametrize(
    "other", [{"project": "billing"}, {"scope": "global"}, {"session_id": "s-ann", "user_id": "ann"}]
)
def test_what_is_not_of_one_project_scope_and_person_is_no_pair(caller, other):
    one = note(caller, "Same words.", now=EARLY).observation
    two = note(caller, "Same words.", **other).observation
    assert find_likely(caller=caller) == []
    with pytest.raises(Conflict):
        merge(caller, one.id, two.id)


def test_merging_keeps_one_with_the_tags_of_both_and_the_other_s_text(caller, pair):
    older, newer = pair
    merge(caller, older.id, newer.id)
    row = row_of(caller, older.id)
    assert (row.content, row.tags, row.duplicate_count) == ("We use the blue cluster.", ["a", "b", "c"], 2)
    own, others = revisions(caller, older.id)
    assert (others.content, others.merged_from) == ("We use the blue cluster now.", newer.id)
    assert (own.tags, own.merged_from) == (["a", "b"], None)
    assert row_of(caller, newer.id).deleted_at is not None
    assert len(search(caller, "blue cluster", mode="all")) == 1
    entry = list_entries(caller=caller, limit=1)[0]
    assert (entry.action, entry.target, entry.details) == (
        "observation.merge",
        str(older.id),
        {"other": newer.id},
    )


def test_the_other_comes_back_unchanged(caller, pair):
    older, newer = pair
    merge(caller, older.id, newer.id)
    back = restore(caller, newer.id)
    assert (back.content, back.tags, back.deleted_at) == ("We use the blue cluster now.", ["b", "c"], None)


def test_what_is_gone_or_itself_or_another_s_is_not_merged(caller, pair, globex):
    older, newer = pair
    with pytest.raises(Invalid):
        merge(caller, older.id, older.id)
    with pytest.raises(NotFound):
        merge(globex.caller, older.id, newer.id)
    delete(caller, newer.id)
    with pytest.raises(NotFound):
        merge(caller, older.id, newer.id)
    assert row_of(caller, older.id).tags == ["a", "b"]

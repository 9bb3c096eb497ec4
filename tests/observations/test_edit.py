"""Changing by hand: validated as when saved, found by what it says now, with what it said before kept."""

from datetime import timedelta

import pytest

from observations.dedup import normalized_hash
from observations.validation import InvalidObservation
from tenants.errors import NotFound
from tests.observations.notes import (
    EARLY,
    delete,
    edit,
    embed,
    note,
    revisions,
    row_of,
    rows_left,
    search,
    titles,
)

LATER = EARLY + timedelta(days=2)


@pytest.fixture
def saved(caller):
    return note(caller, "The blue cluster.", tags=("a",), topic_key="t", now=EARLY).observation


def test_only_what_is_given_is_changed(caller, saved):
    edit(caller, saved.id, now=LATER, title="Now green")
    row = row_of(caller, saved.id)
    assert (row.title, row.type, row.content, row.tags) == (
        "Now green",
        "decision",
        "The blue cluster.",
        ["a"],
    )
    assert (row.created_at, row.updated_at, row.last_seen_at) == (EARLY, LATER, None)
    assert (row.revision_count, row.duplicate_count, row.topic_key) == (1, 1, "t")


def test_all_can_be_changed_at_once_and_the_answer_is_the_row(caller, saved):
    answer = edit(caller, saved.id, type="bugfix", title="T", content="Green.", tags=("x", "y"))
    row = row_of(caller, saved.id)
    for one in (answer, row):
        assert (one.type, one.title, one.content, one.tags) == ("bugfix", "T", "Green.", ["x", "y"])
        assert one.normalized_hash == normalized_hash("Green.")


def test_no_tags_clears_them_and_none_keeps_them(caller, saved):
    assert edit(caller, saved.id, content="x").tags == ["a"]
    assert edit(caller, saved.id, tags=()).tags == []


def test_what_it_said_before_is_kept(caller, saved):
    edit(caller, saved.id, now=LATER, content="Green.")
    edit(caller, saved.id, now=LATER, tags=("b",), type="bugfix")
    second, first = revisions(caller, saved.id)
    assert (first.number, second.number) == (1, 2)
    assert (first.content, first.tags, first.title, first.type) == (
        "The blue cluster.",
        ["a"],
        "Cluster",
        "decision",
    )
    assert (second.content, second.tags) == ("Green.", ["a"])
    assert (first.replaced_at, first.replaced_by) == (LATER, caller.principal)


def test_revisions_by_hand_and_by_topic_are_one_history(caller, saved):
    edit(caller, saved.id, content="Green.")
    note(caller, "Red.", topic_key="t")
    edit(caller, saved.id, content="Grey.")
    assert [(one.number, one.content) for one in revisions(caller, saved.id)] == [
        (3, "Red."),
        (2, "Green."),
        (1, "The blue cluster."),
    ]
    assert row_of(caller, saved.id).revision_count == 2, "only the topic counts"


def test_revisions_come_in_pages(caller, saved):
    for n in range(5):
        edit(caller, saved.id, content=f"Say {n}.")
    first = revisions(caller, saved.id, limit=2)
    assert [one.number for one in first] == [5, 4]
    rest = revisions(caller, saved.id, before=first[-1].number)
    assert [one.number for one in rest] == [3, 2, 1]


def test_a_change_of_nothing_is_none(caller, saved):
    edit(caller, saved.id, now=LATER, content="The blue cluster.", title="Cluster", tags=("a",))
    edit(caller, saved.id, now=LATER)
    assert revisions(caller, saved.id) == []
    assert row_of(caller, saved.id).updated_at == EARLY


def test_old_words_are_found_no_more_and_new_ones_at_once(caller, saved):
    edit(caller, saved.id, content="The green array.", title="Storage", type="bugfix")
    assert titles(search(caller, "green array storage bugfix", mode="all")) == ["Storage"]
    for word in ("blue", "cluster", "decision"):
        assert search(caller, word, mode="any") == []


def test_old_meaning_is_found_no_more_and_the_new_one_after_the_job(caller, saved):
    embed(caller)
    edit(caller, saved.id, content="Cats and dogs are good pets.", title="Animals")
    assert "ObservationEmbedding" not in rows_left(caller)
    embed(caller)
    assert titles(search(caller, "puppies and kittens", mode="hybrid")) == ["Animals"]
    assert search(caller, "compute nodes", mode="hybrid") == []


def test_a_change_of_type_and_tags_keeps_the_vector(caller, saved):
    embed(caller)
    edit(caller, saved.id, type="bugfix", tags=("z",))
    assert rows_left(caller)["ObservationEmbedding"] == 1
    assert not row_of(caller, saved.id).embed_pending


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"content": ""}, "content is required"),
        ({"type": " "}, "type is required"),
        ({"title": "é" * 251}, "title exceeds 500 chars"),
        ({"tags": ["t"] * 21}, "tags exceed 20 items"),
        ({"type": "", "title": "", "content": "x" * 50_001},
         "type is required; title is required; content exceeds 50000 chars"),
    ],
)  # fmt: skip
def test_it_is_validated_as_when_it_is_saved(caller, saved, changes, problem):
    with pytest.raises(InvalidObservation) as refused:
        edit(caller, saved.id, **changes)
    assert str(refused.value) == f"validation failed: {problem}"
    assert (row_of(caller, saved.id).content, revisions(caller, saved.id)) == ("The blue cluster.", [])


def test_what_is_deleted_or_was_never_there_is_not_found(caller, saved):
    delete(caller, saved.id)
    for one in (saved.id, saved.id + 10**9, 0, -1, 2**63 - 1):
        with pytest.raises(NotFound, match=r"^observation not found$"):
            edit(caller, one, content="x")
    assert revisions(caller, saved.id) == [], "of one in the trash as well"
    with pytest.raises(NotFound):
        revisions(caller, saved.id + 10**9)

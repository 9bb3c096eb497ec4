"""What is near to many at once is what is near to each, and what a call changes meanwhile is seen."""

import numpy as np
import pytest
from django.utils import timezone

from episodic import likeness, nearest
from episodic.compacting import compact_records
from episodic.types import EpisodeFilter
from providers.embeddings import get_embedder
from tenants.scope import scope
from tests.recall.vectors import fill, unit_vectors
from tests.records.saving import holding, record, save

PLACES = (
    "Oslo",
    "Rome",
    "Lima",
    "Cairo",
    "Tokyo",
    "Quito",
    "Delhi",
    "Perth",
    "Turin",
    "Nice",
    "Bonn",
    "Graz",
)
LIVE = [f"User{n} lives in {place}." for n, place in enumerate(PLACES)]
EVERYBODY = EpisodeFilter()


def near(caller, vectors, *, limit, where=EVERYBODY):
    named = {"tenant_id": caller.tenant_id, "model": get_embedder().model, "where": where, "limit": limit}
    with scope(caller.tenant_id):
        alone = [nearest.nearest_ids(**named, vector=one) for one in vectors]
        return alone, likeness.nearest_to_each(**named, vectors=vectors)


@pytest.mark.parametrize("piece", [1, 7, 50, 2_000])
def test_each_has_those_that_it_would_have_by_itself(acme, globex, monkeypatch, piece):
    monkeypatch.setattr(likeness, "PIECE", piece)
    fill(acme.caller, unit_vectors(50, seed=1))
    fill(globex.caller, unit_vectors(50, seed=2))
    alone, together = near(acme.caller, unit_vectors(12, seed=2), limit=10)
    assert [list(one) for one in together] == [list(one) for one in alone]
    for one, other in zip(together, alone, strict=True):
        assert np.allclose(list(one.values()), list(other.values()), atol=1e-5)


def test_what_the_filter_does_not_admit_is_left_out(acme):
    save(acme.caller, *LIVE, namespace="n")
    save(acme.caller, *LIVE, memory_type="episodic")
    where = EpisodeFilter(user_id="alice", namespace="n", memory_types=("semantic",))
    vectors = unit_vectors(9, seed=1)
    alone, together = near(acme.caller, vectors, limit=50, where=where)
    assert [set(one) for one in together] == [set(one) for one in alone]
    assert {len(one) for one in together} == {len(LIVE)}
    assert near(acme.caller, vectors, limit=5, where=EpisodeFilter(user_id="nobody"))[1] == [{}] * 9


def test_few_are_looked_for_one_by_one(acme):
    assert near(acme.caller, unit_vectors(likeness.FEW - 1), limit=5)[1] is None


@pytest.mark.parametrize("few", [1, 1_000])
def test_many_find_what_says_the_same_as_one_by_one(acme, monkeypatch, few):
    monkeypatch.setattr(likeness, "FEW", few)
    save(acme.caller, *LIVE)
    fuller = [text.replace(".", ", near the port.") for text in LIVE]
    assert {one.outcome for one in save(acme.caller, *fuller)} == {"merged"}
    assert holding(acme.caller) == sorted(fuller)
    assert {one.outcome for one in save(acme.caller, *(f"{one[:-1]}" for one in LIVE))} == {"merged"}
    assert holding(acme.caller) == sorted(fuller)


@pytest.mark.parametrize("few", [1, 1_000])
def test_one_that_the_call_has_changed_counts_as_what_it_says_now(acme, monkeypatch, few):
    monkeypatch.setattr(likeness, "FEW", few)
    save(acme.caller, record("Ana likes tea.", id="a"))
    save(
        acme.caller,
        record("Ana plays chess, mostly on Sunday.", id="a"),
        record("Ana likes tea, especially green tea.", id="b"),
        record("Ana plays chess", id="c"),
    )
    assert holding(acme.caller) == [
        "Ana likes tea, especially green tea.",
        "Ana plays chess, mostly on Sunday.",
    ]


def test_behind_many_that_were_merged_meanwhile_the_same_is_found(acme, globex, monkeypatch):
    same = [record("Ana likes tea.", session_id=f"s{n}") for n in range(40)]
    fuller = [record(f"Ana likes tea, green {n}.", id=f"g{n}") for n in range(8)]
    for member, few in ((acme, 1), (globex, 1_000)):
        monkeypatch.setattr(likeness, "FEW", few)
        save(member.caller, *same, deduplicate=False)
        save(member.caller, "Ana likes tea", *fuller)
    assert holding(acme.caller) == holding(globex.caller)
    assert len(holding(acme.caller)) < 40


@pytest.mark.parametrize("few", [1, 1_000])
def test_a_compaction_merges_as_much_however_it_looks(acme, monkeypatch, few):
    monkeypatch.setattr(likeness, "FEW", few)
    fuller = [text.replace(".", ", near the port.") for text in LIVE]
    save(acme.caller, *LIVE, *fuller, "Ana likes tea.", deduplicate=False)
    done = compact_records(caller=acme.caller, now=timezone.now())
    assert (done.merged, done.remaining) == (2 * len(LIVE), len(LIVE) + 1)
    assert holding(acme.caller) == sorted([*fuller, "Ana likes tea."])

"""`mmr`: near-duplicates do not fill an answer, and as many are answered as before."""

import numpy as np
import pytest

from episodic.types import EpisodeFilter
from recall.recall import recall
from recall.types import PROFILES, RecallQuery
from tests.recall.test_hybrid import say
from tests.recall.vectors import fill, unit_vectors

BASE = unit_vectors(8)
QUERY = BASE[0]


def near(vector, other, share):
    mixed = (1 - share) * vector + share * other
    return (mixed / np.linalg.norm(mixed)).astype(np.float32)


# Ten that nearly say the same, nearest to the query, and seven that are like nothing else.
VECTORS = np.stack(
    [near(QUERY, BASE[7], 0.01 * n) for n in range(10)] + [near(one, QUERY, 0.1) for one in BASE[1:]]
)


@pytest.fixture
def copies(caller):
    fill(caller, VECTORS, user_id="u1", text=lambda n: f"heron {n}")
    return caller


def ask(caller, *, mmr, profile="similarity", top_k=5):
    query = RecallQuery("heron", EpisodeFilter(user_id="u1"), top_k, profile, mmr=mmr)
    return recall(caller=caller, query=query, embedding=lambda: QUERY, counted=False)


def numbers(found):
    return [int(hit.episode.text.split()[1]) for hit in found.hits]


def test_near_duplicates_make_way_for_what_is_different(copies):
    assert set(numbers(ask(copies, mmr=None))) == set(range(5))
    spread = numbers(ask(copies, mmr=0.4))
    assert spread[0] == 0
    assert sum(one < 10 for one in spread) == 1


def test_the_answer_tells_what_was_taken_off(copies):
    first, second, *_ = ask(copies, mmr=0.5).hits
    assert (first.spread.relevance, first.spread.taken_off) == (pytest.approx(1), 0)
    assert second.spread.taken_off == pytest.approx(0.5 * second.spread.likeness)
    assert 0 < second.spread.likeness < 1
    assert second.score == second.signals["cosine"], "the score stays what the profile says"
    assert ask(copies, mmr=None).hits[0].spread is None


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("mmr", [0.0, 0.7])
def test_as_many_are_answered_by_every_profile(copies, profile, mmr):
    for k in (1, 5, 17, 50):
        found = ask(copies, mmr=mmr, profile=profile, top_k=k)
        assert len({hit.episode.id for hit in found.hits}) == min(k, 17)
        assert "mmr" in {one.name for one in found.stages}


def test_all_relevance_is_as_without(copies):
    assert numbers(ask(copies, mmr=1.0)) == numbers(ask(copies, mmr=None))
    assert "mmr" not in {one.name for one in ask(copies, mmr=1.0).stages}


def test_without_vectors_the_words_tell_what_is_alike(caller):
    say(caller, *["Ana: The heron is in the pond again."] * 3, "Ana: Father saw a heron at the lake in May.")
    found = ask(caller, mmr=0.3, profile="keyword", top_k=2)
    assert len({hit.episode.text for hit in found.hits}) == 2

"""BM25's scores: their properties, and two independent witnesses of values and order."""

import math
import sqlite3

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lexical.bm25 import K1, B, scores
from tests.lexical.corpus import Corpus, draw_corpus

LIMIT = 20  # how far down a ranking is compared


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return draw_corpus()


@st.composite
def candidates(draw: st.DrawFn) -> dict:
    """Any candidates, also such as no store would hold: longer in occurrences than in length."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 5)))
    return {
        "counts": draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 50))),
        "lengths": draw(arrays.arrays(np.int64, shape[0], elements=st.integers(0, 500))),
        "idf": draw(arrays.arrays(np.float64, shape[1], elements=st.floats(0.01, 20))),
        "mean_length": draw(st.just(0.0) | st.floats(0.01, 500)),
    }


def ours(corpus: Corpus, query: list[str], idf: np.ndarray | None = None) -> np.ndarray:
    weights = corpus.statistics.idf(query) if idf is None else idf
    return scores(
        counts=corpus.counts_of(query),
        lengths=corpus.lengths,
        idf=weights,
        mean_length=corpus.statistics.mean_length,
    )


def ranking(scored: np.ndarray) -> list[int]:
    """The best candidates; those that tie to ten digits stand by their number."""
    found = np.flatnonzero(scored > 0)
    return sorted(found.tolist(), key=lambda one: (-float(f"{scored[one]:.10g}"), one))[:LIMIT]


def test_the_corpus_is_worth_asking(corpus: Corpus):
    assert len(corpus.documents) >= 500
    assert len(corpus.queries) >= 50
    lengths = sorted(corpus.lengths)
    assert lengths[-50] > 8 * lengths[50]
    found = [np.count_nonzero(ours(corpus, query)) for query in corpus.queries]
    assert sum(count > LIMIT for count in found) >= 50


def test_values_and_order_are_those_of_bm25s(corpus: Corpus):
    """Its formula leaves out the constant factor k1 + 1."""
    other = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    other.index(corpus.documents, show_progress=False)
    for query in corpus.queries:
        expected = other.get_scores(query) * (K1 + 1)
        scored = ours(corpus, query)
        np.testing.assert_allclose(scored, expected, rtol=1e-9, atol=1e-12)
        assert ranking(scored) == ranking(expected)


@pytest.fixture(scope="module")
def fts5(corpus: Corpus) -> sqlite3.Connection:
    """SQLite's full-text search over the very lexemes, without folding or stemming of its own."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE d USING fts5(t, tokenize='unicode61 remove_diacritics 0')")
    connection.executemany(
        "INSERT INTO d(rowid, t) VALUES (?, ?)",
        [(number, " ".join(lexemes)) for number, lexemes in enumerate(corpus.documents)],
    )
    return connection


def scores_of_fts5(connection: sqlite3.Connection, query: list[str], documents: int) -> np.ndarray:
    found = connection.execute(
        "SELECT rowid, -bm25(d) FROM d WHERE d MATCH ?", (" OR ".join(f'"{one}"' for one in query),)
    )
    scored = np.zeros(documents)
    for number, score in found:
        scored[number] = score
    return scored


def queries_of_fts5(corpus: Corpus) -> list[list[str]]:
    """Those with no word in half of the documents: FTS5 gives such a word next to no weight."""
    half = corpus.statistics.documents / 2
    frequencies = corpus.statistics.frequencies
    return [query for query in corpus.queries if all(frequencies.get(one, 0) < half for one in query)]


def test_the_order_of_each_word_is_that_of_fts5(corpus: Corpus, fts5: sqlite3.Connection):
    words = sorted({word for query in queries_of_fts5(corpus) for word in query})
    assert len(words) >= 150
    for word in words:
        assert ranking(ours(corpus, [word])) == ranking(scores_of_fts5(fts5, [word], len(corpus.documents)))


def test_values_and_order_are_those_of_fts5_with_its_idf(corpus: Corpus, fts5: sqlite3.Connection):
    """Over several words the weights count as well: ours differ by the 1 inside the logarithm."""
    queries = queries_of_fts5(corpus)
    assert len(queries) >= 50
    statistics = corpus.statistics
    for query in queries:
        frequencies = np.array([statistics.frequencies.get(one, 0) for one in query])
        idf = np.log((statistics.documents - frequencies + 0.5) / (frequencies + 0.5))
        expected = scores_of_fts5(fts5, query, len(corpus.documents))
        scored = ours(corpus, query, idf)
        np.testing.assert_allclose(scored, expected, rtol=1e-9, atol=1e-12)
        assert ranking(scored) == ranking(expected)


def test_the_order_is_nearly_that_of_fts5_with_our_own_idf(corpus: Corpus, fts5: sqlite3.Connection):
    """Of the pairs that FTS5 orders, ours orders nearly all alike."""
    shares = []
    for query in queries_of_fts5(corpus):
        expected, scored = scores_of_fts5(fts5, query, len(corpus.documents)), ours(corpus, query)
        if not (found := np.flatnonzero(expected)).size:
            continue
        theirs = np.sign(np.round(expected[found, None] - expected[None, found], 9))
        alike = np.sign(np.round(scored[found, None] - scored[None, found], 9)) == theirs
        shares.append(alike.mean())
    assert np.mean(shares) > 0.98


def test_a_score_is_the_formulas():
    score = scores(
        counts=np.array([[2, 0, 1]]), lengths=np.array([30]), idf=np.array([2.0, 5.0, 3.0]), mean_length=20.0
    )
    saturation = 1.2 * (0.25 + 0.75 * 1.5)
    assert math.isclose(score[0], 2 * 2 * 2.2 / (2 + saturation) + 3 * 1 * 2.2 / (1 + saturation))


@given(candidates(), st.data())
def test_a_further_occurrence_never_lowers_a_score(drawn, data):
    row = data.draw(st.integers(0, drawn["counts"].shape[0] - 1))
    column = data.draw(st.integers(0, drawn["counts"].shape[1] - 1))
    more = drawn["counts"].copy()
    more[row, column] += 1
    before, after = scores(**drawn), scores(**{**drawn, "counts": more})
    assert after[row] > before[row]
    assert np.array_equal(np.delete(after, row), np.delete(before, row))


@given(candidates())
def test_a_longer_candidate_never_scores_more(drawn):
    assert np.all(scores(**{**drawn, "lengths": drawn["lengths"] + 1}) <= scores(**drawn))


@given(candidates(), st.data())
def test_a_heavier_lexeme_never_lowers_a_score(drawn, data):
    column = data.draw(st.integers(0, drawn["counts"].shape[1] - 1))
    heavier = drawn["idf"].copy()
    heavier[column] += 1
    assert np.all(scores(**{**drawn, "idf": heavier}) >= scores(**drawn))


@given(candidates(), st.randoms(use_true_random=False))
def test_the_order_of_candidates_changes_nothing_to_the_last_digit(drawn, shuffle):
    order = list(range(len(drawn["lengths"])))
    shuffle.shuffle(order)
    shuffled = {**drawn, "counts": drawn["counts"][order], "lengths": drawn["lengths"][order]}
    assert np.array_equal(scores(**shuffled), scores(**drawn)[order])


@pytest.mark.parametrize("number", range(2, 40))
def test_candidates_that_are_alike_tie_however_many_they_are(number):
    counts = np.tile(np.arange(11), (number, 1))
    weights = np.random.default_rng(1).random(11)
    scored = scores(counts=counts, lengths=np.full(number, 60), idf=weights, mean_length=50.0)
    assert len(set(scored)) == 1


@given(candidates())
def test_scores_are_finite_and_only_what_holds_a_lexeme_has_one(drawn):
    scored = scores(**drawn)
    assert scored.dtype == np.float64
    assert np.all(np.isfinite(scored))
    assert np.array_equal(scored > 0, drawn["counts"].any(axis=1))


def test_without_a_mean_length_every_length_counts_as_the_mean():
    drawn = {"counts": np.array([[1], [1]]), "idf": np.array([1.0])}
    unknown = scores(**drawn, lengths=np.array([1, 1000]), mean_length=0.0)
    assert unknown.tolist() == scores(**drawn, lengths=np.array([7, 7]), mean_length=7.0).tolist()


@pytest.mark.parametrize(("candidates", "lexemes"), [(0, 3), (3, 0), (0, 0)])
def test_no_candidates_and_no_lexemes_are_fine(candidates, lexemes):
    scored = scores(
        counts=np.zeros((candidates, lexemes), dtype=np.int32),
        lengths=np.zeros(candidates),
        idf=np.zeros(lexemes),
        mean_length=0.0,
    )
    assert scored.tolist() == [0.0] * candidates

"""The ranks are BM25's: compared with one that is computed from the texts alone."""

from collections import OrderedDict

import pytest

from lexical import matching
from observations import querysets, statistics
from tests.observations.notes import delete, fill, note, search
from tests.observations.texts import WORDS, Book, random_queries, random_texts


def pairs(hits):
    return [(hit.observation.id, hit.rank) for hit in hits]


def assert_same(told, expected, text):
    """Ranks to the last digits; the order too, where ranks differ by more than rounding."""
    assert [rank for _one, rank in told] == pytest.approx([rank for _one, rank in expected], rel=1e-9), text
    ranks = dict(expected)
    assert all(ranks.get(one, rank) == pytest.approx(rank, rel=1e-9) for one, rank in told), text
    assert [one for one, _rank in told if one not in ranks] == [], text


@pytest.mark.parametrize("mode", ["any", "all"])
def test_ranks_and_order_are_those_of_the_book(caller, mode):
    book = Book(fill(caller, random_texts(400, seed=1), title="A title", topic_key=""))
    for text in [*random_queries(40, seed=2), "titl w0x", "t", "w0x w0x w1x", "a title w3x"]:
        told = pairs(search(caller, text, mode=mode, limit=1_000))
        telling = text.replace("a title", "title") if mode == "any" else text  # "a" is a stop word
        assert_same(told, book.best(telling, 1_000, every=mode == "all"), text)


def test_what_is_global_counts_with_the_projects_own(caller):
    own = fill(caller, random_texts(60, seed=3))
    shared = fill(caller, random_texts(60, seed=4), project="billing", scope="global")
    fill(caller, random_texts(60, seed=5), project="billing")
    book = Book([*own, *shared])
    for text in random_queries(20, seed=6):
        assert_same(pairs(search(caller, text, mode="any", limit=500)), book.best(text, 500), text)


def test_what_is_deleted_counts_no_more(caller):
    rows = fill(caller, random_texts(80, seed=7))
    for row in rows[::3]:
        delete(caller, row.id)
    book = Book([row for n, row in enumerate(rows) if n % 3])
    for text in random_queries(20, seed=8):
        assert_same(pairs(search(caller, text, mode="any", limit=500)), book.best(text, 500), text)


@pytest.mark.parametrize("projects", [1, 2, 40])
def test_occurrences_are_counted_exactly_up_to_256(caller, projects):
    """They are read back from a rank in single precision; PostgreSQL keeps no more positions."""
    times = [*range(1, 257), 300, 900]
    fill(caller, ["word " * n for n in times])
    for n in range(1, projects):
        fill(caller, ["other"], project=f"p{n}")
    read = []
    count = matching.counts_of

    def spy(ranks, alternatives):
        read.append(count(ranks, alternatives))
        return read[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "counts_of", spy)
        search(caller, "word", mode="any", limit=1_000, project="orders" if projects == 1 else None)
    assert sorted(int(one) for matrix in read for one in matrix[:, 0]) == [*range(1, 257), 256, 256]


@pytest.mark.parametrize("few", [1, 50, 10**6])
def test_the_shortcut_by_rare_words_finds_the_same_ten(caller, monkeypatch, few):
    monkeypatch.setattr(matching, "FEW", few)
    book = Book(fill(caller, random_texts(2_000, seed=9)))
    asked, find = [], querysets.find
    monkeypatch.setattr(querysets, "find", lambda **given: asked.append(given["wanted"]) or find(**given))
    queries = random_queries(50, seed=10)
    for text in queries:
        assert_same(pairs(search(caller, text, mode="any", limit=10)), book.best(text, 10), text)
    looks = len(asked) / len(queries)
    assert looks == 1 if few == 10**6 else 1 < looks < 4, "some took a second look, few a third"


@pytest.mark.parametrize("limit", [1, 3, 250])
def test_the_shortcut_holds_for_other_limits(caller, monkeypatch, limit):
    monkeypatch.setattr(matching, "FEW", 1)
    book = Book(fill(caller, random_texts(500, seed=11)))
    for text in random_queries(25, seed=12):
        assert_same(pairs(search(caller, text, mode="any", limit=limit)), book.best(text, limit), text)


def test_of_a_long_query_the_heaviest_words_count(caller):
    book = Book(fill(caller, random_texts(300, seed=13)))
    words = WORDS[:60]
    heaviest = sorted(words, key=book.weight, reverse=True)[: matching.MOST_TERMS]
    for unknown in ("", " ".join(f"unknown{n}" for n in range(80))):
        told = pairs(search(caller, f"{unknown} {' '.join(words)}", mode="any", limit=1_000))
        assert_same(told, book.best(" ".join(heaviest), 1_000), unknown)


def test_a_long_query_over_many_projects_is_answered(caller):
    for n in range(60):
        fill(caller, random_texts(2, seed=n), project=f"p{n}")
    text = " ".join(WORDS[:80])
    assert len(search(caller, text, mode="any", project=None, limit=20)) == 20
    assert search(caller, text, mode="all", project=None) == []


class TestKeptFigures:
    """Of a large corpus the figures are kept for a while."""

    @pytest.fixture(autouse=True)
    def _large(self, monkeypatch):
        monkeypatch.setattr(statistics, "SMALL", 0)

    def test_what_is_new_is_found_at_once(self, caller):
        fill(caller, ["old word"])
        assert search(caller, "fresh", mode="any") == []
        note(caller, "a fresh word", title="new")
        (hit,) = search(caller, "fresh", mode="any")
        assert hit.rank < 0
        assert len(search(caller, "word", mode="all")) == 2

    def test_figures_are_counted_again_when_their_time_is_over(self, caller, monkeypatch):
        clock = [1_000.0]
        monkeypatch.setattr(statistics.time, "monotonic", lambda: clock[0])
        rows = fill(caller, random_texts(50, seed=14))
        old = Book(rows)
        text = " ".join(WORDS[:3])
        assert_same(pairs(search(caller, text, mode="any", limit=99)), old.best(text, 99), text)
        rows += fill(caller, random_texts(50, seed=15))
        (best, rank), *_rest = pairs(search(caller, text, mode="any", limit=99))
        assert rank != pytest.approx(Book(rows).score(best, WORDS[:3]))
        clock[0] += statistics.SERVES + 1
        assert_same(pairs(search(caller, text, mode="any", limit=200)), Book(rows).best(text, 200), text)

    def test_when_too_many_words_are_kept_none_is_taken_for_unknown(self, caller, monkeypatch):
        monkeypatch.setattr(statistics, "WORDS_KEPT", 2)
        book = Book(fill(caller, random_texts(60, seed=16)))
        for text in ["w0x w1x w2x", "w0x w1x w2x w3x", "w3x w4x w5x", "w0x w5x w6x"] * 2:
            assert_same(pairs(search(caller, text, mode="any", limit=99)), book.best(text, 99), text)

    def test_when_too_many_corpora_are_kept_the_oldest_go(self, caller, monkeypatch):
        monkeypatch.setattr(statistics, "CORPORA_KEPT", 2)
        monkeypatch.setattr(statistics, "_kept", OrderedDict())
        for n in range(5):
            fill(caller, ["word"], project=f"p{n}")
            assert len(search(caller, "word", project=f"p{n}")) == 1
        assert len(statistics._kept) <= 2


@pytest.mark.parametrize("small", [0, 1_000])
def test_a_users_ranks_tell_nothing_of_what_another_writes(acme, monkeypatch, small):
    monkeypatch.setattr(statistics, "SMALL", small)
    monkeypatch.setattr(statistics, "SERVES", 0.0)
    fill(acme.caller, random_texts(30, seed=17), user_id="ann")
    bound = acme.with_key(user_id="ann").caller
    text = " ".join(WORDS[:5])
    before = pairs(search(bound, text, mode="any", limit=99))
    assert before
    fill(acme.caller, random_texts(200, seed=18), user_id="bob")
    fill(acme.caller, random_texts(20, seed=19), project="billing", scope="global")
    assert pairs(search(bound, text, mode="any", limit=99)) == before

"""Search in documents: by words, by meaning, and only within the key's reach."""

import pytest
from django.db import connections
from prometheus_client import REGISTRY

from knowledge import querysets
from knowledge import search as search_module
from knowledge.keyword import mark, match_words
from knowledge.search import search_chunks
from knowledge.types import ChunkFilter, Reach
from lexical.analysis import analyse, analyse_query
from lexical.bm25 import Statistics, idf, most, scores
from lexical.tsvector import term
from tenants.errors import Forbidden
from tenants.scope import scope
from tests.knowledge.shelf import chunks, embed, ingest, search

FACTS = {
    "refunds": "Money is given back within fourteen days when the goods are returned unopened.",
    "shipping": "Parcels leave the warehouse every morning at nine o'clock.",
    "passwords": "A forgotten login is reset by the link in the mail.",
}


@pytest.fixture
def filled(caller):
    for name, text in FACTS.items():
        ingest(
            caller,
            text,
            title=name.title(),
            source=f"kb/{name}.txt",
            metadata={"topic": name, "tags": ["kb"]},
        )
    embed(caller)
    return caller


def test_a_question_finds_the_passage_that_answers_it_without_sharing_a_word(filled):
    assert search(filled, "I cannot get into my account any more")[0] == FACTS["passwords"]


def test_a_word_finds_what_holds_it(filled):
    (hit, *_rest) = search_chunks(caller=filled, query="warehouse", top_k=5, where=ChunkFilter())
    assert (hit.chunk.text, hit.document.source) == (FACTS["shipping"], "kb/shipping.txt")
    assert 0.3 < hit.score < 0.7
    assert hit.signals["bm25"] > 0
    assert hit.signals["cosine"] > 0.25


def test_top_k_is_the_most_that_is_answered(filled):
    assert len(search(filled, "goods parcels link", top_k=2)) == 2


def test_a_score_does_not_depend_on_what_else_is_found(filled):
    def score(**where):
        hits = search_chunks(caller=filled, query="warehouse goods", top_k=5, where=ChunkFilter(**where))
        return {hit.document.source: hit.score for hit in hits}

    among_all, alone = score(), score(source="kb/shipping.txt")
    assert len(among_all) == 2
    assert alone["kb/shipping.txt"] == among_all["kb/shipping.txt"]


def test_a_score_is_half_the_cosine_and_half_the_share_of_the_most_that_words_could_reach(filled):
    def first(query):
        return search_chunks(caller=filled, query=query, top_k=1, where=ChunkFilter())[0]

    by_meaning = first("I cannot get into my account any more")
    assert by_meaning.signals["bm25"] == 0
    assert by_meaning.score == pytest.approx(by_meaning.signals["cosine"] / 2)
    by_words = first("warehouse")
    share = by_words.score * 2 - by_words.signals["cosine"]
    assert share == pytest.approx(by_words.signals["bm25"] / most(idf(1, len(FACTS))))
    assert 0 < share < 1
    half = first("warehouse xyzzy")  # of which one word stands nowhere
    assert 0 < half.score * 2 - half.signals["cosine"] < share / 2


def test_without_the_model_a_word_in_every_place_is_no_more_than_half(caller, model_away):
    ingest(caller, "parcel " * 200)
    (hit,) = search_chunks(caller=caller, query="parcel", top_k=5, where=ChunkFilter())
    assert 0.4 < hit.score < 0.5


def words(caller, phrases):
    """What is found by words alone, in the open scope."""
    reach = Reach(caller.tenant_id)
    size = querysets.size_of(reach)
    return match_words(reach=reach, size=size, phrases=phrases, documents=None, limit=10).scores


@pytest.mark.parametrize(
    "query",
    ["xyzzy", "?!", "zzzz qqqq xxyyzz", "\x00", "\ud800", "who won the world cup", "best pizza in Naples"],
)
def test_what_no_document_speaks_of_finds_nothing(filled, query):
    ingest(filled, "Some notes.")  # short texts are a little like anything
    ingest(filled, "Money back.")
    embed(filled)
    assert search(filled, query) == []


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"source": "kb/refunds.txt"}, {"refunds"}),
        ({"title": "Shipping"}, {"shipping"}),
        ({"metadata": {"topic": "passwords"}}, {"passwords"}),
        ({"metadata": {"tags": ["kb"]}}, set(FACTS)),
        ({"metadata": {"topic": "nothing"}}, set()),
        ({"source": "kb/refunds.txt", "title": "Shipping"}, set()),
        ({"source": ""}, set()),
    ],
)
def test_a_filter_names_the_documents_that_are_searched(filled, where, found):
    texts = set(search(filled, "goods parcels login link warehouse", **where))
    assert texts == {FACTS[name] for name in found}


def test_a_project_sees_its_own_and_everybody_s_and_a_user_theirs_and_nobody_s(acme):
    caller = acme.caller
    for place in ({}, {"project": "apollo"}, {"project": "zeus"}, {"user_id": "ann"}, {"user_id": "bob"}):
        ingest(caller, f"Sesame {next(iter(place.values()), 'all')}.", **place)
    ingest(caller, "Sesame apollo ann.", project="apollo", user_id="ann")
    embed(caller)

    def found(by=caller, **where):
        return {text.removeprefix("Sesame ").rstrip(".") for text in search(by, "sesame", top_k=10, **where)}

    everything = {"all", "apollo", "zeus", "ann", "bob", "apollo ann"}
    assert found() == everything
    assert found(project="Apollo") == {"all", "apollo", "ann", "bob", "apollo ann"}
    assert found(user_id="ann") == {"all", "apollo", "zeus", "ann", "apollo ann"}
    for bindings, reached in (
        ({"project": "apollo"}, {"all", "apollo", "ann", "bob", "apollo ann"}),
        ({"agent_id": "apollo"}, {"all", "apollo", "ann", "bob", "apollo ann"}),
        ({"user_id": "ann"}, {"all", "apollo", "zeus", "ann", "apollo ann"}),
        ({"user_id": "bob", "project": "zeus"}, {"all", "zeus", "bob"}),
    ):
        bound = acme.with_key(**bindings).caller
        assert found(bound) == reached
    with pytest.raises(Forbidden):
        found(acme.with_key(project="apollo").caller, project="zeus")
    with pytest.raises(Forbidden):
        found(acme.with_key(user_id="ann").caller, user_id="bob")


def test_keyword_scores_are_those_of_bm25_counted_by_hand(filled):
    ingest(filled, "Parcels, parcels, parcels and one parcel more. " * 3)
    rows, phrases = chunks(filled), analyse_query("the parcels of the warehouse")
    lexemes = ["parcel", "warehous"]
    counts = [[analyse(row.text).count(lexeme) for lexeme in lexemes] for row in rows]
    lengths = [len(analyse(row.text)) for row in rows]
    frequencies = {lexeme: sum(1 for row in counts if row[n]) for n, lexeme in enumerate(lexemes)}
    figures = Statistics(len(rows), sum(lengths) / len(rows), frequencies)
    np = querysets.np
    expected = scores(
        counts=np.array(counts),
        lengths=np.array(lengths),
        idf=figures.idf(lexemes),
        mean_length=figures.mean_length,
    )
    with scope(filled.tenant_id):
        found = words(filled, phrases)
    by_hand = {row.id: value for row, value in zip(rows, expected.tolist(), strict=True) if value}
    assert found == pytest.approx(by_hand)
    assert list(found) == sorted(by_hand, key=lambda one: -by_hand[one])


def test_a_query_of_stop_words_alone_is_searched_all_the_same(filled):
    ingest(filled, "To be or not to be.")
    assert "To be or not to be." in search(filled, "to be or not to be")


def test_the_index_finds_what_comparing_every_vector_finds(filled, monkeypatch):
    exact = search(filled, "when do I get my money back", top_k=2)
    monkeypatch.setattr(search_module, "EXACT_UP_TO", 0)
    monkeypatch.setattr(querysets, "count_vectors", lambda: 0)
    asked = []
    nearest = querysets.nearest
    monkeypatch.setattr(querysets, "nearest", lambda **how: asked.append(how["exact"]) or nearest(**how))
    assert search(filled, "when do I get my money back", top_k=2) == exact
    assert asked == [False, True]  # few as they are, the index finds too few


def test_the_functions_confine_themselves_to_the_tenant_of_the_scope(filled, globex):
    """They see past row-level security."""
    stolen = term("warehous", mark(filled.tenant_id))
    with scope(globex.tenant.id):
        assert querysets.count(reach=Reach(filled.tenant_id), terms=[stolen]) == [0]
        found = querysets.find(
            reach=Reach(filled.tenant_id),
            wanted=stolen,
            terms=[stolen],
            weights=[1.0],
            mean_length=1.0,
            documents=None,
            most=10,
        )
    assert found == []
    with scope(filled.tenant_id):
        assert querysets.count(reach=Reach(filled.tenant_id), terms=[stolen]) == [1]


def test_only_the_index_of_words_is_read_for_candidates(filled):
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE knowledge_chunk")
    with scope(filled.tenant_id), connections["default"].cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SELECT pg_stat_get_xact_numscans('chunk_lexemes'::regclass)")
        (before,) = cursor.fetchone()
        words(filled, analyse_query("warehouse"))
        cursor.execute("SELECT pg_stat_get_xact_numscans('chunk_lexemes'::regclass)")
        assert cursor.fetchone()[0] >= before + 2


def test_recall_never_answers_documents(filled, acme):
    answer = acme.http.post("/api/v1/recall", json={"query": "warehouse", "user_id": "ann"})
    assert answer.json()["results"] == []


def test_searching_counts_as_no_recall(filled):
    before = REGISTRY.get_sample_value("memory_retrieval_seconds_count") or 0
    search(filled, "warehouse")
    assert (REGISTRY.get_sample_value("memory_retrieval_seconds_count") or 0) == before

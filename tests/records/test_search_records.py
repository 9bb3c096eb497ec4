"""Search among records: what is found, how it is ranked as a whole, and which part of it is answered."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from episodic import access, surveys
from episodic.access import note_access
from episodic.models import Episode
from episodic.record_tests import FieldTest
from episodic.sizes import forget_sizes
from episodic.types import EpisodeFilter
from ledger.models import RecallHour
from providers.embeddings import get_embedder
from recall import long_term
from recall.long_term import RecordQuery, search_records
from recall.ranking.recency import RecencyWeights
from tenants.embedding import knowing
from tenants.errors import Forbidden, Invalid, Unavailable
from tenants.scope import scope
from tests.episodic.conftest import model_away
from tests.recall.vectors import fill, unit_vectors
from tests.records.stored import put
from tests.restrictions.people import restrict

__all__ = ["model_away"]
NOW = timezone.now()
VECTORS = unit_vectors(120)
QUERY = unit_vectors(1, seed=9)[0]
COSINES = VECTORS.astype(np.float64) @ QUERY
WORDS = ("sesame bread roll", "sesame", "bread of sesame and sesame", "roll", "poppy seed")
ANA = EpisodeFilter(user_id="ana")
MODES = ("semantic", "keyword", "hybrid")


@pytest.fixture
def stored(acme):
    """Number 0 of today, each further one a day older; every second one is about food."""
    return fill(
        acme.caller, VECTORS, user_id="ana", created_at=lambda n: NOW - timedelta(days=n),
        text=lambda n: f"{WORDS[n % 5]} {n}", topics=lambda n: ["food"] if n % 2 else [],
        namespace=lambda n: f"n{n % 4}", external_id=lambda n: f"m{n}",
    )  # fmt: skip


@pytest.fixture(params=[False, True], ids=["all looked at", "in steps"])
def steps(request, monkeypatch):
    """Whether the subject is taken for a large one."""
    if request.param:
        monkeypatch.setattr(surveys, "EVERY", 8)
        monkeypatch.setattr(surveys, "STEPS", (10, 30, 60))
        monkeypatch.setattr(surveys, "SHARE", 1)
    return request.param


def ask(member, text="sesame roll", **asked):
    query = RecordQuery(text=text, **{"where": ANA, **asked})
    with knowing(text, QUERY):
        return search_records(caller=member.caller, query=query, now=NOW)


def numbers(found):
    return [int(one.episode.text.split()[-1]) for one in found.records]


def pages(member, size, **asked):
    """All of them, one after the other. What one tells counts as used when the next is asked for, and still
    stands before what was not told yet."""
    records, offset = [], 0
    while offset is not None:
        page = ask(member, limit=size, offset=offset, **asked)
        access.flush()
        records += page.records
        offset = page.next_offset
    return records, page.total


def use(member, *episodes, at=NOW):
    note_access(caller=member.caller, ids=[one.id for one in episodes], now=at)
    access.flush()


def by_formula(weights, used):
    """The numbers in their order, by the formula of the contract."""

    def score(n):
        recency = weights.freshness * 2 ** (-used.get(n, n) / weights.half_life_last_access_days)
        recency += weights.novelty * 2 ** (-n / weights.half_life_created_days)
        return weights.semantic * COSINES[n] + weights.recency * min(max(recency, 0), 1)

    return sorted(range(120), key=lambda n: -score(n))


@pytest.mark.parametrize("weights", [
    RecencyWeights(), RecencyWeights(semantic=0.1, recency=0.9), RecencyWeights(recency=0),
    RecencyWeights(freshness=1, novelty=0, half_life_last_access_days=1),
    RecencyWeights(freshness=0, novelty=1, half_life_created_days=400),
], ids=["usual", "lateness", "likeness", "use", "age"])  # fmt: skip
def test_everything_is_ranked_before_it_is_cut(acme, stored, steps, weights):
    use(acme, stored[100], stored[110])
    order = by_formula(weights, {100: 0, 110: 0})
    assert numbers(ask(acme, recency=weights)) == order[:10]
    use(acme, *stored)  # they are told, and count for later searches alone
    assert numbers(ask(acme, recency=None, limit=100)) == sorted(range(120), key=lambda n: -COSINES[n])[:100]


@pytest.mark.parametrize("mode", MODES)
def test_pages_are_the_parts_of_one_whole(acme, stored, steps, monkeypatch, mode):
    with monkeypatch.context() as patched:
        patched.setattr(long_term, "note_access", lambda **_named: None)
        whole_at_once = [one for n in (0, 100) for one in ask(acme, mode=mode, limit=100, offset=n).records]
    records, total = pages(acme, 13, mode=mode)
    assert [one.episode.id for one in records] == [one.episode.id for one in whole_at_once]
    assert total == len(records) == (96 if mode == "keyword" else 120)


def test_the_last_page_names_no_next_one(acme, stored):
    assert ask(acme, limit=20, offset=80).next_offset == 100
    assert ask(acme, limit=20, offset=100).next_offset is None
    past = ask(acme, limit=20, offset=500)
    assert (past.records, past.total, past.next_offset) == ((), 120, None)
    assert ask(acme, limit=1).total == 120


def test_a_distance_is_the_cosine_s_and_a_score_the_rest_to_one(acme, stored, steps):
    for one in ask(acme, limit=100).records:
        n = int(one.episode.text.split()[-1])
        assert one.distance == pytest.approx(1 - COSINES[n], abs=1e-5)
        assert one.score == pytest.approx(max(0, COSINES[n]), abs=1e-5)
        assert one.score_type == "semantic"


@pytest.mark.parametrize("threshold", [0.0, 0.9, 0.97, 1.0, 2.0])
def test_a_threshold_leaves_and_counts_what_is_near_enough(acme, stored, steps, threshold):
    expected = [n for n in by_formula(RecencyWeights(), {}) if 1 - COSINES[n] <= threshold]
    found = ask(acme, distance_threshold=threshold)
    assert numbers(found) == expected[:10]
    assert found.total == len(expected)


def test_words_find_what_holds_any_of_them_best_first(acme, stored, steps):
    found = ask(acme, "sesame bread", mode="keyword", recency=None, limit=100)
    assert found.total == len(found.records) == 72
    texts = [one.episode.text for one in found.records]
    assert all("sesame" in text for text in texts)
    assert "bread" not in texts[-1]
    assert "bread" in texts[0]
    scores = [one.score for one in found.records]
    assert scores[0] == 1
    assert scores == sorted(scores, reverse=True)
    assert all(one.distance == pytest.approx(1 - one.score) for one in found.records)
    assert found.records[0].score_type == "keyword"
    assert ask(acme, "nowhere", mode="keyword").total == 0
    assert ask(acme, "!?", mode="keyword").total == 0


@pytest.mark.parametrize(("alpha", "as_mode"), [(1.0, "semantic"), (0.0, "keyword")])
def test_hybrid_lies_between_the_two(acme, stored, steps, alpha, as_mode):
    asked = {"recency": None, "limit": 20}
    hybrid = ask(acme, mode="hybrid", alpha=alpha, **asked)
    assert (hybrid.records[0].score, hybrid.records[0].score_type) == (1, "hybrid")
    assert hybrid.total == 120
    if as_mode == "semantic":
        assert numbers(hybrid) == numbers(ask(acme, **asked))
    else:
        assert {WORDS[n % 5] for n in numbers(hybrid)} == {
            WORDS[n % 5] for n in numbers(ask(acme, mode="keyword", **asked))
        }


def test_a_hybrid_score_is_the_share_of_the_best(acme, stored):
    found = ask(acme, mode="hybrid", alpha=0.7, recency=None, limit=100)
    words = {numbers(found)[0]: 0.0} | {
        int(one.episode.text.split()[-1]): one.score
        for one in ask(acme, mode="keyword", recency=None, limit=100).records
    }
    raw = {n: 0.7 * max(0, COSINES[n]) + 0.3 * words.get(n, 0.0) for n in range(120)}
    best = max(raw.values())
    for one in found.records:
        assert one.score == pytest.approx(raw[int(one.episode.text.split()[-1])] / best, abs=1e-4)


FILTERS = [
    ((FieldTest("topics", "any", ("food",)),), 60),
    ((FieldTest("namespace", "eq", "n1"),), 30),
    ((FieldTest("namespace", "any", ("n1", "n2")), FieldTest("topics", "none", ("food",))), 30),
    ((FieldTest("created_at", "gte", NOW - timedelta(days=10)),), 11),
    ((FieldTest("user_id", "ne", "ana"),), 0),
]


@pytest.mark.parametrize(("tests", "count"), FILTERS, ids=range(len(FILTERS)))
def test_k_are_answered_where_k_meet_the_filter(acme, stored, steps, tests, count):
    where = EpisodeFilter(user_id="ana", tests=tests)
    found = ask(acme, where=where, limit=100)
    assert found.total == len(found.records) == count
    holding = ask(acme, where=where, limit=100, mode="keyword")
    assert holding.total == len(holding.records)
    for small in (1, 10):
        assert len(ask(acme, where=where, limit=small).records) == min(small, count)


def test_nobody_need_be_named(acme, stored, globex):
    assert ask(acme, where=EpisodeFilter()).total == 120
    assert ask(globex, where=EpisodeFilter()).total == 0
    assert ask(globex, where=EpisodeFilter(), mode="keyword").total == 0
    assert ask(globex, "", where=EpisodeFilter()).total == 0


@pytest.mark.parametrize("mode", MODES)
def test_a_bound_key_finds_its_own_user_s_alone(acme, stored, mode):
    put(acme.caller, {"user_id": "bob", "text": "sesame of bob"})
    bob = acme.with_key(user_id="bob")
    for where in (EpisodeFilter(), EpisodeFilter(tests=(FieldTest("user_id", "any", ("ana", "bob")),))):
        assert {one.episode.user_id for one in ask(bob, where=where, mode=mode).records} <= {"bob"}
        assert [one.episode.user_id for one in ask(bob, "", where=where).records] == ["bob"]
    assert ask(bob, where=EpisodeFilter(tests=(FieldTest("user_id", "eq", "ana"),)), mode=mode).total == 0
    with pytest.raises(Forbidden):
        ask(bob, where=ANA)


@pytest.mark.parametrize("mode", MODES)
def test_of_a_restricted_person_nothing_is_found_nor_counted(acme, stored, steps, mode):
    fill(acme.caller, VECTORS[:3], user_id="bob", text=lambda n: f"sesame roll {n}")
    restrict(acme, "ana")
    for where, count in ((EpisodeFilter(), 3), (ANA, 0)):
        found = ask(acme, where=where, mode=mode)
        assert found.total == len(found.records) == count
        assert ask(acme, "", where=where).total == count


def test_an_empty_namespace_stays_empty(acme, stored):
    for text in ("sesame", ""):
        where = EpisodeFilter(tests=(FieldTest("namespace", "eq", "another"),))
        assert ask(acme, text, where=where).total == 0


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_without_text_all_is_listed_newest_first(acme, stored, text, model_away):
    query = RecordQuery(text=text, where=ANA, limit=10, offset=5)
    found = search_records(caller=acme.caller, query=query, now=NOW)
    assert numbers(found) == list(range(5, 15))
    assert (found.total, found.next_offset) == (120, 15)
    assert {(one.distance, one.score, one.score_type) for one in found.records} == {(0.0, None, None)}


def test_what_holds_no_more_is_not_found(acme, stored):
    with scope(acme.tenant.id):
        Episode.objects.filter(id=stored[1].id).update(valid_to=NOW - timedelta(hours=1))
    forget_sizes()
    where = EpisodeFilter(user_id="ana", tests=(FieldTest("topics", "any", ("food",)),))
    for mode in MODES:
        assert 1 not in numbers(ask(acme, where=where, mode=mode, limit=100))
    assert 1 not in numbers(ask(acme, "", limit=100))


def test_what_waits_for_its_vector_is_found_by_words(acme, stored):
    (late,) = put(acme.caller, {"user_id": "ana", "text": "sesame late 777"})
    with scope(acme.tenant.id):
        Episode.objects.filter(id=late.id).update(embed_pending=True)
    assert 777 not in numbers(ask(acme, limit=100))
    for mode in ("keyword", "hybrid"):
        assert 777 in [n for page in (0, 100) for n in numbers(ask(acme, mode=mode, limit=100, offset=page))]


def test_what_is_answered_counts_as_used(acme, stored):
    found = ask(acme, limit=3)
    assert {one.used.access_count for one in found.records} == {0}
    access.flush()
    again = ask(acme, limit=100)
    used = {one.episode.id for one in again.records if one.used.access_count}
    assert used == {one.episode.id for one in found.records}
    assert {one.used.last_accessed_at for one in again.records if one.episode.id in used} == {NOW}


def test_a_search_counts_in_the_hour_s_account(acme, stored):
    from ledger import latency

    ask(acme)
    latency.flush()
    with scope(acme.tenant.id):
        assert sum(map(sum, RecallHour.objects.filter(tenant=acme.tenant).values_list("buckets", flat=True)))


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_with_the_model_away_words_find(acme, stored, model_away, mode):
    query = RecordQuery(text="sesame", mode=mode, where=ANA)
    found = search_records(caller=acme.caller, query=query, now=NOW)
    assert found.total == 72
    assert {one.score_type for one in found.records} == {"keyword"}
    assert [(one.name, one.status) for one in found.stages][:2] == [("embed", "failed"), ("words", "ok")]


def test_with_the_model_away_what_needs_it_is_unavailable(acme, stored, model_away):
    for asked in ({"text": "sesame", "distance_threshold": 0.5}, {"text": "!?"}):
        with pytest.raises(Unavailable):
            search_records(caller=acme.caller, query=RecordQuery(where=ANA, **asked), now=NOW)


def test_of_too_many_users_words_are_not_looked_for(acme, monkeypatch):
    monkeypatch.setattr("episodic.keyword.MOST_CORPORA", 2)
    fill(acme.caller, VECTORS[:9], user_id=lambda n: f"u{n}", text=lambda n: f"sesame {n}")
    for mode in ("keyword", "hybrid"):
        found = ask(acme, "sesame", where=EpisodeFilter(), mode=mode)
        assert found.total == 9
        assert {one.score_type for one in found.records} == {"semantic"}
        assert ("words", "skipped") in [(one.name, one.status) for one in found.stages]


@pytest.mark.parametrize(("asked", "field"), [
    ({"mode": "keyword", "distance_threshold": 0.5}, "distance_threshold"),
    ({"mode": "hybrid", "distance_threshold": 0.5}, "distance_threshold"),
    ({"limit": 0}, "limit"), ({"limit": 101}, "limit"), ({"offset": -1}, "offset"),
])  # fmt: skip
def test_what_cannot_be_asked_is_refused_by_its_name(acme, asked, field):
    with pytest.raises(Invalid) as refused:
        ask(acme, **asked)
    assert refused.value.field == field


def test_weights_below_zero_still_rank_everything(acme, stored, steps):
    weights = RecencyWeights(semantic=-1.0, recency=0.2)
    assert numbers(ask(acme, recency=weights)) == by_formula(weights, {})[:10]


def test_the_real_model_finds_the_answer_first(acme):
    texts = ["Ana prefers window seats.", "The deployment runs on Kubernetes.", "Bob cooks on Sundays."]
    vectors = get_embedder().embed(texts)
    fill(acme.caller, vectors, user_id="ana", text=lambda n: texts[n])
    query = RecordQuery(text="Where does Ana like to sit on a plane?", where=ANA)
    found = search_records(caller=acme.caller, query=query, now=NOW)
    assert found.records[0].episode.text == texts[0]
    assert found.query_used == "Where does Ana like to sit on a plane?"

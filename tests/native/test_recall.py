from concurrent.futures import ThreadPoolExecutor

import pytest

from recall.ranking.weights import default_weights
from tests.native.shapes import problem
from tests.observations.notes import note
from tests.recall.vectors import fill, unit_vectors

URL = "/api/v1/recall"
FACTS = {
    "parcel": "The parcel of order 4411 is stuck at customs in Rotterdam.",
    "dog": "Kim's dog is called Rex and is afraid of thunder.",
    "train": "Kim prefers night trains to flights.",
}


def ask(member, query="Which pet does Kim have?", **named):
    answer = member.http.post(URL, json={"query": query, **named})
    assert answer.status_code == 200, answer.text
    return answer.json()


def remember(member, facts=FACTS, **named):
    named = {"user_id": "u1"} | named
    posted = (member.http.post("/api/v1/episodes", json={"text": text, **named}) for text in facts.values())
    return [one.json() for one in posted]


def test_the_nearest_in_meaning_comes_first(acme):
    remember(acme)
    answer = ask(acme, user_id="u1")
    assert answer.keys() == {"results", "stages", "query_used"}
    assert answer["results"][0]["text"] == FACTS["dog"]
    scores = [one["score"] for one in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert answer["query_used"] == "Which pet does Kim have?"
    assert [(one["name"], one["status"]) for one in answer["stages"]] == [
        (name, "ok") for name in ("words", "embed", "vector", "around", "fusion", "load")
    ]


def test_a_hit_shows_what_was_stored(acme):
    (stored,) = remember(acme, {"dog": FACTS["dog"]}, agent_id="ada", session_id="s", topics=["pets"])
    (hit,) = ask(acme, user_id="u1")["results"]
    assert hit["kind"] == "episode"
    assert hit["signals"].keys() == {"cosine", "bm25", "recency", "entity", "neighbour"}
    shared = hit.keys() & stored.keys()
    assert {"id", "text", "memory_type", "session_id", "topics", "metadata", "created_at"} <= shared
    assert {name: hit[name] for name in shared} == {name: stored[name] for name in shared}
    assert "explain" not in hit


def test_what_stands_alone_is_lent_what_it_says_itself(acme):
    remember(acme)
    weights = dict(zip(default_weights().names, default_weights().values.tolist(), strict=True))
    for one in ask(acme, user_id="u1")["results"]:
        assert one["session_id"] is None
        own = one["signals"]
        by_meaning = (weights["meaning_around"] + weights["session_meaning"]) * own["cosine"]
        lent = by_meaning + weights["session_words"] * own["bm25"]
        assert own["neighbour"] == pytest.approx(lent)


def test_explain_tells_how_the_score_came_about(acme):
    remember(acme)
    results = ask(acme, user_id="u1", explain=True)["results"]
    assert [one["explain"]["rank"] for one in results] == [1, 2, 3]
    for one in results:
        assert sum(one["explain"]["added"].values()) == pytest.approx(one["score"])
    assert "3.331 · words" in results[0]["explain"]["formula"]
    fused = ask(acme, user_id="u1", explain=True, profile="fused")["results"]
    assert fused[0]["explain"] == {
        "rank": 1, "arm": "vector", "model": "all-MiniLM-L6-v2", "added": {},
        "formula": "score = 0.75 · cosine + 0.25 · recency + entity", "variant": None,
    }  # fmt: skip


def test_a_text_recalls_itself_with_cosine_one(acme):
    remember(acme)
    best = ask(acme, FACTS["train"], user_id="u1", top_k=1)["results"]
    assert [one["text"] for one in best] == [FACTS["train"]]
    assert best[0]["signals"]["cosine"] == pytest.approx(1, abs=1e-5)


def test_a_question_may_weigh_likeness_and_age_itself(acme):
    remember(acme, event_date="2020-01-01T00:00:00Z")
    remember(acme, {"new": "Nothing of that."})
    question = {"query": FACTS["dog"], "user_id": "u1", "explain": True}
    assert ask(acme, **question, profile="fused")["results"][0]["text"] == FACTS["dog"]
    hit = ask(acme, **question, alpha=0.1, decay=0.5)["results"][0]
    assert hit["text"] == "Nothing of that."
    assert hit["explain"]["formula"] == "score = 0.1 · cosine + 0.9 · recency + entity"
    signals = hit["signals"]
    assert hit["score"] == pytest.approx(0.1 * signals["cosine"] + 0.9 * signals["recency"])


def test_filters_are_combined(acme):
    remember(acme, {"a": "a"}, agent_id="ada", session_id="s1", topics=["x", "y"])
    remember(acme, {"b": "b"}, agent_id="bob", memory_type="semantic", event_date="2020-01-01T00:00:00Z")
    remember(acme, {"c": "c"}, user_id="u2", agent_id="ada", topics=["y", "z"])

    def found(**named):
        return sorted(one["text"] for one in ask(acme, **named)["results"])

    assert found(user_id="u1") == ["a", "b"]
    assert found(agent_id="ada") == ["a", "c"]
    assert found(user_id="u1", agent_id="ada") == ["a"]
    assert found(session_id="s1") == ["a"]
    assert found(agent_id="ada", topics=["z", "unknown"]) == ["c"]
    assert found(user_id="u1", memory_type=["semantic", "message"]) == ["b"]
    assert found(user_id="u1", until="2021-01-01T00:00:00Z") == ["b"]
    assert found(user_id="u1", since="2021-01-01T00:00:00Z") == ["a"]
    assert found(user_id="nobody") == []


def test_a_question_about_nobody_is_refused(acme):
    remember(acme)
    problem(acme.http.post(URL, json={"query": "dog"}), 422, "user_id")


def test_scope_admin_may_ask_about_everybody(acme, globex):
    remember(acme)
    remember(globex)
    admin = acme.with_key(scopes=("admin",))
    assert len(ask(admin, top_k=100)["results"]) == 3


@pytest.mark.parametrize("binding", ["user_id", "agent_id", "project"])
def test_a_bound_key_names_its_subject_by_itself_and_no_other(acme, binding):
    bound = acme.with_key(**{binding: "mine"})
    bound.http.post("/api/v1/episodes", json={"text": FACTS["dog"]})
    remember(acme)
    assert len(ask(bound)["results"]) == 1
    problem(bound.http.post(URL, json={"query": "dog", binding: "yours"}), 403)


def test_globex_does_not_recall_what_acme_remembers(acme, globex):
    remember(acme)
    assert ask(globex, user_id="u1")["results"] == []


@pytest.mark.parametrize(("change", "field"), [
    ({"query": ""}, "query"), ({"query": None}, "query"), ({"top_k": 0}, "top_k"), ({"top_k": 201}, "top_k"),
    ({"colour": 1}, "colour"), ({"memory_type": ["dream"]}, "memory_type.0"), ({"since": "soon"}, "since"),
    ({"alpha": 1.01}, "alpha"), ({"alpha": -0.1}, "alpha"), ({"alpha": "nan"}, "alpha"),
    ({"alpha": True}, "alpha"), ({"decay": 10.1}, "decay"), ({"decay": -1}, "decay"),
    ({"decay": 10**400}, "decay"), ({"topics": "x"}, "topics"), ({"explain": "perhaps"}, "explain"),
])  # fmt: skip
def test_what_is_not_valid_is_named(acme, change, field):
    problem(acme.http.post(URL, json={"query": "x", "user_id": "u1", **change}), 422, field)


def test_the_query_is_required(acme):
    problem(acme.http.post(URL, json={"user_id": "u1"}), 422, "query")


def test_as_many_as_asked_for_are_answered_every_time(acme):
    """A connection's plans may change after some executions; the answers may not."""
    fill(acme.caller, unit_vectors(40), user_id="u1", topics=lambda n: ["few"] if n % 5 == 0 else [])
    topics = [["few"], ["few", "none"], ["few", "fewer"]]
    queries = [{"query": f"{n}", "user_id": "u1", "top_k": 5, "topics": topics[n % 3]} for n in range(1_000)]
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda query: len(ask(acme, **query)["results"]), queries))
    assert counts == [5] * 1_000


@pytest.mark.parametrize("query", [
    "dog", "🐳🐳", "'; DROP TABLE agent_episodes; --", "a" * 10_000, "word " * 2_000, "1",
    "Welches Haustier hat Kim?", "キムさんの犬は何ですか", "how what when", "tsquery & | ! ( ) :* <->", "'\\",
    "\u202edog", "%s %(x)s",
])  # fmt: skip
def test_whatever_is_asked_as_many_are_answered(acme, query):
    remember(acme)
    results = ask(acme, query, user_id="u1", top_k=3)["results"]
    assert len(results) == 3
    assert all(one["score"] == one["score"] for one in results), "a number"


@pytest.mark.parametrize("query", ["", " ", "\u200b", "\n\t"])
def test_nothing_is_no_query(acme, query):
    problem(acme.http.post(URL, json={"query": query, "user_id": "u1"}), 422, "query")


@pytest.mark.parametrize("top_k", [0, -1, 201, 1_000])
def test_a_number_out_of_bounds_is_refused(acme, top_k):
    problem(acme.http.post(URL, json={"query": "dog", "user_id": "u1", "top_k": top_k}), 422, "top_k")


def test_a_turn_is_stored_with_its_place_and_answers_the_one_before(acme):
    for place, text in enumerate(["Bo: What is your dog called?", "Kim: Rex.", "Bo: Nice weather."], 1):
        stored = acme.http.post("/api/v1/episodes", json={
            "text": text, "user_id": "u1", "session_id": "s", "memory_type": "message",
            "covers_turns": [place, place],
        })  # fmt: skip
        assert stored.json()["covers_turns"] == [place, place]
    best = ask(acme, "What is the dog called?", user_id="u1", top_k=2, explain=True)["results"]
    rex = next(one for one in best if one["text"] == "Kim: Rex.")
    assert rex["explain"]["added"]["answers"] > 0


@pytest.mark.parametrize("turns", [[2, 1], [1], [0, 1], [1, 2, 3], "1", [1.5, 2]])
def test_turns_that_are_no_span_are_refused(acme, turns):
    answer = acme.http.post("/api/v1/episodes", json={"text": "x", "covers_turns": turns})
    assert answer.status_code == 422


@pytest.fixture
def known(acme):
    remember(acme)
    acme.http.put("/api/v1/entities/u1/pet", json={"value": "a dog called Rex"})
    note(acme.caller, "Kim's dog must not be photographed.", title="Dogs", user_id="u1")
    return acme


def test_each_kind_of_memory_is_recalled_in_turn(known):
    kinds = ["entity", "observation", "episode"]
    results = ask(known, user_id="u1", kinds=kinds, top_k=5)["results"]
    assert [one["kind"] for one in results] == ["entity", "observation", "episode", "episode", "episode"]
    assert [one["text"] for one in results[:3]] == [
        "pet: a dog called Rex", "Dogs\nKim's dog must not be photographed.", FACTS["dog"],
    ]  # fmt: skip
    assert all(one.keys() == results[0].keys() for one in results)
    (slot,) = ask(known, user_id="u1", kinds=["entity"])["results"]
    assert slot["signals"].keys() == {"cosine", "entity"}, "the query names its key"
    assert slot["score"] == pytest.approx(sum(slot["signals"].values()))


def test_by_default_episodes_alone_are_recalled(known):
    assert {one["kind"] for one in ask(known, user_id="u1", top_k=20)["results"]} == {"episode"}


def test_kinds_that_cannot_be_asked_so_are_refused(known):
    problem(known.http.post(URL, json={"query": "x", "agent_id": "a", "kinds": ["entity"]}), 422, "user_id")
    moment = {"as_of": "2026-01-01T00:00:00Z", "kinds": ["observation"]}
    problem(known.http.post(URL, json={"query": "x", "user_id": "u1"} | moment), 422, "as_of")
    problem(known.http.post(URL, json={"query": "x", "user_id": "u1", "kinds": ["dream"]}), 422, "kinds.0")
    problem(known.http.post(URL, json={"query": "x", "user_id": "u1", "kinds": []}), 422, "kinds")


def test_a_bound_key_recalls_no_other_user_s_slots_or_observations(known):
    bound = known.with_key(user_id="u2")
    assert ask(bound, kinds=["entity", "observation", "episode"])["results"] == []


def test_by_keyword_only_what_holds_a_word_is_answered(acme):
    remember(acme)
    found = ask(acme, "Which trains are at customs?", user_id="u1", mode="keyword")
    assert [one["text"] for one in found["results"]] == [FACTS["train"], FACTS["parcel"]]
    assert "embed" not in {one["name"] for one in found["stages"]}
    assert ask(acme, "vehicle", user_id="u1", mode="keyword")["results"] == []


def test_a_mode_is_a_profile_by_another_name(acme):
    remember(acme)
    meant = ask(acme, user_id="u1", mode="semantic")
    assert [one["score"] for one in meant["results"]] == [
        one["signals"]["cosine"] for one in meant["results"]
    ]
    answer = acme.http.post(URL, json={"query": "x", "user_id": "u1", "mode": "semantic", "profile": "fused"})
    problem(answer, 422, "mode")


@pytest.mark.parametrize("named", [
    {"alpha": 0.5, "profile": "hybrid"}, {"alpha": 0.5, "profile": "recency"},
    {"alpha": 0, "mode": "semantic"},
    {"decay": 0.1, "profile": "similarity"}, {"decay": 0, "profile": "recency"},
    {"decay": 0.1, "mode": "semantic"},
])  # fmt: skip
def test_a_number_that_the_named_ranking_does_without_is_refused(acme, named):
    problem(acme.http.post(URL, json={"query": "x", "user_id": "u1", **named}), 422, next(iter(named)))


def test_a_number_that_the_named_ranking_knows_is_taken(acme):
    for named in ({"profile": "fused", "alpha": 1, "decay": 1}, {"mode": "hybrid", "decay": 1}, {"decay": 1}):
        assert ask(acme, "x", user_id="u1", **named)["results"] == []


@pytest.mark.parametrize(("kind", "field", "given"), [
    (kind, field, given)
    for field, given, kinds in (
        ("agent_id", "a", ("entity", "observation")), ("project", "p", ("entity",)),
        ("session_id", "s", ("entity",)), ("memory_type", ["semantic"], ("entity", "observation")),
        ("topics", ["t"], ("entity", "observation")), ("since", "2026-01-01T00:00:00Z", ("entity",)),
        ("until", "2026-01-01T00:00:00Z", ("entity",)),
        ("as_of", "2026-01-01T00:00:00Z", ("entity", "observation")),
    )
    for kind in kinds
])  # fmt: skip
def test_a_filter_that_a_kind_does_not_know_is_refused(acme, kind, field, given):
    body = {"query": "x", "user_id": "u1", "kinds": ["episode", kind], field: given}
    problem(acme.http.post(URL, json=body), 422, field)


def test_the_filters_that_observations_know_choose_among_them(known):
    def found(**named):
        return len(ask(known, kinds=["observation"], **named)["results"])

    assert found(user_id="u1") == 1
    assert found(user_id="u1", until="2020-01-01T00:00:00Z") == 0
    assert found(user_id="u1", project="another") == 0
    assert found(user_id="u1", session_id="another") == 0

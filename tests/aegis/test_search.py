"""Contract rows 9, 10 and 18."""

import numpy as np
import pytest

from providers.embeddings import get_embedder
from tests.conftest import make_member

SUMMARIES = [
    "Previously filed a Rule 37 exception for Mitchell Ranch 2H.",
    "Discussed spacing requirements for Spraberry Trend wells.",
    "Ordered a birthday cake with strawberries.",
    "Explained how photosynthesis turns light into sugar.",
    "Asked when the next bus to the harbour leaves.",
]
QUERY = "What are the spacing rules for our wells?"


@pytest.fixture(scope="module")
def library(server):
    """Five memories of agent `regulatory`, of alice and bob by turns, and one of another agent."""
    member = make_member("acme", server)
    for number, summary in enumerate(SUMMARIES):
        body = {
            "agent_id": "regulatory",
            "user_id": ["alice", "bob"][number % 2],
            "conversation_id": f"c{number}",
            "summary": summary,
            "key_decisions": [number],
            "entities_mentioned": {"n": number},
        }
        member.http.post("/episodic/store", json=body)
    other = {"agent_id": "another", "conversation_id": "x", "summary": SUMMARIES[1]}
    member.http.post("/episodic/store", json=other)
    return member


def search(member, path="/episodic/search", **body):
    return member.http.post(path, json={"query": QUERY, "agent_id": "regulatory", **body})


def expected():
    """Similarity to the query and summary, best first, by numpy."""
    query, *rows = get_embedder().embed([QUERY, *SUMMARIES]).astype(np.float64)
    cosines = [row @ query / np.linalg.norm(row) / np.linalg.norm(query) for row in rows]
    return sorted(zip(cosines, SUMMARIES, strict=True), reverse=True)


def test_similarity_is_one_minus_cosine_distance_best_first(library):
    found = search(library, top_k=5).json()
    assert [one["summary"] for one in found["results"]] == [summary for _, summary in expected()]
    assert [one["similarity"] for one in found["results"]] == pytest.approx(
        [cosine for cosine, _ in expected()], abs=1e-5
    )
    assert found["total"] == 5


def test_there_is_no_threshold_and_similarity_may_be_negative(library):
    found = search(library, query="zxqv 7 !!", top_k=5).json()
    assert found["total"] == 5
    assert all(-1 <= one["similarity"] <= 1 for one in found["results"])


def test_a_result_says_what_was_stored(library):
    best = search(library).json()["results"][0]
    assert best.keys() == {
        "id", "summary", "key_decisions", "entities_mentioned", "similarity", "conversation_id", "created_at",
    }  # fmt: skip
    assert best["summary"] == SUMMARIES[1]
    assert (best["key_decisions"], best["entities_mentioned"], best["conversation_id"]) == (
        [1],
        {"n": 1},
        "c1",
    )


def test_three_are_answered_unless_said_otherwise(library):
    assert search(library).json()["total"] == 3


@pytest.mark.parametrize("name", ["top_k", "limit", "k"])
def test_the_number_has_three_names(library, name):
    assert search(library, **{name: 2}).json()["total"] == 2
    assert search(library, **{name: 100}).json()["total"] == 5


@pytest.mark.parametrize("name", ["top_k", "limit", "k"])
@pytest.mark.parametrize("number", [0, -1, 101, 10**30, 1.5, "many", None, True, []])
def test_a_number_outside_1_to_100_is_refused(library, name, number):
    answer = search(library, **{name: number})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", name]


def test_the_seed_name_wins_over_its_aliases(library):
    assert search(library, top_k=1, limit=2, k=3).json()["total"] == 1


def test_only_the_agents_own_memories_are_searched(library):
    found = search(library, agent_id="another", top_k=100).json()
    assert [one["conversation_id"] for one in found["results"]] == ["x"]
    assert search(library, agent_id="nobody").json() == {"results": [], "total": 0}


def test_a_user_narrows_it(library):
    found = search(library, user_id="bob", top_k=100).json()
    assert {one["conversation_id"] for one in found["results"]} == {"c1", "c3"}


def test_user_and_namespace_may_stand_in_the_query(library):
    in_query = search(library, "/episodic/search?user_id=bob", top_k=100).json()
    assert {one["conversation_id"] for one in in_query["results"]} == {"c1", "c3"}
    assert search(library, "/episodic/search?namespace=elsewhere").json()["total"] == 0
    assert search(library, "/episodic/search?user_id=alice", user_id="bob").status_code == 422


@pytest.mark.parametrize("missing", ["agent_id", "query"])
def test_what_is_needed_is_named_when_it_is_missing(library, missing):
    body = {"query": QUERY, "agent_id": "regulatory"}
    del body[missing]
    answer = library.http.post("/episodic/search", json=body)
    assert answer.status_code == 422
    assert [problem["loc"] for problem in answer.json()["detail"]] == [["body", missing]]


def test_globex_finds_nothing_of_acme(library, globex):
    assert search(globex).json() == {"results": [], "total": 0}


def test_as_text_it_is_ready_to_inject(library):
    answer = search(library, "/episodic/search?format=text", top_k=2)
    (first, one), (second, two) = expected()[:2]
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text == (
        "[Episodic Memory -- Relevant Past Conversations]\n"
        f"- (similarity: {first:.2f}) {one}\n"
        f"- (similarity: {second:.2f}) {two}"
    )


def test_as_text_nothing_found_is_empty(globex):
    answer = search(globex, "/episodic/search?format=text")
    assert (answer.status_code, answer.text) == (200, "")


def test_as_text_an_error_is_still_json(library):
    answer = search(library, "/episodic/search?format=text", top_k=0)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/json")

"""What a request may choose, and what it may not: for every ranking."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from recall.types import PROFILES
from tests.conftest import make_member
from tests.native.shapes import problem
from tests.native.test_recall import FACTS, URL, ask, remember
from tests.recall.talking import decide

QUERIES = {
    "one word": "dog", "emoji": "🐳🐳", "SQL": "'; DROP TABLE agent_episodes; --", "long": "customs " * 1_250,
    "one long word": "a" * 10_000, "German": "Welches Haustier hat Kim?",
    "Japanese": "キムさんの犬は何ですか", "operators": "tsquery & | ! ( ) :* <->",
    "stop words": "how what when", "format": "%s %(x)s \\ \u202e",
}  # fmt: skip


@pytest.fixture(scope="module")
def kim(server):
    member = make_member("acme", server)
    remember(member)
    return member


def read(member, episode_id):
    return member.http.get(f"/api/v1/episodes/{episode_id}").json()


def wait_until_counted(member, episode_id):
    """The server writes accesses every two seconds."""
    end = timezone.now() + timedelta(seconds=15)
    while (found := read(member, episode_id))["access_count"] == 0:
        assert timezone.now() < end, "nothing was written"
    return found


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_whatever_is_asked_has_an_answer_by_every_profile(kim, profile, query):
    results = ask(kim, query, user_id="u1", top_k=3, profile=profile)["results"]
    assert all(isinstance(one["score"], float) for one in results)
    if profile != "keyword":
        assert len(results) == 3


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("change", "field"), [
    ({"query": ""}, "query"), ({"query": "  \n\u200b"}, "query"), ({"top_k": 0}, "top_k"),
    ({"top_k": -1}, "top_k"), ({"top_k": 1_000}, "top_k"), ({"top_k": 1.5}, "top_k"),
    ({"alpha": 1.1}, "alpha"), ({"alpha": -0.1}, "alpha"), ({"decay": -1}, "decay"),
    ({"mmr": 1.1}, "mmr"), ({"mmr": -0.1}, "mmr"), ({"mmr": "0.5"}, "mmr"), ({"mmr": [0.5]}, "mmr"),
    ({"count_access": "perhaps"}, "count_access"),
])  # fmt: skip
def test_what_is_out_of_bounds_is_refused_by_every_profile(kim, profile, change, field):
    body = {"query": "dog", "user_id": "u1", "profile": profile} | change
    problem(kim.http.post(URL, json=body), 422, field)


def test_a_profile_of_another_name_is_refused(kim):
    problem(kim.http.post(URL, json={"query": "x", "user_id": "u1", "profile": "newest"}), 422, "profile")


def test_the_ranking_by_recency_shows_what_it_is_made_of(kim):
    results = ask(kim, FACTS["dog"], user_id="u1", profile="recency", explain=True)["results"]
    assert results[0]["text"] == FACTS["dog"]
    for one in results:
        assert one["signals"].keys() == {"cosine", "recency"}
        made = 0.8 * one["signals"]["cosine"] + 0.2 * one["signals"]["recency"]
        assert one["score"] == pytest.approx(made)
        assert one["explain"]["formula"] == "score = 0.8 · cosine + 0.2 · recency"


def test_a_policy_may_rank_by_recency(acme):
    decide(acme.caller, recall={"profile": "recency"})
    remember(acme)
    assert ask(acme, user_id="u1")["results"][0]["signals"].keys() == {"cosine", "recency"}


@pytest.mark.parametrize("mmr", [True, 0.7, 0, 1e-3])
def test_with_mmr_the_copies_make_way(acme, mmr):
    remember(acme, {n: f"{FACTS['dog']}{' ' * n}" for n in range(4)} | {"train": FACTS["train"]})
    plain = ask(acme, user_id="u1", top_k=2, profile="similarity")["results"]
    assert {one["text"].strip() for one in plain} == {FACTS["dog"]}
    assert all("mmr" not in one["explain"] for one in ask(acme, user_id="u1", explain=True)["results"])
    spread = ask(acme, user_id="u1", top_k=5, profile="similarity", mmr=mmr, explain=True)["results"]
    assert len(spread) == 5
    assert spread[0]["explain"]["mmr"] == {"relevance": 1.0, "likeness": 0.0, "taken_off": 0.0}
    share = 0.7 if mmr is True else mmr
    for one in spread[1:]:
        of_copy = one["explain"]["mmr"]
        assert of_copy["taken_off"] == pytest.approx((1 - share) * of_copy["likeness"])
    if share < 0.5:
        assert spread[1]["text"] == FACTS["train"]


def test_without_diversity_is_as_by_default(kim):
    def stages(**named):
        return [one["name"] for one in ask(kim, user_id="u1", **named)["stages"]]

    assert stages(mmr=False) == stages(mmr=1) == stages(mmr=None) == stages()
    assert stages(mmr=True) == [*stages(), "mmr"]


def test_what_was_answered_counts_as_accessed(acme):
    (dog,) = remember(acme, {"dog": FACTS["dog"]})
    (train,) = remember(acme, {"train": FACTS["train"]}, user_id="u2")
    assert {"last_accessed_at": None, "access_count": 0}.items() <= read(acme, dog["id"]).items()
    ask(acme, user_id="u2", count_access=False)
    before = timezone.now()
    ask(acme, user_id="u1")
    ask(acme, user_id="u1")
    found = wait_until_counted(acme, dog["id"])
    assert found["access_count"] == 1
    assert abs(datetime.fromisoformat(found["last_accessed_at"]) - before) < timedelta(seconds=5)
    listed = {one["id"]: one["access_count"] for one in acme.http.get("/api/v1/episodes").json()["results"]}
    assert listed == {dog["id"]: 1, train["id"]: 0}


def test_a_vague_query_is_looked_for_with_the_session_s_last_turns(acme):
    turns = [
        {"role": "user", "content": "Is Rex still afraid?"},
        {"role": "assistant", "content": "Of what?"},
    ]
    acme.http.post("/api/v1/sessions/s/turns", json={"user_id": "u1", "turns": turns})
    remember(acme, session_id="s")
    answer = ask(acme, "go on", user_id="u1", session_id="s", top_k=1)
    assert answer["query_used"] == "Is Rex still afraid?\ngo on"
    assert answer["results"][0]["text"] == FACTS["dog"]
    assert ask(acme, "go on", user_id="u1")["query_used"] == "go on"


@pytest.mark.parametrize("binding", ["agent_id", "project"])
def test_a_key_does_not_learn_of_sessions_that_it_does_not_reach(acme, binding):
    turns = [{"role": "user", "content": "Is Rex still afraid?"}]
    for user in ("u1", "u2"):
        theirs = acme.with_key(**{binding: "theirs"})
        body = {"user_id": user, "turns": turns}
        theirs.http.post("/api/v1/sessions/several/turns", json=body).raise_for_status()
    theirs.http.post("/api/v1/sessions/one/turns", json=body).raise_for_status()
    bound = acme.with_key(**{binding: "mine"})
    for named in ({}, {"user_id": "u2"}):
        answers = [ask(bound, "continue", session_id=one, **named) for one in ("none", "one", "several")]
        assert [one["query_used"] for one in answers] == ["continue"] * 3
        assert [one["results"] for one in answers] == [[]] * 3
    problem(acme.http.post(URL, json={"query": "continue", "session_id": "several"}), 409)

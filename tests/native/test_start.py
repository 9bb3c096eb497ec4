import pytest
from django_redis import get_redis_connection

from tenants.models import StoredAnswer
from tenants.scope import scope
from tests.native.memories import deploy, many_slots, slot
from tests.native.shapes import problem
from working import keys
from working.types import SessionRef


def start(member, session="s", **body):
    answer = member.http.post(f"/api/v1/sessions/{session}/start", json={"user_id": "ann"} | body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def remember(member, *texts, user_id="ann", **more):
    for text in texts:
        body = {"text": text, "user_id": user_id, **more}
        assert member.http.post("/api/v1/episodes", json=body).status_code == 201


def texts(started):
    return [one["text"] for one in started["episodes"]]


def test_it_creates_the_session_and_answers_all_four_parts(acme):
    started = start(acme, agent_id="coder")
    assert started.keys() == {"session", "entities", "entities_left_out", "episodes", "procedures"}
    assert (started["entities"], started["episodes"], started["procedures"]) == ([], [], [])
    assert started["entities_left_out"] == 0
    assert started["session"]["session_id"] == "s"
    assert (started["session"]["user_id"], started["session"]["agent_id"]) == ("ann", "coder")
    assert acme.http.get("/api/v1/sessions/s?user_id=ann").json() == started["session"]


def test_it_finds_a_session_that_is_there_and_renews_its_hold(acme):
    start(acme)
    ref = SessionRef(acme.tenant.id, "", "ann", "s")
    redis = get_redis_connection()
    redis.expire(keys.meta(ref), 50)
    start(acme)
    assert redis.ttl(keys.meta(ref)) > 80_000
    assert len(acme.http.get("/api/v1/sessions").json()["results"]) == 1


def test_without_a_query_the_newest_episodes_come_first(acme):
    remember(acme, *(f"number {n}" for n in range(7)))
    started = start(acme)
    assert texts(started) == [f"number {n}" for n in (6, 5, 4, 3, 2)], "as many as the policy says"
    assert {one["score"] for one in started["episodes"]} == {None}


def test_with_a_query_the_nearest_in_meaning_come_first(acme):
    remember(acme, "Ann's dog is called Rex", "Ann pays by invoice", "Ann lives in Oslo")
    remember(acme, *(f"unrelated {n}" for n in range(5)))
    started = start(acme, query="what is the name of the dog?")
    assert texts(started)[0] == "Ann's dog is called Rex"
    scores = [one["score"] for one in started["episodes"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.4


@pytest.mark.parametrize("query", [None, "", "secret"])
def test_only_the_users_own_episodes_are_shown(acme, globex, query):
    remember(acme, "Bob's secret", user_id="bob")
    remember(acme, "nobody's secret", user_id=None)
    remember(globex, "another tenant's secret")
    assert start(acme, query=query)["episodes"] == []


def test_a_key_that_is_bound_to_an_agent_sees_that_agents_only(acme):
    remember(acme, "coder's", agent_id="coder")
    remember(acme, "spy's", agent_id="spy")
    assert texts(start(acme.with_key(agent_id="coder"))) == ["coder's"]


def test_the_policys_number_counts(acme):
    admin = acme.with_key(scopes=("read", "write", "admin"))
    changed = admin.http.patch("/api/v1/policy", json={"document": {"recall": {"top_k": 2}}})
    assert changed.status_code == 200, changed.text
    remember(acme, "a", "b", "c")
    until_known(lambda: len(start(acme)["episodes"]) == 2)
    assert len(start(acme, query="a")["episodes"]) == 2


def until_known(condition, seconds=60):
    """A change of policy takes some seconds to reach every process."""
    import time

    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_it_answers_what_holds_of_the_user_and_the_procedures_of_the_agent(acme):
    slot(acme, "city", "Oslo")
    slot(acme, "city", "Bergen")
    slot(acme, "city", "Rome", user="bob")
    deploy(acme, "everyone")
    deploy(acme, "spy only", agents=("spy",))
    deploy(acme, "coder only", "Test first.", agents=("coder",))
    started = start(acme, agent_id="coder")
    assert [(one["key"], one["value"], one["status"]) for one in started["entities"]] == [
        ("city", "Bergen", "current"),
    ]  # fmt: skip
    assert started["procedures"] == [
        {"name": "coder only", "version": "1", "body": "Test first."},
        {"name": "everyone", "version": "1", "body": "Ask first."},
    ]
    assert acme.http.get("/ledger/s?user_id=ann").json() == {}, "nothing is told by it"


def test_the_user_has_to_be_named(acme):
    problem(acme.http.post("/api/v1/sessions/s/start", json={}), 422, "user_id")
    problem(acme.http.post("/api/v1/sessions/s/start", json={"user_id": None}), 422, "user_id")
    bound = acme.with_key(user_id="ann")
    assert bound.http.post("/api/v1/sessions/s/start", json={}).json()["session"]["user_id"] == "ann"
    by_query = acme.http.post("/api/v1/sessions/s/start?user_id=bob", json={})
    assert by_query.json()["session"]["user_id"] == "bob"
    problem(acme.http.post("/api/v1/sessions/s/start?user_id=bob", json={"user_id": "ann"}), 422, "user_id")


def test_an_ended_session_stays_ended_until_there_are_turns(acme):
    start(acme)
    acme.http.post("/api/v1/sessions/s/end?user_id=ann", json={})
    assert start(acme)["session"]["ended_at"] is not None


@pytest.mark.parametrize(("query", "told"), [
    ("Where is the first?", [("the first", True)]),  # by its words
    ("Who sings?", [("the second", False), ("the first", False)]),
])  # fmt: skip
def test_with_the_model_away_words_are_looked_for_and_else_the_newest_come(acme, monkeypatch, query, told):
    """In this process: the domain function that the route calls."""
    from django.utils import timezone

    from providers.embeddings import EmbeddingUnavailable
    from recall.start import start_session
    from tenants import embedding
    from working.types import SessionAddress

    class Away:
        model = "away"

        def embed(self, texts, **named):
            raise EmbeddingUnavailable("away")

    remember(acme, "the first", "the second")
    monkeypatch.setattr(embedding, "get_embedder", lambda model: Away())
    started = start_session(
        caller=acme.caller, address=SessionAddress("s", "ann"), agent_id=None, query=query,
        now=timezone.now(),
    )  # fmt: skip
    assert [(one.episode.text, one.score is not None) for one in started.episodes] == told


def test_of_very_many_slots_those_that_the_query_names_are_told_and_the_others_counted(acme):
    many_slots(acme.caller, 230, timezone="Asia/Tokyo")
    started = start(acme, query="what is my timezone?")
    assert "timezone" in {one["key"] for one in started["entities"]}
    assert (len(started["entities"]), started["entities_left_out"]) == (200, 31)
    without_query = start(acme)
    assert (len(without_query["entities"]), without_query["entities_left_out"]) == (200, 31)


def test_without_redis_it_answers_all_the_same(acme, monkeypatch):
    from django.utils import timezone

    from recall import start as module
    from working.redis import RedisAway
    from working.types import SessionAddress

    def away(**named):
        raise RedisAway("Redis is away.")

    remember(acme, "first")
    monkeypatch.setattr(module.sessions, "hold", away)
    started = module.start_session(
        caller=acme.caller, address=SessionAddress("s", "ann"), agent_id=None, query=None, now=timezone.now()
    )
    assert len(started.episodes) == 1


def test_the_same_idempotency_key_is_answered_the_same(acme):
    headers = {"Idempotency-Key": "k1"}
    path, body = "/api/v1/sessions/s/start", {"user_id": "ann"}
    first = acme.http.post(path, json=body, headers=headers)
    remember(acme, "later")
    second = acme.http.post(path, json=body, headers=headers)
    assert second.json() == first.json()
    assert len(acme.http.post(path, json=body).json()["episodes"]) == 1
    problem(acme.http.post(path, json=body | {"query": "x"}, headers=headers), 409)


def test_of_an_answer_that_is_long_no_copy_is_kept(acme):
    remember(acme, *("long " * 8_000 for _ in range(2)))
    headers = {"Idempotency-Key": "k1"}
    path, body = "/api/v1/sessions/s/start", {"user_id": "ann"}
    first = acme.http.post(path, json=body, headers=headers)
    assert len(first.json()["episodes"]) == 2
    with scope(acme.tenant.id):
        kept = StoredAnswer.objects.get(tenant_id=acme.tenant.id)
    assert (kept.body, kept.user_id) == ("", "ann")
    problem(acme.http.post(path, json=body, headers=headers), 409)
    assert acme.http.post(path, json=body).json()["session"]["session_id"] == "s"

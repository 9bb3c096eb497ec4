"""A stage for which PostgreSQL takes too long is done without; somebody else holds a real lock."""

import logging
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest
from django.db import connections, transaction
from django.test import Client, override_settings
from django.utils import timezone

from episodic import monitoring
from episodic.embedding import embed_pending
from episodic.entities import NewEntity, put_entity
from episodic.nearest import near_to
from episodic.types import EpisodeFilter
from observations.models import Observation
from providers.embeddings import get_embedder
from recall.assembly.assemble import assemble
from recall.assembly.types import AssembleQuery
from recall.kinds import recall_kinds
from recall.recall import recall
from recall.start import start_session
from recall.types import RecallQuery
from tenants import generations
from tenants.errors import Overdue, Unavailable
from tenants.policy import reading
from tenants.scope import scope
from tests.conftest import make_member
from tests.native.memories import many_slots
from tests.recall.talking import decide
from tests.recall.test_hybrid import TALK, away, say
from tests.recall.vectors import unit_vectors
from working.models import Session
from working.types import SessionAddress

SECONDS = 1.0  # for a stage, while somebody holds a table
SOON = 25  # seconds
EMBEDDINGS, WORDS, EPISODES = "episode_embeddings", "episode_search", "agent_episodes"


@pytest.fixture(scope="module")
def member(server):
    member = make_member("acme", server)
    say(member.caller, *TALK)
    embed_pending()
    put_entity(
        caller=member.caller, new=NewEntity(user_id="u1", key="shed", value="green"), now=timezone.now()
    )
    return member


@contextmanager
def held(*tables):
    """Another connection has them to itself."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        for table in tables:
            cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        with override_settings(RECALL_STAGE_SECONDS=SECONDS):
            yield


def ask(member, text="What colour is the shed?", *, profile="hybrid", embedding=None, **named):
    query = RecallQuery(text, EpisodeFilter(user_id="u1"), 3, profile, **named)
    return recall(caller=member.caller, query=query, embedding=embedding)


def statuses(found):
    return [(one.name, one.status) for one in found.stages]


def texts(found):
    return [hit.episode.text for hit in found.hits]


def test_without_likeness_words_answer(member):
    with held(EMBEDDINGS):
        began = time.monotonic()
        found = ask(member, "Whose sister sings in a choir?")
        assert time.monotonic() - began < SOON
    assert texts(found)[0] == TALK[5]
    assert statuses(found) == [
        ("words", "ok"), ("embed", "ok"), ("vector", "failed"), ("around", "ok"), ("fusion", "ok"),
        ("load", "ok"),
    ]  # fmt: skip
    assert all(hit.signals["cosine"] == 0 for hit in found.hits)


def test_without_words_likeness_answers(member):
    with held(WORDS):
        found = ask(member, "Does anybody in the family make music?")
    assert len(found.hits) == 3
    assert TALK[5] in texts(found)
    assert statuses(found) == [
        ("words", "failed"), ("embed", "ok"), ("around", "skipped"), ("vector", "ok"), ("fusion", "ok"),
        ("load", "ok"),
    ]  # fmt: skip
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(sum(hit.added.values()) == pytest.approx(hit.score) for hit in found.hits)


def test_when_nothing_is_left_it_is_unavailable_and_soon(member):
    for tables in ((EMBEDDINGS, WORDS), (EPISODES,)):
        began = time.monotonic()
        with held(*tables), pytest.raises(Overdue):
            ask(member)
        assert time.monotonic() - began < SOON
    with held(WORDS), pytest.raises(Unavailable):
        ask(member, embedding=away)


def test_without_words_a_query_by_keyword_is_unavailable(member):
    with held(WORDS), pytest.raises(Overdue):
        ask(member, profile="keyword")
    with held(EMBEDDINGS):
        assert ask(member, "choir", profile="keyword").hits


@pytest.mark.parametrize("profile", ["fused", "recency", "similarity"])
def test_the_other_profiles_need_likeness_and_no_words(member, profile):
    with held(EMBEDDINGS), pytest.raises(Overdue):
        ask(member, profile=profile)
    with held(WORDS):
        assert len(ask(member, profile=profile).hits) == 3


def test_the_slots_are_done_without(member):
    with held("user_entities"):
        found = ask(member, profile="fused")
    assert len(found.hits) == 3
    assert statuses(found) == [("embed", "ok"), ("slots", "failed"), ("vector", "ok"), ("fusion", "ok")]


def test_so_are_verdicts_and_the_vectors_of_diversity(member):
    decide(member.caller, recall={"feedback_weight": 0.1})
    with held("ledger_feedback"):
        found = ask(member)
    assert len(found.hits) == 3
    assert ("feedback", "failed") in statuses(found)
    decide(member.caller, recall={"feedback_weight": 0.0})
    with held(EMBEDDINGS):
        found = ask(member, profile="keyword", text="shed door", mmr=0.5)
    assert ("mmr", "failed") in statuses(found)
    assert found.hits


def test_the_ranking_by_recency_does_without_the_accesses(member):
    with held("episode_access"):
        found = ask(member, profile="recency")
    assert statuses(found) == [("embed", "ok"), ("accesses", "failed"), ("vector", "ok"), ("fusion", "ok")]
    as_ever = ask(member, profile="recency")
    assert statuses(as_ever)[1] == ("accesses", "ok")
    assert texts(found) == texts(as_ever)
    for hit in found.hits:
        assert hit.signals["recency"] == pytest.approx(1, abs=0.01), "of something new, never used"


def test_the_tenant_s_model_is_asked_for_no_longer_than_a_stage_takes(member, monkeypatch):
    monkeypatch.setattr(generations, "_known", {})
    query = RecallQuery("What colour is the shed?", EpisodeFilter(user_id="u1"), 3)
    with held("tenants_tenantembedding"):
        for kinds in (["episode"], ["observation", "entity", "episode"]):
            began = time.monotonic()
            with pytest.raises(Overdue):
                recall_kinds(caller=member.caller, query=query, kinds=kinds, now=timezone.now())
            assert time.monotonic() - began < SOON
        with pytest.raises(Overdue):
            recall(caller=member.caller, query=query)


def test_a_policy_that_is_late_is_done_without(member):
    tenant_id = member.caller.tenant_id
    reading.forget(tenant_id)
    began = time.monotonic()
    with held("tenants_policyversion"):
        found = ask(member)
    reading.forget(tenant_id)
    assert time.monotonic() - began < SOON
    assert len(found.hits) == 3


def test_a_vague_query_whose_session_is_late_is_looked_for_as_it_is(member):
    where = EpisodeFilter(user_id="u1", session_id="nowhere")
    query = RecallQuery("go on", where, 3)
    with held(Session._meta.db_table):
        found = recall_kinds(caller=member.caller, query=query, kinds=["episode"], now=timezone.now())
    assert found.query_used == "go on"
    assert [one.name for one in found.stages if one.status == "failed"] == ["window"]


def test_an_assembly_and_a_start_leave_the_slots_out(member):
    address = SessionAddress("late", "u1")
    query = AssembleQuery(address=address, text="What colour is the shed?")
    whole = assemble(caller=member.caller, query=query, now=timezone.now())
    assert "entity" in {one.kind for one in whole.items}
    again = replace(query, dedupe=False)
    began = time.monotonic()
    with held("user_entities"):
        assembled = assemble(caller=member.caller, query=again, now=timezone.now())
        started = start_session(
            caller=member.caller, address=address, agent_id=None, query="shed?", now=timezone.now()
        )
    assert time.monotonic() - began < SOON
    assert [one.name for one in assembled.stages if one.status == "failed"] == ["entities"]
    kinds = {one.kind for one in assembled.items}
    assert "episode" in kinds
    assert "entity" not in kinds
    assert started.entities.slots == ()
    assert started.episodes


def test_where_slots_are_chosen_a_late_choice_leaves_the_first(member):
    many_slots(member.caller, 210, user="u3")
    query = AssembleQuery(address=SessionAddress("many", "u3"), text="What colour is the shed?")
    with held("entity_embeddings"):
        found = assemble(caller=member.caller, query=query, now=timezone.now())
    assert sum(one.kind == "entity" and one.included for one in found.items) == 200
    assert all(one.status == "ok" for one in found.stages if one.name == "entities")


def test_of_several_kinds_one_that_needs_the_model_is_left_out_while_it_is_away(member, monkeypatch):
    monkeypatch.setattr("recall.kinds.embed_meanwhile", lambda _text, *, tenant_id: away)
    query = RecallQuery("What colour is the shed?", EpisodeFilter(user_id="u1"), 3)
    for kinds in (["entity", "episode"], ["episode", "entity"]):
        found = recall_kinds(caller=member.caller, query=query, kinds=kinds, now=timezone.now())
        assert len(found.results) == 3
        assert {one.name for one in found.stages if one.status == "failed"} >= {"entities", "embed"}
    without_words = replace(query, text="🐳")
    found = recall_kinds(
        caller=member.caller, query=without_words, kinds=["episode", "observation"], now=timezone.now()
    )
    assert ("episodes", "failed") in statuses(found)
    with pytest.raises(Unavailable):
        recall_kinds(caller=member.caller, query=query, kinds=["entity"], now=timezone.now())


def test_of_several_kinds_one_that_is_late_is_left_out(member):
    query = RecallQuery("What colour is the shed?", EpisodeFilter(user_id="u1"), 3)
    kinds = ("observation", "entity", "episode")
    with held(Observation._meta.db_table, "observation_search"):
        found = recall_kinds(caller=member.caller, query=query, kinds=kinds, now=timezone.now())
    assert {one.kind for one in found.results if not hasattr(one, "episode")} == {"entity"}
    assert len(found.results) == 3
    assert [one.status for one in found.stages if one.name == "observations"] == ["failed"]
    with held("entity_embeddings"), pytest.raises(Overdue):
        recall_kinds(caller=member.caller, query=query, kinds=("entity",), now=timezone.now())


def test_the_door_says_it_in_its_own_shape(member):
    client = Client(headers={"Authorization": f"Bearer {member.key}"})
    body = {"query": "What colour is the shed?", "user_id": "u1"}
    with held(EMBEDDINGS, WORDS):
        answer = client.post("/api/v1/recall", body, content_type="application/json")
    assert answer.status_code == 503
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"] == "PostgreSQL takes too long."
    assert "Retry-After" in answer.headers
    assert client.post("/api/v1/recall", body, content_type="application/json").status_code == 200


def test_a_search_that_is_compared_ends_as_quietly(member, monkeypatch, caplog):
    monkeypatch.setattr(monitoring, "PATIENCE", 0.2)
    caller, vector = member.caller, unit_vectors(1)[0]
    with scope(caller.tenant_id):
        near = near_to(
            tenant_id=caller.tenant_id, model=get_embedder().model, vector=vector, where=EpisodeFilter()
        )
    with held(EMBEDDINGS), override_settings(RECALL_MONITOR_SHARE=1.0), caplog.at_level(logging.INFO):
        monitoring.watch(near, [], 3, "signatures")
        assert monitoring._busy.acquire(timeout=SOON)
        monitoring._busy.release()
    assert "recall_not_compared: Overdue" in caplog.text


def test_the_next_recall_is_whole_again(member):
    with held(EMBEDDINGS):
        ask(member)
    assert {status for _name, status in statuses(ask(member))} == {"ok"}

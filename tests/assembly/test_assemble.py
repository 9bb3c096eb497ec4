"""With a part of the house away there is less to tell, and the stages say so."""

import pytest
from django.utils import timezone

from episodic import keyword
from providers.embeddings import EmbeddingUnavailable
from recall.assembly import assemble as assembling
from recall.assembly import gather
from recall.assembly.types import AssembleQuery
from tenants import embedding
from tests.native.test_start import remember
from tests.recall.talking import decide
from tests.recall.vectors import fill, unit_vectors
from working.redis import RedisAway
from working.types import SessionAddress


class Away:
    model = "away"

    def embed(self, texts, **named):
        raise EmbeddingUnavailable("away")


def away(**named):
    raise RedisAway("Redis is away.")


def assemble(member, text="What does Ann drink?", user="ann", **named):
    query = AssembleQuery(address=SessionAddress("s", user), text=text, **named)
    return assembling.assemble(caller=member.caller, query=query, now=timezone.now())


def stages(done):
    return {one.name: one.status for one in done.stages}


def episodes(done):
    return [(one.why, one.score) for one in done.items if one.kind == "episode"]


@pytest.fixture
def drinks(acme):
    remember(acme, "Ann drinks tea.", "Ann has a red car.")
    return acme


def test_with_the_model_away_episodes_are_found_by_their_words(drinks, monkeypatch):
    monkeypatch.setattr(embedding, "get_embedder", lambda model: Away())
    done = assemble(drinks, "Which drinks are on the list?")
    assert [why for why, _score in episodes(done)] == ["recalled"]
    assert "tea" in done.messages[0]["content"]
    assert stages(done)["embed"] == "failed"
    assert "recent" not in stages(done)


def test_with_the_model_away_and_none_of_the_words_the_newest_are_told(drinks, monkeypatch):
    monkeypatch.setattr(embedding, "get_embedder", lambda model: Away())
    done = assemble(drinks, "Who sings?")
    assert episodes(done) == [("recent", None), ("recent", None)]
    memory = done.messages[0]["content"]
    assert memory.index("red car") < memory.index("tea")
    assert (stages(done)["embed"], stages(done)["recent"]) == ("failed", "ok")


def test_with_redis_away_everything_is_told_again_and_nothing_entered(drinks, monkeypatch):
    assemble(drinks)
    monkeypatch.setattr(gather, "read_items", away)
    monkeypatch.setattr(gather, "read_fields", away)
    done = assemble(drinks)
    assert len(episodes(done)) == 2
    assert stages(done)["ledger"] == "failed"
    monkeypatch.undo()
    again = episodes(assemble(drinks))
    assert [why for why, _score in again] == ["told"] * len(again)
    scores = [one.score for one in done.items if one.kind == "episode"]
    assert [score for _why, score in again] == pytest.approx(scores, abs=1e-3), "they are a little older"


def test_with_redis_gone_before_the_ledger_is_written_the_answer_comes_all_the_same(drinks, monkeypatch):
    monkeypatch.setattr(assembling, "mark_items", away)
    done = assemble(drinks)
    assert (len(episodes(done)), stages(done)["enter"]) == (2, "failed")


def test_the_window_comes_from_postgresql(drinks, monkeypatch):
    turns = [{"role": "user", "content": "Hello."}]
    drinks.http.post("/api/v1/sessions/s/turns", json={"user_id": "ann", "turns": turns}).raise_for_status()
    from working import store

    monkeypatch.setattr(store, "read_turns", away)
    monkeypatch.setattr(gather, "read_items", away)
    assert [one["content"] for one in assemble(drinks).messages][1:] == ["Hello.", "What does Ann drink?"]


@pytest.fixture
def crowded(acme):
    """What nobody has told an agent, before and beside much that users have, and less like the query."""
    vectors = unit_vectors(21)
    vectors[0] = -embedding.embed_query("tea", tenant_id=acme.tenant.id)
    fill(
        acme.caller, vectors, agent_id="coder", user_id=lambda n: f"u{n}" if n else "",
        text=lambda n: f"User {n} drinks tea, and tea again." if n else "The office drinks tea.",
    )  # fmt: skip
    return acme


@pytest.mark.parametrize("profile", ["hybrid", "fused", "recency", "similarity"])
def test_without_a_user_what_is_nobodys_is_found_behind_all_that_is_of_users(crowded, profile):
    decide(crowded.caller, recall={"profile": profile})
    done = assemble(crowded, "tea", user="", agent_id="coder")
    assert [why for why, _score in episodes(done)] == ["recalled"]
    assert "The office drinks tea." in done.messages[0]["content"]


@pytest.mark.parametrize(("text", "why"), [("tea", "recalled"), ("Who sings?", "recent")])
def test_with_the_model_away_what_is_nobodys_is_found_too(crowded, monkeypatch, text, why):
    monkeypatch.setattr(embedding, "get_embedder", lambda model: Away())
    monkeypatch.setattr(keyword, "MOST_CORPORA", 3)
    done = assemble(crowded, text, user="", agent_id="coder")
    assert [one for one, _score in episodes(done)] == [why]
    assert "The office drinks tea." in done.messages[0]["content"]

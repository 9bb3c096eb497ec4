"""Recall over several kinds of memory, by the settings of the agent that is meant."""

import pytest
from django.utils import timezone

from episodic.entities import put_entity
from episodic.slots import NewEntity
from episodic.types import EpisodeFilter
from recall.kinds import recall_kinds
from recall.types import RecallQuery
from tenants.policy.versions import Level, write_policy
from tests.recall.talking import decide
from tests.recall.vectors import fill, unit_vectors


@pytest.fixture
def coder(acme):
    """A key of its own, and an agent's level above the tenant's."""
    fill(acme.caller, unit_vectors(12), user_id="ann", agent_id="coder")
    decide(acme.caller, recall={"top_k": 5, "entity_boost": 0.1})
    level = Level(acme.tenant.id, "coder")
    write_policy(level=level, actor="test", changes={"recall": {"top_k": 10, "entity_boost": 0.4}})
    return acme.with_key(agent_id="coder").caller


def ask(caller, *kinds, text="episode", **where):
    query = RecallQuery(text, EpisodeFilter(**where))
    return recall_kinds(caller=caller, query=query, kinds=kinds, now=timezone.now()).results


def test_an_agent_s_top_k_holds_above_the_tenant_s(acme, coder):
    assert len(ask(acme.caller, "episode", user_id="ann")) == 5
    assert len(ask(acme.caller, "episode", agent_id="coder")) == 10
    assert len(ask(coder, "episode", user_id="ann")) == 10


def test_a_slot_that_is_named_is_moved_as_far_as_the_agent_s_level_says(acme, coder):
    new = NewEntity(user_id="ann", key="favourite_tea", value="green")
    put_entity(caller=acme.caller, new=new, now=timezone.now())
    for caller, boost in ((acme.caller, 0.1), (coder, 0.4)):
        (slot,) = ask(caller, "entity", text="What is her favourite tea?", user_id="ann")
        assert slot.signals["entity"] == boost

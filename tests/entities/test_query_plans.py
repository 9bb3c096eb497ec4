"""Which index serves which query, seen as the app role with row-level security in force."""

import numpy as np
import pytest
from django.db import connections
from django.utils import timezone

from episodic.entities import (
    EntityFilter,
    access_entity,
    current_slots,
    list_entities,
    list_history,
    nearest_slots,
)
from episodic.models import Entity
from providers.embeddings import get_embedder
from tests.conftest import make_member
from tests.entities.facts import say
from tests.episodic.test_query_plans import indexes_of

ROWS = 20_000
# Row n: one of 200 users with 100 slots each; every tenth is history, some have no vector yet.
COPY_SLOTS = """
INSERT INTO user_entities (id, tenant_id, user_id, key, value, confidence, status, source, agent_id,
                           source_session, valid_from, valid_to, created_at, updated_at, embed_pending)
SELECT gen_random_uuid(), %(tenant)s, 'u' || n %% 200, 'k' || n / 200, '1', 1,
       CASE WHEN n %% 10 = 9 THEN 'superseded' ELSE 'current' END, '', '', '', now() - interval '2 days',
       CASE WHEN n %% 10 = 9 THEN now() END, now(), now() - n * interval '1 second', n < 50
FROM generate_series(1, %(rows)s) n
"""
COPY_VECTORS = """
INSERT INTO entity_embeddings (id, tenant_id, entity_id, user_id, model, embedding, created_at)
SELECT gen_random_uuid(), tenant_id, id, user_id, %(model)s,
       (SELECT embedding FROM entity_embeddings WHERE tenant_id = %(tenant)s LIMIT 1), now()
FROM user_entities WHERE tenant_id = %(tenant)s AND status = 'current' AND user_id <> 'kim'
"""


@pytest.fixture(scope="module")
def caller(server):
    """Acme with 20,000 slots."""
    member = make_member("acme", server)
    say(member.caller, "Turin")
    params = {"tenant": member.caller.tenant_id, "rows": ROWS, "model": get_embedder().model}
    with connections["owner"].cursor() as cursor:
        cursor.execute(COPY_SLOTS, params)
        cursor.execute(COPY_VECTORS, params)
        cursor.execute("ANALYZE user_entities, entity_embeddings")
    return member.caller


def read(caller, what):
    vector = np.ones(get_embedder().dimensions, np.float32)
    of_user = EntityFilter(user_id="u7")
    then = EntityFilter(user_id="u7", as_of=timezone.now())
    return {
        "current": lambda: current_slots(caller=caller, user_id="u7"),
        "one": lambda: access_entity(caller=caller, user_id="u7", key="k3"),
        "one then": lambda: access_entity(caller=caller, user_id="u7", key="k3", as_of=timezone.now()),
        "history": lambda: list_history(caller=caller, user_id="u7", key="k3", limit=9),
        "all": lambda: list_entities(caller=caller, where=EntityFilter(), limit=51),
        "user": lambda: list_entities(caller=caller, where=of_user, limit=51),
        "user then": lambda: list_entities(caller=caller, where=then, limit=51),
        "nearest": lambda: nearest_slots(caller=caller, user_id="u7", vector=vector, limit=5),
    }[what]


@pytest.mark.parametrize(("what", "indexes"), [
    ("current", {"entity_current"}), ("one", {"entity_current", "entity_history"}),
    ("one then", {"entity_history"}), ("history", {"entity_history"}),
    ("all", {"entity_recent"}), ("user", {"entity_current"}),
    ("user then", {"entity_history"}),
])  # fmt: skip
def test_each_read_has_its_index(caller, what, indexes):
    used = indexes_of(caller, read(caller, what))
    assert used, "the search for indexes finds none"
    assert used <= indexes


def test_the_nearest_of_a_user_are_found_without_reading_others(caller):
    used = indexes_of(caller, read(caller, "nearest"))
    assert not any(one.startswith("SEQ") for one in used), used
    assert used & {"entity_embedding_user", "entity_embedding_model"}


def test_the_sweeper_finds_what_waits_by_its_index(caller):
    waiting = Entity.objects.filter(tenant_id=caller.tenant_id, embed_pending=True).order_by("id")[:64]
    assert indexes_of(caller, lambda: list(waiting)) == {"entity_embed_pending"}

"""Which slots are told of somebody about whom more is known than is told at once."""

import numpy as np
import pytest
from django.utils import timezone

from episodic import slot_choice
from episodic.entities import pin_entity
from episodic.models import Entity, EntityEmbedding
from episodic.slot_choice import choose_slots
from providers.embeddings import get_embedder
from tenants.errors import Forbidden, Unavailable
from tenants.scope import scope
from tests.entities.facts import KIM, say
from tests.native.memories import many_slots

LIMIT = 12


def chosen(caller, query="", *, embedding=None, limit=LIMIT):
    found = choose_slots(caller=caller, user_id=KIM, query=query, embedding=embedding, limit=limit)
    return [one.key for one in found.slots], found.left_out


def away():
    raise Unavailable("away")


def embed(caller, *keys):
    """Gives these slots vectors, each orthogonal to the others; what asks for the first."""
    basis = np.eye(get_embedder().dimensions, dtype=np.float32)
    with scope(caller.tenant_id):
        EntityEmbedding.objects.filter(tenant_id=caller.tenant_id).delete()
        for place, key in enumerate(keys):
            row = Entity.objects.get(tenant_id=caller.tenant_id, key=key)
            EntityEmbedding.objects.create(
                tenant_id=caller.tenant_id, entity_id=row.id, user_id=KIM, model=get_embedder().model,
                embedding=basis[place],
            )  # fmt: skip
    return lambda: basis[0]


@pytest.fixture
def known(caller):
    """Kim, of whom 41 slots hold, `time_zone` the last of them by its key and the first to be written."""
    say(caller, "Asia/Tokyo", key="time_zone", now=timezone.now().replace(year=2020))
    many_slots(caller, 40, user=KIM)
    return caller


def test_what_is_no_more_than_is_told_at_once_is_told_whole_in_its_order(known):
    keys, left_out = chosen(known, "time zone", limit=41)
    assert (keys, left_out) == (sorted(keys), 0)
    assert len(keys) == 41
    say(known, 1, key="b")
    pin_entity(caller=known, user_id=KIM, key="b", now=timezone.now())
    assert chosen(known, limit=42)[0][0] == "b"


@pytest.mark.parametrize("query", [
    "What is my time zone?", "timezone", "TIME-ZONES, please", "which zone am I in", "do I have Time?",
])  # fmt: skip
def test_a_slot_whose_key_the_query_names_is_told_first_and_the_rest_counted(known, query):
    keys, left_out = chosen(known, query)
    assert keys[0] == "time_zone"
    assert (len(keys), left_out) == (LIMIT, 29)


@pytest.mark.parametrize("query", ["", "?", "what is it", "Wie spät ist es?", "100%_", "x" * 100_000])
def test_of_a_query_that_names_none_those_written_last_are_told(known, query):
    assert chosen(known, query, embedding=away) == ([f"a_{39 - n}" for n in range(LIMIT)], 29)


def test_the_nearest_are_told(known):
    keys, _left_out = chosen(known, embedding=embed(known, "a_3", "a_0"))
    assert keys[0] == "a_3"
    assert len(keys) == LIMIT


def test_pinned_ones_are_told_and_neither_they_nor_others_take_every_place(known):
    with scope(known.tenant_id):
        mine = Entity.objects.filter(tenant_id=known.tenant_id, user_id=KIM)
        mine.exclude(key="time_zone").update(pinned_at=timezone.now())
    embedding = embed(known, "a_39", "a_38", "a_37")
    keys, left_out = chosen(known, "what time is it", embedding=embedding)
    assert (keys[:2], set(keys[2:4])) == (["time_zone", "a_39"], {"a_38", "a_37"})
    assert (keys[4:], left_out) == (sorted(f"a_{n}" for n in range(37))[: LIMIT - 4], 29)


def test_a_key_that_is_named_whole_comes_before_one_that_is_named_in_part(known):
    for key in ("home", "home_city", "city_of_birth", "cities"):
        say(known, 1, key=key)
    keys, _left_out = chosen(known, "my home city")
    assert keys[:3] == ["cities", "home", "home_city"]


def test_of_others_nothing_is_told(known, acme, globex):
    many_slots(known, 20, user="lee", time_zone="Europe/Oslo")
    assert {one.user_id for one in choose_slots(caller=known, user_id=KIM, query="time zone").slots} == {KIM}
    bound = acme.with_key(user_id="lee").caller
    found = choose_slots(caller=bound, user_id="", query="time zone", limit=LIMIT)
    assert (found.slots[0].value, found.left_out) == ("Europe/Oslo", 9)
    with pytest.raises(Forbidden):
        choose_slots(caller=bound, user_id=KIM)
    assert choose_slots(caller=globex.caller, user_id=KIM).slots == ()
    assert choose_slots(caller=known, user_id="").slots == ()


def test_two_hundred_are_told_at_once():
    assert slot_choice.MOST_SLOTS == 200

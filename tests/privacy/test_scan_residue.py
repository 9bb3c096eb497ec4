"""The scan finds what handlers forget: it reads the catalog, and knows none of them."""

import json
import time
from datetime import timedelta

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django_redis import get_redis_connection

from tenants.privacy import erasure, registry, residue
from tenants.privacy.redis_residue import redis_clock, scan_redis
from tenants.privacy.registry import Subject
from tenants.privacy.residue import VOCABULARY, scan_tables
from tenants.scope import scope
from tests.isolation.tables import FACTORIES, TABLES, store
from tests.privacy import people

ANN = 'ann "the/zoë" \\ %'
TENANT_TABLES = {name: model for name, model in TABLES.items() if name != "tenants_tenant"}


def form_of(field):
    if isinstance(field, models.JSONField):
        return "json"
    if isinstance(field, ArrayField) and isinstance(field.base_field, models.CharField | models.TextField):
        return "array"
    if isinstance(field, models.CharField | models.TextField) and not isinstance(field, models.UUIDField):
        return "text"
    return None


def room(field):
    inner = field.base_field if isinstance(field, ArrayField) else field
    return inner.max_length or 1_000


COLUMNS = [
    pytest.param(table, field.column, id=f"{table}.{field.column}")
    for table, model in sorted(TENANT_TABLES.items())
    for field in model._meta.concrete_fields
    if form_of(field) and room(field) >= 8 and (table, field.column) not in VOCABULARY
]
VALUES = {
    "text": [lambda who: who, lambda who: f"jwt:{who}"],
    "array": [lambda who: ["x", who]],
    "json": [
        lambda who: {"a": [{"b": who}]},
        lambda who: [who],
        lambda who: {who: 1},
        lambda who: {"a": {"b": [[], {"c": {who: None}}]}},
    ],
}


def subject(tenant_id, who=ANN):
    return Subject(tenant_id, who, timezone.now() + timedelta(seconds=1))


def tables(one):
    return scan_tables(one, report=lambda: None)


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_what_is_planted_in_a_column_is_found(acme, globex, table, column):
    model = TENANT_TABLES[table]
    field = next(one for one in model._meta.concrete_fields if one.column == column)
    who = ANN if room(field) > 60 else "ann"
    planted = 0
    for make in VALUES[form_of(field)]:
        value = make(who)
        if form_of(field) == "text" and len(value) > room(field):
            continue
        for tenant in (acme,) if field.unique else (acme, globex):
            row = FACTORIES[model](tenant.tenant.id)
            setattr(row, field.attname, value)
            store(row)
        planted += 1
    assert planted
    assert tables(subject(acme.tenant.id, who)) == {f"{table}.{column}": planted}
    assert tables(subject(acme.tenant.id, "bob")) == {}


def test_every_form_of_column_is_looked_at():
    assert len(COLUMNS) > 60
    with_text = {param.values[0] for param in COLUMNS}
    assert set(TENANT_TABLES) - with_text <= {"tenants_exportchunk", "tenants_member"}


@pytest.mark.parametrize("encode", [json.dumps, lambda value: json.dumps(value, ensure_ascii=False)])
def test_json_that_is_kept_as_text_is_looked_into(acme, encode):
    row = FACTORIES[TENANT_TABLES["working_checkpoint"]](acme.tenant.id)
    row.value = encode({"loop": [{"whose": ANN}]})
    store(row)
    assert tables(subject(acme.tenant.id)) == {"working_checkpoint.value": 1}


@pytest.mark.parametrize(
    "near", [{"a": "anna"}, {"a": "say ann"}, {"a": 'she said "ann" twice'}, {"anna": 1}, ["Ann"], "an"]
)
def test_what_only_looks_alike_is_not_found(acme, near):
    row = FACTORIES[TENANT_TABLES["agent_episodes"]](acme.tenant.id)
    row.metadata, row.text, row.topics = near, json.dumps(near), ["anna"]
    store(row)
    assert tables(subject(acme.tenant.id, "ann")) == {}


def test_what_came_after_the_erasure_is_not_residue(acme):
    before = Subject(acme.tenant.id, "ann", timezone.now() - timedelta(seconds=5))
    people.live(acme, "ann")
    assert tables(before) == {}
    assert tables(subject(acme.tenant.id, "ann")) != {}


def test_slices_together_are_the_whole(acme, monkeypatch):
    monkeypatch.setattr(residue, "SLICE", 3)
    for _n in range(10):
        row = FACTORIES[TENANT_TABLES["agent_episodes"]](acme.tenant.id)
        row.user_id = "ann"
        store(row)
    steps = []
    found = scan_tables(subject(acme.tenant.id, "ann"), report=lambda: steps.append(1))
    assert found == {"agent_episodes.user_id": 10}
    assert len(steps) >= 4


def redis_left(one, since=0):
    return scan_redis(one, since=since or redis_clock() + 10_000_000, report=lambda: None)


@pytest.fixture
def planted():
    """Plants a key, and takes it away after the test."""
    redis, names = get_redis_connection(), []

    def plant(command, name, *values):
        names.append(name)
        redis.execute_command(command, name, *values)

    yield plant
    redis.delete(*names)


def test_keys_of_any_family_are_found_in_redis(acme, planted):
    tenant = acme.tenant.id
    tag = "{" + f"{tenant.hex}/ns/ann/talk" + "}"
    planted("SET", f"some:new:family:{tag}:x", "1")
    planted("SET", f"presence:{tenant.hex}:ann", "1")
    planted("SET", f"presence:{tenant}|ann|x", "1")
    planted("SET", f"presence:{tenant.hex}:anna", "1")
    planted("SET", "{" + f"{tenant.hex}/ann/bob/ann" + "}", "1")  # bob's, in a namespace called ann
    assert redis_left(subject(tenant, "ann")) == {"redis.keys": 3}
    assert redis_left(subject(tenant, "bob")) == {"redis.keys": 1}


def test_members_of_sets_that_span_people_are_found_in_redis(acme, planted):
    tenant = acme.tenant.id
    tag = "{" + f"{tenant.hex}//ann/talk" + "}"
    planted("ZADD", "t:everybodys", 1, tag, 2, tag.replace("/ann/", "/bob/"))
    planted("SADD", "t:a-set", tag)
    planted("HSET", "t:a-hash", "x", f"see {tag}", tag, "y")
    planted("RPUSH", "t:a-list", "x", tag)
    planted("SADD", f"t:{tenant.hex}:users", "ann", "anna", "bob")
    planted("SADD", "t:another-tenants", "ann")
    planted("SADD", "t:bytes", b"\xff\xfe")
    assert redis_left(subject(tenant, "ann")) == {"redis.members": 6}


def test_what_began_in_redis_after_the_erasure_is_not_residue(acme):
    people.live(acme, "ann")
    one = subject(acme.tenant.id, "ann")
    assert redis_left(one)["redis.keys"] >= 3
    assert redis_left(one)["redis.members"] == 1
    assert redis_left(one, since=redis_clock() - 60_000_000) == {}


def test_an_erasure_tells_what_its_handlers_left(acme, monkeypatch):
    """A handler that forgets a table, and a store that has none: the receipt says so."""
    people.live(acme, "ann")
    forgetful = {
        name: one for name, one in registry._handlers.items() if name not in {"episode", "embedding"}
    }
    monkeypatch.setattr(registry, "_handlers", forgetful)
    receipt = people.erase(acme, "ann").receipt
    assert receipt["residue"]["agent_episodes.user_id"] == 3
    assert receipt["residue"]["episode_embeddings.user_id"] == 3
    assert receipt["passes"] == 2  # the second had nothing to delete


def test_a_second_pass_takes_what_came_between(acme, monkeypatch):
    people.live(acme, "ann")
    scan, done = erasure.scan_tables, []

    def scan_after_a_late_row(one, *, report):
        if not done and one.tenant_id == acme.tenant.id:  # an erasure of another test may be left to be done
            done.append(1)
            with scope(one.tenant_id):
                row = FACTORIES[TENANT_TABLES["agent_episodes"]](one.tenant_id)
                row.id, row.user_id, row.created_at = old_id(one), "ann", one.until
                row.save(force_insert=True)
        return scan(one, report=report)

    monkeypatch.setattr(erasure, "scan_tables", scan_after_a_late_row)
    receipt = people.erase(acme, "ann").receipt
    assert (receipt["residue"], receipt["passes"], receipt["erased"]["episode"]) == ({}, 2, 4)


def old_id(one):
    return residue._newest_id(one)


def test_the_scan_gives_up_its_lease_when_another_has_it(acme):
    from uuid import uuid4

    from tenants.jobs.kinds import Task
    from tenants.jobs.progress import LeaseLost, report

    task = Task(uuid4(), acme.tenant.id, "subject.erase", {}, "", timezone.now(), 1, 1, uuid4())
    began = time.monotonic()
    with pytest.raises(LeaseLost):
        scan_tables(subject(acme.tenant.id), report=lambda: report(task, done=1))
    assert time.monotonic() - began < 5

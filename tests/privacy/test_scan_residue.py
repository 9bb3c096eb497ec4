"""The scan finds what handlers forget: it reads the catalog, and knows none of them."""

import json
import time
from datetime import timedelta

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from tenants.privacy import erasure, registry, residue
from tenants.privacy.registry import Subject
from tenants.privacy.residue import Found, find_rows, scan_tables
from tenants.privacy.words import OWN_NAMES, VOCABULARY, WORDS
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


def scanned(one):
    return scan_tables(one, report=lambda: None)


def tables(one):
    return scanned(one).residue


def is_alone(model) -> bool:
    """Whether a tenant has one such row at most."""
    return any(getattr(one, "fields", ()) == ("tenant",) for one in model._meta.constraints)


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
            if is_alone(model):
                model._default_manager.using("owner").filter(tenant_id=tenant.tenant.id).delete()
            store(row)
        planted = 1 if is_alone(model) else planted + 1
    assert planted
    apart = planted if WORDS.get((table, column)) == "true" else 0
    if (table, column) in OWN_NAMES and form_of(field) == "json":
        apart = planted // 2  # where the id is a name, which in JSON of the server's is its own
    place = f"{table}.{column}"
    expected = [{place: count} if count else {} for count in (planted - apart, apart)]
    assert scanned(subject(acme.tenant.id, who)) == Found(*expected)
    assert scanned(subject(acme.tenant.id, "bob")) == Found({}, {})


def test_every_form_of_column_is_looked_at():
    assert len(COLUMNS) > 60
    with_text = {param.values[0] for param in COLUMNS}
    assert set(TENANT_TABLES) - with_text <= {"ledger_recallhour", "tenants_exportchunk", "tenants_member"}


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
    assert found == Found({"agent_episodes.user_id": 10}, {})
    assert len(steps) >= 4


def test_an_erasure_tells_what_its_handlers_left(acme, monkeypatch):
    """A handler that forgets a table, and a store that has none: the receipt says so."""
    people.live(acme, "ann")
    forgetful = {
        name: one for name, one in registry._handlers.items() if name not in {"episode", "embedding"}
    }
    monkeypatch.setattr(registry, "_handlers", forgetful)
    receipt = people.erase(acme, "ann").receipt
    assert receipt["residue"]["agent_episodes.user_id"] == 4
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
    assert (receipt["residue"], receipt["passes"], receipt["erased"]["episode"]) == ({}, 2, 5)


def test_what_was_counted_can_be_told_row_by_row(acme, monkeypatch):
    monkeypatch.setattr(residue, "SLICE", 3)
    ids = []
    for number in range(10):
        row = FACTORIES[TENANT_TABLES["agent_episodes"]](acme.tenant.id)
        row.metadata = {"friend": "ann" if number % 2 else "bob", "type": "ann"}
        ids += [str(store(row).id)] if number % 2 else []
    one = subject(acme.tenant.id, "ann")
    ask = {"place": "agent_episodes.metadata", "thing": "id", "slices": 100}
    assert find_rows(one, most=20, **ask) == ids
    assert find_rows(one, most=2, **ask) == ids[:2]
    assert (
        find_rows(one, most=20, **ask | {"slices": 2})
        == ids[: len(find_rows(one, most=20, **ask | {"slices": 2}))]
    )
    assert find_rows(one, most=20, **ask | {"place": "agent_episodes.text"}) == []
    for place in ("tenants_tenant.slug", "no.such", "agent_episodes", ""):
        assert find_rows(one, most=20, **ask | {"place": place}) == []


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

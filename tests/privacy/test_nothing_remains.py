"""After an erasure, every table and every key of Redis is read through for the person's id and words: as a
backup would be, knowing nothing of models, handlers or keys. Only the receipt is about them, by a pseudonym.
"""

import secrets

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import connections, models
from django.utils import timezone
from django_redis import get_redis_connection

from episodic.models import Entity, Episode, EpisodeAccess
from knowledge.models import Document
from ledger.models import SlotRemoval
from observations.models import Observation
from tenants.models import Job, Tombstone
from tenants.privacy.export import request_export
from tenants.privacy.registry import Rows, handlers
from tenants.privacy.words import VOCABULARY
from tenants.scope import scope
from tenants.tombstones import subject_of
from tests.api.bodies import AGENT
from tests.conftest import make_member
from tests.isolation.tables import FACTORIES, store
from tests.privacy import people
from working.models import Session

ANN = "ann-of-a-kind-4711"
WORD = "quercitron"  # in everything that she says, and in no other test
NEEDLES = (ANN, "quercitr")  # lexemes may have lost an ending
ASKED = {"user_id": ANN}
PARENTS = {
    "episode_id": Episode,
    "entity_id": Entity,
    "observation_id": Observation,
    "document_id": Document,
    "session_id": Session,
}
TEXT = models.CharField | models.TextField


def planted(tenant_id):
    """A row in each table that has a handler, with the words in every column that takes them."""
    for one in handlers().values():
        if not isinstance(one, Rows) or one.model is EpisodeAccess or one.name.endswith("_mention"):
            continue  # the doors make these
        row = FACTORIES[one.model](tenant_id)
        for field in one.model._meta.concrete_fields:
            value = fitting(field, tenant_id)
            if value is not None:
                setattr(row, field.attname, value)
        store(row)


def fitting(field, tenant_id):
    """What the row of hers says in that column; None: as the factory has it."""
    if field.attname == "user_id":
        return ANN
    if field.model is SlotRemoval and field.attname == "subject":
        return subject_of(tenant_id=tenant_id, user_id=ANN)
    if field.attname in PARENTS:
        parent = FACTORIES[PARENTS[field.attname]](tenant_id)
        parent.user_id = ANN
        return store(parent).id
    if field.column in {"seq", "number", "position"}:
        return secrets.randbelow(2**30)
    if field.primary_key or field.choices or (field.model._meta.db_table, field.column) in VOCABULARY:
        return None
    if isinstance(field, models.JSONField):
        return {"deep": [{"said": f"{WORD} {field.column}"}]}
    if isinstance(field, ArrayField) and isinstance(field.base_field, TEXT):
        return [WORD] if (field.base_field.max_length or 99) > len(WORD) else None
    if isinstance(field, TEXT) and (field.max_length or 99) >= 20 and not field.unique:
        return f"{WORD} {field.column}"[: field.max_length]
    return None


def through_the_doors(member):
    """What the doors leave beside rows: jobs, keys of Redis, answers, links between them."""
    admin = member.with_key(scopes=("read", "write", "ingest", "admin"))
    admin.http.put("/api/v1/agents/coder", json={**AGENT}).raise_for_status()
    said = {"user_message": f"My name is {WORD} and I always prefer {WORD} tea.", "assistant_message": "Ah."}
    others = {"text": "Bob met her.", "user_id": "bob", "topics": [ANN, "tea"], "entities": ["bob", ANN]}
    note = {
        "session_id": "talk",
        "type": "decision",
        "title": WORD,
        "content": f"{WORD} noted",
        "project": "apollo",
    }
    result = {"agent": "coder", "session_id": "talk", "tool": "shell", "args": {"cmd": WORD}, "output": WORD}
    sends = [
        ("PUT", f"/api/v1/entities/{ANN}/tea", {"value": f"{WORD} one"}),
        ("PUT", f"/api/v1/entities/{ANN}/tea", {"value": f"{WORD} two"}),
        ("PUT", f"/api/v1/entities/{ANN}/cup", {"value": WORD}),
        ("DELETE", f"/api/v1/entities/{ANN}/cup", None),
        ("POST", "/api/v1/remember", {"session_id": "talk", "user_id": ANN, **said}),
        ("POST", "/api/v1/recall", {"query": WORD, "user_id": ANN, "session_id": "talk"}),
        ("POST", "/api/v1/assemble", {"query": WORD, "user_id": ANN, "session_id": "talk"}),
        ("POST", "/api/v1/hooks/tool-result", {**result, "user_id": ANN}),
        ("POST", "/api/v1/documents", {"title": WORD, "content": f"{WORD} text", "user_id": ANN}),
        ("POST", "/api/v1/evaluation/queries", {"text": WORD, "user_id": ANN}),
        ("POST", "/api/v1/episodes", others),
        ("POST", "/observations", note | {"session_id": "bobs", "tags": [ANN], "title": "x", "content": "y"}),
        ("POST", "/observations", note),  # by a door that knows no users: the session tells whose it is
    ]
    for number, (method, path, body) in enumerate(sends):
        headers = {"Idempotency-Key": f"n{number}"}
        answer = admin.http.request(method, path, json=body, headers=headers)
        assert answer.is_success, (path, answer.status_code, answer.text)
    summarised(admin)


def summarised(admin):
    """What tells of her and of Bob, for whoever asked for both."""
    asked = {"source": "long_term", "group_by": ["namespace"], "filters": {"user_id": ["bob", ANN]}}
    view = admin.http.post("/v1/summary-views", json=asked).json()["id"]
    answer = admin.http.post(f"/v1/summary-views/{view}/partitions/run", json={"group": {"namespace": ""}})
    assert WORD in answer.json()["summary"]


def found_in_tables():
    """Tables with a row that says one of the needles anywhere, in text, JSON or bytes."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')"
            " AND relnamespace = 'public'::regnamespace ORDER BY 1"
        )
        tables = [name for (name,) in cursor.fetchall()]
        return {table for table in tables if says(cursor, table)}


def says(cursor, table):
    either = " OR ".join(["strpos(lower(t::text), %s) > 0"] * len(NEEDLES) * 2)
    params = [text for needle in NEEDLES for text in (needle, needle.encode().hex())]  # bytes show as hex
    cursor.execute(f'SELECT EXISTS (SELECT FROM "{table}" t WHERE {either})', params)
    return cursor.fetchone()[0]


def found_in_redis():
    """Keys that say one of the needles, in their name or in what they hold."""
    redis = get_redis_connection()
    keys = list(redis.scan_iter(count=1_000))
    return {key for key in keys if any(needle in f"{key} {held(redis, key)}".lower() for needle in NEEDLES)}


def held(redis, key):
    read = {"hash": redis.hgetall, "set": redis.smembers, "string": redis.get}
    kind = redis.type(key)
    if kind in read:
        return read[kind](key)
    return redis.lrange(key, 0, -1) if kind == "list" else redis.zrange(key, 0, -1)


@pytest.fixture(scope="module")
def house(server):
    return make_member("acme", server)


@pytest.fixture(scope="module")
def before(house):
    """She has lived here, in every store; where she was found then."""
    people.live(house, ANN, word=WORD)
    through_the_doors(house)
    people.run_jobs()
    planted(house.tenant.id)
    request_export(caller=house.caller, user_id=ANN, now=timezone.now())
    people.run_jobs()
    with scope(house.tenant.id):
        dead = Job.objects.filter(user_id=ANN, state="done").latest("id")
        Job.objects.create(
            tenant_id=house.tenant.id, kind="test.dead", state="failed", user_id=ANN, payload={"said": WORD},
            error=WORD, result=dead.result, run_at=timezone.now(), created_at=timezone.now(), max_attempts=1,
        )  # fmt: skip
    house.http.put("/working-memory/other", params=ASKED, json={"data": {"scratchpad": WORD}})
    return found_in_tables(), found_in_redis()


@pytest.fixture(scope="module")
def tombstone(house, before):
    return people.erase(house, ANN)


def test_she_was_in_every_store(before):
    tables, keys = before
    hers = {one.model for one in handlers().values() if isinstance(one, Rows)}
    pseudonymous = {"ledger_slotremoval"}
    packed = {"tenants_exportchunk"}  # found all the same: what was planted there is not packed
    assert {model._meta.db_table for model in hers} - pseudonymous <= tables | packed
    assert len(keys) >= 4


def test_no_table_says_her_id_or_a_word_of_hers(tombstone):
    assert found_in_tables() == set()


def test_no_key_of_redis_says_them(tombstone):
    assert found_in_redis() == set()


def test_the_scan_says_so_too_and_the_receipt_is_about_her(house, tombstone):
    assert tombstone.receipt["residue"] == {}
    assert {name for name, count in tombstone.receipt["erased"].items() if not count} <= {
        "evaluation_label",
        "episode_revision_mention",  # of others' rows; tests/privacy/test_mentions.py
        "observation_revision_mention",
        "store_item_mention",  # tests/store/test_privacy.py
    }
    with scope(house.tenant.id):
        assert Tombstone.objects.get().subject == subject_of(tenant_id=house.tenant.id, user_id=ANN)


def test_her_pseudonym_is_in_the_tombstone_and_the_log_alone(house, tombstone):
    found = set()
    with connections["owner"].cursor() as cursor:
        for model in FACTORIES:
            table = model._meta.db_table
            cursor.execute(f'SELECT EXISTS (SELECT FROM "{table}" t WHERE strpos(t::text, %s) > 0)',
                           [tombstone.subject[:12]])  # fmt: skip
            if cursor.fetchone()[0]:
                found.add(table)
    assert found == {
        "tenants_tombstone",
        "tenants_linkrevocation",
        "tenants_auditentry",
        "tenants_job",
    }  # the erasure's, with the receipt

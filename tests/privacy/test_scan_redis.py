"""The scan finds in Redis what handlers forget: keys and members that name a person, sessions that are called
by the id, and those that hold it."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from tenants.privacy import redis_residue
from tenants.privacy.redis_residue import redis_clock, scan_redis
from tenants.privacy.registry import Subject
from tests.privacy import people

ANN = 'ann "the/zoë" \\ %'


def at(tenant_id, who):
    return Subject(tenant_id, who, timezone.now() + timedelta(seconds=1))


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
    assert redis_left(at(tenant, "ann")) == {"redis.keys": 3}
    assert redis_left(at(tenant, "bob")) == {}


def test_sessions_that_are_called_by_the_id_are_found_in_redis(acme, globex, planted):
    tenant = acme.tenant.id
    for tag in ("ann/bob/talk", "/bob/ann", "//ann", "//anna", "ann//a n"):
        planted("HSET", "agent:session:{" + f"{tenant.hex}/{tag}" + "}:meta", "born", "1")
        planted("SET", "working_memory:{" + f"{tenant.hex}/{tag}" + "}", "1")  # counts once with the other
    quoting = "agent:session:{" + f"{tenant.hex}//%22ann%22/talk" + "}:meta"
    planted("HSET", quoting, "user_id", '"ann"')  # as it is, and not as JSON
    planted("SET", "working_memory:{" + f"{globex.tenant.id.hex}//bob/ann" + "}", "1")
    planted("ZADD", "t:idle", 1, "{" + f"{tenant.hex}//cleo/ann" + "}", 2, "{" + f"{tenant.hex}//ann/x" + "}")
    assert redis_left(at(tenant, "ann")) == {"redis.members": 1, "redis.sessions": 5}
    assert redis_left(at(tenant, "bob")) == {"redis.keys": 4}


@pytest.mark.parametrize("who", ["zoe-77f", ANN])
@pytest.mark.parametrize("encode", [json.dumps, lambda value: json.dumps(value, ensure_ascii=False)])
def test_values_that_sessions_hold_are_looked_into(acme, globex, planted, who, encode):
    tenant = acme.tenant.id
    held = [
        ("HSET", "user", who),
        ("HSET", "user", encode(who)),
        ("HSET", "user_id", encode(f"jwt:{who}")),
        ("HSET", "entities", encode({"deep": [{"users": [who]}]})),
        ("HSET", "entities", encode({"agents": {who: 1}})),
        ("HSET", who, "1"),
        ("RPUSH", "x", encode({"seq": 1, "role": "user", "content": {"from": who}})),
    ]
    for number, (command, *values) in enumerate(held):
        planted(command, "some:{" + f"{tenant.hex}//bob/{number}" + "}", *values, b"\xff", b"\xfe")
    planted("HSET", "some:{" + f"{globex.tenant.id.hex}//bob/1" + "}", "user", who)
    assert redis_left(at(tenant, who)) == {"redis.values": len(held)}
    assert redis_left(at(tenant, "nobody")) == {}


def test_what_sessions_hold_is_not_found_by_what_looks_alike(acme, planted):
    tag = "{" + f"{acme.tenant.id.hex}///conv-9" + "}"
    near = {
        "a": "anna", "b": "say ann", "c": '"Ann"', "d": '{"x": "ann came", "y": "\\"ann\\""}', "e": "[1]",
        "f": "7", "agent": "ann", "project": '"ann"', "g": '{"deep": {"agent_id": "ann", "type": "ann"}}',
        "h": '{"ann": ',
    }  # fmt: skip
    planted("HSET", f"working_memory:{tag}", *[part for pair in near.items() for part in pair])
    planted("SET", f"agent:session:{tag}:summary", "ann")
    for who in ("ann", "7", "1"):
        assert redis_left(at(acme.tenant.id, who)) == {}


def test_json_in_keys_that_span_people_is_looked_into(acme, planted):
    planted("RPUSH", f"t:{acme.tenant.id.hex}:waiting", '{"whose": "ann"}', '{"whose": "anna"}')
    planted("RPUSH", "t:waiting", '{"whose": "ann"}')
    assert redis_left(at(acme.tenant.id, "ann")) == {"redis.members": 1}


def test_redis_is_looked_through_in_pages(acme, planted, monkeypatch):
    monkeypatch.setattr(redis_residue, "SCANNED", 7)
    monkeypatch.setattr(redis_residue, "READ", 3)
    for number in range(20):
        planted("HSET", "some:{" + f"{acme.tenant.id.hex}///{number}" + "}", "user", "ann")
    steps = []
    one = at(acme.tenant.id, "ann")
    assert scan_redis(one, since=redis_clock(), report=lambda: steps.append(1)) == {"redis.values": 20}
    assert len(steps) >= 3


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
    assert redis_left(at(tenant, "ann")) == {"redis.members": 6}


def test_what_began_in_redis_after_the_erasure_is_not_residue(acme):
    people.live(acme, "ann")
    one = at(acme.tenant.id, "ann")
    assert redis_left(one)["redis.keys"] >= 3
    assert redis_left(one)["redis.members"] == 1
    assert redis_left(one, since=redis_clock() - 60_000_000) == {}

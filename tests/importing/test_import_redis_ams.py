import json
from pathlib import Path
from typing import Any

import pytest
import redis
from django.core.management.base import CommandError

from tests.conftest import Member
from tests.importing.importing import memories, run, serving, totals, write_lines, written_in
from tests.plugin import STORES

SESSION = {
    "messages": [
        {"id": "m1", "role": "user", "content": "Book me a train.", "created_at": "2026-05-01T09:00:00Z"},
        {"id": "m2", "role": "assistant", "content": "Booked.", "created_at": "2026-05-01T09:00:05Z"},
    ],
    "memories": [],
    "data": {"seat": "aisle"},
    "context": "Ana travels by train.",
    "user_id": "ana",
    "namespace": "trips",
    "session_id": "t1",
}
RECORD = {
    "id": "01HXAMPLE",
    "text": "Ana prefers the aisle.",
    "user_id": "ana",
    "namespace": "trips",
    "memory_type": "semantic",
    "topics": ["travel"],
    "entities": [],
    "created_at": "2026-05-01T09:00:00Z",
    "last_accessed": "2026-05-02T09:00:00Z",
    "pinned": True,
}


def session_of(member: Member, name: str, **whose: str) -> Any:
    return member.http.get(f"/v1/working-memory/{name}", params=whose).json()


def fill(member: Member) -> None:
    """A server's worth: 130 memories of two people, three sessions."""
    records = [
        {"id": f"r{n}", "text": f"Fact {n} about rivers.", "user_id": f"u{n % 2}", "namespace": "n"}
        for n in range(130)
    ]
    saved = member.http.post("/v1/long-term-memory/", json={"memories": records, "deduplicate": False})
    saved.raise_for_status()
    whole = {**SESSION, "namespace": "n"}
    for name, user_id in (("s0", "u0"), ("s1", "u1")):
        body = {**whole, "user_id": user_id}
        member.http.put(
            f"/v1/working-memory/{name}", json=body, params={"user_id": user_id}
        ).raise_for_status()
    alone = {**SESSION, "user_id": None, "namespace": None}
    member.http.put("/v1/working-memory/alone", json=alone).raise_for_status()


def test_a_running_server_is_read_page_by_page_and_once(acme: Member, globex: Member) -> None:
    fill(globex)
    url, key = str(globex.http.base_url), ("--api-key", globex.key)
    before = written_in(acme.tenant.id)

    dry = run("redis-ams", url, acme.tenant.slug, "--dry-run", *key)
    assert written_in(acme.tenant.id) == before
    done = run("redis-ams", url, acme.tenant.slug, *key)
    here = written_in(acme.tenant.id)
    again = run("redis-ams", url, acme.tenant.slug, *key)

    assert dry["kinds"] == done["kinds"]
    assert done["kinds"]["memories"]["written"] == 130
    assert done["kinds"]["events"]["written"] == 6
    assert done["kinds"]["sessions"]["written"] == 3
    assert totals(again) == {"read": 139, "unchanged": 139}
    assert written_in(acme.tenant.id) == here
    found = session_of(acme, "s1", user_id="u1", namespace="n")
    assert [one["content"] for one in found["messages"]] == ["Book me a train.", "Booked."]
    assert (found["data"], found["context"]) == ({"seat": "aisle"}, "Ana travels by train.")
    assert session_of(acme, "alone")["data"] == {"seat": "aisle"}


def test_answers_in_a_file_are_read(acme: Member, tmp_path: Path) -> None:
    lines = [SESSION, {"memories": [RECORD], "total": 1}, {**RECORD, "id": "r2", "text": "Ana has a cat."}]
    file = write_lines(tmp_path / "answers.jsonl", lines)
    alone = tmp_path / "session.json"
    alone.write_text(json.dumps({**SESSION, "session_id": "t2"}, indent=1))

    assert totals(run("redis-ams", file, acme.tenant.slug)) == {"read": 5, "written": 5}
    assert totals(run("redis-ams", alone, acme.tenant.slug)) == {"read": 3, "written": 3}
    kept = {one.external_id: one for one in memories(acme.tenant.id) if one.namespace == "trips"}
    assert kept["01HXAMPLE"].text == "Ana prefers the aisle."
    assert kept["01HXAMPLE"].pinned_at is not None


def test_a_session_in_a_file_with_a_byte_order_mark_keeps_its_messages(acme: Member, tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    file.write_text(json.dumps({**SESSION, "memories": [RECORD]}, indent=1), encoding="utf-8-sig")

    assert totals(run("redis-ams", file, acme.tenant.slug)) == {"read": 4, "written": 4}
    found = session_of(acme, "t1", user_id="ana", namespace="trips")
    assert [one["content"] for one in found["messages"]] == ["Book me a train.", "Booked."]


def test_its_redis_is_read_without_the_server(acme: Member) -> None:
    source = redis.Redis.from_url(STORES.redis.url(7))
    source.flushdb()
    stored = {name: RECORD[name] for name in ("text", "user_id", "namespace", "memory_type")}
    numbers = {
        "created_at": 1_777_626_000.5,
        "last_accessed": 1_777_626_100.0,
        "access_count": 3,
        "pinned": 0,
    }
    tags = {"topics": "travel,seats", "entities": "", "metadata": '{"by": "x"}', "vector": b"\xff\xfe\x00"}
    source.hset("memory_idx:01A", mapping={"id_": "01A", **stored, **numbers, **tags})
    source.hset("memory_idx:01B", mapping={"id_": "01B", **stored, **numbers, "text": " "})
    source.set("working_memory:trips:ana:t1", json.dumps(SESSION))

    done = run("redis-ams", STORES.redis.url(7), acme.tenant.slug)

    assert totals(done) == {"read": 5, "written": 4, "junk": 1}
    again = run("redis-ams", STORES.redis.url(7), acme.tenant.slug)
    assert totals(again) == {"read": 5, "unchanged": 4, "junk": 1}
    kept = next(one for one in memories(acme.tenant.id) if one.external_id == "01A")
    assert (kept.topics, kept.metadata["by"]) == (["travel", "seats"], "x")


@pytest.mark.parametrize("pages", ["memories", "sessions"])
def test_a_server_that_knows_no_pages_is_not_asked_without_end(acme: Member, pages: str) -> None:
    """It would answer ten times; what it has told comes in."""
    records = [{**RECORD, "id": f"r{n}", "text": f"Fact {n} about rivers."} for n in range(100)]
    names = [f"s{n}" for n in range(100)]
    asked = {"memories": 0, "sessions": 0}

    def answer(method: str, path: str, query: dict[str, str], _body: Any) -> tuple[int, Any]:
        if method == "GET" and path != "/v1/working-memory/":
            return 404, {}
        member = "memories" if method == "POST" else "sessions"
        asked[member] += 1
        goes_on = member == pages and asked[member] < 10
        if member == "memories":
            return 200, {"memories": records, "total": 100, "next_offset": 100 if goes_on else None}
        return 200, {"sessions": names if goes_on else [], "total": 100}

    with serving(answer) as server, pytest.raises(CommandError, match="there may be more"):
        run("redis-ams", server.url, acme.tenant.slug)
    assert asked[pages] == 2
    assert len(memories(acme.tenant.id)) == 100

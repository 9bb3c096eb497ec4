import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.utils import timezone

from episodic.models import Item
from tenants.scope import scope
from tests.conftest import Member
from tests.importing.importing import database, reasons, run, totals, write_lines, written_in

STORE = (
    """CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value jsonb NOT NULL,
    created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now(), PRIMARY KEY (prefix, key))""",
    "ALTER TABLE store ADD COLUMN expires_at timestamptz, ADD COLUMN ttl_minutes int",
)
PUT = "INSERT INTO store (prefix, key, value, updated_at, expires_at) VALUES (%s, %s, %s, %s, %s)"


def item_of(member: Member, namespace: list[str], key: str) -> Any:
    answer = member.http.get("/api/v1/store/items", params={"namespace": namespace, "key": key})
    return answer.json()["value"] if answer.status_code == 200 else answer.status_code


def test_a_store_in_postgresql_becomes_items_once(acme: Member) -> None:
    with database("langgraph_source", *STORE) as url, psycopg.connect(url, autocommit=True) as source:
        for number in range(230):
            source.execute(
                PUT, ["memories.ana", f"k{number:03}", json.dumps({"n": number}), "2026-01-01", None]
            )
        source.execute(PUT, ["memories.ana", "old", '{"n": 1}', "2026-01-01", "2026-01-02"])
        before = written_in(acme.tenant.id)

        dry = run("langgraph", url, acme.tenant.slug, "--dry-run")
        assert written_in(acme.tenant.id) == before
        done = run("langgraph", url, acme.tenant.slug)
        here = written_in(acme.tenant.id)
        again = run("langgraph", url, acme.tenant.slug)
        assert written_in(acme.tenant.id) == here
        source.execute("UPDATE store SET value = '{\"n\": -1}', updated_at = now() WHERE key = 'k001'")
        later = run("langgraph", url, acme.tenant.slug)

    assert dry["kinds"] == done["kinds"]
    assert totals(done) == {"read": 231, "written": 230, "junk": 1}
    assert totals(again) == {"read": 231, "unchanged": 230, "junk": 1}
    assert totals(later) == {"read": 231, "updated": 1, "unchanged": 229, "junk": 1}
    assert item_of(acme, ["memories", "ana"], "k001") == {"n": -1}
    assert item_of(acme, ["memories", "ana"], "old") == 404


def test_what_was_put_here_since_is_not_undone(acme: Member, tmp_path: Path) -> None:
    lines = [{"namespace": ["a"], "key": "k", "value": {"n": 1}, "updated_at": "2026-01-01T00:00:00Z"}]
    file = write_lines(tmp_path / "items.jsonl", lines)
    run("langgraph", file, acme.tenant.slug)
    body = {"namespace": ["a"], "key": "k", "value": {"n": 2}}
    acme.http.put("/api/v1/store/items", json=body).raise_for_status()

    found = run("langgraph", file, acme.tenant.slug)

    assert list(reasons(found, "refused")) == ["the item here was put later"]
    assert item_of(acme, ["a"], "k") == {"n": 2}


def test_an_item_keeps_its_moments_and_may_be_empty(acme: Member, tmp_path: Path) -> None:
    moments = {"created_at": "2024-03-01T10:00:00+00:00", "updated_at": "2024-05-01T10:00:00+00:00"}
    undated = {"namespace": ["a"], "key": "undated", "value": {"n": 1}}
    ahead = {"namespace": ["a"], "key": "ahead", "value": {"n": 1}, "updated_at": "2999-01-01T00:00:00Z"}
    lines = [{"namespace": ["a"], "key": "k", "value": {}, **moments}, undated, ahead]
    file = write_lines(tmp_path / "items.jsonl", lines)
    before = timezone.now()

    assert totals(run("langgraph", file, acme.tenant.slug)) == {"read": 3, "written": 3}

    found = acme.http.post("/api/v1/store/items/search", json={}).json()["results"]
    told = {
        one["key"]: {name: datetime.fromisoformat(one[name]) for name in moments} | {"value": one["value"]}
        for one in found
    }
    assert told["k"] == {"value": {}} | {name: datetime.fromisoformat(at) for name, at in moments.items()}
    assert before <= told["undated"]["created_at"] == told["undated"]["updated_at"]
    assert before <= told["ahead"]["updated_at"] <= timezone.now(), "what is put here later is later"
    newer = [{**lines[0], "value": {"n": 2}, "updated_at": "2024-06-01T10:00:00+00:00"}]
    again = run("langgraph", write_lines(file, newer), acme.tenant.slug)
    assert totals(again) == {"read": 1, "updated": 1}
    item = acme.http.get("/api/v1/store/items", params={"namespace": ["a"], "key": "k"}).json()
    assert datetime.fromisoformat(item["created_at"]) == told["k"]["created_at"]
    assert datetime.fromisoformat(item["updated_at"]) == datetime(2024, 6, 1, 10, tzinfo=UTC)


def test_items_that_cannot_be_used_are_told(acme: Member, tmp_path: Path) -> None:
    good = {"namespace": ["a"], "key": "k", "value": {"n": 1}}
    lines = [
        good,
        good,
        {**good, "key": ""},
        {**good, "value": 3},
        {**good, "namespace": ["a.b"]},
        {**good, "key": "s", "value": {"note": "my password is hunter2-Xk9!"}},
    ]
    found = run("langgraph", write_lines(tmp_path / "items.jsonl", lines), acme.tenant.slug)

    assert totals(found) == {"read": 6, "written": 1, "duplicates": 1, "junk": 3, "secrets": 1}
    assert "hunter2" not in json.dumps(found)


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"namespace": ["x" * 256]}, "namespace is too long"),
        ({"namespace": ["x"] * 21}, "namespace is too long"),
        ({"namespace": ["x" * 250] * 4}, "namespace is too long"),
        ({"namespace": ["\u4e00" * 250] * 3}, "namespace is too long"),
        ({"key": "x" * 1_001}, "key is too long"),
        ({"ttl_minutes": 1e300}, "ttl_minutes is not a number of minutes"),
    ],
)
def test_an_item_that_no_client_could_name_is_junk_and_the_rest_comes_in(
    acme: Member, tmp_path: Path, odd: dict[str, Any], said: str
) -> None:
    good = {"namespace": ["a"], "key": "k", "value": {"n": 1}}
    lines = [{**good, "key": "before"}, {**good, **odd}, {**good, "key": "after"}]

    found = run("langgraph", write_lines(tmp_path / "items.jsonl", lines), acme.tenant.slug)

    assert totals(found) == {"read": 3, "written": 2, "junk": 1}
    assert reasons(found, "junk") == {said: ["line 2"]}


def test_what_the_database_cannot_index_keeps_nothing_else_out(acme: Member, tmp_path: Path) -> None:
    """Characters of three bytes each that no compression shortens."""
    drawn = random.Random(7)
    user, agent, *long = ("".join(chr(drawn.randint(0x4E00, 0x9FFF)) for _ in range(250)) for _ in range(4))
    good = {"namespace": ["a"], "value": {"n": 1}}
    lines = [{**good, "key": f"k{number}"} for number in range(5)]
    lines.insert(2, {**good, "namespace": long, "key": "k", "user_id": user})
    file = write_lines(tmp_path / "items.jsonl", lines)

    found = run("langgraph", file, acme.tenant.slug, "--agent", agent)

    assert totals(found) == {"read": 6, "written": 5, "refused": 1}
    assert list(reasons(found, "refused").values()) == [["line 3"]]


def test_an_item_that_has_expired_here_and_is_not_swept_up_comes_in(acme: Member, tmp_path: Path) -> None:
    good = {"namespace": ["a"], "key": "k", "value": {"n": 1}}
    acme.http.put("/api/v1/store/items", json={**good, "ttl": 60}).raise_for_status()
    with scope(acme.tenant.id):
        over = timezone.now() - timedelta(hours=1)
        Item.objects.filter(tenant_id=acme.tenant.id).update(expires_at=over)
    file = write_lines(tmp_path / "items.jsonl", [{**good, "updated_at": "2026-01-01T00:00:00Z"}])

    assert totals(run("langgraph", file, acme.tenant.slug)) == {"read": 1, "written": 1}
    assert item_of(acme, ["a"], "k") == {"n": 1}

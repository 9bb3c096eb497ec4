from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from episodic.models import Item
from memoryproject.importing import writing_events, writing_exports, writing_items, writing_memories
from memoryproject.importing.batches import write_batch
from memoryproject.importing.run import ERASED, RESTRICTED
from memoryproject.importing.sources.choosing import KINDS
from tenants.restrictions import restrict_subject
from tenants.scope import scope
from tenants.tombstones import bury
from tests.conftest import Member
from tests.importing.importing import memories, reasons, run, totals, write_lines
from tests.privacy import people


def lines(*dates: str | None, user: str = "ana") -> list[dict[str, Any]]:
    return [
        {"id": f"{user}{n}", "memory": f"{user} said {n}.", "user_id": user, "created_at": date}
        for n, date in enumerate(dates)
    ]


def entry_of(source: str, number: int, at: str | None) -> dict[str, Any]:
    """Something of Ana's, as the source tells it in a line."""
    said = f"Ana said {number}."
    event = {"event_type": "user_message", "content": said, "session_id": "s", "timestamp": at}
    message = {"role": "user", "content": said, "created_at": at}
    return {"user_id": "ana"} | {
        "mem0": {"id": f"m{number}", "memory": said, "created_at": at},
        "redis-ams": {"session_id": "s", "messages": [message], "memories": []},
        "agentops": {"id": f"s{number}", "project": "shop", "started_at": at},
        "langgraph": {"namespace": ["a"], "key": f"k{number}", "value": {"n": 1}, "updated_at": at},
        "kaos": event,
    }[source]


@pytest.mark.parametrize("source", KINDS)
def test_what_was_erased_does_not_come_back_and_what_is_later_comes_in(
    acme: Member, tmp_path: Path, source: str
) -> None:
    people.erase(acme, "ana")
    later = timezone.now().isoformat()
    told = [entry_of(source, number, at) for number, at in enumerate(("2026-04-30T00:00:00Z", None, later))]
    told.append({**entry_of(source, 3, None), "user_id": "ben"})

    found = run(source, write_lines(tmp_path / "a.jsonl", told), acme.tenant.slug)

    (places,) = reasons(found, "refused").values()
    assert list(reasons(found, "refused")) == [ERASED]
    assert [place.partition(",")[0] for place in places] == ["line 1", "line 2"]
    assert totals(found) == {"read": 4, "written": 2, "refused": 2}


WRITERS = {
    "mem0": writing_memories,
    "redis-ams": writing_events,
    "agentops": writing_exports,
    "langgraph": writing_items,
    "kaos": writing_events,
}


@pytest.mark.parametrize("source", KINDS)
def test_an_import_that_runs_while_the_person_is_erased_leaves_nothing_behind(
    acme: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """The erasure is asked for, and done, when all that may come in is chosen and none of it is written."""
    receipts = []

    def erase_first(*chosen: Any, **named: Any) -> None:
        if not receipts:
            receipts.append(people.erase(acme, "ana").receipt)
        write_batch(*chosen, **named)

    monkeypatch.setattr(WRITERS[source], "write_batch", erase_first)
    told = [entry_of(source, number, at) for number, at in enumerate(("2026-04-30T00:00:00Z", None))]
    if source == "redis-ams":  # what stands beside events is written first
        told.insert(0, {"session_id": "beside", "user_id": "ana", "messages": [], "data": {"seat": "aisle"}})
    if source == "langgraph":
        told.append({**entry_of(source, 2, None), "user_id": None, "namespace": ["memories", "ana"]})

    found = run(source, write_lines(tmp_path / "a.jsonl", told), acme.tenant.slug)

    assert receipts
    assert receipts[0]["residue"] == {}
    assert reasons(found, "refused").keys() == {ERASED}
    assert totals(found) == {"read": len(told), "refused": len(told)}
    assert not any(people.belongings(acme.tenant.id, "ana").values())
    with scope(acme.tenant.id):
        assert not Item.objects.filter(tenant_id=acme.tenant.id).exists()


def test_nothing_of_a_restricted_person_comes_in(acme: Member, tmp_path: Path) -> None:
    restrict_subject(caller=acme.caller, user_id="ana", reason="in dispute", now=timezone.now())
    event = {"event_id": "e1", "event_type": "user_message", "content": "Hello.", "user_id": "ana"}
    sent = {**event, "timestamp": "2026-04-01T10:00:00Z"}

    records = run("mem0", write_lines(tmp_path / "a.jsonl", lines(None)), acme.tenant.slug)
    events = run("kaos", write_lines(tmp_path / "s.jsonl", [sent]), acme.tenant.slug)

    assert reasons(records, "refused") == {RESTRICTED: ["line 1"]}
    assert list(reasons(events, "refused")) == [RESTRICTED]


def test_items_of_nobody_under_the_name_are_the_person_s(acme: Member, tmp_path: Path) -> None:
    with scope(acme.tenant.id):
        bury(tenant_id=acme.tenant.id, user_id="ana", requested_by="test", now=timezone.now())
    restrict_subject(caller=acme.caller, user_id="ben", reason="in dispute", now=timezone.now())
    items = [
        {"namespace": ["memories", who], "key": "k", "value": {"n": 1}, "updated_at": "2026-04-30"}
        for who in ("ana", "ben", "cid")
    ]
    file = write_lines(tmp_path / "items.jsonl", items)
    for how in (("--dry-run",), ()):
        found = run("langgraph", file, acme.tenant.slug, *how)
        assert reasons(found, "refused") == {ERASED: ["line 1"], RESTRICTED: ["line 2"]}
        assert totals(found)["written"] == 1


def test_others_than_the_person_who_is_named_are_passed_by(acme: Member, tmp_path: Path) -> None:
    nobodys = {"id": "n", "memory": "It rained."}
    file = write_lines(
        tmp_path / "a.jsonl", [*lines("2026-04-30"), *lines("2026-04-30", user="ben"), nobodys]
    )

    assert totals(run("mem0", file, acme.tenant.slug, "--user", "ana")) == {
        "read": 3, "written": 2, "passed_by": 1,
    }  # fmt: skip
    assert {one.user_id for one in memories(acme.tenant.id)} == {"ana"}


def test_a_strict_import_fails_when_something_was_left_out(acme: Member, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl", [*lines("2026-04-30"), "{"])
    with pytest.raises(CommandError, match="1 were left out") as raised:
        run("mem0", file, acme.tenant.slug, "--strict")
    assert raised.value.returncode == 3


@pytest.mark.parametrize(
    ("source", "location", "said"),
    [
        ("mem0", "/nowhere/at.json", "cannot be read"),
        ("kaos", "postgresql://127.0.0.1/x", "keeps nothing in PostgreSQL"),
        ("langgraph", "http://127.0.0.1:1", "a database or a file"),
        ("mem0", "ftp://127.0.0.1/x", "ftp://"),
        ("kaos", "http://[::1", "no address"),
        ("mem0", "postgresql://u:top-secret@[::1/x", "no address"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(
    acme: Member, source: str, location: str, said: str
) -> None:
    with pytest.raises(CommandError, match=said) as raised:
        run(source, location, acme.tenant.slug)
    assert "top-secret" not in str(raised.value)


def test_a_tenant_that_there_is_not_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no tenant 'nobodys'"):
        run("mem0", write_lines(tmp_path / "a.jsonl", lines(None)), "nobodys")

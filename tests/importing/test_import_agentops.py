import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from tests.conftest import Member
from tests.importing.importing import reasons, run, serving, totals, written_in


def session(name: str, **others: Any) -> dict[str, Any]:
    return {"id": name, "project": "shop", "started_at": "2026-02-01T08:00:00Z", "message_count": 4, **others}


def observation(title: str, **others: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "session_id": "s1",
        "type": "decision",
        "title": title,
        "content": f"{title}, since it is tested.",
        "project": "shop",
        "scope": "project",
        "revision_count": 2,
        "duplicate_count": 1,
        "created_at": "2026-02-01T08:05:00Z",
        "updated_at": "2026-02-01T08:06:00Z",
        **others,
    }


def export(path: Path, **lists: Any) -> Path:
    path.write_text(json.dumps({"exported_at": "2026-02-02T00:00:00Z", **lists}))
    return path


def test_an_export_in_a_file_comes_in_once(acme: Member, tmp_path: Path) -> None:
    observations = [observation(f"Use pool {number}") for number in range(150)]
    file = export(
        tmp_path / "export.json", sessions=[session("s1", summary="Pools.")], observations=observations
    )
    before = written_in(acme.tenant.id)

    dry = run("agentops", file, acme.tenant.slug, "--dry-run")
    assert written_in(acme.tenant.id) == before
    done = run("agentops", file, acme.tenant.slug)
    here = written_in(acme.tenant.id)
    again = run("agentops", file, acme.tenant.slug)

    assert dry["kinds"] == done["kinds"]
    assert totals(done) == {"read": 151, "written": 151}
    assert totals(again) == {"read": 151, "unchanged": 151}
    assert written_in(acme.tenant.id) == here
    (kept,) = acme.http.get("/sessions/recent", params={"project": "shop"}).json()
    assert (kept["id"], kept["summary"], kept["message_count"]) == ("s1", "Pools.", 4)


def test_one_bad_observation_does_not_keep_the_others_out(acme: Member, tmp_path: Path) -> None:
    secret = observation("Staging", content="The password of the staging database is hunter2-Xk9!")
    long = observation("Long", type="x" * 60)
    file = export(
        tmp_path / "export.json",
        sessions=[session("s1")],
        observations=[observation("Good"), observation("Good"), observation(" "), long, secret, None],
    )

    found = run("agentops", file, acme.tenant.slug)

    assert found["kinds"]["observations"] == {
        "read": 4, "written": 1, "updated": 0, "unchanged": 0, "duplicates": 1, "junk": 0, "secrets": 1,
        "refused": 1, "passed_by": 0,
    }  # fmt: skip
    assert reasons(found, "junk") == {
        "title is empty": ["observations[2]"],
        "not a JSON object": ["observations[5]"],
    }
    assert reasons(found, "refused") == {"validation failed: type exceeds 50 chars": ["observations[3]"]}
    assert "hunter2" not in json.dumps(found)


def test_a_second_tenant_s_server_is_read_over_http(acme: Member, globex: Member) -> None:
    globex.http.post("/sessions", json={"id": "s1", "project": "shop"}).raise_for_status()
    body = {
        "session_id": "s1",
        "type": "config",
        "title": "Pool",
        "content": "12 connections",
        "project": "shop",
    }
    globex.http.post("/observations", json=body).raise_for_status()
    url = str(globex.http.base_url)

    found = run("agentops", url, acme.tenant.slug, "--api-key", globex.key)

    assert totals(found) == {"read": 2, "written": 2}
    (kept,) = acme.http.get("/observations/recent", params={"project": "shop"}).json()
    assert kept["title"] == "Pool"
    assert totals(run("agentops", url, acme.tenant.slug, "--api-key", globex.key)) == {
        "read": 2,
        "unchanged": 2,
    }


def test_a_server_that_breaks_off_is_told_and_gone_on_with(acme: Member) -> None:
    whole = json.dumps({"sessions": [session("s1")], "observations": [observation("Use pools")]}).encode()
    answers = [whole[:-60], whole]
    with serving(lambda *_asked: (200, answers.pop(0))) as server:
        with pytest.raises(CommandError, match="breaks off behind 1 entries"):
            run("agentops", server.url, acme.tenant.slug)
        found = run("agentops", server.url, acme.tenant.slug)
    assert totals(found) == {"read": 2, "written": 1, "unchanged": 1}


def test_a_file_without_an_export_is_no_success(acme: Member, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"results": []}')
    with pytest.raises(CommandError, match="holds no export"):
        run("agentops", file, acme.tenant.slug)

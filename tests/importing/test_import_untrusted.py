"""Sources that are nobody's friend."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from memoryproject.importing import web
from tests.conftest import Member
from tests.importing.importing import run, serving, totals


def memory(text: str) -> dict[str, Any]:
    return {"id": "2", "memory": text, "user_id": "ana"}


@pytest.mark.parametrize("depth", [150, 1_500, 100_000])
def test_what_is_nested_too_deep_is_junk_whatever_the_file_is_like(
    acme: Member, tmp_path: Path, depth: int
) -> None:
    deep = f'{{"id": "1", "memory": "Ana dives.", "metadata": {{"a": {"[" * depth}{"]" * depth}}}}}'
    good = json.dumps(memory("Ana sings."))
    lists, lines = tmp_path / "export.json", tmp_path / "all.json"
    lists.write_text(f'{{"results": [{deep}, {good}]}}')
    lines.write_text(f"{deep}\n{good}\n")
    for file in (lists, lines):
        found = run("mem0", file, acme.tenant.slug, "--dry-run")
        assert totals(found) == {"read": 2, "written": 1, "junk": 1}


def test_a_server_that_names_no_time_to_wait_is_asked_again(acme: Member) -> None:
    answers = [(503, {}), (200, {"results": [memory("Ana sings.")]})]
    with serving(lambda *_asked: answers.pop(0), retry_after="nan") as server:
        assert totals(run("mem0", server.url, acme.tenant.slug)) == {"read": 1, "written": 1}


def test_a_server_that_trickles_is_given_up(acme: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "DEADLINE", 0.0)
    monkeypatch.setattr(web, "SLOWEST", 1e18)
    told = {"sessions": [{"id": "s1", "project": "shop", "started_at": "2026-02-01T08:00:00Z"}]}
    with (
        serving(lambda *_asked: (200, told)) as server,
        pytest.raises(CommandError, match="too slowly"),
    ):
        run("agentops", server.url, acme.tenant.slug)


@pytest.mark.parametrize(
    ("source", "other"), [("kaos", {"results": [memory("Ana dives.")]}), ("mem0", {"events": []})]
)
def test_a_file_of_another_source_is_no_success(
    acme: Member, tmp_path: Path, source: str, other: dict[str, Any]
) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(other))
    with pytest.raises(CommandError, match=f"what {source} holds"):
        run(source, file, acme.tenant.slug)

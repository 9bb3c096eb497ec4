"""Every example of docs/examples runs as a reader would run it, against `manage.py run`, and does its job."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.embedded.people import CHECKOUT
from tests.embedded.stack import Started, started

pytestmark = pytest.mark.processes
EXAMPLES = CHECKOUT / "docs" / "examples"
NAMED = ("STRATA_URL", "STRATA_API_KEY", "MEMORY_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL")
Effect = Callable[[httpx.Client, str], bool]


def slot_is_kept(server: httpx.Client, user: str) -> bool:
    """The slot, and of both sessions the turns; the first is an episode since its end."""
    slots = server.get("/api/v1/entities", params={"user_id": user}).json()["results"]
    episodes = server.get("/api/v1/episodes", params={"user_id": user}).json()["results"]
    turns = [
        server.get(f"/api/v1/sessions/{user}-{number}", params={"user_id": user}).json()["turn_count"]
        for number in (1, 2)
    ]
    kept = [(one["key"], one["value"]) for one in slots] == [("home_city", "Oslo")]
    return kept and turns == [2, 2] and any(one["session_id"] == f"{user}-1" for one in episodes)


def items_are_kept(server: httpx.Client, user: str) -> bool:
    asked = {"namespace_prefix": ["memories", user], "user_id": user}
    found = server.post("/api/v1/store/items/search", json=asked).json()["results"]
    return {one["value"]["text"] for one in found} == {
        "My dog is called Bella.",
        "The office moves to Bergen in June.",
    }


def observation_is_kept(server: httpx.Client, project: str) -> bool:
    found = server.get("/api/v1/observations", params={"project": project}).json()["results"]
    return [(one["type"], one["title"]) for one in found] == [("decision", "Exports run at night")]


def events_are_kept(server: httpx.Client, session: str) -> bool:
    found = server.get("/memory/events", params={"session_id": session}, headers={"X-Agent": "concierge"})
    return [one["event_type"] for one in found.json()["events"]] == ["user_message", "agent_response"] * 2


def records_are_kept(server: httpx.Client, user: str) -> bool:
    session = server.get(f"/api/v1/sessions/{user}-chat", params={"user_id": user}).json()
    episodes = server.get("/api/v1/episodes", params={"user_id": user}).json()["results"]
    wanted = "Ada wants a quiet room away from the lift."
    return session["turn_count"] == 2 and wanted in [one["text"] for one in episodes]


@dataclass(frozen=True)
class Expected:
    """The line that shows that it worked, what names the user, project or session, and what is there then."""

    line: str
    name: str
    effect: Effect


EXPECTED = {
    "openai_agent.py": Expected(r"agent: You live in Oslo\.", r"(ada-\w+), second session", slot_is_kept),
    "langgraph_agent.py": Expected(
        r"thread second\n.*\n  agent: You told me: My dog is called Bella\.",
        r"(ada-\w+), thread",
        items_are_kept,
    ),
    "mcp_client.py": Expected(
        r"found: Found 1 memories:\s+1\. \[decision\] Exports run at night",
        r"(billing-\w+), saved",
        observation_is_kept,
    ),
    "kaos_agent.py": Expected(
        r"agent: Earlier you said: My flight is on Friday\.", r"session (session_\w+)", events_are_kept
    ),
    "redis_ams_app.py": Expected(
        r"long-term memory: Ada wants a quiet room away from the lift\.",
        r"(ada-\w+), prompt",
        records_are_kept,
    ),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    home = tmp_path_factory.mktemp("examples") / "home"
    home.mkdir()
    (home / "seeded").touch()  # the bundled conversation is not needed here
    with started(home) as strata:
        yield strata


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_runs_and_leaves_what_it_says(example: str, running: Started, tmp_path: Path) -> None:
    expected = EXPECTED[example]  # each example has one
    said = run(example, running, tmp_path)
    assert re.search(expected.line, said), said
    name = re.search(expected.name, said)
    assert name, said
    with client_of(running) as server:
        assert expected.effect(server, name[1])


def test_an_example_finds_the_server_of_make_run_by_itself(running: Started, tmp_path: Path) -> None:
    here = tmp_path / ".memory"
    here.mkdir()
    (here / "run.json").write_text(json.dumps(running.run))
    assert "found: Found 1" in run("mcp_client.py", running, tmp_path, names_server=False)


def test_an_application_of_redis_ams_needs_one_url_and_no_key(running: Started, tmp_path: Path) -> None:
    said = run("redis_ams_app.py", running, tmp_path, sends_key=False)
    name = re.search(EXPECTED["redis_ams_app.py"].name, said)
    assert name, said
    with client_of(running) as server:
        assert records_are_kept(server, name[1])


def test_the_list_of_examples_is_whole() -> None:
    assert set(EXPECTED) == {path.name for path in EXAMPLES.iterdir()} - {"README.md", "__pycache__"}
    linked = set(re.findall(r"\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text()))
    assert linked == set(EXPECTED)


def run(
    example: str, running: Started, folder: Path, *, names_server: bool = True, sends_key: bool = True
) -> str:
    """What it prints, run in an empty folder by somebody who has no settings of their own."""
    kept = {name: value for name, value in os.environ.items() if name not in NAMED}
    server = {"STRATA_URL": running.run["url"]}
    if sends_key:
        server["STRATA_API_KEY"] = running.run["api_key"]
    env = {**kept, "HOME": str(folder), "PYTHONPATH": str(CHECKOUT / "sdk" / "src"), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / example], cwd=folder, env={**env, **(server if names_server else {})},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert running.run["api_key"] not in done.stdout
    return done.stdout


def client_of(running: Started) -> httpx.Client:
    headers = {"Authorization": f"Bearer {running.run['api_key']}"}
    return httpx.Client(base_url=running.run["url"], headers=headers, timeout=60)

import io
import json

import pytest
from django.core.management import call_command

from memoryproject.replay import files


@pytest.fixture
def replay(acme, no_server, tmp_path):
    """Plays the bundled case into the running server; returns what was written as JSON."""

    def run() -> dict:
        target = tmp_path / "all.json"
        options = ["--url", str(acme.http.base_url), "--api-key", acme.key, "--json", str(target)]
        options += ["--profile", "similarity"]
        call_command("replay", "--bundled", *options, stdout=io.StringIO())
        return json.loads(target.read_text())

    return run


def test_recall_of_the_running_server_equals_exact_cosine(replay):
    found = replay()
    assert found["comparison"] == {"compared": 20, "unequal": [], "otherwise": [], "equal": True}
    assert found["overall"]["recall"] == found["overall"]["exact_recall"] > 0.5


def test_playing_twice_leaves_one_memory_of_every_turn_and_session(acme, replay):
    first, second = replay(), replay()
    bundled = files.load(files.BUNDLED)
    assert (first["played"]["stored"], second["played"]["stored"]) == (len(bundled.turns), 0)
    assert count(acme, "message") == len(bundled.turns)
    assert count(acme, "episodic") == len(bundled.sessions)


def count(member, memory_type: str) -> int:
    query = {"user_id": "support-case", "memory_type": memory_type, "limit": "200"}
    return len(member.http.get("/api/v1/episodes", params=query).json()["results"])


def test_another_tenant_sees_nothing_of_it(replay, globex):
    replay()
    assert count(globex, "message") == 0

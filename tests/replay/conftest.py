from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoryproject.replay.client import MemoryClient
from memoryproject.replay.endpoint import Endpoint
from memoryproject.replay.transcripts import Question, Session, Transcript, Turn
from tests.replay.fake_server import FakeStrata, running

START = datetime(2024, 2, 5, 9, 0, tzinfo=UTC)


@pytest.fixture
def strata() -> Iterator[FakeStrata]:
    with running(FakeStrata()) as fake:
        yield fake


@pytest.fixture
def waits() -> list[float]:
    """How long the client was told to wait, instead of waiting."""
    return []


@pytest.fixture
def client(strata: FakeStrata, waits: list[float]) -> Iterator[MemoryClient]:
    with MemoryClient(Endpoint(strata.url, strata.api_key), sleep=waits.append) as client:
        yield client


@pytest.fixture
def transcript() -> Transcript:
    """Two sessions of 60 and 3 turns, two questions."""
    sessions = tuple(
        Session(f"s{number}", tuple(_turn(f"{number}.{i}", i) for i in range(1, size + 1)))
        for number, size in ((1, 60), (2, 3))
    )
    questions = (Question("Where?", "Leeds", ("1.2", "2.1")), Question("Who?", "", ()))
    return Transcript("two-sessions", sessions, questions)


def _turn(name: str, minute: int) -> Turn:
    role = "user" if minute % 2 else "assistant"
    return Turn(name, role.title(), role, f"This is turn {name}.", START + timedelta(minutes=minute))


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path) -> Path:
    """A home in which nothing runs."""
    monkeypatch.delenv("STRATA_URL", raising=False)
    monkeypatch.delenv("STRATA_API_KEY", raising=False)
    settings.MEMORY_HOME = tmp_path
    return tmp_path

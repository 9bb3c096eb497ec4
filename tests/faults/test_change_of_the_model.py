"""A tenant goes over to another embedding model and back, while processes serve it and workers are killed."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import psycopg
import pytest

from memoryproject.embedded.program import Program
from providers.fake import FakeProvider
from tests.faults.deployment import Deployment, RunningWeb, wait_until
from tests.processes import manage

pytestmark = pytest.mark.processes
LOCAL, OTHER = "all-MiniLM-L6-v2", "text-embedding-3-small"
MEMORIES = 200  # four batches
VECTORS = """
SELECT count(*) FROM episode_embeddings e JOIN tenants_tenant t ON t.id = e.tenant_id
WHERE t.slug = %s AND e.model = %s
"""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(api_key="sk-next") as running:
        yield running


@pytest.fixture(scope="module")
def both(provider: FakeProvider) -> dict[str, str]:
    return {
        "EMBEDDING_NEXT_PROVIDER": "openai", "EMBEDDING_NEXT_MODEL": OTHER,
        "EMBEDDING_NEXT_BASE_URL": provider.base_url, "EMBEDDING_NEXT_API_KEY": "sk-next",
        "JOB_LEASE_SECONDS": "3", "JOB_SWEEP_SECONDS": "1",
    }  # fmt: skip


@pytest.fixture(scope="module")
def web(deployment: Deployment, both: dict[str, str]) -> Iterator[RunningWeb]:
    running = deployment.web(workers=2, **both)
    yield running
    running.stop()


@pytest.fixture
def worker(deployment: Deployment, both: dict[str, str]) -> Iterator[Program]:
    worker, beat = deployment.worker(**both), deployment.beat()
    worker.start()
    beat.start()
    yield worker
    beat.stop()
    worker.stop()


@dataclass
class Asking:
    """Asks by meaning alone, again and again, and keeps what went wrong and which models answered."""

    http: httpx.Client
    errors: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Asking":
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self.done.is_set():
            texts, model = recall(self.http, "a lighthouse with gulls")
            self.models.append(model)
            if "Gulls nest on the lighthouse." not in texts:
                self.errors.append(f"{model}: {texts}")
            time.sleep(0.1)


def client(deployment: Deployment, web: RunningWeb, slug: str) -> httpx.Client:
    manage("create_tenant", slug, environment=deployment.environment)
    key = manage("create_api_key", slug, environment=deployment.environment).split()[-1]
    return httpx.Client(base_url=web.url, headers={"Authorization": f"Bearer {key}"}, timeout=30)


def store(http: httpx.Client, text: str) -> None:
    answer = http.post("/api/v1/episodes", json={"text": text, "user_id": "ann"})
    assert answer.status_code == 201, answer.text


def recall(http: httpx.Client, query: str) -> tuple[list[str], str]:
    """The texts, and the model that they were compared by. Without a vector of the query this is 503."""
    body = {"query": query, "user_id": "ann", "profile": "similarity", "top_k": 3, "explain": True}
    answer = http.post("/api/v1/recall", json=body)
    if answer.status_code != 200:
        return [answer.text], str(answer.status_code)
    hits = answer.json()["results"]
    return [hit["text"] for hit in hits], hits[0]["explain"]["model"]


def vectors(deployment: Deployment, slug: str, model: str) -> int:
    with psycopg.connect(deployment.stores.postgres.superuser_url("strata")) as connection:
        row = connection.execute(VECTORS, [slug, model]).fetchone()
        assert row is not None
        return int(row[0])


def test_a_change_there_and_back_while_everything_runs(deployment, web, both, worker, provider):
    environment = {**deployment.environment, **both}
    movers, stayers = client(deployment, web, "movers"), client(deployment, web, "stayers")
    for http in (movers, stayers):
        store(http, "Gulls nest on the lighthouse.")
    for number in range(MEMORIES):
        store(movers, f"On day {number} the ferry to the island left at {number % 24} o'clock.")

    def reembed(*options: str) -> str:
        return manage("reembed", "--tenant", "movers", *options, environment=environment)

    def follows(model: str) -> None:
        """Every process goes by the model within five seconds of the commit."""
        committed = last_other = time.monotonic()

        def all_follow() -> bool:
            nonlocal last_other
            for _ in range(16):
                begun = time.monotonic()
                if recall(movers, "gulls")[1] != model:
                    last_other = begun
                    return False
            return True

        wait_until(all_follow, 60)
        assert last_other - committed < 5.5

    with Asking(movers) as moved, Asking(stayers) as stayed:
        provider.control(slow=4.0)
        reembed("--begin")
        wait_until(lambda: vectors(deployment, "movers", OTHER) >= 64, 30)
        worker.kill()
        assert vectors(deployment, "movers", OTHER) < MEMORIES
        store(movers, "The harbour master is called Ottilie.")
        assert recall(movers, "Who is the harbour master?")[0][0] == "The harbour master is called Ottilie."
        worker.start()
        provider.control(slow=0.0)
        wait_until(lambda: vectors(deployment, "movers", OTHER) == MEMORIES + 2, 60)
        assert "missing: none; counts agree" in reembed("--status")
        reembed("--switch")
        follows(OTHER)
        assert recall(movers, "harbour master")[0][0] == "The harbour master is called Ottilie."
        store(movers, "The baker at the harbour is called Wilhelmina.")
        wait_until(lambda: vectors(deployment, "movers", LOCAL) == MEMORIES + 3, 30)
        reembed("--rollback")
        follows(LOCAL)
        for name in (
            "The harbour master is called Ottilie.",
            "The baker at the harbour is called Wilhelmina.",
        ):
            assert recall(movers, name)[0][0] == name
        wait_until(lambda: vectors(deployment, "movers", OTHER) == MEMORIES + 3, 30)
    assert web.http.get("/ready").json()["checks"]["next_model"] == "ok"
    assert moved.errors == []
    assert (set(moved.models), len(moved.models) > 30) == ({LOCAL, OTHER}, True)
    assert stayed.errors == []
    assert set(stayed.models) == {LOCAL}
    assert vectors(deployment, "stayers", OTHER) == 0

"""The model's files are missing; web, worker and beat run all the same, and repair what was left to do.

The model is found through the installed wheel. A folder that stands before it on the import path, with the
wheel's metadata and its own place for the files, is where these processes look.
"""

import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import psycopg
import pytest

from memoryproject.embedded.program import Program
from providers.local.weights import MODEL_FOLDER, SHA256, WHEEL, find_model_folder
from tests.faults.deployment import RunningWeb, wait_until

pytestmark = pytest.mark.processes


class Model:
    """A wheel of our own, whose files can be away."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = path / MODEL_FOLDER
        self._files.mkdir(parents=True)
        about = path / f"{WHEEL.replace('-', '_')}-0.1.0.dist-info"
        about.mkdir()
        text = metadata.distribution(WHEEL).read_text("METADATA")
        (about / "METADATA").write_text(str(text))

    def repair(self) -> None:
        for name in SHA256:
            (self._files / name).symlink_to(find_model_folder() / name)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return Model(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def web(deployment, model: Model) -> Iterator[RunningWeb]:
    running = deployment.web(PYTHONPATH=str(model.path))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def _worker_and_beat(deployment, model: Model) -> Iterator[None]:
    programs: list[Program] = [deployment.worker(PYTHONPATH=str(model.path)), deployment.beat()]
    for program in programs:
        program.start()
    yield
    for program in programs:
        program.stop()


@pytest.fixture(scope="module")
def stored(web: RunningWeb) -> dict:
    """Stored while the model was away, once through each of the two dialects."""
    native = web.http.post("/api/v1/episodes", json={"text": "Kim likes night trains.", "user_id": "model"})
    aegis = web.http.post(
        "/episodic/store",
        json={"agent_id": "model", "conversation_id": "m", "summary": "Rex is afraid of thunder."},
    )
    assert (native.status_code, aegis.status_code) == (201, 200)
    return native.json()


def embedded(web: RunningWeb, query: str) -> list[bool]:
    return [one["embedded"] for one in web.http.get(f"/api/v1/episodes?{query}").json()["results"]]


def test_what_is_stored_is_listed_as_not_embedded(web, stored):
    assert stored["embedded"] is False
    assert embedded(web, "user_id=model") == embedded(web, "agent_id=model") == [False]
    assert web.http.get("/episodic/m").json()["total"] == 1


def test_words_find_it_and_the_stages_say_what_is_away(web, stored):
    answer = web.http.post("/api/v1/recall", json={"query": "trains at night", "user_id": "model"}).json()
    assert [one["id"] for one in answer["results"]] == [stored["id"]]
    assert {one["name"]: one["status"] for one in answer["stages"]}["embed"] == "failed"


def test_a_search_by_meaning_answers_503_in_its_dialects_shape(web, stored):
    asked = {"query": "railway", "user_id": "model", "profile": "similarity"}
    native = web.http.post("/api/v1/recall", json=asked)
    aegis = web.http.post("/episodic/search", json={"query": "railway", "agent_id": "model"})
    for answer in (native, aegis):
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json()["detail"] == "The embedding model is away."
    assert native.headers["content-type"] == "application/problem+json"
    assert web.http.get("/ready").json()["checks"]["model"] == "away"


def test_a_session_can_end_without_the_model(web):
    web.http.post("/api/v1/sessions/m/turns", json={"turns": [{"role": "user", "content": "hi"}]})
    ended = web.http.post("/api/v1/sessions/m/end", json={})
    assert ended.status_code == 200
    assert embedded(web, "session_id=m&user_id=&memory_type=episodic")[0] is False


@pytest.mark.usefixtures("_worker_and_beat")
def test_after_the_repair_the_sweeper_embeds_it_and_it_is_found(web, model, stored):
    time.sleep(1)
    assert embedded(web, "user_id=model") == [False]
    model.repair()
    wait_until(lambda: embedded(web, "user_id=model") == embedded(web, "agent_id=model") == [True], 30)

    def recalled() -> bool:
        answer = web.http.post("/api/v1/recall", json={"query": "railway", "user_id": "model"})
        return answer.status_code == 200 and [one["id"] for one in answer.json()["results"]] == [stored["id"]]

    wait_until(recalled, 10)
    found = web.http.post("/episodic/search", json={"query": "storm", "agent_id": "model"}).json()["results"]
    assert [one["summary"] for one in found] == ["Rex is afraid of thunder."]
    assert web.http.get("/ready").json() == {
        "status": "ok",
        "checks": dict.fromkeys(["database", "migrations", "model", "redis", "worker"], "ok"),
    }


def forget_vectors(deployment) -> None:
    """Makes work for the sweeper."""
    owner = deployment.stores.postgres.url("strata_owner", "owner-pw", "strata")
    with psycopg.connect(owner) as connection:
        connection.execute("DELETE FROM episode_embeddings WHERE user_id = 'model'")
        connection.execute("UPDATE agent_episodes SET embed_pending = true WHERE user_id = 'model'")


@pytest.mark.usefixtures("_worker_and_beat")
def test_a_lost_broker_is_healed_by_beat(deployment, web, stored):
    import redis

    wait_until(lambda: embedded(web, "user_id=model") == [True], 30)
    with redis.from_url(deployment.stores.redis.url(1)) as broker:
        broker.flushdb()
    forget_vectors(deployment)
    wait_until(lambda: embedded(web, "user_id=model") == [True], 15)


@pytest.mark.usefixtures("_worker_and_beat")
@pytest.mark.parametrize("store", ["redis", "postgres"])
def test_worker_and_beat_survive_the_death_of_a_store(deployment, web, stored, store):
    wait_until(lambda: embedded(web, "user_id=model") == [True], 60)
    server = getattr(deployment.stores, store)
    server.kill()
    time.sleep(1.5)
    server.start()
    wait_until(lambda: web.http.get("/api/v1/episodes").status_code == 200, 10)
    forget_vectors(deployment)
    wait_until(lambda: embedded(web, "user_id=model") == [True], 60)

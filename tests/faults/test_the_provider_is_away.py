"""Embeddings come from an outside provider: what works with it, what without it, and that it recovers."""

import os
from collections.abc import Iterator

import pytest

from memoryproject.embedded.program import Program
from providers.fake import FakeProvider
from tests.faults.deployment import RunningWeb, timed, wait_until
from tests.processes import manage

pytestmark = pytest.mark.processes
QUERY = {"query": "Kim likes trains", "user_id": "outside"}


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(api_key="sk-outside") as running:
        yield running


@pytest.fixture(scope="module")
def outside(provider: FakeProvider) -> dict[str, str]:
    return {
        "EMBEDDING_PROVIDER": "openai", "EMBEDDING_MODEL": "text-embedding-3-small",
        "OPENAI_BASE_URL": provider.base_url, "OPENAI_API_KEY": "sk-outside",
        "PROVIDER_INTERACTIVE_SECONDS": "1",
    }  # fmt: skip


@pytest.fixture(scope="module")
def web(deployment, outside: dict[str, str]) -> Iterator[RunningWeb]:
    running = deployment.web(**outside)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def _worker_and_beat(deployment, outside: dict[str, str]) -> Iterator[None]:
    programs: list[Program] = [deployment.worker(**outside), deployment.beat()]
    for program in programs:
        program.start()
    yield
    for program in programs:
        program.stop()


def store(web: RunningWeb, text: str) -> dict:
    answer = web.http.post("/api/v1/episodes", json={"text": text, "user_id": "outside"})
    assert answer.status_code == 201
    return answer.json()


def recall(web: RunningWeb, profile: str = "similarity"):
    return timed(web.http, "POST", "/api/v1/recall", QUERY | {"profile": profile})


def recovered(web: RunningWeb) -> bool:
    return recall(web)[0].status_code == 200


def test_what_is_stored_is_recalled(web, provider):
    assert store(web, "Kim likes night trains.")["embedded"] is True
    store(web, "The red bucket is empty.")
    answer, _seconds = recall(web)
    assert answer.json()["results"][0]["text"] == "Kim likes night trains."
    assert provider.requests[-1]["body"]["model"] == "text-embedding-3-small"


@pytest.mark.parametrize("fault", [{"dead": -1}, {"hung": -1}, {"rate_limited": -1, "retry_after": "7"}])
def test_a_search_by_meaning_answers_503_in_time_and_recovers(web, provider, fault):
    wait_until(lambda: recovered(web), 20)
    provider.control(**fault)
    answers = [recall(web) for _ in range(6)]
    asked = provider.count("/v1/embeddings")
    answers.append(recall(web))
    by_words, _seconds = recall(web, "hybrid")
    assert provider.count("/v1/embeddings") == asked  # the server is being left alone
    for answer, seconds in answers:
        assert answer.status_code == 503
        assert answer.json()["detail"] == "The embedding model is away."
        assert int(answer.headers["retry-after"]) >= 1
        assert seconds < 5  # neither a pause of 7 s nor a minute, the deadline of background work
    if "retry_after" in fault:
        assert 1 <= int(answers[-1][0].headers["retry-after"]) <= 7
    assert by_words.status_code == 200
    assert {one["name"]: one["status"] for one in by_words.json()["stages"]}["embed"] == "failed"
    ready = web.http.get("/ready")
    assert (ready.status_code, ready.json()["checks"]["model"]) == (200, "away")
    provider.reset()
    wait_until(lambda: recovered(web), 20)


@pytest.mark.usefixtures("_worker_and_beat")
def test_what_is_stored_meanwhile_is_embedded_later(web, provider):
    wait_until(lambda: recovered(web), 20)
    provider.stop()
    stored = store(web, "Kim likes trains to Rotterdam.")
    assert stored["embedded"] is False
    provider.start()

    def found() -> bool:
        answer, _seconds = recall(web)
        return answer.status_code == 200 and stored["id"] in [one["id"] for one in answer.json()["results"]]

    wait_until(found, 40)


def test_the_tenant_is_told_what_it_used(deployment, web, outside):
    wait_until(lambda: recovered(web), 20)
    script = (
        "from tenants.models import ProviderUsage; from tenants.router import admin_role\n"
        "with admin_role():\n"
        "    for row in ProviderUsage.objects.all(): print(row.model, row.purpose, row.calls > 0)"
    )
    rows = manage("shell", "-v", "0", "-c", script, environment={**deployment.environment, **outside})
    assert set(rows.splitlines()) >= {
        "text-embedding-3-small embed True", "text-embedding-3-small embed_query True",
    }  # fmt: skip


def test_no_log_holds_texts_or_the_key(deployment, web):
    wait_until(lambda: recovered(web), 20)
    logs = "".join(path.read_text(errors="replace") for path in deployment.home.glob("*.log"))
    assert "provider_failed" in logs
    for secret in ("sk-outside", "Kim likes", "red bucket"):
        assert secret not in logs


def test_the_web_process_does_not_start_with_a_provider_that_does_not_exist(deployment):
    environment = {**os.environ, **deployment.environment, "EMBEDDING_PROVIDER": "oracle"}
    with pytest.raises(AssertionError, match=r"providers\.E001"):
        manage("check", environment=environment)

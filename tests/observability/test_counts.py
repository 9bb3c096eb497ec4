"""Jobs and episodes are counted where they are done."""

from datetime import timedelta

import psycopg
import pytest
from django.db import DatabaseError
from django.utils import timezone
from prometheus_client import REGISTRY

from episodic import episodes
from episodic.metrics import count_pending
from episodic.types import NewEpisode
from providers.local.embedder import MODEL
from recall.sessions import end_session
from tenants.jobs.kinds import GiveUp
from tenants.queue_figures import read_queue
from tests.jobs import work
from tests.plugin import STORES
from working.types import SessionAddress


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_a_done_job_is_counted_with_its_time(acme):
    kind = work.kind()
    work.add(acme.tenant, kind)
    work.add(acme.tenant, kind)
    work.run()
    assert value("jobs_finished_total", kind=kind, outcome="done") == 2
    assert value("job_seconds_count", kind=kind) == 1  # both in one commit


def test_a_failed_one_is_counted_as_put_off_or_given_up(acme):
    def fail(task, prepared):
        raise GiveUp("no") if task.payload.get("hopeless") else RuntimeError("later")

    kind = work.kind(fail)
    work.add(acme.tenant, kind)
    work.add(acme.tenant, kind, payload={"hopeless": True})
    work.run()
    assert value("jobs_finished_total", kind=kind, outcome="retried") == 1
    assert value("jobs_finished_total", kind=kind, outcome="dead") == 1
    assert value("jobs_finished_total", kind=kind, outcome="done") == 0


@pytest.fixture
def nothing_due() -> None:
    """What other tests have left in the queue is put off: it may have waited for minutes."""
    with psycopg.connect(STORES.postgres.superuser_url("strata"), autocommit=True) as connection:
        connection.execute("UPDATE tenants_job SET run_at = now() + interval '1 day' WHERE state = 'queued'")


@pytest.mark.usefixtures("nothing_due")
def test_the_queue_is_counted_over_all_tenants_and_by_its_longest_wait(acme, globex):
    before = read_queue()
    kind = work.kind()
    for tenant in (acme.tenant, globex.tenant):
        work.add(tenant, kind)
    superuser = psycopg.connect(STORES.postgres.superuser_url("strata"), autocommit=True)
    with superuser as connection:
        connection.execute(
            "UPDATE tenants_job SET run_at = now() - interval '1 hour' WHERE tenant_id = %s",
            [globex.tenant.id],
        )
    figures = read_queue()
    assert figures.queued == before.queued + 2
    assert 3600 <= figures.longest_wait < 3660
    assert figures.failed >= before.failed
    work.run()
    assert read_queue().longest_wait < 60


@pytest.mark.usefixtures("nothing_due")
def test_a_job_that_is_not_due_does_not_wait(acme):
    work.run()
    before = read_queue()
    work.add(acme.tenant, work.kind(), run_at=timezone.now() + timedelta(hours=1))
    after = read_queue()
    assert after.queued == before.queued + 1
    assert after.longest_wait < 60


def test_an_episode_is_counted_when_it_is_committed(acme):
    written, refused = value("episodic_writes_total"), value("episodic_write_failures_total", reason="store")
    episodes.store_episode(caller=acme.caller, new=NewEpisode(text="x"), now=timezone.now())
    assert value("episodic_writes_total") == written + 1
    with pytest.raises(DatabaseError):
        episodes.store_episode(caller=acme.caller, new=NewEpisode(text="x\0"), now=timezone.now())
    assert value("episodic_writes_total") == written + 1
    assert value("episodic_write_failures_total", reason="store") == refused + 1


def test_one_without_a_vector_is_written_and_a_failure(acme, model_away):
    lost = value("embedding_failures_total", provider="local", model=MODEL)
    written, pending = value("episodic_writes_total"), count_pending()
    failures = value("episodic_write_failures_total", reason="embedding")
    episodes.store_episode(caller=acme.caller, new=NewEpisode(text="x"), now=timezone.now())
    assert value("episodic_writes_total") == written + 1
    assert value("episodic_write_failures_total", reason="embedding") == failures + 1
    assert count_pending() == pending + 1
    assert value("embedding_failures_total", provider="local", model=MODEL) == lost + 1


def test_the_end_of_a_session_counts_its_episode(acme):
    written = value("episodic_writes_total")
    turn = {"turns": [{"role": "user", "content": "x"}]}
    assert acme.http.post("/api/v1/sessions/counted/turns", json=turn).status_code == 200
    ended = end_session(caller=acme.caller, address=SessionAddress(session_id="counted"), now=timezone.now())
    assert ended.episode_id is not None
    assert value("episodic_writes_total") == written + 1

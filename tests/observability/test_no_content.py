"""Whatever is sent and whatever goes wrong, nothing that somebody said or is called gets into a log."""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import psycopg
import pytest
import redis

from tests.architecture.sources import ROOT
from tests.faults.deployment import Deployment, RunningWeb, answers, wait_until
from tests.observability.lines import lines_of

pytestmark = pytest.mark.processes
MARK = "marmalade"
# The second is the most talkative that settings can make it.
LOUD = {"DEBUG": "1", "LOG_LEVEL": "DEBUG", "SLOW_QUERY_MS": "1", "LOG_FORMAT": "text"}
CHATTERING = {"OPENAI_LOG": "debug"}
NOTED = ("session_id", "type", "title", "content", "project", "topic_key")


@pytest.fixture(scope="module", params=[{}, LOUD], ids=["as delivered", "as loud as can be"])
def web(observed: Deployment, request: pytest.FixtureRequest) -> Iterator[RunningWeb]:
    for log in ("web.log", "worker.log"):
        (observed.home / log).unlink(missing_ok=True)
    running = observed.web(**request.param, **CHATTERING)
    worker = observed.worker(**request.param, **CHATTERING)
    worker.start()
    yield running
    running.stop()
    worker.stop()


def logs(observed: Deployment) -> str:
    return "".join((observed.home / log).read_text() for log in ("web.log", "worker.log"))


def assert_unmarked(observed: Deployment) -> None:
    marked = [line for line in logs(observed).splitlines() if MARK in line.lower()]
    assert marked == []


@contextmanager
def broken(observed: Deployment, spoil: str, mend: str) -> Iterator[None]:
    """PostgreSQL refuses something, as it might after a bad migration."""
    with psycopg.connect(observed.stores.postgres.superuser_url("strata"), autocommit=True) as connection:
        connection.execute(spoil)
        try:
            yield
        finally:
            connection.execute(mend)


NO_MARKS = (
    f"ALTER TABLE agent_episodes ADD CONSTRAINT no_marks CHECK (text !~ '{MARK}') NOT VALID",
    "ALTER TABLE agent_episodes DROP CONSTRAINT no_marks",
)
RAISING = (
    f"""CREATE FUNCTION complain() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no: % {MARK}', NEW USING DETAIL = NEW::text; END $$;
    CREATE TRIGGER complain BEFORE INSERT ON chat_events FOR EACH ROW EXECUTE FUNCTION complain()""",
    "DROP FUNCTION complain() CASCADE",
)
RENAMED = (
    "ALTER TABLE agent_episodes RENAME COLUMN text TO said",
    "ALTER TABLE agent_episodes RENAME COLUMN said TO text",
)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def everything(http: httpx.Client) -> list[httpx.Response]:
    """Requests right and wrong, with the mark wherever a mark can be."""
    turn = {
        "turns": [{"role": "user", "content": MARK, "id": MARK, "metadata": {MARK: MARK}}],
        "user_id": MARK,
    }
    send: list[Callable[[], httpx.Response]] = [
        lambda: http.post(f"/api/v1/sessions/{MARK}/turns", json=turn),
        lambda: http.get(f"/api/v1/sessions/{MARK}/window", params={"user_id": MARK}),
        lambda: http.get(f"/api/v1/sessions/{MARK}/events?user_id={MARK}&limit={MARK}"),
        lambda: http.post(f"/api/v1/sessions/{MARK}/end?user_id={MARK}", json={}),
        lambda: http.post("/api/v1/episodes", json={"text": MARK, "user_id": MARK, "topics": [MARK]}),
        lambda: http.post("/api/v1/recall", json={"query": MARK, "user_id": MARK}),
        lambda: http.post("/api/v1/recall", json={"query": MARK, MARK: MARK}),
        lambda: http.put(f"/working-memory/{MARK}", json={MARK: MARK}),
        lambda: http.put(f"/working-memory/{MARK}", json={"data": {MARK: MARK}}),
        lambda: http.post(f"/ledger/{MARK}/mark", json={"item_key": MARK}),
        lambda: http.post("/episodic/search", json={"query": MARK, "agent_id": MARK}),
        lambda: http.post("/api/v1/recall", content=f'{{"query": "{MARK}'),
        lambda: http.post("/api/v1/recall", content=b'{"query": "\xff' + MARK.encode() + b'"}'),
        lambda: http.post("/api/v1/recall", content="[" * 5000 + MARK),
        lambda: http.post("/api/v1/episodes", json={"text": f"{MARK}\0", "user_id": MARK}),
        lambda: http.post("/api/v1/episodes", content=json.dumps({"text": f"{MARK}\ud800"})),
        lambda: http.get(f"/api/v1/sessions/%ff{MARK}/window"),
        lambda: http.post("/observations", json=dict.fromkeys(NOTED, MARK)),
        lambda: http.get(f"/search?q={MARK}&project={MARK}"),
        lambda: http.get(f"/context?query={MARK}&project={MARK}&session_id={MARK}"),
        lambda: http.get(f"/{MARK}/{MARK}?{MARK}={MARK}"),
        lambda: http.get(f"/static/{MARK}.css"),
        lambda: http.get(f"/admin/{MARK}/?next={MARK}"),
        lambda: http.post("/admin/login/", data={"username": MARK, "password": MARK}),
        lambda: http.get("/", headers={"Host": f"{MARK}.example"}),
        lambda: http.get("/admin/login/", headers={"Host": f"{MARK}.example"}),
        lambda: http.get(f"/api/v1/sessions/{MARK}", headers=bearer(f"mem_0123456789abcdef_{MARK}")),
        lambda: http.get("/api/v1/sessions", headers=bearer(MARK)),
        lambda: http.get("/api/v1/sessions", headers={"X-API-Key": MARK, "Authorization": f"Basic {MARK}"}),
        lambda: http.get("/health", headers={"X-Request-ID": f"{MARK} {MARK}", "User-Agent": MARK}),
        lambda: http.get("/admin/", headers={"Cookie": f"sessionid={MARK}; csrftoken={MARK}"}),
        lambda: http.get("/health", headers={"Traceparent": f"00-{MARK}", "Baggage": f"a={MARK}"}),
        lambda: http.request(MARK.upper(), f"/api/v1/sessions/{MARK}"),
    ]  # fmt: skip
    with ThreadPoolExecutor(6) as pool:
        return list(pool.map(lambda one: one(), send))


def test_requests_right_and_wrong(web, observed):
    found = everything(web.http)
    statuses = {answer.status_code for answer in found}
    assert {200, 201, 401, 404, 422} <= statuses
    assert not {answer.status_code for answer in found if answer.status_code >= 500}
    assert_unmarked(observed)
    assert "/api/v1/sessions/{session_id}/turns" in logs(observed)


@pytest.mark.parametrize(
    ("how", "path", "body"),
    [
        (NO_MARKS, "/api/v1/episodes", {"text": MARK, "user_id": MARK}),
        (RENAMED, "/api/v1/episodes", {"text": MARK, "user_id": MARK}),
        (RAISING, f"/api/v1/sessions/{MARK}-2/turns", {"turns": [{"role": "user", "content": MARK}]}),
    ],
    ids=["a constraint", "a missing column", "a trigger"],
)
def test_errors_of_postgresql_that_quote_the_row(web, observed, how, path, body):
    before = logs(observed).count("Traceback (most")
    with broken(observed, *how):
        assert web.http.post(path, json=body).status_code == 500
    assert logs(observed).count("Traceback (most") > before  # it was told, without the row
    assert_unmarked(observed)


def test_stores_that_are_away(web, observed):
    try:
        observed.stores.redis.kill()
        statuses = {answer.status_code for answer in everything(web.http)}
        assert 503 in statuses
        observed.stores.redis.start()
        observed.stores.postgres.kill()
        assert web.http.post("/api/v1/episodes", json={"text": MARK}).status_code == 503
    finally:
        for store in (observed.stores.redis, observed.stores.postgres):
            if not store.pid:
                store.start()
    wait_until(lambda: web.http.get("/api/v1/sessions").status_code == 200, 20)
    assert_unmarked(observed)


def test_tasks_that_fail_and_messages_that_nobody_understands(web, observed):
    script = f"""
import django; django.setup()
from celery import current_app
current_app.send_task("tenants.run_jobs", kwargs={{"{MARK}": "{MARK}"}})
current_app.send_task("{MARK}.unknown", args=["{MARK}"])
current_app.send_task("episodic.embed_pending", args=["{MARK}"])
"""
    subprocess.run([sys.executable, "-c", script], env=observed.environment, cwd=ROOT, check=True)
    with redis.from_url(observed.stores.redis.url(1)) as broker:
        envelope = {
            "body": base64.b64encode(f"{{{MARK}".encode()).decode(),
            "content-type": "application/json",
            "content-encoding": "utf-8",
            "headers": {"task": MARK, "id": MARK, "lang": "py"},
            "properties": {
                "correlation_id": MARK, "delivery_tag": MARK, "body_encoding": "base64",
                "delivery_info": {"exchange": "", "routing_key": "celery"}, "delivery_mode": 2,
            },
        }  # fmt: skip
        broker.lpush("celery", json.dumps(envelope))
    log = observed.home / "worker.log"
    wait_until(lambda: log.read_text().count("failed") >= 2 and "unregistered" in log.read_text(), 20)
    time.sleep(0.5)
    assert_unmarked(observed)


def test_a_worker_whose_write_is_refused(web, observed):
    answer = web.http.post("/api/v1/episodes", json={"text": MARK, "user_id": "waiting"})
    assert answer.status_code == 201
    url = observed.stores.postgres.superuser_url("strata")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DELETE FROM episode_embeddings WHERE user_id = 'waiting'")
        connection.execute("UPDATE agent_episodes SET embed_pending = true WHERE user_id = 'waiting'")
    log = observed.home / "worker.log"
    with broken(observed, *NO_MARKS):
        sweep = "import django; django.setup(); from episodic.tasks import *; embed_pending_episodes.delay()"
        subprocess.run([sys.executable, "-c", sweep], env=observed.environment, cwd=ROOT, check=True)
        wait_until(lambda: "23514" in log.read_text(), 20)
    assert_unmarked(observed)


def test_the_marks_would_be_seen(web, observed):
    """The stores do hold them, and answers show them."""
    web.http.post("/api/v1/episodes", json={"text": MARK, "user_id": "seen"}).raise_for_status()
    with psycopg.connect(observed.stores.postgres.superuser_url("strata")) as connection:
        row = connection.execute(f"SELECT count(*) FROM agent_episodes WHERE text ~ '{MARK}'").fetchone()
    assert row is not None
    assert row[0] > 0
    assert answers(web.http)


def test_every_field_of_a_line_is_described(web, observed):
    described = (ROOT / "docs" / "observability.md").read_text()
    seen = {
        name for log in ("web.log", "worker.log") for line in lines_of(observed.home / log) for name in line
    }
    assert {name for name in seen if f"`{name}`" not in described} == set()

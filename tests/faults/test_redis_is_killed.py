import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.deployment import hanging, timed, wait_until
from working.redis import WORKER_SEEN

pytestmark = pytest.mark.processes
SESSION = "/api/v1/sessions"
TURN = {"turns": [{"role": "user", "content": "during"}]}


@pytest.fixture
def name(web) -> str:
    """A session with two turns, a field, a marked item and an episode."""
    name = f"redis-{time.monotonic_ns()}"
    talk = [{"role": "user", "content": "before"}, {"role": "assistant", "content": "indeed"}]
    assert web.http.post(f"{SESSION}/{name}/turns", json={"turns": talk}).status_code == 200
    assert web.http.put(f"/working-memory/{name}", json={"data": {"k": 1}}).status_code == 200
    assert web.http.post(f"/ledger/{name}/mark", json={"item_key": "i"}).status_code == 200
    assert (
        web.http.post("/api/v1/episodes", json={"text": "Rex is a dog", "session_id": name}).status_code
        == 201
    )
    return name


@pytest.fixture
def redis_away(deployment, name) -> Iterator[None]:
    deployment.stores.redis.kill()
    yield
    if not deployment.stores.redis.pid:
        deployment.stores.redis.start()


REFUSED = [
    ("GET", "/working-memory/{}", None),
    ("PUT", "/working-memory/{}", {"data": {"k": 2}}),
    ("DELETE", "/working-memory/{}", None),
    ("GET", "/ledger/{}", None),
    ("POST", "/ledger/{}/check", {"item_key": "i"}),
    ("POST", "/ledger/{}/mark", {"item_key": "j"}),
    ("POST", "/ledger/{}/claim", {"item_key": "j"}),
    ("POST", "/ledger/{}/evict", {"item_key": "i"}),
    ("DELETE", "/ledger/{}", None),
    ("POST", "/api/v1/sessions/{}/turns", TURN),
    ("POST", "/api/v1/sessions/{}/events", {"event_type": "note", "content": 1}),
    ("POST", "/api/v1/sessions/{}/end", {}),
    ("DELETE", "/api/v1/sessions/{}", None),
]
SERVED = [
    ("GET", "/episodic/{}", None, 200),
    ("POST", "/episodic/store", {"agent_id": "a", "conversation_id": "{}", "summary": "x"}, 200),
    ("POST", "/episodic/search", {"agent_id": "a", "query": "x"}, 200),
    ("GET", "/api/v1/episodes?session_id={}", None, 200),
    ("POST", "/api/v1/episodes", {"text": "y"}, 201),
    ("POST", "/api/v1/recall", {"query": "dog", "session_id": "{}"}, 200),
    ("GET", "/api/v1/sessions", None, 200),
    ("GET", "/api/v1/sessions/{}", None, 200),
    ("GET", "/api/v1/sessions/{}/events", None, 200),
    ("GET", "/api/v1/sessions/{}/window", None, 200),
    ("GET", "/health", None, 200),
    ("GET", "/ready", None, 200),
]


def test_what_needs_redis_answers_503_at_once_in_its_dialects_shape(web, name, redis_away):
    for method, path, body in REFUSED:
        answer, seconds = timed(web.http, method, path.format(name), body)
        assert answer.status_code == 503, (path, answer.text)
        assert int(answer.headers["retry-after"]) >= 1
        assert seconds < 4, path
        if path.startswith("/api/v1/"):
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["status"] == 503
        else:
            assert answer.json() == {"detail": "Redis is away."}


def test_long_term_memory_and_windows_go_on(web, name, redis_away):
    for method, path, body, status in SERVED:
        filled = {k: v.format(name) if isinstance(v, str) else v for k, v in (body or {}).items()} or None
        answer, seconds = timed(web.http, method, path.format(name), filled)
        assert answer.status_code == status, (path, answer.text)
        assert seconds < 4, path
    window = web.http.get(f"{SESSION}/{name}/window").json()
    assert [one["content"] for one in window["messages"]] == ["before", "indeed"]
    assert web.http.get("/ready").json()["checks"]["redis"] == "away"
    found = web.http.post("/api/v1/recall", json={"query": "dog", "session_id": name}).json()["results"]
    assert found[0]["text"] == "Rex is a dog"


def test_a_refused_append_leaves_nothing_half_written(web, deployment, name, redis_away):
    for _ in range(3):
        assert web.http.post(f"{SESSION}/{name}/turns", json=TURN).status_code == 503
        assert web.http.post(f"{SESSION}/{name}-new/turns", json=TURN).status_code == 503
        assert web.http.post(f"/ledger/{name}/claim", json={"item_key": "j"}).status_code == 503
    log = web.http.get(f"{SESSION}/{name}/events").json()["results"]
    assert [one["content"] for one in log] == ["before", "indeed"]
    assert web.http.get(f"{SESSION}/{name}-new").status_code == 404
    deployment.stores.redis.start()
    assert web.http.post(f"/ledger/{name}/claim", json={"item_key": "j"}).json() == {"claimed": True}


def test_all_works_again_when_redis_is_back_without_a_restart_of_the_web(web, deployment, name, redis_away):
    assert web.http.get(f"/working-memory/{name}").status_code == 503
    deployment.stores.redis.start()
    for method, path, body in REFUSED[:-2]:
        answer, _seconds = timed(web.http, method, path.format(name), body)
        assert answer.status_code == 200, (path, answer.text)
    window = web.http.get(f"{SESSION}/{name}/window").json()
    assert [one["content"] for one in window["messages"]] == ["before", "indeed", "during"]


def test_a_ledger_that_redis_lost_is_taken_from_postgresql(web, deployment, name, redis_away):
    (deployment.home / "redis" / "appendonly.aof").unlink()
    deployment.stores.redis.start()
    assert web.http.post(f"/ledger/{name}/check", json={"item_key": "i"}).json()["injected"] is True
    assert web.http.post(f"/ledger/{name}/claim", json={"item_key": "i"}).json() == {"claimed": False}


def test_a_redis_that_comes_back_with_an_older_file_is_not_believed(web, deployment, name):
    """The last second before a crash is missing from the file: turns, marks and all."""
    redis, file = deployment.stores.redis, deployment.home / "redis" / "appendonly.aof"
    wait_until(lambda: name.encode() in file.read_bytes(), 5)
    time.sleep(1.2)  # the file is synced each second
    old = file.read_bytes()
    later = [{"role": "user", "content": "later"}, {"role": "assistant", "content": "quite"}]
    web.http.post(f"{SESSION}/{name}/turns", json={"turns": later})
    web.http.post(f"/ledger/{name}/mark", json={"item_key": "later"})
    web.http.post(f"/ledger/{name}/evict", json={"item_key": "i"})
    before = web.http.get(f"{SESSION}/{name}/window").content
    redis.kill()
    file.write_bytes(old)
    redis.start()
    assert web.http.get(f"{SESSION}/{name}/window").content == before
    assert web.http.get(f"/ledger/{name}").json() == {"later": "1"}
    assert web.http.post(f"{SESSION}/{name}/turns", json=TURN).status_code == 200
    window = web.http.get(f"{SESSION}/{name}/window").json()["messages"]
    assert [one["content"] for one in window] == ["before", "indeed", "later", "quite", "during"]


def test_a_redis_that_hangs_holds_no_request_for_long(web, deployment, name):
    with hanging(deployment.stores.redis.pid):
        wanted = [REFUSED[0], REFUSED[4], REFUSED[9], ("GET", "/api/v1/sessions/{}/window", None)]
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda one: timed(web.http, one[0], one[1].format(name), one[2]), wanted))
        assert [answer.status_code for answer, _seconds in answers] == [503, 503, 503, 200]
        assert all("retry-after" in answer.headers for answer, _seconds in answers[:3])
        assert all(seconds < 4 for _answer, seconds in answers)
        window = answers[3][0].json()["messages"]
        assert [one["content"] for one in window] == ["before", "indeed"]
    assert web.http.post(f"{SESSION}/{name}/turns", json=TURN).status_code == 200
    window = web.http.get(f"{SESSION}/{name}/window").json()["messages"]
    log = web.http.get(f"{SESSION}/{name}/events").json()["results"]
    assert [one["content"] for one in window] == [one["content"] for one in log]


def test_a_worker_outlives_a_redis_that_takes_no_writes(deployment):
    """It pops a task, cannot note that it has it, and so on until there is room again."""
    import redis

    worker, beat = deployment.worker(), deployment.beat()
    with redis.from_url(deployment.stores.redis.url()) as client:
        try:
            worker.start()
            beat.start()
            wait_until(lambda: client.exists(WORKER_SEEN), 60)
            client.config_set("maxmemory", 1)
            time.sleep(4)
            assert (worker.exited(), beat.exited()) == (None, None)
            client.config_set("maxmemory", 0)
            client.delete(WORKER_SEEN)
            wait_until(lambda: client.exists(WORKER_SEEN), 60)
            assert (worker.exited(), beat.exited()) == (None, None)
        finally:
            client.config_set("maxmemory", 0)
            beat.stop()
            worker.stop()


def test_a_full_redis_refuses_writes_with_503_and_loses_nothing(web, deployment, name):
    import redis

    with redis.from_url(deployment.stores.redis.url()) as client:
        client.config_set("maxmemory", 1)
        try:
            for method, path, body in [REFUSED[1], REFUSED[5], REFUSED[9]]:
                answer, _seconds = timed(web.http, method, path.format(name), body)
                assert answer.status_code == 503, (path, answer.text)
            assert web.http.get(f"{SESSION}/{name}/window").status_code == 200
        finally:
            client.config_set("maxmemory", 0)
    log = web.http.get(f"{SESSION}/{name}/events").json()["results"]
    window = web.http.get(f"{SESSION}/{name}/window").json()["messages"]
    assert [one["content"] for one in window] == [one["content"] for one in log] == ["before", "indeed"]
    assert web.http.post(f"{SESSION}/{name}/turns", json=TURN).status_code == 200

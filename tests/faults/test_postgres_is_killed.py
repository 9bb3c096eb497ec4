import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from tests.faults.deployment import answers, hanging, timed, wait_until

pytestmark = pytest.mark.processes
SESSION = "/api/v1/sessions"
TURN = {"turns": [{"role": "user", "content": "x"}]}
NEEDS_POSTGRES = [
    ("POST", "/api/v1/sessions/{}/turns", TURN),
    ("POST", "/api/v1/sessions/{}/events", {"event_type": "note", "content": 1}),
    ("POST", "/api/v1/sessions/{}/end", {}),
    ("GET", "/api/v1/sessions/{}/events", None),
    ("GET", "/api/v1/sessions/{}", None),
    ("GET", "/api/v1/sessions", None),
    ("POST", "/api/v1/sessions", {}),
    ("POST", "/api/v1/episodes", {"text": "y"}),
    ("GET", "/api/v1/episodes", None),
    ("POST", "/api/v1/recall", {"query": "dog", "session_id": "{}"}),
    ("POST", "/ledger/{}/mark", {"item_key": "j"}),
    ("POST", "/ledger/{}/claim", {"item_key": "j"}),
    ("POST", "/episodic/store", {"agent_id": "a", "conversation_id": "{}", "summary": "x"}),
    ("POST", "/episodic/search", {"agent_id": "a", "query": "x"}),
    ("GET", "/episodic/{}", None),
]


@pytest.fixture
def name(web) -> str:
    name = f"postgres-{time.monotonic_ns()}"
    assert web.http.post(f"{SESSION}/{name}/turns", json=TURN).status_code == 200
    return name


@pytest.fixture
def postgres_away(deployment, name) -> Iterator[None]:
    deployment.stores.postgres.kill()
    yield
    if not deployment.stores.postgres.pid:
        deployment.stores.postgres.start()


def ask(web, name, entry):
    method, path, body = entry
    filled = {k: v.format(name) if isinstance(v, str) else v for k, v in body.items()} if body else body
    return timed(web.http, method, path.format(name), filled)


def test_what_needs_postgresql_answers_503_in_its_dialects_shape_and_in_time(web, name, postgres_away):
    with ThreadPoolExecutor(8) as pool:
        answered = list(pool.map(lambda entry: (entry, *ask(web, name, entry)), NEEDS_POSTGRES))
    for (_method, path, _body), answer, seconds in answered:
        assert answer.status_code == 503, (path, answer.text)
        assert int(answer.headers["retry-after"]) >= 1
        assert seconds < 8, path
        if path.startswith("/api/v1/"):
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["detail"] == "PostgreSQL is away."
        else:
            assert answer.json() == {"detail": "PostgreSQL is away."}
    ready = web.http.get("/ready")
    assert (ready.status_code, ready.json()["checks"]["database"]) == (503, "away")
    assert web.http.get("/health").status_code == 200


def test_all_works_again_when_postgresql_is_back_without_a_restart_of_the_web(
    web, deployment, name, postgres_away
):
    assert ask(web, name, NEEDS_POSTGRES[0])[0].status_code == 503
    deployment.stores.postgres.start()
    wait_until(lambda: ask(web, name, NEEDS_POSTGRES[0])[0].status_code == 200, 10)
    for _ in range(2):  # more requests than the pool has connections
        for entry in NEEDS_POSTGRES:
            answer, _seconds = ask(web, name, entry)
            assert answer.status_code in (200, 201), (entry, answer.text)


def test_a_long_outage_is_over_when_postgresql_is_back(web, deployment, name, postgres_away):
    """Attempts to connect must not become so rare that the web stays away long after the database is back."""
    begun = time.monotonic()
    while time.monotonic() < begun + 8:
        assert ask(web, name, NEEDS_POSTGRES[0])[0].status_code == 503
    deployment.stores.postgres.start()
    assert wait_until(lambda: ask(web, name, NEEDS_POSTGRES[0])[0].status_code == 200, 60) < 5


class Writers:
    """Clients that post turn after turn, each again until it is acknowledged; every third without an id."""

    def __init__(self, url: str, headers: httpx.Headers, session: str, count: int) -> None:
        self.acknowledged: list[list[str]] = [[] for _ in range(count)]
        self.errors: set[str] = set()
        self._stop = threading.Event()
        self._clients = [httpx.Client(base_url=url, headers=headers, timeout=30) for _ in range(count)]
        self._path = f"{SESSION}/{session}/turns"
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(count)]
        for thread in self._threads:
            thread.start()

    def _write(self, writer: int) -> None:
        for number in itertools.count():
            content = f"{writer}-{number}"
            turn = {"role": "user", "content": content} | ({"id": content} if number % 3 else {})
            while not self._stop.is_set():
                if self._post(writer, turn):
                    self.acknowledged[writer].append(content)
                    break
                if "id" not in turn:
                    break  # whether it was stored is unknown; it must not be sent twice
                time.sleep(0.05)
            if self._stop.is_set():
                return

    def _post(self, writer: int, turn: dict[str, str]) -> bool:
        try:
            answer = self._clients[writer].post(self._path, json={"turns": [turn]})
        except httpx.HTTPError as error:
            self.errors.add(type(error).__name__)
            return False
        if answer.status_code != 200:
            self.errors.add(str(answer.status_code))
        return answer.status_code == 200

    def total(self) -> int:
        return sum(map(len, self.acknowledged))

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def whole_log(web, name) -> list[dict]:
    events, cursor = [], "0"
    while cursor is not None:
        page = web.http.get(f"{SESSION}/{name}/events?limit=200&cursor={cursor}").json()
        events += page["results"]
        cursor = page["next"]
    return events


def assert_nothing_acknowledged_is_lost(web, name, writers) -> None:
    log = whole_log(web, name)
    assert [one["seq"] for one in log] == list(range(1, len(log) + 1))
    contents = [one["content"] for one in log]
    assert len(set(contents)) == len(contents), "something was stored twice"
    for writer, mine in enumerate(writers.acknowledged):
        place = [contents.index(content) for content in mine]  # raises for a lost one
        assert place == sorted(place), f"the order of writer {writer}"
    window = web.http.get(f"{SESSION}/{name}/window?turns=100").json()["messages"]
    assert [one["content"] for one in window] == contents[-100:]


def test_no_acknowledged_turn_is_lost_while_postgresql_is_killed_again_and_again(web, deployment):
    name = f"storm-{time.monotonic_ns()}"
    postgres = deployment.stores.postgres
    writers = Writers(web.url, web.http.headers, name, 6)
    try:
        for _ in range(4):
            begun = writers.total()
            wait_until(lambda begun=begun: writers.total() > begun + 60, 20)
            postgres.kill()
            postgres.start()
        begun = writers.total()
        wait_until(lambda: writers.total() > begun + 60, 20)
    finally:
        writers.stop()
    assert writers.errors <= {"503"}
    assert_nothing_acknowledged_is_lost(web, name, writers)


def test_a_lost_connection_costs_one_answer_and_no_turn(web, deployment):
    """What a failover or an administrator does: the backends end, the server stays."""
    name = f"terminated-{time.monotonic_ns()}"
    writers = Writers(web.url, web.http.headers, name, 6)
    try:
        with psycopg.connect(deployment.stores.postgres.superuser_url(), autocommit=True) as connection:
            for _ in range(10):
                time.sleep(0.1)
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'strata_app'"
                )
        begun = writers.total()
        wait_until(lambda: writers.total() > begun + 60, 20)
    finally:
        writers.stop()
    assert writers.errors <= {"503"}
    assert_nothing_acknowledged_is_lost(web, name, writers)


def test_a_postgresql_that_hangs_holds_no_request_for_ever(web, deployment, name):
    with hanging(deployment.stores.postgres.pid), ThreadPoolExecutor(8) as pool:
        answered = list(pool.map(lambda _n: ask(web, name, NEEDS_POSTGRES[0]), range(8)))
        for answer, seconds in answered:
            assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
            assert seconds < 10
        assert web.http.get("/health").status_code == 200
    wait_until(lambda: ask(web, name, NEEDS_POSTGRES[0])[0].status_code == 200, 10)
    log = [one["content"] for one in whole_log(web, name)]
    window = web.http.get(f"{SESSION}/{name}/window?turns=100").json()["messages"]
    assert [one["content"] for one in window] == log


def test_a_lock_that_is_never_given_back_does_not_hold_requests_for_ever(web, deployment, name):
    with psycopg.connect(deployment.stores.postgres.url("strata_owner", "owner-pw", "strata")) as connection:
        connection.execute("SELECT 1 FROM working_session WHERE external_id = %s FOR UPDATE", [name])
        answer, seconds = ask(web, name, NEEDS_POSTGRES[0])
        assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
        assert seconds < 5
        window, seconds = timed(web.http, "GET", f"{SESSION}/{name}/window")
        assert (len(window.json()["messages"]), seconds < 5) == (1, True)
    assert ask(web, name, NEEDS_POSTGRES[0])[0].status_code == 200


def test_no_acknowledged_turn_is_lost_when_web_workers_are_killed(deployment):
    web = deployment.web(workers=2)
    name = f"workers-{time.monotonic_ns()}"
    try:
        writers = Writers(web.url, web.http.headers, name, 6)
        try:
            for _ in range(2):
                begun = writers.total()
                wait_until(lambda begun=begun: writers.total() > begun + 40, 20)
                wait_until(lambda: len(web.workers()) == 2, 20)
                victims = web.workers()
                os.kill(victims[0], signal.SIGKILL)
                wait_until(lambda gone=victims[0]: gone not in web.workers() and len(web.workers()) == 2, 20)
        finally:
            writers.stop()
        wait_until(lambda: answers(web.http), 10)  # the replacements may still be starting
        assert_nothing_acknowledged_is_lost(web, name, writers)
        assert web.http.post(f"{SESSION}/{name}/turns", json=TURN).status_code == 200
    finally:
        web.stop()


def test_the_server_ends_what_a_frozen_process_holds(deployment):
    """A client that gave up leaves its statement waiting in the server; a frozen one keeps its locks."""
    with psycopg.connect(deployment.environment["DATABASE_URL"]) as connection:
        for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
            assert connection.execute(f"SHOW {limit}").fetchone() == ("30s",)

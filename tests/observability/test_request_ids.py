"""Each answer names its request; each request has one line; no line has another request's ids."""

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest

from tests.architecture.sources import ROOT
from tests.faults.deployment import Deployment, RunningWeb, wait_until
from tests.observability.lines import lines_of

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def web(observed: Deployment) -> Iterator[RunningWeb]:
    (observed.home / "web.log").unlink(missing_ok=True)
    running = observed.web(WEB_THREADS="2")
    yield running
    running.stop()


def line_of(observed: Deployment, request_id: str) -> dict:
    log = observed.home / "web.log"
    wait_until(lambda: lines_of(log, message="request", request_id=request_id), 5)
    found = lines_of(log, message="request", request_id=request_id)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health", 200),
        ("GET", "/nowhere", 404),
        ("POST", "/api/v1/recall", 422),
        ("PUT", "/api/v1/recall", 405),
        ("GET", "/static/console/strata.css", 200),
        ("GET", "/admin/", 302),
        ("GET", "/", 200),
    ],
)
def test_every_kind_of_answer_names_its_request_and_has_one_line(web, observed, method, path, status):
    answer = web.http.request(method, path)
    assert answer.status_code == status
    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-request-id"])
    line = line_of(observed, answer.headers["x-request-id"])
    assert (line["method"], line["status"]) == (method, status)
    assert line["bytes"] == len(answer.content)
    assert 0 < line["ms"] < 30_000


def test_a_refused_host_is_answered_and_told_like_any(web, observed):
    answer = httpx.get(f"{web.url}/sign-in", headers={"Host": "evil.example"})
    assert answer.status_code == 400
    assert line_of(observed, answer.headers["x-request-id"])["status"] == 400


@pytest.mark.parametrize("given", ["a", "Abc.1_2-3", "x" * 64])
def test_a_well_formed_id_is_kept(web, observed, given):
    given = given if len(given) == 64 else f"{given}{uuid4().hex[:8]}"
    assert web.http.get("/health", headers={"X-Request-ID": given}).headers["x-request-id"] == given
    line_of(observed, given)


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "ü", 'a"b', "a{b}"])
def test_another_is_replaced(web, given):
    answer = web.http.get("/health", headers={b"X-Request-ID": given.encode("latin-1")})
    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-request-id"])


def test_the_tenant_and_the_key_are_on_the_line_and_not_on_the_next(web, observed):
    known = web.http.get("/api/v1/sessions").headers["x-request-id"]
    unknown = httpx.get(f"{web.url}/health").headers["x-request-id"]
    line = line_of(observed, known)
    assert (line["tenant"], line["caller"]) == ("acme", "key")
    _, key_id, secret = observed.key.split("_", 2)  # a secret may hold, and begin with, one more
    assert line["key_id"] == key_id
    assert secret not in (observed.home / "web.log").read_text()
    assert {"tenant", "caller", "key_id"}.isdisjoint(line_of(observed, unknown))


def test_threads_that_serve_many_do_not_mix_them_up(web, observed):
    key = dict(web.http.headers)

    def ask(number: int) -> tuple[str, str, bool]:
        trace, request = f"{number + 1:032x}", f"mixed-{number}"
        sent = {"X-Request-ID": request, "traceparent": f"00-{trace}-00000000000000aa-01"}
        path = "/api/v1/sessions" if number % 2 else "/health"
        httpx.get(web.url + path, headers=(key | sent) if number % 2 else sent)
        return request, trace, bool(number % 2)

    with ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(ask, range(80)))
    for request, trace, has_tenant in asked:
        line = line_of(observed, request)
        assert line["trace_id"] == trace
        assert ("tenant" in line) is has_tenant


@pytest.mark.parametrize(
    "given",
    [
        "00-" + "0" * 32 + "-00000000000000aa-01", "00-" + "a" * 32 + "-" + "0" * 16 + "-01",
        "00-" + "g" * 32 + "-00000000000000aa-01", "nonsense",
    ],
)  # fmt: skip
def test_a_malformed_trace_is_not_taken_over(web, observed, given):
    answer = web.http.get("/health", headers={"traceparent": given})
    assert "trace_id" not in line_of(observed, answer.headers["x-request-id"])


def test_the_lines_of_a_task_name_the_request_that_caused_it(observed):
    log = observed.home / "worker.log"
    log.unlink(missing_ok=True)
    worker = observed.worker()
    worker.start()
    script = """
import django; django.setup()
from memoryproject.tasks import heartbeat
from tenants import log_context
with log_context.bound(request_id="the-cause"):
    heartbeat.delay()
heartbeat.delay()
"""
    beats = {"message": "task", "task": "memoryproject.heartbeat"}
    try:
        subprocess.run([sys.executable, "-c", script], env=observed.environment, cwd=ROOT, check=True)
        wait_until(lambda: len(lines_of(log, **beats)) >= 2 and lines_of(log, request_id="the-cause"), 60)
    finally:
        worker.stop()
    caused = lines_of(log, message="task", request_id="the-cause")
    assert [(one["task"], one["outcome"], one["process"]) for one in caused] == [
        ("memoryproject.heartbeat", "done", "worker")
    ]
    other = [one for one in lines_of(log, **beats) if one not in caused]
    assert all("request_id" not in one for one in other)

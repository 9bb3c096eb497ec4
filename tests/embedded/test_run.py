"""`manage.py run` as a whole: what it starts, what it says, what is left when it ends."""

import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryproject.embedded import runfile
from memoryproject.embedded.credentials import Credentials
from memoryproject.embedded.postgres import EmbeddedPostgres
from memoryproject.embedded.redis import EmbeddedRedis
from tenants.provision import provision
from tests.embedded.people import CHECKOUT
from tests.embedded.stack import (
    Started,
    assert_ends_cleanly,
    child_named,
    command_line,
    environment,
    parent_of,
    processes_of,
    refused,
    spawn,
    started,
    wait_for,
)
from tests.processes import free_port

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with started(tmp_path_factory.mktemp("running") / "home with spaces") as strata:
        yield strata


def answers(url: str) -> bool:
    try:
        return urllib.request.urlopen(f"{url}/ready", timeout=10).status == 200
    except OSError:
        return False


def test_run_json_tells_everything_to_its_owner_alone(running):
    assert set(running.run) == {
        "url", "stream_url", "tenant", "api_key", "admin_user", "admin_password", "pid"
    }  # fmt: skip
    assert running.run["pid"] == running.process.pid
    assert answers(running.run["url"])
    for name in ("run.json", "embedded.json", "credentials.json"):
        assert stat.S_IMODE((running.home / name).stat().st_mode) == 0o600


def test_embedded_json_leads_manage_py_in_another_shell_to_the_servers(running):
    command = [sys.executable, "manage.py", "migrate", "--check", "--database", "owner"]
    done = subprocess.run(command, cwd=CHECKOUT, env=environment(running.home, 1), check=False)
    assert done.returncode == 0
    found = json.loads((running.home / "embedded.json").read_text())
    addresses = {"DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_ADMIN_URL", "REDIS_URL", "CELERY_BROKER_URL"}
    assert set(found) == {*addresses, "SECRET_KEY"}


def test_a_second_start_on_the_same_home_is_refused_with_a_sentence(running):
    sentence = refused(running.home, free_port())
    assert f"Strata already runs with the data in {running.home} on {running.run['url']}" in sentence
    assert f"(process {running.process.pid})" in sentence
    assert answers(running.run["url"])


def test_a_busy_port_is_told_with_a_sentence_and_nothing_is_started(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        sentence = refused(tmp_path / "home", port)
    assert f"Port {port} is in use by another program; choose another one, e.g. PORT={port + 1}." in sentence
    assert not (tmp_path / "home" / "postgres").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("granian",),
        ("memoryproject.streaming",),
        ("celery", "worker"),
        ("celery", "beat"),
        ("redis-server",),
        ("postgres", "-D"),
    ],
    ids=lambda words: words[-1],
)
def test_a_killed_child_is_started_again(running, words):
    before = child_named(running.home, *words)
    os.kill(before, signal.SIGKILL)
    assert wait_for(lambda: not Path(f"/proc/{before}/exe").exists(), 5)
    assert wait_for(lambda: any(_is(pid, words) for pid in processes_of(running.home)), 15)
    assert wait_for(lambda: answers(running.run["url"]), 20)


def _is(pid: int, words: tuple[str, ...]) -> bool:
    return all(word in command_line(pid) for word in words)


def test_ctrl_c_leaves_no_process_and_no_misleading_file(tmp_path):
    with started(tmp_path / "home") as strata:
        stream = listen(strata)
        assert_ends_cleanly(strata, signal.SIGINT)
        assert stream.read().endswith(b"\n\n")  # else IncompleteRead: it was broken off


def listen(strata: Started) -> http.client.HTTPResponse:
    """A stream that is open."""
    address = f"{strata.run['stream_url']}/api/v1/events/stream"
    headers = {"Authorization": f"Bearer {strata.run['api_key']}"}
    stream = urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60)
    assert stream.readline().startswith(b"retry:")
    return stream


def test_the_main_port_names_the_address_of_the_streams(running):
    address = f"{running.run['url']}/api/v1/events/stream"
    headers = {"Authorization": f"Bearer {running.run['api_key']}"}
    answer = urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60)
    assert answer.headers["Link"].startswith(f"<{running.run['stream_url']}/api/v1/events/stream>")
    assert listen(running).status == 200


def test_a_busy_stream_port_is_told_with_a_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        sentence = refused(tmp_path / "home", free_port(), STREAM_PORT=str(port))
    assert f"choose another one, e.g. STREAM_PORT={port + 1}." in sentence


def test_a_killed_supervisor_leaves_no_process_and_data_that_start_again_quickly(tmp_path):
    home = tmp_path / "home"
    with started(home) as strata:
        os.kill(strata.process.pid, signal.SIGKILL)
        strata.process.wait()
        assert wait_for(lambda: not processes_of(home), 15), processes_of(home)
    key = strata.run["api_key"]
    (home / "run.json").unlink()  # left by the killed run; `started` waits for the new one
    began = time.monotonic()
    with started(home) as strata:
        assert time.monotonic() - began < 30  # to wait for the dead one's lease or lock would take longer
        assert strata.run["api_key"] == key


def test_a_web_worker_that_outlived_supervisor_and_master_does_not_hold_the_port(tmp_path):
    home, port = tmp_path / "home", free_port()
    with started(home, port=port) as killed:
        master = child_named(home, "granian")
        workers = [pid for pid in processes_of(home) if parent_of(pid) == master]
        os.kill(master, signal.SIGSTOP)  # so that it cannot tell its worker
        os.kill(killed.process.pid, signal.SIGKILL)
        os.kill(master, signal.SIGKILL)
        killed.process.wait()
        assert set(workers) & set(processes_of(home))
        (home / "run.json").unlink()
        with started(home, port=port) as strata:
            assert answers(strata.run["url"])
            assert not set(workers) & set(processes_of(home))


def test_a_stop_during_the_start_leaves_no_process(tmp_path):
    home = tmp_path / "home"
    process = spawn(home, free_port())
    assert wait_for((home / "embedded.json").exists, 30)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0
    assert processes_of(home) == []


def test_make_run_ends_with_make_even_when_make_is_killed(tmp_path):
    if shutil.which("make") is None or not (CHECKOUT / ".venv/bin/python").exists():
        pytest.skip("make or .venv is missing")
    home = tmp_path / "home"
    with started(home, "make", "-o", ".venv/run.stamp", "run") as strata:
        strata.process.kill()
        assert wait_for(lambda: not processes_of(home), 20), processes_of(home)


def test_nothing_is_embedded_when_the_settings_point_elsewhere(tmp_path):
    servers = tmp_path / "servers"
    postgres, cache = EmbeddedPostgres(servers), EmbeddedRedis(servers)
    postgres.start()
    cache.start()
    try:
        urls = _urls(postgres, Credentials.load(servers))
        home = tmp_path / "home"
        with started(home, REDIS_URL=cache.url(), CELERY_BROKER_URL=cache.celery_url(), **urls) as strata:
            assert answers(strata.run["url"])
            assert not (home / "postgres").exists()
            assert not (home / "redis").exists()
            assert set(runfile.read(home / "embedded.json") or {}) == {"SECRET_KEY"}
            assert_ends_cleanly(strata, signal.SIGTERM)
        assert postgres.exited() is None
        assert cache.exited() is None
    finally:
        cache.stop()
        postgres.stop()


def _urls(postgres: EmbeddedPostgres, credentials: Credentials) -> dict[str, str]:
    urls = {
        "DATABASE_URL": postgres.url("strata_app", credentials.strata_app, "strata"),
        "DATABASE_OWNER_URL": postgres.url("strata_owner", credentials.strata_owner, "strata"),
        "DATABASE_ADMIN_URL": postgres.url("strata_admin", credentials.strata_admin, "strata"),
    }
    provision(
        superuser_url=postgres.superuser_url(), app_url=urls["DATABASE_URL"],
        owner_url=urls["DATABASE_OWNER_URL"], admin_url=urls["DATABASE_ADMIN_URL"],
    )  # fmt: skip
    return urls


def test_one_database_setting_of_three_is_told_with_a_sentence(tmp_path):
    sentence = refused(tmp_path / "home", free_port(), DATABASE_URL="postgresql://app@db/strata")
    assert "set DATABASE_OWNER_URL and DATABASE_ADMIN_URL too" in sentence


def test_a_home_that_cannot_be_used_is_told_with_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    assert "is not a folder. Set MEMORY_HOME" in refused(tmp_path / "file" / "home", free_port())

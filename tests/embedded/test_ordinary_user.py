"""The servers started by somebody who is not root."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.embedded.people import ordinary_account, ordinary_environment
from tests.embedded.stack import assert_ends_cleanly, processes_of, started

START_AND_STOP = """
import os, sys
from pathlib import Path
import psycopg, redis
from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.postgres import EmbeddedPostgres
from memoryproject.embedded.redis import EmbeddedRedis
assert os.getuid() != 0
postgres, cache = EmbeddedPostgres(Path(sys.argv[1])), EmbeddedRedis(Path(sys.argv[1]))
try:
    postgres.start()
    cache.start()
except CannotStart as error:
    sys.exit(str(error))
with psycopg.connect(postgres.superuser_url()) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
    connection.execute("INSERT INTO kept VALUES (1)")
    print(connection.execute("SELECT count(*) FROM kept").fetchone()[0])
print(Path(f"/proc/{postgres.pid}").stat().st_uid == os.getuid())
cache.stop()
postgres.stop()
"""


def run_as_ordinary_user(python: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-c", START_AND_STOP, str(home)],
        cwd="/", env=ordinary_environment(), capture_output=True, text=True, timeout=60, check=False,
        **ordinary_account(),
    )  # fmt: skip


def test_an_ordinary_user_starts_both_servers_and_finds_the_data_again(their_folder, their_python):
    home = their_folder / "a folder with spaces" / ("deep" * 50) / "home"
    first, second = run_as_ordinary_user(their_python, home), run_as_ordinary_user(their_python, home)
    assert first.stdout.split() == ["1", "True"], first.stderr
    assert second.stdout.split() == ["2", "True"], second.stderr


def test_a_home_that_an_ordinary_user_cannot_write_is_told_with_a_sentence(their_folder, their_python):
    locked = their_folder / "locked"
    locked.mkdir(mode=0o555)
    done = run_as_ordinary_user(their_python, locked / "home")
    assert done.returncode == 1
    assert "cannot be used: Permission denied. Set MEMORY_HOME" in done.stderr


def test_data_of_an_ordinary_user_stay_theirs_when_root_starts_them(their_folder, their_python):
    if os.geteuid() != 0:
        pytest.skip("only root can try")
    from memoryproject.embedded.account import server_account

    home = their_folder / "home"
    assert run_as_ordinary_user(their_python, home).returncode == 0
    assert server_account(home).uid == (home / "postgres").stat().st_uid == ordinary_account()["user"]


@pytest.mark.processes
def test_an_ordinary_user_runs_all_of_strata(their_folder, their_python):
    home = their_folder / "home"
    with started(
        home, their_python, "manage.py", "run", **ordinary_environment(), account=ordinary_account()
    ) as strata:
        owners = {Path(f"/proc/{pid}").stat().st_uid for pid in [strata.run["pid"], *processes_of(home)]}
        assert owners == {ordinary_account().get("user", os.getuid())}
        assert_ends_cleanly(strata, signal.SIGHUP)
